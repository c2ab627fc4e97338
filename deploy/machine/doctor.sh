#!/bin/sh
# Reports which requirements of Longhand this machine lacks, and how to install them. Changes nothing.
PATH=$PATH:/usr/local/sbin:/usr/sbin
cd "$(dirname "$0")/../.." || exit
ready=

has() { command -v "$1" >/dev/null; }
found() { printf '  found    %s\n' "$*"; }
missing() { printf '  missing  %s\n' "$*"; }

# check PROGRAM…: fails if a program is missing.
check() {
    status=0
    for program; do
        if has "$program"; then found "$program"; else missing "$program: on Debian, apt-get install $program" && status=1; fi
    done
    return $status
}

echo 'To run the stack in containers (make up):'
if ! has docker; then
    missing 'Docker: https://docs.docker.com/engine/install/, or run natively, see below'
elif ! docker version >/dev/null 2>&1; then
    missing 'a running Docker engine: start it, and check your access with docker version'
elif ! docker compose version >/dev/null 2>&1; then
    missing "Docker's compose plugin (version 2.24 or later)"
else
    found "Docker $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short)"
    ready=yes
fi

echo 'To run it natively (make up NATIVE=1):'
if has npm && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; then
    found "Node $(node --version), npm $(npm --version)"
    node=yes
else
    missing 'Node 20 or later with npm: https://nodejs.org/'
    node=
fi
check nginx redis-server && ready=$ready$node

echo 'To store the tasks:'
# Five times maxmemory: the base and incremental files, a second copy of both during a rewrite, and a backup.
megabytes=$(($(sed -n 's/^maxmemory \([0-9]*\)mb$/\1/p' tasks/redis.conf) * 5))
free=$(df -Pm . | awk 'NR == 2 { print $4 }')
if [ "$free" -ge "$megabytes" ]; then
    found "$free MB of free disk space; a full store needs up to $megabytes MB"
else
    missing "disk space: $free MB free, but a full store needs up to $megabytes MB. Redis cannot save tasks on a full disk"
fi
if [ "$(cat /proc/sys/vm/overcommit_memory 2>/dev/null)" = 0 ]; then
    missing 'vm.overcommit_memory=1: without it, Redis may fail to rewrite a large file (sysctl vm.overcommit_memory=1)'
fi

echo 'To observe it natively (make observe), also:'
check prometheus prometheus-node-exporter mtail

echo 'To test (make test), also:'
if [ -n "$CHROMIUM" ] || ! has chromium; then check "${CHROMIUM:-chromium-headless-shell}"; else found chromium; fi
if has k6; then found k6; else missing 'k6: without it, the load script tests are skipped'; fi

if [ -z "$ready" ]; then
    echo 'Install Docker or the native programs, then run: make up'
    exit 1
fi
echo 'Ready. To start, run: make up'
