#!/bin/sh
# Runs in the containers of Redis, with the password that the first start puts where the service can read it:
#   redis.sh server [options of redis-server]
#   redis.sh cli [arguments of redis-cli]; natively it asks the store
#   redis.sh check <FILE fails, and says why, unless FILE is a whole copy of what a Redis holds; also natively
#   redis.sh restore <FILE, in the folder of the data, while no server runs; also natively
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
    # Redis does not say what to do about a newer version, which is in the first nine bytes.
    for base in appendonlydir/*.base.rdb; do
        if head -c 9 "$base" 2>/dev/null | redis-check-rdb /dev/stdin | grep -q "Can't handle RDB format version"; then
            echo "The saved data in $PWD/appendonlydir was written by a newer Redis than this one: start with that version," \
                "or restore a backup that this one made: make restore FILE=…"
        fi
    done
    # On standard input, because any process can read another's arguments.
    exec redis-server "$@" - <<END
$(cat /etc/redis.conf)
requirepass $(cat "$password")
END
    ;;
cli)
    shift
    [ -e "$password" ] || exec redis-cli -s .local/run/tasks-store.sock "$@"
    REDISCLI_AUTH=$(cat "$password")
    export REDISCLI_AUTH
    exec redis-cli "$@"
    ;;
check)
    # A container's user may not open /dev/stdin of the container, but may open this pipe.
    said=$(cat | redis-check-rdb /dev/stdin) || { echo "$said" >&2; exit 1; }
    ;;
restore)
    umask 077
    new=appendonlydir.new
    rm -rf "$new"
    mkdir "$new"
    cat >"$new/appendonly.aof.1.base.rdb"
    "$0" check <"$new/appendonly.aof.1.base.rdb" || { rm -rf "$new"; exit 1; }
    # Versions start above all that were used, so that no old page or ETag matches a new one.
    # The dollars are Redis's protocol.
    # shellcheck disable=SC2016
    printf '*3\r\n$3\r\nSET\r\n$15\r\n{tasks}:version\r\n$16\r\n%s000000\r\n' "$(date +%s)" >"$new/appendonly.aof.1.incr.aof"
    # With an append-only file Redis ignores dump.rdb, so the backup becomes the base of that file.
    printf 'file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n' \
        >"$new/appendonly.aof.manifest"
    if [ "$(id -u)" = 0 ]; then chown -R "$(stat -c %u:%g .)" "$new"; fi
    sync
    if [ -e appendonlydir ]; then
        aside=appendonlydir.$(date -u +%Y%m%dT%H%M%SZ)
        mv appendonlydir "$aside"
        echo "What was there is kept in $PWD/$aside: delete it when you no longer need it."
    fi
    mv "$new" appendonlydir
    ;;
esac
