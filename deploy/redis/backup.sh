#!/bin/sh
# Writes a verified copy of the running store to FILE. Without FILE, writes to backups/ and keeps the newest 14 there:
#   deploy/redis/backup.sh containers|native [FILE]
set -eu
umask 077
file=${2:-backups/tasks-$(date -u +%Y%m%dT%H%M%SZ).rdb}
mkdir -p "$(dirname "$file")"
trap 'rm -f "$file.part"' EXIT
case $1 in
containers) docker compose exec -T tasks-store redis.sh backup >"$file.part" ;;
native) "$(dirname "$0")/redis.sh" backup >"$file.part" ;;
esac
mv "$file.part" "$file"
echo "$file: $(wc -c <"$file") bytes"
# shellcheck disable=SC2012 # the names are safe
[ -n "${2:-}" ] || ls -r backups/tasks-*Z.rdb | tail -n +15 | xargs rm -f
