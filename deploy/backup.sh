#!/bin/sh
# Writes the running store's data at one moment into a file, and its checksum into another:
#   deploy/backup.sh containers|native [FILE]
# KEEP=14 deletes all but the newest 14 backups beside it that have the default name.
set -eu
umask 077
kind=$1
here=$(cd "$(dirname "$0")" && pwd)
case ${KEEP:=} in
*[!0-9]* | 0*)
    echo "KEEP=$KEEP: is not a number of backups, such as 14" >&2
    exit 78
    ;;
esac
file=${2:-backups/tasks-$(date -u +%Y%m%dT%H%M%SZ).rdb}
folder=$(dirname "$file")
name=$(basename "$file")

# redis-cli copies the data as a replica does; the store goes on working.
if [ "$kind" = containers ]; then
    redis() { docker compose exec -T tasks-store redis.sh "$@"; }
    # The container has no room for the file. Into a pipe redis-cli also writes the 40 bytes that end the transfer.
    dump() { docker compose exec -T tasks-store sh -c 'redis.sh cli --rdb - | head -c -40'; }
else
    redis() { "$here/compose/redis.sh" "$@"; }
    dump() { redis cli --rdb "$file.part" >&2; }
fi

if [ "$(redis cli PING 2>/dev/null)" != PONG ]; then
    echo 'The store does not answer: start the stack (make up), then make the backup.' >&2
    exit 1
fi
mkdir -p "$folder"
trap 'rm -f "$file.part"' EXIT
messages=$(dump 2>&1 >"$file.part") || true
case $messages in
*'finished with success'*) ;;
*)
    echo "The backup failed: $messages" >&2
    exit 1
    ;;
esac
redis check <"$file.part" || { echo 'The backup failed: what came is not whole.' >&2; exit 1; }
mv "$file.part" "$file"
(cd "$folder" && "$here/sha256.sh" "$name" >"$name.sha256")
# The metric longhand_backup_timestamp_seconds.
redis cli SET '{tasks}:backup' "$(date +%s)" >/dev/null
echo "$file: $(redis cli ZCARD '{tasks}:index') tasks, $(wc -c <"$file" | tr -d ' ') bytes"
if [ -n "$KEEP" ]; then
    # Their names sort by time, and have nothing that the shell would split.
    # shellcheck disable=SC2010
    for old in $(ls -r "$folder" | grep -E '^tasks-[0-9]{8}T[0-9]{6}Z\.rdb$' | tail -n "+$((KEEP + 1))"); do
        rm -f "$folder/$old" "$folder/$old.sha256"
    done
fi
