#!/bin/sh
# Starts Prometheus, Grafana and the exporters in containers, and the stack if it is not running.
set -eu
docker compose --profile observe up --build --detach --wait
# nginx resolves the exporters' name only at startup.
docker compose exec -T proxy grep -q syslog:server /etc/nginx/conf.d/http.conf || docker compose restart proxy
echo "Grafana: http://localhost:${LONGHAND_GRAFANA_PORT:-3001}/   Prometheus: http://localhost:${LONGHAND_PROMETHEUS_PORT:-9090}/alerts"
echo 'To stop them: docker compose --profile observe stop prometheus grafana exporters alertmanager'
