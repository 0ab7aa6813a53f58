#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The C program of the README compiles without a warning, runs, and leaves no memory behind.
# usage: readme_sample.sh C_COMPILER SANITIZERS
set -euo pipefail
cc=$1 sanitize=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$YOKE_SOURCE_DIR/README.md" | sed '/^```/d' >"$work/sample.c"
[[ -s $work/sample.c ]] || { echo "the README has no C program"; exit 1; }
link=()
[[ $sanitize ]] && link=("-fsanitize=$sanitize")
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$YOKE_SOURCE_DIR/include" \
    "$work/sample.c" -L"$YOKE_BUILD_DIR" -lyoke_plan -lyoke "${link[@]}" \
    "-Wl,-rpath,$YOKE_BUILD_DIR" -o "$work/sample"
cd "$work"
./sample | tee out
grep -Eqx '[0-9]+\.[0-9]{3} s a step' out
# Without its data it says why, and fails.
if YOKE_DATA_DIR=$work ./sample >out 2>err; then
    echo "no failure without data"
    exit 1
fi
grep -q '^no plan: ' err || { cat err; exit 1; }
