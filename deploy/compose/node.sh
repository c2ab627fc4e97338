#!/bin/sh
# Runs a program of shared/ with this machine's Node, or without one in a container of the stack.
set -eu
if node -e 'process.exit(process.features.typescript ? 0 : 1)' 2>/dev/null; then
    exec node "$@"
fi
for service in expander tasks; do
    if docker compose exec -T "$service" true 2>/dev/null; then exec docker compose exec -T "$service" node "$@"; fi
done
echo 'Neither Node 22.18 or later nor a running service was found.' >&2
exit 1
