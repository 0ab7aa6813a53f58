/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of measured layer times: read, and what was read asked for. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "partition/layer_times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_layer_times_t *times = NULL;
    yoke_status_t status =
        yoke_layer_times_parse("fuzz", (const char *)data, size, &times);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, times);
        return 0;
    }
    fuzz_require(yoke_layer_times_title(times) != NULL, "no title");
    for (unsigned i = 0; i < 64; i++) {
        const yoke_layer_point_t *low = NULL, *high = NULL;
        double part = -1, seconds = 0;
        yoke_layer_lookup_t lookup = yoke_layer_times_find(
            times, (int)(i % 4), 1u << (i / 4 % 4), 1 + i / 16, &low, &high, &part);
        fuzz_require(part >= 0 && part <= 1, "a part that is none");
        fuzz_require(lookup == YOKE_LAYER_UNKNOWN || low != NULL, "found, and no point");
        fuzz_require(lookup != YOKE_LAYER_BETWEEN || high != NULL, "between one");
        if (yoke_layer_times_send(times, (int)(i % 2), 1, (int)(i / 2 % 2), 1,
                                  ldexp(1, (int)i), &seconds))
            fuzz_require(isfinite(seconds) && seconds > 0, "a send that takes no time");
    }
    yoke_layer_times_free(times);
    return 0;
}
