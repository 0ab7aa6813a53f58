#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The libraries export names that begin with yoke_, and have the soname of their version.
set -euo pipefail
status=0
for library in "$@"; do
    foreign=$(nm -D --defined-only "$library" | awk '{print $NF}' |
        grep -vE '^yoke_|^YOKE_[0-9.]+$' || true)
    if [[ $foreign ]]; then
        echo "$library exports names that do not begin with yoke_:" $foreign
        status=1
    fi
    if ! nm -D --defined-only "$library" | grep -q ' yoke_'; then
        echo "$library exports nothing"
        status=1
    fi
    if ! readelf -d "$library" | grep -qE 'SONAME.*\[libyoke(_plan)?\.so\.0\]'; then
        echo "$library: no soname libyoke*.so.0"
        status=1
    fi
done
exit $status
