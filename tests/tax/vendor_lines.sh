#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A CUDA-shaped vendor is a table and a few lines: at most 200, everything counted.
set -euo pipefail
code=0
for vendor in musa maca corex; do
    lines=$(cat "$YOKE_SOURCE_DIR/backends/$vendor/"* | wc -l)
    echo "backends/$vendor: $lines lines"
    if ((lines < 20 || lines > 200)); then
        echo "  that is not a vendor of at most 200 lines"
        code=1
    fi
done
exit "$code"
