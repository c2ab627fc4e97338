#!/bin/sh
# Builds changed images, starts the containers, prints the addresses, and follows the logs until Ctrl-C stops the stack.
set -eu

# Check first, because a bad setting must not stop a running stack.
docker compose build settings expander
warnings=$("$(dirname "$0")/check.sh")

running=$(docker compose ps --quiet)
docker compose up --build --wait || {
    status=$?
    log=$(docker compose logs --tail 20)
    [ -n "$running" ] || docker compose down 2>/dev/null
    echo "$log"
    echo 'The stack did not start. The reason is above. If the store failed, see docs/operate.md.' >&2
    exit $status
}
(
    env=$(docker compose exec -T proxy env)
    for name in PORT EXPANDER_PORT TASKS_PORT EXPANDER_NAME TASKS_NAME FRONT HTTPS_PORT; do
        export "LONGHAND_$name=$(echo "$env" | sed -n "s/^LONGHAND_$name=//p")"
    done
    bind=$(docker compose port proxy "$LONGHAND_PORT")
    echo
    "$(dirname "$0")/../addresses.sh" "${bind%:*}"
    printf '\nCtrl-C stops the stack and keeps the tasks. make down also removes the containers.\n\n'
)
echo "$warnings" >&2
# Attach to the running containers. After Ctrl-C, compose exits with 130.
status=0
docker compose up --no-recreate || status=$?
[ "$status" = 130 ] || exit "$status"
