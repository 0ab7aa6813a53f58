#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance suite on Intel's OpenCL runtime for CPUs, which its makers publish as the
# Python package intel-opencl-rt (libsvml.so, which it needs, is in another package). It is
# kept in the build folder; 77: it cannot be had.
set -euo pipefail
test=$1 folder=$2
mkdir -p "$folder"
find_library() { find "$folder/venv" -name 'libintelocl.so' -print -quit 2>/dev/null || true; }
library=$(find_library)
if [[ -z $library ]]; then
    if ! { python3 -m venv "$folder/venv" &&
           timeout 120 "$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
               intel-opencl-rt intel-cmplr-lib-rt; } >"$folder/pip.log" 2>&1; then
        echo "skipped: the package intel-opencl-rt cannot be had: $(tail -1 "$folder/pip.log")"
        exit 77
    fi
    library=$(find_library)
fi
[[ -n $library ]] || { echo "skipped: no libintelocl.so in intel-opencl-rt"; exit 77; }
export OCL_ICD_VENDORS=$library YOKE_CACHE_DIR=$folder/cache
exec "$test" opencl
