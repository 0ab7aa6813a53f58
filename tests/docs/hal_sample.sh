#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program of docs/hal.md, built against the installed tree by pkg-config and run with two
# runtimes: the host, and OpenCL where it is; else a FAKE CUDA.
# usage: hal_sample.sh C_COMPILER SANITIZERS
set -euo pipefail
cc=$1 sanitize=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$YOKE_BUILD_DIR" --prefix "$work/prefix" >"$work/install.log"
libdir=$(dirname "$(find "$work/prefix" -name libyoke.so | head -1)")
export PKG_CONFIG_PATH=$libdir/pkgconfig YOKE_CACHE_DIR=$work/cache
sed -n '/^```c$/,/^```$/p' "$YOKE_SOURCE_DIR/docs/hal.md" | sed '/^```/d' >"$work/two.c"
[[ -s $work/two.c ]] || { echo "docs/hal.md has no C program"; exit 1; }
link=()
[[ $sanitize ]] && link=("-fsanitize=$sanitize")
cd "$work"
read -ra flags <<<"$(pkg-config --cflags --libs yoke)"
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror two.c "${flags[@]}" "${link[@]}" \
    "-Wl,-rpath,$libdir" -o two

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
