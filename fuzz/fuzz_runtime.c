/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of the rules of a runtime. */
#include "fuzz/fuzz.h"
#include "partition/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_runtime_t runtime = {0};
    yoke_status_t status =
        yoke_runtime_parse("input", (const char *)data, size, &runtime);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, runtime.name);
        return 0;
    }
    fuzz_require(runtime.name != NULL && runtime.title != NULL, "a runtime has no name");
    yoke_runtime_clear(&runtime);
    return 0;
}
