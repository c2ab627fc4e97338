#!/bin/sh
# Prints the applications' URLs: deploy/addresses.sh BIND, where BIND is the proxy's address in URL syntax.
set -eu
bind=$1

# Prints this machine's addresses in one family (inet or inet6), except those of Docker's bridges.
addresses() {
    ip -o address show scope global 2>/dev/null |
        grep -Ev '^[0-9]+: (docker|br-|veth)' | sed -n "s/.*[[:space:]]$1 \([0-9a-f.:]*\).*/\1/p" | grep -Ev '^(127\.|::1$|fe80:)'
}

# Prints an application's URLs: by name, then by port.
urls() {
    application=$1 port=$2 name=$3
    if [ -n "$name" ] && [ -n "${LONGHAND_HTTPS_PORT:-}" ]; then
        echo "https://$name:$LONGHAND_HTTPS_PORT/" | sed 's|:443/|/|'
    elif [ -n "$name" ] && [ -n "${LONGHAND_FRONT:-}" ]; then
        echo "https://$name/"
    elif [ -n "$name" ]; then
        echo "http://$name:$LONGHAND_PORT/"
    fi
    case $bind in
    127.0.0.1 | '[::1]' | 0.0.0.0 | '[::]')
        [ -n "$name" ] || echo "http://$application.localhost:$LONGHAND_PORT/"
        echo "http://localhost:$port/"
        ;;
    *) echo "http://$bind:$port/" ;;
    esac
    case $bind in
    0.0.0.0) for address in $(addresses inet); do echo "http://$address:$port/"; done ;;
    '[::]') for address in $(addresses inet6); do echo "http://[$address]:$port/"; done ;;
    esac
}

show() {
    label=$1
    for url in $(urls "$@"); do
        printf '  %-10s %s\n' "$label" "$url"
        label=
    done
}
show expander "$LONGHAND_EXPANDER_PORT" "${LONGHAND_EXPANDER_NAME:-}"
show tasks "$LONGHAND_TASKS_PORT" "${LONGHAND_TASKS_NAME:-}"
