#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same plans, byte for byte, from other compilers, optimisation levels and surroundings:
# the code that computes and prints is built again in several ways, linked to the rest of
# this build, and prints the plans of test_plans.c.
# usage: determinism.sh TEST_PLANS OBJECT:OBJECT:... LIBRARY...
set -euo pipefail
reference=$1 objects=${2//:/ }
shift 2
libraries=("$@")
cd "$YOKE_SOURCE_DIR"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# What computes, decides and prints; readers and checkers have no part in a plan's bytes.
shopt -s extglob
rebuilt=(partition/!(check*|explain*|*_read|*_print|replay|recording*|renew|infeasible|failure|faults|split).c
         costmodel/{cost,memory,rates,shard,collective,constants}.c base/{text,json,quantity}.c)
# Objects of the sources that are not built again.
rest=()
for object in $objects; do
    room=${object##*/CMakeFiles/yoke_}
    source=${room%%.dir/*}/$(basename "$object" .o)
    [[ " ${rebuilt[*]} " == *" $source "* ]] || rest+=("$object")
done
tests=(tests/partition/{test_plans,instances,brute_force}.c)

compile() { # NAME COMPILER FLAG...
    local name=$1 compiler=$2
    shift 2
    mkdir "$folder/$name"
    printf '%s\n' "${rebuilt[@]}" "${tests[@]}" |
        xargs -P "$(nproc)" -I{} sh -c 'out=$1; shift; exec "$@" -c {} -o "$out/$(echo {} | tr / _).o"' \
            - "$folder/$name" "$compiler" -std=c17 -D_GNU_SOURCE -DYOKE_VERSION_STRING='"0.1.0"' \
            -ffp-contract=off -I. -Iinclude "$@"
    "$compiler" -o "$folder/$name/print" "$folder/$name"/*.o "${rest[@]}" "${libraries[@]}"
}

compare() { # NAME COMMAND...
    local name=$1
    shift
    if ! "$@" print >"$folder/$name.txt"; then
        echo "$name: failed"
        failed=1
    elif ! cmp -s "$folder/plain.txt" "$folder/$name.txt"; then
        echo "$name: other plans:"
        diff "$folder/plain.txt" "$folder/$name.txt" | head -20 || true
        failed=1
    else
        echo "$name: the same bytes"
    fi
}

"$reference" print >"$folder/plain.txt"
plans=$(grep -c '"schema": "yoke-plan' "$folder/plain.txt")
echo "$plans plans"
((plans > 20)) || { echo "too few plans to show anything"; exit 1; }

compare malloc-filled env MALLOC_PERTURB_=85 "$reference"
compare other-locale env LC_ALL=C.UTF-8 LANG=tr_TR.UTF-8 "$reference"
native=$(grep -qw fma /proc/cpuinfo 2>/dev/null && echo -march=native || true)
compile gcc-O0 gcc -O0
compile gcc-O3 gcc -O3 -fno-ivopts $native
compare gcc-O0 "$folder/gcc-O0/print"
compare "gcc-O3" "$folder/gcc-O3/print"
if command -v clang >/dev/null; then
    compile clang-O2 clang -O2 $native
    compare clang-O2 "$folder/clang-O2/print"
else
    echo "clang: not installed, not compared"
fi
exit $failed
