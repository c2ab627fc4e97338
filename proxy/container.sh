#!/bin/sh
# Runs in containers: adds IPv6 listeners if the container has IPv6, and reloads nginx when the certificate changes.
set -u
! grep -q . /proc/net/if_inet6 2>/dev/null || sed -i 's/^\( *listen \)\*\(:.*\)/&\n\1[::]\2/' /etc/nginx/conf.d/*
[ -n "${LONGHAND_TLS:-}" ] || exit 0
read_files() { cat /run/secrets/certificates/fullchain.pem /run/secrets/certificates/privkey.pem | cksum; }
files=$(read_files)
while sleep 5; do
    now=$(read_files)
    [ "$now" = "$files" ] || nginx -p /run -e stderr -c /etc/nginx/nginx.conf -s reload
    files=$now
done &
