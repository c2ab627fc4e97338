#!/bin/sh
# sha256sum, or shasum on macOS.
if command -v sha256sum >/dev/null; then exec sha256sum "$@"; else exec shasum -a 256 "$@"; fi
