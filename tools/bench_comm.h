/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_BENCH_COMM_COMMAND_H
#define YOKE_TOOLS_BENCH_COMM_COMMAND_H

#include "tools/cli.h"

/* `yoke bench comm`: checks the options and becomes yoke-bench-comm. Returns an exit code
 * where it cannot. */
int yoke_bench_comm_run(const yoke_command_t *command, const yoke_args_t *args);

#endif
