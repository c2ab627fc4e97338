#!/bin/sh
# Replaces the replicas of a service that runs in containers one by one by new ones of its current image, without
# failing a request:
#   deploy/compose/replace.sh tasks
set -eu
service=$1
old=$(docker compose ps --quiet "$service")
[ -n "$old" ] || { echo "$service does not run" >&2; exit 1; }
count=$(echo "$old" | wc -l)

docker compose build --quiet "$service"
for replica in $old; do
    docker compose up --detach --wait --no-deps --no-recreate --scale "$service=$((count + 1))" "$service"
    # nginx asks for the addresses every 2 s: by now it knows the new one.
    sleep 4
    docker stop "$replica" >/dev/null
    docker rm "$replica" >/dev/null
done
