/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a launcher: lines NAME=VALUE. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "ucx_comm/control/rendezvous.h"

static char *lines[32];
static size_t line_count;

static const char *get_variable(const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < line_count; i++)
        if (strncmp(lines[i], name, size) == 0 && lines[i][size] == '=')
            return lines[i] + size + 1;
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_environment_t environment = {.rank = -7};
    char *text = fuzz_string(data, size), *rest = text;
    line_count = 0;
    while (rest != NULL && line_count < 32)
        lines[line_count++] = strsep(&rest, "\n");
    yoke_status_t status = yoke_environment_read(get_variable, &environment);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, NULL);
        fuzz_require(environment.rank == -7, "refused variables have set the output");
    } else if (environment.found) {
        fuzz_require(environment.rank >= 0 && environment.rank < environment.size &&
                         environment.size <= YOKE_RANKS_LIMIT && environment.port != 0,
                     "variables beyond their limits are taken");
    }
    free(text);
    return 0;
}
