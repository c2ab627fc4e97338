#!/bin/sh
# Follows the logs of the stack in containers, or shows the lines about one request: deploy/compose/logs.sh [ID]
# Readable lines on a terminal, JSON in a pipe.
set -eu
id=${1:-}
format=shared/src/readable-main.ts
# This machine's Node may be too old, or missing; the containers have one.
readable() {
    if [ ! -t 1 ]; then
        cat
    elif node -e 'process.exit(process.features.typescript ? 0 : 1)' 2>/dev/null; then
        node "$format"
    else
        docker compose exec -T tasks node "$format" || cat
    fi
}
if [ -z "$id" ]; then
    docker compose logs --no-color --follow --tail 100 | readable
else
    if [ "${#id}" != 32 ] || [ -n "$(printf %s "$id" | tr -d 0-9a-f)" ]; then
        echo "ID=$id is not a request ID (32 hex digits, shown on the error page)." >&2
        exit 1
    fi
    # compose writes an escape sequence before each line, even into a pipe.
    docker compose logs --no-color | grep -o "[a-z].*$id.*" | readable
fi
