#!/bin/sh
# Installs missing programs from Debian packages: deploy/machine/packages.sh nginx redis-server nghttpd=nghttp2-server
# PROGRAM=PACKAGE names a package that differs from its program.
# Does nothing unless run as root on Debian or Ubuntu.
set -eu
PATH=$PATH:/usr/local/sbin:/usr/sbin

missing=
for program; do
    command -v "${program%=*}" >/dev/null || missing="$missing ${program#*=}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then exit 0; fi

echo "Installing$missing from Debian's packages."
# Keep the packages from starting servers.
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
    echo "Installing$missing from Debian's packages failed. The full log is in $log." >&2
    exit 1
fi
rm -f "$log"
# Keep the servers from starting at boot.
if [ -d /run/systemd/system ]; then
    for program in $missing; do systemctl disable --quiet "$program" 2>/dev/null || true; done
fi
