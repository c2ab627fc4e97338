#!/bin/sh
# Follows the logs of the stack in containers, or shows the lines about one request: deploy/compose/logs.sh [ID]
set -eu
id=${1:-}
here=$(dirname "$0")
if [ -z "$id" ]; then exec docker compose logs --follow --tail 100; fi
"$here/request-id.sh" "$id"
docker compose logs --no-log-prefix --no-color | grep -F "$id" | "$here/node.sh" shared/src/readable-main.ts
