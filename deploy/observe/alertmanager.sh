#!/bin/sh
# Runs Alertmanager, which sends one message to LONGHAND_NOTIFY when an alert begins and one when it ends.
set -eu
umask 077
cat >/tmp/alertmanager.yml <<END
route:
  receiver: notify
  group_by: [alertname]
  group_wait: 10s
  group_interval: 1m
  # Never repeat a message.
  repeat_interval: 8760h
receivers:
  - name: notify
    webhook_configs: [{ url: "$LONGHAND_NOTIFY", send_resolved: true }]
END
exec prometheus-alertmanager --config.file=/tmp/alertmanager.yml --storage.path=/alertmanager --data.retention=8800h \
    --cluster.listen-address= --web.listen-address=alerts:9093 --log.level=warn
