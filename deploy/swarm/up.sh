#!/bin/sh
# Builds the images and deploys the stack to the Swarm of this machine, which becomes one if it is none; waits.
set -eu
cd "$(dirname "$0")/../.."

[ "$(docker info --format '{{.Swarm.LocalNodeState}}')" = active ] ||
    docker swarm init --advertise-addr "${LONGHAND_SWARM_ADDRESS:-127.0.0.1}" >/dev/null
[ -n "${LONGHAND_IMAGES:-}" ] || deploy/images.sh
for name in longhand-expander-cache longhand-tasks-store; do
    docker secret inspect "$name" >/dev/null 2>&1 ||
        od -A n -t x1 -N 32 /dev/urandom | tr -d ' \n' | docker secret create "$name" - >/dev/null
done
LONGHAND_CONFIGS=$(cat expander/redis.conf tasks/redis.conf deploy/compose/redis.sh | cksum | cut -d ' ' -f 1)
export LONGHAND_CONFIGS
# The images were built here: no registry knows them. On several nodes set LONGHAND_REGISTRY, push, and LONGHAND_IMAGES=pushed.
docker stack deploy --resolve-image never --prune --detach=false --compose-file deploy/swarm/stack.yml longhand
cat <<END

  expander   http://expander.localhost:${LONGHAND_PORT:-8080}/   or http://localhost:${LONGHAND_EXPANDER_PORT:-8081}/
  tasks      http://tasks.localhost:${LONGHAND_PORT:-8080}/   or http://localhost:${LONGHAND_TASKS_PORT:-8082}/
             and the same ports at every address of each node

make swarm-down removes it; the tasks are kept.
END
