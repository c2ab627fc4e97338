#!/bin/sh
# Builds the images for Kubernetes and prints their names:
#   deploy/images.sh [TARGET…]
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- proxy expander tasks
for target; do
    image=${LONGHAND_REGISTRY:-longhand}/$target:${LONGHAND_VERSION:-0.1.0}
    docker build --quiet --target "$target" --tag "$image" . >/dev/null
    echo "$image"
done
