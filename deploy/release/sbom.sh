#!/bin/sh
# Prints a service's SBOM (CycloneDX): deploy/release/sbom.sh SERVICE
# First removes development dependencies from the manifests. `npm sbom --omit=dev` would also omit runtime packages that
# another workspace needs for development.
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
