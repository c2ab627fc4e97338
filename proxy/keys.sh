#!/bin/sh
# Writes what nginx includes for the keys in EXPANDER_TOKENS_FILE, a line each: NAME KEY RATE. See keys.conf.
set -eu
folder=${NGINX_ENVSUBST_OUTPUT_DIR:-/etc/nginx/conf.d}
for name in names zones limits; do : >"$folder/key.$name"; done
[ -n "${EXPANDER_TOKENS_FILE:-}" ] || exit 0
if [ ! -r "$EXPANDER_TOKENS_FILE" ]; then
    echo "EXPANDER_TOKENS_FILE=$EXPANDER_TOKENS_FILE: cannot be read: chown $(id -u) FILE && chmod 400 FILE" >&2
    exit 78
fi
awk -v file="$EXPANDER_TOKENS_FILE" -v folder="$folder" '
    function reject(reason) {
        print "EXPANDER_TOKENS_FILE=" file ": line " NR " " reason >"/dev/stderr"
        exit failed = 1
    }
    function write(name, text) { print text >(folder "/key." name) }
    /^[ \t\r]*(#|$)/ { next }
    { sub(/\r$/, "") }
    NF != 3 || $1 !~ /^[a-z0-9][a-z0-9-]*$/ || length($1) > 64 || length($2) < 16 || $2 ~ /[^A-Za-z0-9_-]/ ||
    $3 !~ /^[1-9][0-9]*r\/[sm]$/ {
        reject("is not a name of a-z, 0-9 and -, a key of at least 16 of A-Z, a-z, 0-9, - and _, and a rate such as 10r/s")
    }
    taken[$1]++ || taken[$2]++ { reject("has the name or the key of another line") }
    {
        write("names", "\"~^" $2 "$\" " $1 ";")
        write("zones", "map $is_expansion$key_name $key_" NR " { 1" $1 " 1; }")
        write("zones", "limit_req_zone $key_" NR " zone=key_" NR ":32k rate=" $3 ";")
        write("limits", "limit_req zone=key_" NR " burst=" $3 + 0 " nodelay;")
    }
    END {
        if (failed) exit
        write("names", "~. -;")
        write("limits", "include conf.d/key.argument;")
    }' "$EXPANDER_TOKENS_FILE" || exit 78
