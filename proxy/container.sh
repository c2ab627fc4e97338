#!/bin/sh
# Runs in containers: sets the addresses on which nginx listens, and keeps the certificate up to date.
set -u

# Without a fence, nginx listens on every address. With a fence, it listens on the addresses of all other networks.
has_ipv6() { grep -q . /proc/net/if_inet6 2>/dev/null; }
addresses() {
    if [ -z "${LONGHAND_FENCED:-}" ]; then
        echo '*'
        ! has_ipv6 || echo ::
    else
        echo 127.0.0.1
        ! has_ipv6 || echo ::1
        hostname -I | tr ' ' '\n' | grep . | grep -vxF "$LONGHAND_FENCED"
    fi
}
# Repeats each `listen *:` for each address.
lines=$(addresses | sed 's/.*:.*/[&]/; s/.*/\\n\\1&\\2/' | tr -d '\n')
sed -i "s/^\( *listen \)\*\(:.*\)/${lines#??}/" /etc/nginx/conf.d/*

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
