#!/bin/sh
# Follows the containers' logs, or the native log FILE. With ID, prints only that request's lines. When piped, prints JSON lines.
#   deploy/logs.sh [ID [FILE]]
set -eu
id=${1:-} file=${2:-}
format=shared/src/log-line.ts
# Use a container's Node if the local Node is missing or too old.
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
    if [ -n "$file" ]; then tail -n 100 -F "$file" 2>/dev/null; else docker compose logs --no-color --follow --tail 100; fi | readable
    exit
fi
if [ "${#id}" != 32 ] || [ -n "$(printf %s "$id" | tr -d 0-9a-f)" ]; then
    echo "ID=$id is not a request ID (32 hex digits, shown on the error page)." >&2
    exit 1
fi
if [ -n "$file" ]; then cat "$file"; else docker compose logs --no-color; fi |
    # Compose writes an escape sequence before each line, even into a pipe.
    grep -o "[a-z{].*$id.*" | readable
