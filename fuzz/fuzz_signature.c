/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of kernels in the text of a program. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "hal/kernels/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_signatures_t found = {0};
    /* Of the exact size, so that a read past it is seen. */
    char *text = malloc(size > 0 ? size : 1);
    fuzz_require(text != NULL, "no memory");
    if (size > 0)
        memcpy(text, data, size);
    yoke_status_t status = yoke_signatures_read(text, size, &found);
    if (status != YOKE_OK)
        fuzz_require_failure(status, found.items);
    for (size_t i = 0; i < found.count; i++) {
        const yoke_signature_t *kernel = &found.items[i];
        fuzz_require(kernel->name[0] != '\0', "a kernel without a name");
        fuzz_require(yoke_signatures_find(&found, kernel->name) != NULL,
                     "a kernel is not found by its name");
        fuzz_require(kernel->count <= YOKE_MAX_ARGUMENTS, "too many parameters");
        for (uint32_t p = 0; p < kernel->count; p++) {
            const yoke_parameter_t *parameter = &kernel->parameters[p];
            fuzz_require(parameter->type[0] != '\0' && parameter->name[0] != '\0',
                         "a parameter without type or name");
            fuzz_require((strchr(parameter->type, '*') == NULL) ==
                             (parameter->kind == YOKE_ARGUMENT_VALUE),
                         "a pointer that is a value, or the reverse");
        }
    }
    yoke_signatures_free(&found);
    free(text);
    return 0;
}
