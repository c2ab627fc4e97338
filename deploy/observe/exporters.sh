#!/bin/bash
# Runs mtail for nginx's log, and node_exporter for the store's disk and the certificates.
set -eu
cd /tmp
mkdir -p textfile

mtail --progs=/etc/mtail --logs=udp://0.0.0.0:5514 --emit_prog_label=false --logtostderr --address=0.0.0.0 --port=3903 &
prometheus-node-exporter --collector.disable-defaults --collector.filesystem --collector.filesystem.fs-types-exclude='^$' --collector.filesystem.mount-points-include='^/data$' \
    --collector.textfile --collector.textfile.directory=textfile --web.listen-address=0.0.0.0:9100 --log.level=warn &
if [ -n "${LONGHAND_EXPANDER_NAME:-}${LONGHAND_TASKS_NAME:-}" ]; then
    while true; do
        # shellcheck disable=SC2086 # drops empty names
        certificates.sh tls:8443 ${LONGHAND_EXPANDER_NAME:-} ${LONGHAND_TASKS_NAME:-} >textfile/new
        mv textfile/new textfile/certificates.prom
        sleep 60
    done &
fi
# Docker restarts the container if an exporter exits.
wait -n
exit 1
