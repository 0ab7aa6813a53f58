#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs of docs/hal.md, built against the installed tree by pkg-config and run: the first
# with two runtimes, the host and a FAKE CUDA, and OpenCL where it is; the second, of operators.
# usage: hal_sample.sh C_COMPILER SANITIZERS
set -euo pipefail
cc=$1 sanitize=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$YOKE_BUILD_DIR" --prefix "$work/prefix" >"$work/install.log"
libdir=$(dirname "$(find "$work/prefix" -name libyoke.so | head -1)")
export PKG_CONFIG_PATH=$libdir/pkgconfig YOKE_CACHE_DIR=$work/cache
program() { # program NUMBER FILE
    awk -v wanted="$1" '/^```c$/ { n++; inside = 1; next } /^```$/ { inside = 0 }
        inside && n == wanted' "$YOKE_SOURCE_DIR/docs/hal.md" >"$2"
    [[ -s $2 ]] || { echo "docs/hal.md has no C program $1"; exit 1; }
}
program 1 "$work/two.c"
program 2 "$work/operator.c"
link=()
[[ $sanitize ]] && link=("-fsanitize=$sanitize")
cd "$work"
read -ra flags <<<"$(pkg-config --cflags --libs yoke)"
for name in two operator; do
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror $name.c "${flags[@]}" "${link[@]}" \
        "-Wl,-rpath,$libdir" -o $name
done

try() { # try DEVICE
    ./two "$1" >out 2>errors || { cat out errors; echo "failed with $1"; exit 1; }
    cat out
    grep -qx '0 of 10000 numbers are wrong; 40000 bytes of the caller.s memory in use' out
    grep -q '^refused: .*4' out
    grep -qx '0 bytes in use, stream given back 1 time' out
    grep -q "^framework's log: " errors
}
export LD_LIBRARY_PATH=$YOKE_BUILD_DIR/tests/fakes/lib/nvidia:${LD_LIBRARY_PATH:-}
YOKE_FAKES_CACHE=$work/fakes try cuda # a fake
if ldconfig -p | grep -q libpocl.so.2; then
    OCL_ICD_VENDORS=pocl.icd POCL_CACHE_DIR=$work/pocl try opencl
else
    echo "not tried: opencl (no PoCL)"
fi
# One that is not there: a message, and nothing left behind.
if ./two nowhere >out 2>errors; then
    echo "no failure without a device"
    exit 1
fi
grep -q '^failed: .*nowhere' errors
# Those that the page says cannot run it, with the message that it gives.
for name in host null; do
    if ./two $name >out 2>errors; then
        echo "docs/hal.md says that ./two $name fails"
        exit 1
    fi
    grep -q "^failed: yoke_queue_native: $name:0 has no such native objects" errors ||
        { cat errors; exit 1; }
done

[[ $(./operator) == 'axpy by kernel: 0 of 1000 numbers are wrong' ]]
[[ $(./operator null) == 'axpy by host: 0 of 1000 numbers are wrong' ]]
[[ $(YOKE_FAKES_CACHE=$work/fakes ./operator cuda) == 'axpy by kernel: 0 of 1000 numbers are wrong' ]]
