#!/bin/sh
# Starts Prometheus, Grafana and the exporters in containers, and the stack if it is not running.
set -eu
docker compose --profile observe up --build --detach --wait
# nginx looks for the exporters only when it starts.
docker compose exec -T proxy grep -q syslog:server /etc/nginx/conf.d/http.conf || docker compose restart proxy
cat <<END

  grafana      http://localhost:${LONGHAND_GRAFANA_PORT:-3001}/
  prometheus   http://localhost:${LONGHAND_PROMETHEUS_PORT:-9090}/alerts

To stop it: docker compose stop prometheus grafana exporters
END
