#!/usr/bin/env bash
# watched.sh SERVICE COMMAND…: becomes COMMAND, and kills it when it no longer answers. Docker restarts what ends, never
# what hangs, and nginx waits on the connections of a service that hangs until it ends.
service=$1
shift

# Whether it accepts a connection and then says nothing for 0.75 s. One that refuses is starting or stopping.
hangs() {
    { printf 'GET /livez HTTP/1.0\r\n\r\n' >&3; read -r -t 0.75 <&3; } 3<>"/dev/tcp/127.0.0.1/${OPS_PORT:-9464}"
    (($? > 128))
} 2>/dev/null

# Whether it uses CPU or waits for it. Then it may yet answer, and an end would only make others busier.
busy() {
    local state
    read -r _ _ state _ <"/proc/$$/stat" && [[ $state == R ]]
}

watch() {
    local misses=0
    until ((misses >= 20)) || { ((misses >= 2)) && ! busy; }; do
        if hangs; then ((misses += 1)); else misses=0 && sleep 0.75; fi
    done
    TZ=UTC printf '{"level":"error","time":"%(%FT%TZ)T","service":"%s","msg":"does not answer; killing it"}\n' -1 "$service"
    kill -KILL $$
}
watch &
exec "$@"
