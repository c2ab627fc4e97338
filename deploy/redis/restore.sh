#!/bin/sh
# Replaces the store's data with a backup, and sets the old data aside:
#   deploy/redis/restore.sh containers|native FILE
set -eu
file=${2:-}
fail() { echo "$*" >&2; exit 1; }
[ -n "$file" ] || fail 'Name the backup, for example: make restore FILE=backups/tasks-20261121T120000Z.rdb'
[ -r "$file" ] || fail "$file does not exist or cannot be read."
printf 'Replace all tasks with those from %s? Type yes: ' "$file"
read -r answer || true
[ "${answer:-}" = yes ] || fail 'Nothing was changed.'

if [ "$1" = native ]; then
    mkdir -p .local/tasks-store
    exec "$(dirname "$0")/redis.sh" restore .local/tasks-store <"$file"
fi
if [ -n "$(docker compose ps --quiet tasks-store)" ]; then
    # Start the store even if the restore fails or is interrupted.
    trap 'docker compose start tasks-store 2>/dev/null' EXIT
    trap 'exit 130' INT TERM
    docker compose stop tasks-store 2>/dev/null
fi
docker compose run --rm --no-deps -T tasks-store redis.sh restore <"$file"
