#!/bin/sh
# Runs in the containers of Redis, with the password that the first start puts where the service can read it:
#   redis.sh server [options of redis-server]
#   redis.sh cli [arguments of redis-cli]
set -eu
password=/run/redis/password

case $1 in
server)
    shift
    if [ ! -s "$password" ]; then
        umask 027
        od -A n -t x1 -N 32 /dev/urandom | tr -d ' \n' >"$password.new"
        mv "$password.new" "$password"
    fi
    umask 077
    # By standard input: among the arguments every process of the machine could see it.
    exec redis-server "$@" - <<END
$(cat /etc/redis.conf)
requirepass $(cat "$password")
END
    ;;
cli)
    shift
    REDISCLI_AUTH=$(cat "$password")
    export REDISCLI_AUTH
    exec redis-cli "$@"
    ;;
esac
