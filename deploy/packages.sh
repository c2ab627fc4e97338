#!/bin/sh
# Installs the given programs from Debian's packages of the same names, those that are missing:
#   deploy/packages.sh nginx redis-server
# As root on Debian or Ubuntu only; elsewhere it leaves them to the program that needs them, which says so.
set -eu
PATH=$PATH:/usr/local/sbin:/usr/sbin

missing=
for program; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then exit 0; fi

echo "Installing$missing from Debian's packages."
# The packages would start servers of their own, on the usual ports: this keeps them from it.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086 # one word for each package
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log"
    echo "Debian's packages could not be installed:$missing. The whole log is in $log." >&2
    exit 1
fi
rm -f "$log"
# Nor are they to start with the machine.
if [ -d /run/systemd/system ]; then
    for program in $missing; do systemctl disable --quiet "$program" 2>/dev/null || true; done
fi
