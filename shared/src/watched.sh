#!/usr/bin/env bash
# watched.sh SERVICE COMMAND…: runs COMMAND and kills it if it hangs, because Docker restarts only processes that have ended.
# COMMAND's event loop writes a byte to HEARTBEAT_FD twice a second.
service=$1
shift

# Prints COMMAND's context switches, plus the time if COMMAND is running or waiting for a CPU. The output stays the same only if
# COMMAND hangs. Prints nothing on systems without /proc.
activity() {
    local name value
    while read -r name value _; do
        case $name$value in State:R) echo "$EPOCHREALTIME" ;; *ctxt_switches:*) echo "$value" ;; esac
    done <"/proc/$$/status"
}

watch() {
    local misses=0 still=0 before='' now
    # COMMAND may need 30 s to start.
    read -r -n 1 -t 30 || (($? > 128)) || return
    while ((misses < 20 && still < 2)); do
        if read -r -n 1 -t 0.75; then
            misses=0 still=0 before=''
        elif (($? > 128)); then
            ((misses += 1))
            now=$(activity)
            if [[ -n $now && $now == "$before" ]]; then ((still += 1)); else still=0; fi
            before=$now
        else
            # COMMAND has ended.
            return
        fi
    done
    TZ=UTC printf '{"level":"error","time":"%(%FT%TZ)T","service":"%s","msg":"hangs; killing it"}\n' -1 "$service"
    kill -KILL $$
} 2>/dev/null
exec 9> >(watch)
HEARTBEAT_FD=9 exec "$@"
