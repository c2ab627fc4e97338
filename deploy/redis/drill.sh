#!/bin/sh
# Loads a backup into an empty Redis in memory, and prints what it contains. It cannot reach the stack:
#   deploy/redis/drill.sh containers|native FILE
set -eu
file=${2:-}
[ -r "$file" ] || { echo 'Name the backup, for example: make drill FILE=backups/tasks-20261121T120000Z.rdb' >&2; exit 1; }
case $1 in
containers) docker compose run --build --rm -T drill <"$file" ;;
native) "$(dirname "$0")/redis.sh" drill <"$file" ;;
esac
