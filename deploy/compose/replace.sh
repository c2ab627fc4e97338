#!/bin/sh
# Replaces a service's containers one by one, without failed requests:
#   deploy/compose/replace.sh tasks
set -eu
service=${1:?name the service, for example: make replace SERVICE=tasks}
old=$(docker compose ps --quiet "$service")
[ -n "$old" ] || { echo "$service is not running" >&2; exit 1; }
count=$(echo "$old" | wc -l)

docker compose build --quiet "$service"
for replica in $old; do
    docker compose up --detach --wait --no-deps --no-recreate --scale "$service=$((count + 1))" "$service"
    # Wait until nginx uses the new replica. After a failed attempt, it skips an address for up to 6 s.
    sleep 7
    docker stop "$replica" >/dev/null
    docker rm "$replica" >/dev/null
done
