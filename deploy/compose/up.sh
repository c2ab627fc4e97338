#!/bin/sh
# Runs the stack in containers, in the foreground: builds what has changed, prints the addresses once everything is
# healthy, then follows the logs until Ctrl-C, which stops it.
set -eu

# A variable with one of our prefixes that nothing of ours reads is most likely misspelt, here or in .env.
ours='\(LONGHAND\|EXPANDER\|TASKS\)_[A-Z_]*'
known=$(grep -oh "$ours" docker-compose*.yml shared/src/env.ts shared/src/other-variables.ts)
unknown=$({ env && { [ ! -e .env ] || cat .env; }; } | sed -n "s/^ *\(export \)\{0,1\} *\($ours\) *=.*/\2/p" | sort -u | grep -vxF "$known") && {
    echo "There is no such variable: $(echo "$unknown" | paste -s -d ' ' -)" >&2
    # EX_CONFIG of sysexits.h
    exit 78
}

running=$(docker compose ps --quiet)
docker compose up --build --wait || {
    status=$?
    log=$(docker compose logs --tail 20)
    # Leave a stack alone that was running before.
    [ -n "$running" ] || docker compose down 2>/dev/null
    echo "$log"
    case $log in *"Can't handle RDB format version"*)
        echo 'The saved tasks were written by a newer Redis than this one: use that image,' >&2
        echo 'or restore a backup that this one made: make restore FILE=…' >&2
        exit "$status"
        ;;
    *redis-check-aof*)
        cat >&2 <<'END'
The saved tasks cannot be read: their append-only file is damaged. Copy the data, then repair it:
  docker compose run --rm --no-deps -T tasks-store tar -C /data -c . >tasks-data.tar
  docker compose run --rm --no-deps tasks-store redis-check-aof --fix /data/appendonlydir/appendonly.aof.manifest
END
        exit "$status"
        ;;
    esac
    echo 'The stack did not start: the reason is above.' >&2
    echo 'If a port is taken, choose another one, as in LONGHAND_PORT=18080 make up.' >&2
    exit $status
}
docker compose exec -T proxy sh -c 'cat <<END

  expander   http://expander.localhost:$LONGHAND_PORT/   or http://localhost:$LONGHAND_EXPANDER_PORT/
  tasks      http://tasks.localhost:$LONGHAND_PORT/   or http://localhost:$LONGHAND_TASKS_PORT/

Ctrl-C stops everything; the tasks are kept. make down removes the containers too.

END'
# Attach to the running containers. After Ctrl-C has stopped everything, compose exits with 130.
status=0
docker compose up --no-recreate || status=$?
[ "$status" = 130 ] || exit "$status"
