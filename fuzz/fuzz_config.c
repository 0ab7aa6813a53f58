/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of configuration files. */
#include <string.h>

#include "base/config.h"
#include "fuzz/fuzz.h"

static yoke_status_t visit(void *context, const char *key, const char *value, size_t line)
{
    char variable[64], hint[128];
    const yoke_setting_t *setting = yoke_setting_find(key);
    fuzz_require(setting != NULL && line > *(size_t *)context, "a line that cannot be");
    fuzz_require(yoke_setting_check(setting, value, hint) == NULL,
                 "a bad value came through");
    fuzz_require(strncmp(yoke_setting_variable(key, variable), "YOKE_", 5) == 0,
                 "bad variable");
    *(size_t *)context = line;
    return YOKE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t last = 0;
    yoke_status_t status =
        yoke_config_parse("input", (const char *)data, size, visit, &last);
    if (status != YOKE_OK)
        fuzz_require_failure(status, NULL);
    return 0;
}
