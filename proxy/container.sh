#!/bin/sh
# Runs in containers: adds IPv6 listeners if the container has IPv6, and keeps the certificate up to date.
set -u
! grep -q . /proc/net/if_inet6 2>/dev/null || sed -i 's/^\( *listen \)\*\(:.*\)/&\n\1[::]\2/' /etc/nginx/conf.d/*
[ -n "${LONGHAND_TLS:-}" ] || exit 0

given=/run/secrets/certificates
# A volume with the last pair that matched. nginx never reads the files that somebody may be replacing.
kept=/var/lib/tls
read_files() { cat $given/fullchain.pem $given/privkey.pem 2>/dev/null | cksum; }

# Takes the given pair if its key matches.
take() {
    new=$kept/$(date +%s)
    rm -rf "$new"
    mkdir -m 700 "$new"
    cp $given/fullchain.pem $given/privkey.pem "$new" &&
        public=$(openssl x509 -in "$new/fullchain.pem" -noout -pubkey) && [ -n "$public" ] &&
        [ "$public" = "$(openssl pkey -in "$new/privkey.pem" -pubout)" ] || {
        rm -rf "$new"
        echo "LONGHAND_CERTIFICATES: fullchain.pem and privkey.pem are not a readable, matching pair. ${1:-}" >&2
        return 1
    }
    old=$(readlink $kept/current)
    ln -s "$new" $kept/next && mv -T $kept/next $kept/current
    [ -z "$old" ] || [ "$old" = "$new" ] || rm -rf "$old"
}

files=$(read_files)
take || [ -e $kept/current ] || exit 78
while sleep 5; do
    now=$(read_files)
    [ "$now" = "$files" ] || ! take 'The last pair that matched stays.' || nginx -p /run -e stderr -c /etc/nginx/nginx.conf -s reload
    files=$now
done &
