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

# redis-cli copies the data as a replica does; the store goes on working.
dump() {
    if [ "$kind" = containers ]; then
        # The container has no room for the file. Into a pipe redis-cli also writes the 40 bytes that end the transfer.
        docker compose exec -T tasks-store sh -c 'redis.sh cli --rdb - | head -c -40'
    else
        redis-cli -s .local/run/tasks-store.sock --rdb "$file.part" >&2
    fi
}
cli() {
    if [ "$kind" = containers ]; then
        docker compose exec -T tasks-store redis.sh cli "$@"
    else
        redis-cli -s .local/run/tasks-store.sock "$@"
    fi
}
check() {
    if [ "$kind" = containers ]; then
        docker compose exec -T tasks-store redis.sh check
    else
        "$here/compose/redis.sh" check
    fi
}

if [ "$(cli PING 2>/dev/null)" != PONG ]; then
    echo 'The store does not answer: start the stack (make up), then make the backup.' >&2
    exit 1
fi
mkdir -p "$(dirname "$file")"
trap 'rm -f "$file.part"' EXIT
messages=$(dump 2>&1 >"$file.part") || true
case $messages in
*'finished with success'*) ;;
*)
    echo "The backup failed: $messages" >&2
    exit 1
    ;;
esac
check <"$file.part" || { echo 'The backup failed: what came is not whole.' >&2; exit 1; }
mv "$file.part" "$file"
(cd "$(dirname "$file")" && "$here/sha256.sh" "$(basename "$file")" >"$(basename "$file").sha256")
# The metric longhand_backup_timestamp_seconds.
cli SET '{tasks}:backup' "$(date +%s)" >/dev/null
echo "$file: $(cli ZCARD '{tasks}:index') tasks, $(wc -c <"$file" | tr -d ' ') bytes"
if [ -n "$KEEP" ]; then
    # Their names sort by time.
    # The names that the pattern takes hold nothing that the shell would split.
    # shellcheck disable=SC2010
    for old in $(cd "$(dirname "$file")" && ls -r | grep -E '^tasks-[0-9]{8}T[0-9]{6}Z\.rdb$' | tail -n "+$((KEEP + 1))"); do
        rm -f "$(dirname "$file")/$old" "$(dirname "$file")/$old.sha256"
    done
fi
