#!/bin/sh
# Builds the images for Kubernetes and prints their names: deploy/kubernetes/build.sh [TARGET…]
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- proxy expander tasks
version=${LONGHAND_VERSION:-$(sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)}
for target; do
    image=${LONGHAND_REGISTRY:-longhand}/$target:$version
    docker build --quiet --target "$target" --tag "$image" . >/dev/null
    echo "$image"
done
