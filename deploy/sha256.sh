#!/bin/sh
# sha256sum, or on macOS what it has instead.
if command -v sha256sum >/dev/null; then exec sha256sum "$@"; else exec shasum -a 256 "$@"; fi
