#!/bin/sh
# Writes a release to out/release/: compose.yaml, check.sh, examples, the npm package, SBOMs and checksums.
#   PUSH=registry.example.org/longhand           registry to push to; without it, compose.yaml works only on this machine
#   NAME=ghcr.io/somebody/longhand               registry in compose.yaml, by default PUSH
#   PLATFORMS=linux/amd64,linux/arm64            platforms to build for (first run: docker buildx create --use)
set -eu
cd "$(dirname "$0")/../.."
out=$PWD/out/release
rm -rf "$out"
mkdir -p "$out"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
version=$(node -p 'require("./package.json").version')

set -- ${PUSH:+--push} ${PLATFORMS:+--platform="$PLATFORMS" --provenance=mode=max}
for property in "version=$version" licenses=MIT "revision=$(git rev-parse HEAD)" "created=$(git log -1 --format=%cI)" \
    ${GITHUB_REPOSITORY:+"source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"}; do
    property=org.opencontainers.image.$property
    set -- "$@" --label "$property" --annotation "index:$property" --annotation "manifest:$property"
done
for target in proxy expander expander-cache tasks tasks-store exporters; do
    echo "Building $target" >&2
    docker buildx build --quiet "$@" --label "org.opencontainers.image.title=Longhand $target" --target "$target" \
        --tag "${PUSH:-longhand}/$target:$version" --metadata-file "$built/$target.json" . >/dev/null
done
node deploy/release/compose.ts "$version" "$built" >"$out/compose.yaml"

cp deploy/compose/check.sh "$out/"

for service in expander tasks; do deploy/release/sbom.sh "$service" >"$out/$service.cdx.json"; done
(cd expander/package && npm pack --silent --pack-destination "$out" >/dev/null)
# The examples that the documents mention.
tar -czf "$out/examples.tar.gz" -C deploy fronts observe/rules.yaml observe/prometheus.yml observe/dashboards
(cd "$out" && sha256sum ./* >SHA256SUMS)
ls "$out"/*
