#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The libraries export names that begin with yoke_, and have the soname of their version.
set -euo pipefail
status=0
for library in "$@"; do
    names=$(nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }')
    # The sanitizers have run-time parts in what they instrument.
    foreign=$(grep -vE '^yoke_|^YOKE_[0-9.]+$|^__(asan|ubsan|sanitizer|sancov|odr)' \
        <<<"$names" || true)
    if [[ $foreign ]]; then
        echo "$library exports names that do not begin with yoke_:" $foreign
        status=1
    fi
    if ! grep -q '^yoke_' <<<"$names"; then
        echo "$library exports nothing"
        status=1
    fi
    if ! grep -qE 'SONAME.*\[libyoke(_plan)?\.so\.0\]' <<<"$(readelf -d "$library")"; then
        echo "$library: no soname libyoke*.so.0"
        status=1
    fi
done
exit $status
