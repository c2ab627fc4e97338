#!/usr/bin/env bash
# watched.sh SERVICE COMMAND…: becomes COMMAND, and kills it when it no longer answers. Docker restarts what ends, never
# what hangs, and nginx waits on the connections of a service that hangs until it ends.
service=$1
shift

# Whether it accepts a connection and then says nothing for 0.75 s. One that refuses is starting or stopping.
silent() {
    { printf 'GET /livez HTTP/1.0\r\n\r\n' >&3; read -r -t 0.75 <&3; } 3<>"/dev/tcp/127.0.0.1/${OPS_PORT:-9464}"
    (($? > 128))
} 2>/dev/null

# What changes unless it hangs: how often it gave up a CPU, or the time while it uses one or waits for one. Then it may yet
# answer, and its end would only make others busier.
activity() {
    local name value
    while read -r name value _; do
        case $name$value in State:R) echo "$EPOCHREALTIME" ;; *ctxt_switches:*) echo "$value" ;; esac
    done <"/proc/$$/status"
}

watch() {
    local misses=0 still=0 before
    while ((misses < 20 && still < 2)); do
        before=$(activity)
        if ! silent; then
            misses=0 still=0
            sleep 0.75
        else
            ((misses += 1))
            if [[ $(activity) == "$before" ]]; then ((still += 1)); else still=0; fi
        fi
    done
    TZ=UTC printf '{"level":"error","time":"%(%FT%TZ)T","service":"%s","msg":"does not answer; killing it"}\n' -1 "$service"
    kill -KILL $$
}
watch &
exec "$@"
