#!/bin/sh
# In the container: gives nginx the keys and the certificate again when their files change. Until they are valid, the former
# ones count.
set -u
[ -n "${EXPANDER_TOKENS_FILE:-}${LONGHAND_TLS:-}" ] || exit 0
certificates=/run/secrets/certificates
read_files() {
    cat ${EXPANDER_TOKENS_FILE:+"$EXPANDER_TOKENS_FILE"} ${LONGHAND_TLS:+"$certificates/fullchain.pem" "$certificates/privkey.pem"} | cksum
}
new=/run/keys
read_again() {
    mkdir -p "$new" &&
        NGINX_ENVSUBST_OUTPUT_DIR=$new /docker-entrypoint.d/10-longhand-keys.sh &&
        mv "$new"/key.* /etc/nginx/conf.d/ &&
        nginx -p /run -e stderr -c /etc/nginx/nginx.conf -s reload
}
files=$(read_files)
while sleep 5; do
    now=$(read_files)
    [ "$now" = "$files" ] || read_again
    files=$now
done &
