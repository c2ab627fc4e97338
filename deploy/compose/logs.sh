#!/bin/sh
# Follows the logs of the stack in containers, or shows the lines about one request: deploy/compose/logs.sh [ID]
# A terminal gets lines for people, a pipe gets the records.
set -eu
id=${1:-}
here=$(dirname "$0")
readable() { if [ -t 1 ]; then "$here/node.sh" shared/src/readable-main.ts; else cat; fi; }
if [ -z "$id" ]; then
    docker compose logs --no-color --follow --tail 100 | readable
else
    "$here/request-id.sh" "$id"
    # From the container's name on: before each record compose erases a line of the terminal, also into a pipe.
    docker compose logs --no-color | grep -o "[a-z].*$id.*" | readable
fi
