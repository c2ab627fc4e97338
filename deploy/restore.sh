#!/bin/sh
# Replaces the store's data by a file of backup.sh, and sets the old data aside:
#   deploy/restore.sh containers|native FILE
set -eu
kind=$1
file=${2:-}

here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "$*" >&2; exit 1; }

[ -n "$file" ] || fail 'Name the backup, as in: make restore FILE=backups/tasks-20261121T120000Z.rdb'
[ -r "$file" ] || fail "$file: there is no such file."
[ -e "$file.sha256" ] || fail "$file.sha256 is missing: without the checksum a damaged backup would look whole."
(cd "$(dirname "$file")" && "$here/sha256.sh" -c "$(basename "$file").sha256" >/dev/null 2>&1) ||
    fail "$file does not match its checksum: it is damaged. Nothing was changed."

# tasks: their number, `?` if the store does not answer, empty without a store.
if [ "$kind" = containers ]; then
    running=$(docker compose ps --quiet tasks-store)
    tasks=$(docker compose run --rm --no-deps -T tasks-store sh -c '[ ! -e appendonlydir ] || echo "?"' </dev/null)
    counted=$([ -z "$running" ] || docker compose exec -T tasks-store redis.sh cli ZCARD '{tasks}:index' </dev/null) || true
    case $counted in '' | *[!0-9]*) ;; *) tasks=$counted ;; esac
else
    if "$here/compose/redis.sh" cli PING >/dev/null 2>&1; then
        fail 'The stack is running: stop it (make down), restore, then start it again.'
    fi
    tasks=$([ ! -e .local/tasks-store/appendonlydir ] || echo '?')
fi

if [ "${tasks:-0}" != 0 ]; then
    case $tasks in '?') held='The store has data' ;; *) held="The store has $tasks tasks" ;; esac
    printf '%s. Replace everything with %s? Type yes: ' "$held" "$file"
    read -r answer || true
    [ "${answer:-}" = yes ] || fail 'Nothing was changed.'
fi

if [ "$kind" = containers ]; then
    start() { docker compose up --detach --wait --no-deps --no-recreate tasks-store 2>/dev/null; }
    if [ -n "$running" ]; then
        # Start the store even if the restore fails or Ctrl-C ends it.
        trap start EXIT
        trap 'exit 130' INT TERM
        docker compose stop tasks-store 2>/dev/null
    fi
    docker compose run --rm --no-deps -T tasks-store redis.sh restore <"$file" || fail 'The backup was not restored.'
    repair='docker compose exec tasks node tasks/src/repair-main.ts'
else
    mkdir -p .local/tasks-store
    (exec <"$file" && cd .local/tasks-store && "$here/compose/redis.sh" restore) || fail 'The backup was not restored.'
    # The reader's shell expands it.
    # shellcheck disable=SC2016
    repair='REDIS_URL=unix:$PWD/.local/run/tasks-store.sock npm run repair -w tasks'
fi
echo "Restored from $file. This checks the tasks while the stack runs:"
echo "  $repair"
