#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that Open MPI's mpirun starts find each other by PMIx; MPICH's are told why not.
set -euo pipefail
meet=$1
if ! command -v mpirun.openmpi >/dev/null; then
    echo "skipped: Open MPI's mpirun is not installed"
    exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Leaks and threads of Open MPI's own are not looked for.
export ASAN_OPTIONS=detect_leaks=0
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT YOKE_COMM_SECRET
output=$(timeout 100 mpirun.openmpi -n 3 --oversubscribe "$meet" 2>&1) ||
    { echo "$output"; exit 1; }
for rank in 0 1 2; do
    [[ $(grep -c "^rank $rank of 3 met: " <<<"$output") == 2 ]] ||
        { echo "rank $rank did not meet the others twice:"; echo "$output"; exit 1; }
done
if command -v mpirun.mpich >/dev/null; then
    if output=$(timeout 100 mpirun.mpich -n 2 "$meet" 2>&1); then
        echo "ranks of MPICH's mpirun met without PMIx"
        exit 1
    fi
    grep -q "hydra" <<<"$output" ||
        { echo "MPICH's mpirun is not named:"; echo "$output"; exit 1; }
fi
