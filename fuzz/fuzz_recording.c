/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of recorded traces, plain and compressed, and their replay. */
#include <math.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "partition/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_recording_t *recording = NULL;
    yoke_recording_result_t result = {0};
    yoke_recording_slow_t slow = {"", 0.5};
    yoke_status_t status =
        yoke_recording_parse("input", (const char *)data, size, &recording);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, recording);
        return 0;
    }
    status = yoke_recording_replay(recording, NULL, 0, &result);
    fuzz_require(status == YOKE_OK, "what was read cannot be run again");
    for (size_t i = 0; i < result.step_count; i++) {
        const yoke_recording_step_t *step = &result.steps[i];
        fuzz_require(isfinite(step->replayed) && step->replayed >= 0, "a step's time");
        fuzz_require(step->operations <= step->replayed * (1 + 1e-9) + 1e-9,
                     "without delays it takes longer");
        fuzz_require(step->changed == step->replayed, "changed without a change");
    }
    yoke_recording_result_free(&result);
    status = yoke_recording_replay(recording, &slow, 1, &result);
    fuzz_require(status == YOKE_OK || status == YOKE_ERR_USAGE, "a slower replay");
    for (size_t i = 0; status == YOKE_OK && i < result.step_count; i++)
        fuzz_require(result.steps[i].changed >=
                         result.steps[i].replayed * (1 - 1e-9) - 1e-9,
                     "slower devices make it faster");
    if (status == YOKE_OK)
        yoke_recording_result_free(&result);
    yoke_recording_free(recording);
    return 0;
}
