#!/bin/sh
# Removes the stack from the Swarm; the tasks, and the password of their store, only with WIPE=1.
set -eu
docker stack rm --detach=false longhand
[ "${WIPE:-}" = 1 ] || { echo 'The tasks are kept: WIPE=1 make swarm-down deletes them, too.'; exit; }
docker secret rm longhand-expander-cache longhand-tasks-store >/dev/null
# A container may hold the volume for a moment.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    docker volume rm longhand_tasks >/dev/null 2>&1 && exit
    sleep 1
done
echo 'The volume longhand_tasks is still in use: docker volume rm longhand_tasks' >&2
exit 1
