/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of plan documents. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "yoke/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_plan_t *first = NULL, *second = NULL;
    char *text = NULL, *again = NULL;
    yoke_status_t status = yoke_plan_parse("input", (const char *)data, size, &first);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, first);
        return 0;
    }
    fuzz_require(yoke_plan_text(first, &text) == YOKE_OK, "it cannot be written");
    status = yoke_plan_parse("again", text, strlen(text), &second);
    fuzz_require(status == YOKE_OK, "what was written is refused");
    fuzz_require(yoke_plan_text(second, &again) == YOKE_OK, "it cannot be written twice");
    fuzz_require(strcmp(text, again) == 0, "reading and writing changes the document");
    yoke_plan_free(first);
    yoke_plan_free(second);
    free(text);
    free(again);
    return 0;
}
