#!/bin/sh
# Checks the settings, and whether Docker can publish the stack's ports. Prints warnings. Run it before `docker compose up`,
# which stops changed containers even if it then fails. It touches no running container. Exits with 78 for a bad setting.
set -eu
fail() { echo "$*" >&2; exit 78; }

# Prints the variables with a value that compose itself rejected. Its message ends with the value, but has no name.
rejected() {
    printf 'services: { x: { image: x, environment: [%s] } }' \
        'LONGHAND_BIND, LONGHAND_PORT, LONGHAND_EXPANDER_PORT, LONGHAND_TASKS_PORT, LONGHAND_HTTP_PORT, LONGHAND_HTTPS_PORT, LONGHAND_PROMETHEUS_PORT, LONGHAND_GRAFANA_PORT' |
        docker compose --file - config | tr -d '" ' | grep -F ":$1" | tr : =
}
refusal=$(docker compose config --quiet 2>&1) || fail "Invalid environment:
  $(rejected "${refusal##*: }" || echo '.env or compose.yaml'): $refusal"

# The settings check does not see unknown names in this shell, so pass them on.
ours=$(env | sed -n '/_FILE=\|^LONGHAND_CERTIFICATES=/d; s/^\(\(LONGHAND\|EXPANDER\|TASKS\)_[A-Za-z0-9_]*\)=.*/--env \1/p')
# shellcheck disable=SC2086 # two words for each name
docker compose run --rm -T $ours settings </dev/null

# Publishes ports from a container that exits. Prints Docker's error.
publish() { docker compose run --rm --no-deps -T "$@" --entrypoint true expander 2>&1 </dev/null; }
project=$(docker compose config | sed -n '1s/^name: //p')
docker compose run --rm -T settings /usr/local/bin/node deploy/settings.ts published 2>/dev/null </dev/null |
    while read -r name address port; do
        # The stack itself may already have the port.
        [ -z "$port" ] || [ -z "$(docker ps --quiet --filter "publish=$port" --filter "label=com.docker.compose.project=$project")" ] || continue
        failure=$(publish "--publish=[$address]:$port:1") ||
            fail "Invalid environment:
  $name=${port:-$address}: $(echo "$failure" | sed -n 's/.*Error.*: \(listen\|Bind\)/\1/p')"
    done
