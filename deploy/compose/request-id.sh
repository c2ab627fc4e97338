#!/bin/sh
# Fails unless its argument is a request id.
printf '%s' "$1" | grep -Eqx '[0-9a-f]{32}' || {
    echo "ID=$1 is no request id: it has 32 hexadecimal digits, and every error page shows its own." >&2
    exit 1
}
