#!/bin/sh
# Explains one request to the stack in containers: asks every replica of the services, and reads the proxies' logs.
set -eu
id=$1
here=$(dirname "$0")
"$here/request-id.sh" "$id"
{
    # Before each record compose erases a line of the terminal.
    docker compose logs --no-log-prefix --no-color proxy | grep -o "{.*$id.*" || true
    for replica in $(docker compose ps --quiet expander tasks); do
        # The images have no HTTP client. A replica that does not answer explains nothing.
        docker exec "$replica" timeout 2 bash -c 'exec 3<>/dev/tcp/127.0.0.1/9464
            printf "GET /requests?id=%s HTTP/1.0\r\n\r\n" "$1" >&3
            sed "1,/^\r\$/d" <&3; echo' bash "$id" 2>/dev/null | grep '^\[' || true
    done
} | "$here/node.sh" shared/src/explain-main.ts
