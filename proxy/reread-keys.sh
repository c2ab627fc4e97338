#!/bin/sh
# In the container: gives nginx the keys again when their file changes. Until it is valid, the former ones count.
set -u
[ -n "${EXPANDER_TOKENS_FILE:-}" ] || exit 0
new=/run/keys
read_again() {
    mkdir -p "$new" &&
        NGINX_ENVSUBST_OUTPUT_DIR=$new /docker-entrypoint.d/10-longhand-keys.sh &&
        mv "$new"/key.* /etc/nginx/conf.d/ &&
        nginx -p /run -e stderr -c /etc/nginx/nginx.conf -s reload
}
keys=$(cksum <"$EXPANDER_TOKENS_FILE")
while sleep 5; do
    now=$(cksum <"$EXPANDER_TOKENS_FILE") || continue
    [ "$now" = "$keys" ] || read_again
    keys=$now
done &
