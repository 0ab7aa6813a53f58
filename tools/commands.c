/* SPDX-License-Identifier: Apache-2.0 */
/* All subcommands, in the order of `yoke --help`; CMakeLists.txt names them as well. */
#include "tools/cli.h"

const yoke_command_t *const yoke_commands[] = {
    &yoke_inventory_command, &yoke_catalog_command, &yoke_model_command,
    &yoke_plan_command,      &yoke_explain_command, &yoke_check_command,
    &yoke_simulate_command,  &yoke_report_command,  &yoke_export_command,
    &yoke_calibrate_command, &yoke_bench_command,   NULL,
};
