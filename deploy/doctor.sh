#!/bin/sh
# Reports what this machine lacks to run Longhand, and how to get it. Changes nothing.
PATH=$PATH:/usr/local/sbin:/usr/sbin
cd "$(dirname "$0")/.." || exit

has() { command -v "$1" >/dev/null; }
found() { printf '  found    %s\n' "$*"; }
missing() { printf '  missing  %s\n' "$*"; }

# check PROGRAM TARGET HINT: fails where the program is missing and `make TARGET` cannot install it.
check() {
    if has "$1"; then
        found "$1"
    elif [ "$(id -u)" = 0 ] && has apt-get; then
        missing "$1: make $2 installs it"
    else
        missing "$1: $3"
        return 1
    fi
}

echo 'To run the stack in containers (make up):'
if ! has docker; then
    missing 'Docker: https://docs.docker.com/engine/install/, or run natively, see below'
elif ! docker version >/dev/null 2>&1; then
    missing 'a running Docker engine: start it, and check that you may use it (docker version)'
elif ! docker compose version >/dev/null 2>&1; then
    missing 'the compose plugin of Docker (version 2.24 or later)'
else
    found "Docker $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short)"
    containers=yes
fi

echo 'To run it natively (make up NATIVE=1):'
native=yes
if ! has node || ! has npm || [ "$(node -p 'process.versions.node.split(".")[0] >= 20')" != true ]; then
    missing "Node 20 or later with npm: https://nodejs.org/"
    native=
else
    found "Node $(node --version), npm $(npm --version)"
fi
for program in nginx redis-server; do
    check "$program" up "install it, on Debian as root: apt-get install $program" || native=
done

echo 'To keep the tasks:'
# Four times maxmemory: the base and the increments, and both again during a rewrite.
megabytes=$(($(sed -n 's/^maxmemory \([0-9]*\)mb$/\1/p' tasks/redis.conf) * 4))
free=$(df -Pm . | awk 'NR == 2 { print $4 }')
if [ "$free" -ge "$megabytes" ]; then
    found "$free MB of free disk; a full store needs up to $megabytes"
else
    missing "disk: $free MB are free, a full store needs up to $megabytes. Once the disk is full, nothing can be saved"
fi
if [ "$(cat /proc/sys/vm/overcommit_memory 2>/dev/null)" = 0 ]; then
    missing 'vm.overcommit_memory=1: without it Redis may fail to rewrite a big file (sysctl vm.overcommit_memory=1)'
fi

echo 'To observe it natively (make observe), also:'
for program in prometheus prometheus-redis-exporter; do
    check "$program" observe "install it, on Debian as root: apt-get install $program"
done

echo 'To test (make test), also:'
browser=${CHROMIUM:-chromium-headless-shell}
if [ -z "$CHROMIUM" ] && ! has "$browser" && has chromium; then browser=chromium; fi
check "$browser" test 'install it, or set CHROMIUM to the path of a Chromium or Chrome'
if has k6; then
    found k6
else
    missing 'k6: without it the tests of the load scripts are skipped, see loadtest/README.md'
fi

if [ -n "${containers:-}" ] || [ -n "$native" ]; then
    echo 'Ready. Start with: make up'
else
    echo 'Install one of the two, then: make up'
    exit 1
fi
