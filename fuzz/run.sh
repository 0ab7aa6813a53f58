#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run fuzzers, each for so many seconds, on their seeds; what is new goes to a scratch
# folder. A finding is left in the current folder and named.
# usage: fuzz/run.sh SECONDS FUZZER... (programs), or fuzz/run.sh SECONDS BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export YOKE_DATA_DIR=${YOKE_DATA_DIR:-$here/../data}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:intercept_tls_get_addr=0}
seconds=$1
shift
programs=("$@")
if [[ $# == 1 && -d $1 ]]; then
    programs=("$1"/fuzz/fuzz_*)
fi
status=0
for program in "${programs[@]}"; do
    [[ -x $program && -f $program ]] || continue
    name=$(basename "$program")
    corpus=$here/corpus/${name#fuzz_}
    dictionary=()
    [[ -f $here/${name#fuzz_}.dict ]] && dictionary=("-dict=$here/${name#fuzz_}.dict")
    found=$(mktemp -d)
    echo "== $name, $seconds s"
    # First every seed once, whatever the time.
    "$program" -rss_limit_mb=2048 -timeout=20 "$corpus"/* >"$found.log" 2>&1 &&
        "$program" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -max_len=16384 \
            -artifact_prefix="$name-" -print_final_stats=1 \
            "${dictionary[@]}" "$found" "$corpus" >"$found.log" 2>&1 || {
        status=1
        tail -n 60 "$found.log"
    }
    grep -E 'number_of_executed_units|new_units_added' "$found.log" || true
    rm -rf "$found" "$found.log"
done
exit $status
