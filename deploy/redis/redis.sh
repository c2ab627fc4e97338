#!/bin/sh
# Runs Redis in containers. The first start writes a password that the service can read. All commands except `server` also
# work on the native stack, in the folder with `.local`:
#   redis.sh server [redis-server options]
#   redis.sh cli [redis-cli arguments]
#   redis.sh backup [-h HOST] >FILE      writes a verified copy of the data, or fails and writes nothing
#   redis.sh keep FOLDER                 backs up the store, and loads the backup before it counts; keeps the newest 14
#   redis.sh nightly FOLDER              does so each night, for as long as it runs
#   redis.sh restore [FOLDER] <FILE      replaces the data with a backup, and sets the old data aside
#   redis.sh drill <FILE                 loads a backup into an empty Redis in memory, and prints what it contains
#   redis.sh put-back ASIDE [FOLDER]     replaces the data with data that a restore set aside, and sets the current data aside
#   redis.sh recover                     finishes an interrupted restore; fails if only set-aside data is left
set -eu
umask 077
password=/run/redis/password
fail() { echo "$*" >&2; exit 1; }

# Fails unless the file is a single complete RDB file with a valid checksum.
# shellcheck disable=SC2015 # Either command may fail.
check() {
    output=$(redis-check-rdb "$1") && echo "$output" | grep -qF "[offset $(wc -c <"$1")] Checksum OK" ||
        fail "This is not a complete backup: $output"
}

# A restore commits when it moves the old data aside. The next start finishes a restore that was interrupted after this point.
finish_restore() {
    if [ -e appendonlydir ]; then
        rm -rf appendonlydir.restored
    elif [ -e appendonlydir.restored ]; then
        mv appendonlydir.restored appendonlydir
    fi
}

# Moves the current data to a folder of its own.
set_aside() {
    [ -e appendonlydir ] || return 0
    # Two restores may happen within a second.
    until
        aside=appendonlydir.$(date -u +%Y%m%dT%H%M%SZ)
        [ ! -e "$aside" ]
    do sleep 1; done
    mv -T appendonlydir "$aside"
    echo "The old data is kept in $PWD/$aside: delete it when you no longer need it."
}

# redis-cli exits with 1 if nothing is listening. A running Redis would save new tasks into the old folder.
must_be_stopped() {
    status=0
    timeout 5 "$0" cli -h tasks-store PING >/dev/null 2>&1 </dev/null || status=$?
    [ "$status" = 1 ] || fail 'The stack is running. Stop its store first (docker compose stop tasks-store; natively: make down).'
}

# Prints a line like those of the services: log LEVEL MESSAGE
log() {
    printf '{"level":"%s","time":"%s","service":"backup","msg":"%s"}\n' "$1" "$(date -u +%FT%TZ)" \
        "$(echo "$2" | tr '\n"\134' '  /')"
}

# Prints the time of the newest backup in a folder, in seconds since 1970; 0 if there is none. The file's name has the time.
time_of_last() {
    # shellcheck disable=SC2012 # the names are safe
    last=$(ls "$1" | sed -n 's/^tasks-\(....\)\(..\)\(..\)T\(..\)\(..\)\(..\)Z\.rdb$/\1-\2-\3T\4:\5:\6Z/p' | tail -n 1)
    date -u -d "${last:-@0}" +%s
}
age_of_last() {
    time=$(time_of_last "$1")
    if [ "$time" = 0 ]; then echo missing; else echo "$((($(date +%s) - time) / 3600)) hours old"; fi
}

# Writes a backup, and loads it into an empty Redis before it counts. Keeps the newest 14.
back_up() {
    now=$(date +%s)
    status=0
    file=$1/tasks-$(date -u -d "@$now" +%Y%m%dT%H%M%SZ).rdb
    # shellcheck disable=SC2086 # no option for the native store
    if "$0" copy ${STORE_HOST:+-h "$STORE_HOST"} >"$file.part" 2>"$1/failure" && report=$("$0" drill <"$file.part" 2>"$1/failure"); then
        mv "$file.part" "$file"
        "$0" cli ${STORE_HOST:+-h "$STORE_HOST"} SET '{tasks}:backup' "$now" >/dev/null 2>&1 || log error 'the store refused the time of the backup'
        log info "wrote ${file##*/}. $(echo "$report" | head -n 1)"
        # shellcheck disable=SC2012 # the names are safe
        ls -r "$1"/tasks-*Z.rdb | tail -n +15 | xargs rm -f
    else
        status=1
        rm -f "$file.part"
        log error "no backup: $(cat "$1/failure"). The last good one is $(age_of_last "$1")."
    fi
    rm -f "$1/failure"
    return "$status"
}
# Fails if there is no backup since the last 03:00 UTC.
has_tonights_backup() {
    now=$(date +%s)
    [ "$(time_of_last "$1")" -ge "$((now - (now - 3 * 3600) % 86400))" ]
}

case $1 in
recover)
    finish_restore
    # Redis does not explain what to do about data from a newer version. The first nine bytes contain the version.
    for base in appendonlydir/*.base.rdb; do
        if head -c 9 "$base" 2>/dev/null | redis-check-rdb /dev/stdin | grep -q "Can't handle RDB format version"; then
            echo "A newer Redis wrote the data in $PWD/appendonlydir. Start that version, or restore a backup from this version:" \
                "make restore FILE=…"
        fi
    done
    [ ! -e appendonlydir/appendonly.aof.manifest ] || exit 0
    for aside in appendonlydir.*; do :; done
    [ ! -e "$aside" ] || fail "$PWD contains only data that was set aside. Rename $aside to appendonlydir, or to another name to start empty."
    ;;
server)
    shift
    "$0" recover
    if [ ! -s "$password" ]; then
        (umask 027 && od -A n -t x1 -N 32 /dev/urandom | tr -d ' \n' >"$password.new")
        mv "$password.new" "$password"
    fi
    # Pass the configuration on stdin, because any process can read another process's arguments.
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
copy)
    shift
    # Unlink the file immediately, so that no copy stays behind.
    copy=$(mktemp ./backup.XXXXXX)
    exec 3<>"$copy"
    rm "$copy"
    copy=/dev/fd/3
    output=$("$0" cli "$@" --rdb "$copy" 2>&1) || fail "The store was not copied: $output"
    check "$copy"
    cat "$copy"
    ;;
backup)
    shift
    "$0" copy "$@"
    # For the metric longhand_backup_timestamp_seconds.
    "$0" cli "$@" SET '{tasks}:backup' "$(date +%s)" >/dev/null
    ;;
keep)
    back_up "$2"
    ;;
nightly)
    folder=$2
    if [ -n "${TASKS_REDIS_URL:-}" ]; then
        log warn 'your own Redis has the tasks, so this service does not back them up'
        exec sleep infinity
    fi
    while true; do
        has_tonights_backup "$folder" || back_up "$folder" || true
        sleep 600
    done
    ;;
drill)
    scratch=$(mktemp -d)
    server=
    trap 'kill $server 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    cat >"$scratch/dump.rdb"
    check "$scratch/dump.rdb"
    redis-server --port 0 --unixsocket "$scratch/socket" --dir "$scratch" --save '' >"$scratch/log" 2>&1 &
    server=$!
    loaded() { redis-cli -s "$scratch/socket" "$@" 2>/dev/null; }
    until [ "$(loaded PING)" = PONG ]; do
        kill -0 "$server" 2>/dev/null || fail "Redis cannot load this backup: $(cat "$scratch/log")"
        sleep 0.1
    done
    changed=$(loaded GET '{tasks}:version')
    [ -z "$changed" ] || changed=" Last change: $(date -u -d "@${changed%??????}" '+%F %T UTC')."
    echo "The backup is good. Tasks: $(loaded ZCARD '{tasks}:index').$changed"
    echo 'The first are:'
    loaded SORT '{tasks}:index' BY nosort GET '{tasks}:task:*->title' LIMIT 0 5
    ;;
restore)
    must_be_stopped
    cd "${2:-.}"
    finish_restore
    new=restore.part
    rm -rf "$new"
    trap 'rm -rf "$new"' EXIT
    mkdir "$new"
    cat >"$new/appendonly.aof.1.base.rdb"
    check "$new/appendonly.aof.1.base.rdb"
    # With an append-only file, Redis ignores dump.rdb, so the backup becomes the base of the append-only file.
    echo 'file appendonly.aof.1.base.rdb seq 1 type b' >"$new/appendonly.aof.manifest"
    if [ "$(id -u)" = 0 ]; then chown -R "$(stat -c %u:%g .)" "$new"; fi
    sync
    mv "$new" appendonlydir.restored
    set_aside
    finish_restore
    sync
    ;;
put-back)
    must_be_stopped
    cd "${3:-.}"
    finish_restore
    [ -e "$2/appendonly.aof.manifest" ] || fail "$PWD/$2 does not exist. Nothing was changed. Set aside: $(echo appendonlydir.*)"
    # If this is interrupted here, the next start fails and names the folder to rename.
    set_aside
    mv "$2" appendonlydir
    sync
    ;;
esac
