#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The fakes' prototypes against the vendors' headers, where those are installed.
cd "$(dirname "$0")" || exit 1
compiler=${CXX:-$(command -v g++ || command -v c++ || command -v clang++)}
[ -n "$compiler" ] || { echo "skipped: no C++ compiler"; exit 77; }
done=0 failed=0
check() {
    local header=$1 source=$2
    shift 2
    if [ ! -e "$header" ]; then
        echo "not checked: $source ($header is not installed)"
        return
    fi
    done=1
    "$compiler" -std=c++17 -fsyntax-only -w "$@" -I. "$source" || failed=1
}
check /usr/local/cuda/include/cuda.h header_check_cuda.cpp -I/usr/local/cuda/include
check /usr/include/hip/hip_runtime_api.h header_check_hip.cpp
[ $done = 1 ] || { echo "skipped: no vendor's header is installed"; exit 77; }
exit $failed
