#!/bin/sh
# Says what this machine has of what Longhand needs, and how to go on. Changes nothing.
PATH=$PATH:/usr/local/sbin:/usr/sbin
cd "$(dirname "$0")/.." || exit

has() { command -v "$1" >/dev/null; }
found() { printf '  found    %s\n' "$*"; }
missing() { printf '  missing  %s\n' "$*"; }

echo 'To run the stack in containers (make up):'
if ! has docker; then
    missing 'Docker: https://docs.docker.com/engine/install/, or run natively, see below'
elif ! docker version >/dev/null 2>&1; then
    missing 'a Docker engine that answers: start it, and see that you may use it (docker version)'
elif ! docker compose version >/dev/null 2>&1; then
    missing 'the compose plugin of Docker (version 2.24 or later)'
else
    found "Docker $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short)"
    containers=yes
fi

echo 'To run it natively (make up NATIVE=1):'
native=yes
if ! has node || ! has npm; then
    missing 'Node 20 or later with npm: https://nodejs.org/'
    native=
elif [ "$(node -p 'process.versions.node.split(".")[0] >= 20')" != true ]; then
    missing "Node 20 or later (this is $(node --version)): https://nodejs.org/"
    native=
else
    found "Node $(node --version), npm $(npm --version)"
fi
for program in nginx redis-server; do
    if has "$program"; then
        found "$program"
    elif [ "$(id -u)" = 0 ] && has apt-get; then
        missing "$program: make up installs it"
    else
        missing "$program: install it, on Debian as root: apt-get install $program"
        native=
    fi
done

echo 'To test (make test), natively and besides:'
browser=
for program in ${CHROMIUM:-chromium-headless-shell chromium}; do
    if [ -z "$browser" ] && has "$program"; then browser=$program; fi
done
if [ -n "$browser" ]; then
    found "$browser"
elif [ "$(id -u)" = 0 ] && has apt-get; then
    missing 'chromium-headless-shell: make test installs it'
else
    missing 'chromium-headless-shell: install it, or name a Chromium or Chrome with CHROMIUM=/path'
fi
if has k6; then
    found k6
else
    missing 'k6: the tests of the load scripts are skipped without it, see loadtest/README.md'
fi

if [ -n "${containers:-}" ] || [ -n "$native" ]; then
    echo 'Go on with: make up'
else
    echo 'Install one of the two, then: make up'
    exit 1
fi
