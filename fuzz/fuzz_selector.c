/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors, host lists and assumptions: text that users type. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "yoke/inventory.h"

static const char document[] =
    "{\"schema\":\"yoke-inventory/1\",\"nodes\":[{\"hosts\":\"npu-[01-04]\",\"devices\":["
    "{\"id\":\"0000:c1:00.0\",\"kind\":\"npu\",\"vendor\":\"huawei\",\"name\":\"910B3\"}]"
    "}]}";

static void try_hostlist(const char *text)
{
    yoke_strings_t hosts = {0}, again = {0};
    /* A million names are allowed, and slow; small lists show the same. */
    if (yoke_hostlist_count(text) > 2000 || yoke_hostlist_expand(text, &hosts) != YOKE_OK)
        return;
    char *compressed = yoke_hostlist_compress(&hosts);
    fuzz_require(compressed != NULL, "a host list cannot be compressed");
    if (hosts.count > 0) {
        fuzz_require(yoke_hostlist_expand(compressed, &again) == YOKE_OK,
                     "a compressed host list is refused");
        fuzz_require(again.count <= hosts.count, "a compressed host list has more names");
    }
    free(compressed);
    yoke_strings_free(&hosts);
    yoke_strings_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static yoke_inventory_t *fixed;
    if (fixed == NULL)
        fuzz_require(yoke_inventory_parse("fixed", document, strlen(document), &fixed) ==
                         YOKE_OK,
                     "the fixed document is refused");
    char *text = fuzz_string(data, size);
    bool match = false, other = false;
    yoke_inventory_device_t *device = &fixed->nodes[0].devices[0];
    yoke_status_t status = yoke_selector_match(text, "npu-01", device, &match);
    /* Whether a selector is well-formed does not depend on what it is held against. */
    fuzz_require(yoke_selector_match(text, "another", device, &other) == status,
                 "a selector is malformed for one host and not for another");
    fuzz_require(status == YOKE_OK || (!match && !other), "a malformed selector matches");

    yoke_inventory_t *own = NULL;
    if (yoke_inventory_parse("own", document, strlen(document), &own) == YOKE_OK)
        (void)yoke_inventory_assume(own, text);
    yoke_inventory_free(own);
    try_hostlist(text);
    free(text);
    return 0;
}
