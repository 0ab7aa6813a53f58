#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install, move the tree, build against it in both ways, run the command from it.
# usage: install_tree.sh C_COMPILER CXX_COMPILER SANITIZERS
set -euo pipefail
cc=$1 cxx=$2 sanitize=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-Wall -Wextra -Wpedantic -Werror)
link=()
[[ $sanitize ]] && link=("-fsanitize=$sanitize")

fail() {
    echo "FAILED: $*"
    exit 1
}

cmake --install "$YOKE_BUILD_DIR" --prefix "$work/first" >"$work/install.log" ||
    { cat "$work/install.log"; fail "cmake --install"; }
mv "$work/first" "$work/moved"
prefix=$work/moved
libdir=$(dirname "$(find "$prefix" -name 'libyoke.so' | head -1)")

# Nothing that the tests use to find the source tree is left.
unset YOKE_DATA_DIR YOKE_COMMAND YOKE_PROBE_HELPER LD_LIBRARY_PATH
mkdir "$work/outside"
cp "$here/use.c" "$work/outside/use.c"
cp "$here/use.c" "$work/outside/use.cc"
cp "$here/consumer.cmake" "$work/outside/CMakeLists.txt"
cd "$work/outside"

echo "== pkg-config"
export PKG_CONFIG_PATH=$libdir/pkgconfig
version=$(pkg-config --modversion yoke-plan)
read -ra cflags <<<"$(pkg-config --cflags yoke-plan)"
read -ra libs <<<"$(pkg-config --libs yoke-plan)"
case " ${cflags[*]} ${libs[*]} " in
*"$YOKE_SOURCE_DIR"* | *"$YOKE_BUILD_DIR"*) fail "pkg-config points into the build" ;;
esac
"$cc" -std=c11 "${flags[@]}" "${cflags[@]}" use.c "${libs[@]}" "${link[@]}" \
    "-Wl,-rpath,$libdir" -o use_c
"$cxx" -std=c++17 "${flags[@]}" "${cflags[@]}" use.cc "${libs[@]}" "${link[@]}" \
    "-Wl,-rpath,$libdir" -o use_cxx
for program in ./use_c ./use_cxx; do
    [[ $($program) == "$version" ]] || fail "$program does not run against $libdir"
done
if [[ -f $PKG_CONFIG_PATH/yoke-comm.pc ]]; then
    cp "$here/use_comm.c" use_comm.c
    cp "$here/use_comm.c" use_comm.cc
    read -ra cflags <<<"$(pkg-config --cflags yoke-comm)"
    read -ra libs <<<"$(pkg-config --libs yoke-comm)"
    "$cc" -std=c11 "${flags[@]}" "${cflags[@]}" use_comm.c "${libs[@]}" "${link[@]}" \
        "-Wl,-rpath,$libdir" -o use_comm_c
    "$cxx" -std=c++17 "${flags[@]}" "${cflags[@]}" use_comm.cc "${libs[@]}" "${link[@]}" \
        "-Wl,-rpath,$libdir" -o use_comm_cxx
    for program in ./use_comm_c ./use_comm_cxx; do
        [[ $($program) == 42 ]] || fail "$program does not run against $libdir"
    done
fi

echo "== find_package"
cmake -S . -B build -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_PREFIX_PATH="$prefix" -DLINK_FLAGS="${link[*]:-}" >"$work/consumer.log" 2>&1 ||
    { cat "$work/consumer.log"; fail "find_package(yoke)"; }
cmake --build build >"$work/consumer.log" 2>&1 || { cat "$work/consumer.log"; fail "build"; }
for program in build/use_c build/use_cxx; do
    [[ $($program) == "$version" ]] || fail "$program does not run"
done

echo "== the command"
yoke=$prefix/bin/yoke
[[ $("$yoke" --version) == "yoke $version" ]] || fail "yoke --version"
"$yoke" --help >/dev/null
commands=$("$yoke" --dump-commands | python3 -c 'import json, sys
print(*[command["name"] for command in json.load(sys.stdin)])')
for command in $commands; do
    [[ -f $prefix/share/man/man1/yoke-$command.1 ]] || fail "no manual page of yoke $command"
done
[[ -f $prefix/share/man/man1/yoke.1 ]] || fail "no manual page"
[[ -f $prefix/share/bash-completion/completions/yoke ]] || fail "no completion"
[[ -f $prefix/share/doc/yoke/LICENSE ]] || fail "no licence"
[[ -d $prefix/share/yoke/schema ]] || fail "no schemas"
python3 "$YOKE_SOURCE_DIR/tests/docs/links.py" "$prefix/share/doc/yoke" ||
    fail "links of the installed documentation"

# PMIx lies in a folder of the system that the dynamic linker does not look into.
system=$(pkg-config --variable=libdir pmix 2>/dev/null || true)
for file in "$yoke" "$libdir"/libyoke*.so; do
    found=$(readelf -d "$file")
    [[ $system ]] && found=${found//"$system:"/}
    grep -q "RUNPATH.*\[\$ORIGIN[^:]*\]" <<<"$found" ||
        fail "$file: its library path is not relative: $(readelf -d "$file" | grep PATH)"
done
"$yoke" catalog >/dev/null || fail "yoke catalog"
# Some runtime of this machine may misbehave: 5 is a result all the same.
"$yoke" inventory --json - >inventory.json || [[ $? == 5 ]] || fail "yoke inventory"
grep -q '"runtime": "host"' inventory.json || fail "yoke inventory does not list the host"
"$yoke" plan --model gpt2 --cluster a100-v100 --dtype fp16 --json plan.json >/dev/null ||
    fail "yoke plan"
"$yoke" check plan.json --model gpt2 --cluster a100-v100 >/dev/null || fail "yoke check"

echo "== its data are its own"
mv "$prefix/share/yoke" "$prefix/share/gone"
if "$yoke" catalog >/dev/null 2>&1; then
    fail "yoke catalog works without its data: it took them from elsewhere"
fi
echo "ok"
