/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters written as one line. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "yoke/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_inventory_t *inventory = NULL;
    char *line = fuzz_string(data, size);
    /* Names of files are read as files: not the subject here. */
    if (strchr(line, '/') != NULL || strcmp(line, "-") == 0 || access(line, F_OK) == 0) {
        free(line);
        return -1;
    }
    yoke_status_t status = yoke_cluster_load(line, &inventory);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, inventory);
    } else {
        char *text = NULL;
        yoke_inventory_t *again = NULL;
        fuzz_require(yoke_inventory_text(inventory, &text) == YOKE_OK,
                     "it cannot be written");
        fuzz_require(yoke_inventory_parse("again", text, strlen(text), &again) == YOKE_OK,
                     "the cluster of a line is refused as a document");
        yoke_inventory_free(again);
        free(text);
    }
    yoke_inventory_free(inventory);
    free(line);
    return 0;
}
