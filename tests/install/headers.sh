#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as C11 and as C++17, without a warning.
set -euo pipefail
cc=$1 cxx=$2
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I$YOKE_SOURCE_DIR/include"
cd "$YOKE_SOURCE_DIR/include"
for header in yoke/*.h; do
    # Twice: the include guard has to hold.
    program="#include \"$header\"
#include \"$header\"
int main(void) { return 0; }"
    "$cc" -std=c11 $flags -x c - <<<"$program"
    "$cxx" -std=c++17 $flags -x c++ - <<<"${program/void/}"
    echo "ok: $header"
done
