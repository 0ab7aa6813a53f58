/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of measured runs, of both forms: read, and what was read predicted. */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "partition/run_errors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static yoke_profiles_t profiles;
    static int ready;
    if (!ready)
        fuzz_require(yoke_profiles_read(NULL, &profiles) == YOKE_OK, "no profiles");
    ready = 1;
    yoke_csv_t csv = {0};
    yoke_run_set_t set = {0};
    yoke_status_t status = yoke_csv_parse("fuzz", (const char *)data, size, &csv);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, csv.cells);
        return 0;
    }
    size_t rows = csv.rows;
    status = yoke_run_set_read(&csv, &profiles, &set);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, set.runs);
        return 0;
    }
    fuzz_require(set.run_count + set.miss_count == rows, "a row is neither run nor miss");
    for (size_t i = 0; i < set.run_count; i++) {
        yoke_run_result_t result = {0};
        const yoke_run_t *run = &set.runs[i];
        if (run->pp > 64 || run->global_batch / run->dp / run->micro_batch > 1e4)
            continue; /* long to simulate */
        if (yoke_run_predict(run, &run->constants, &result) == YOKE_OK)
            fuzz_require(result.time > 0 && result.memory > 0, "a time that is none");
    }
    yoke_run_set_free(&set);
    return 0;
}
