#!/bin/sh
# In containers: reload nginx when the certificate changes.
set -u
[ -n "${LONGHAND_TLS:-}" ] || exit 0
read_files() { cat /run/secrets/certificates/fullchain.pem /run/secrets/certificates/privkey.pem | cksum; }
files=$(read_files)
while sleep 5; do
    now=$(read_files)
    [ "$now" = "$files" ] || nginx -p /run -e stderr -c /etc/nginx/nginx.conf -s reload
    files=$now
done &
