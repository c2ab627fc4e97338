#!/bin/sh
# Prints a service's SBOM (CycloneDX): deploy/release/sbom.sh SERVICE
# `npm sbom --omit=dev` omits a package that any workspace needs for development, so this removes development dependencies from
# the manifests first.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -cf - package.json package-lock.json shared/package.json "$1/package.json" | tar -xf - -C "$folder"
cd "$folder"
npm pkg set --json "workspaces=[\"shared\",\"$1\"]"
npm pkg delete devDependencies --workspaces --include-workspace-root
npm install --package-lock-only --ignore-scripts --offline >&2
npm sbom --package-lock-only --sbom-format=cyclonedx --workspace "$1"
