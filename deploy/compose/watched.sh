#!/usr/bin/env bash
# watched.sh SERVICE COMMAND…: becomes COMMAND, and kills it when it hangs. Its event loop writes a byte to HEARTBEAT_FD
# twice a second. Docker restarts what ends, never what hangs, and nginx waits on the connections of a service that hangs
# until it ends.
service=$1
shift

# What changes unless it hangs: how often it gave up a CPU, or the time while it uses one or waits for one. Then it may yet
# go on, and its end would only make others busier. Empty where nobody says.
activity() {
    local name value
    while read -r name value _; do
        case $name$value in State:R) echo "$EPOCHREALTIME" ;; *ctxt_switches:*) echo "$value" ;; esac
    done <"/proc/$$/status"
}

watch() {
    local misses=0 still=0 before='' now
    # Before the first byte it is starting, which may take half a minute.
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
            # It has ended.
            return
        fi
    done
    TZ=UTC printf '{"level":"error","time":"%(%FT%TZ)T","service":"%s","msg":"hangs; killing it"}\n' -1 "$service"
    kill -KILL $$
} 2>/dev/null
exec 9> >(watch)
HEARTBEAT_FD=9 exec "$@"
