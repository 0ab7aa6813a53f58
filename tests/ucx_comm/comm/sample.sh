#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first program of docs/comm.md, as it stands there, on three ranks that meet by the
# variables of torchrun.
# usage: sample.sh CC LIBRARY_FOLDER [SANITIZERS]
set -euo pipefail
cc=$1 libraries=$2 sanitize=${3:+-fsanitize=$3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```c/ && !done { on = 1; next } /^```/ && on { on = 0; done = 1 } on' \
    "$YOKE_SOURCE_DIR/docs/comm.md" >"$work/sum.c"
grep -q yoke_comm_create_from_env "$work/sum.c"
$cc $sanitize -std=c11 -Wall -Wextra -Werror -I "$YOKE_SOURCE_DIR/include" "$work/sum.c" \
    -L "$libraries" -lyoke_comm -lyoke -Wl,-rpath,"$libraries" -o "$work/sum"

if "$work/sum" 2>"$work/alone"; then
    echo "without ranks it should have failed" >&2
    exit 1
fi
grep -q RANK "$work/alone" || { cat "$work/alone"; exit 1; }

# A port that is free now may not be in a moment: another try then.
for try in 1 2 3; do
    export MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + (RANDOM % 20000))) WORLD_SIZE=3
    export YOKE_COMM_SECRET=0123456789abcdef0123 YOKE_COMM_SETUP_TIMEOUT=60
    pids=() failed=0
    for rank in 0 1 2; do
        RANK=$rank timeout 100 "$work/sum" >"$work/out.$rank" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    ((failed)) || break
done
cat "$work"/out.*
for rank in 0 1 2; do
    grep -qx "rank $rank of 3: 6" "$work/out.$rank"
done
