#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No lock and no allocation on enqueue: a program with its allocator and locks replaced.
set -euo pipefail
[[ -n ${3:-} ]] && { echo "the sanitizers replace the allocator themselves"; exit 77; }
LD_PRELOAD=$2 "$1"
