#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A backend of somebody else, built as an outside project would: against the installed
# headers and library, and loaded under the rules of yoke_backend_load().
set -euo pipefail
cc=$1 sanitize=${2:-}
[[ -n $sanitize ]] && { echo "needs a library without sanitizers"; exit 77; }
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$YOKE_BUILD_DIR" --prefix "$work/prefix" >"$work/install.log"
export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name yoke.pc)")
flags="$(pkg-config --cflags --libs yoke) -Wl,-rpath,$(pkg-config --variable=libdir yoke)"

# The outside project has copies; nothing of the source tree is on its path.
cp "$YOKE_SOURCE_DIR/backends/null/null_live.c" "$work/own.c"
cp "$YOKE_SOURCE_DIR"/tests/live/plugin/*.c "$work"
cd "$work"
own() { # own NAME OUTPUT flags...
    "$cc" -std=c17 -Wall -Wextra -Werror -shared -fPIC -DYOKE_NULL_PLUGIN \
        -DYOKE_NULL_NAME="\"$1\"" own.c -o "$2" $flags "${@:3}"
}
mkdir folder open
own own folder/own.so
own second folder/second.so
"$cc" -std=c17 -Wall -Wextra -Werror use.c -o use $flags
"$cc" -std=c17 -shared -fPIC variants.c -o wrong_major.so -DMAJOR=2 $flags
"$cc" -std=c17 -shared -fPIC variants.c -o knows_none.so -DNO_TABLE $flags
"$cc" -std=c17 -shared -fPIC variants.c -o earlier.so -DEARLIER $flags
"$cc" -std=c17 -shared -fPIC variants.c -o incomplete.so -DINCOMPLETE $flags
"$cc" -shared -fPIC -x c /dev/null -o empty.so
echo "no library" >text.so

unset YOKE_PLUGIN_DIR
status=0
expect() { # expect STATUS 'text of the message' use-arguments...
    local answer
    answer=$(./use "${@:3}" 2>&1) || true
    if [[ $answer != *"$1"* || $answer != *"$2"* ]]; then
        echo "use ${*:3}: expected $1 and '$2', got: $answer"
        status=1
    fi
}
expect YOKE_OK "own:0 works" load folder/own.so own
expect YOKE_OK "own:0 works" load folder/own.so load folder/own.so own # loaded before
expect YOKE_OK "second:0 works" load folder/own.so load folder/second.so second
expect YOKE_OK "earlier:0 works" load earlier.so earlier
expect YOKE_ERR_NOT_FOUND "gone.so" load gone.so
expect YOKE_ERR_NOT_FOUND "not a regular file" load folder
expect YOKE_ERR_UNSUPPORTED "ABI 2" load wrong_major.so
expect YOKE_ERR_UNSUPPORTED "does not know ABI 1" load knows_none.so
expect YOKE_ERR_UNSUPPORTED "'buffer_create'" load incomplete.so
expect YOKE_ERR_UNSUPPORTED "yoke_backend_entry" load empty.so
expect YOKE_ERR_UNSUPPORTED "text.so" load text.so
own null taken.so
expect YOKE_ERR_USAGE "already" load taken.so

# Who else may write it?
cp folder/own.so world.so && chmod 666 world.so
expect YOKE_ERR_USAGE "others may write it (mode 0666)" load world.so
cp folder/own.so group.so && chmod 664 group.so
expect YOKE_ERR_USAGE "mode 0664" load group.so
cp folder/own.so open/own.so && chmod 777 open
expect YOKE_ERR_USAGE "$work/open: others may write it" load open/own.so
ln -s ../open/own.so folder/link.so
expect YOKE_ERR_USAGE "$work/open: others may write it" load folder/link.so
rm folder/link.so
chmod 1777 open
expect YOKE_OK "own:0 works" load open/own.so own
if [[ $(id -u) == 0 ]]; then
    cp folder/own.so nobody.so && chown 65534 nobody.so
    expect YOKE_ERR_USAGE "belongs to user 65534" load nobody.so
fi

# The folder of the setting: what cannot be loaded keeps nobody from the others.
cp world.so folder/aaa.so && chmod 666 folder/aaa.so
export YOKE_PLUGIN_DIR=$work/folder
expect YOKE_OK "second:0 works" second
expect YOKE_OK "aaa.so was not loaded" own
mkdir shared && cp folder/own.so folder/second.so shared && chmod 777 shared
export YOKE_PLUGIN_DIR=$work/shared
expect YOKE_OK "nothing is loaded from $work/shared: $work/shared: others may" null
count=$(./use null 2>&1 | grep -c "^yoke: .*others may write") || true
[[ $count == 1 ]] || { echo "a folder that others may write: told $count times"; status=1; }
export YOKE_PLUGIN_DIR=$work/nowhere
expect YOKE_OK "null:0 works" null
exit $status
