/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of safetensors files: no entry may lead out of the index's folder. */
#include <string.h>

#include "costmodel/model_safetensors.h"
#include "fuzz/fuzz.h"

static bool leaves_folder(const char *file)
{
    if (file[0] == '/' || file[0] == '\0')
        return true;
    for (const char *part = file; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_safetensors_t index = {0};
    yoke_status_t status =
        yoke_safetensors_parse_index("input", (const char *)data, size, &index);
    if (status != YOKE_OK)
        fuzz_require_failure(status, index.entries);
    for (size_t i = 0; status == YOKE_OK && i < index.count; i++)
        fuzz_require(!leaves_folder(index.entries[i].file), "a file outside the folder");
    yoke_safetensors_free(&index);
    return 0;
}
