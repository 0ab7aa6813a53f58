# SPDX-License-Identifier: Apache-2.0
# The example of docs/kernel-dialect.md, as it stands there, on the devices that are here.
set -euo pipefail
if ! command -v cc >/dev/null; then
    echo "skipped: no C compiler named cc"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sed -n '/^```c$/,/^```$/p' "$YOKE_SOURCE_DIR/docs/kernel-dialect.md" | grep -v '^```' \
    >"$folder/sums.c"
expected=$(sed -n 's/^It prints `\(.*\)`\.$/\1/p' "$YOKE_SOURCE_DIR/docs/kernel-dialect.md")
[[ -s $folder/sums.c && -n $expected ]]
cc -std=c17 -Wall -Wextra -Werror -I"$YOKE_SOURCE_DIR/include" -o "$folder/sums" \
    "$folder/sums.c" -L"$YOKE_BUILD_DIR" -lyoke
export LD_LIBRARY_PATH=$YOKE_BUILD_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export YOKE_CACHE_DIR=$folder/cache
for device in host opencl; do
    # The second time from the cache.
    for time in first second; do
        if ! result=$("$folder/sums" $device 2>"$folder/errors"); then
            [[ $device == opencl ]] && grep -q 'no such device\|cannot open\|not found' \
                "$folder/errors" && echo "not tried: $device" && break
            cat "$folder/errors"
            exit 1
        fi
        [[ $result == "$expected" ]] || { echo "$device, $time: $result"; exit 1; }
    done
done
