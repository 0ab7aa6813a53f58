/* SPDX-License-Identifier: Apache-2.0 */
/* Moore Threads: MUSA_VISIBLE_DEVICES by the MUSA container toolkit's documentation. */
#include "tests/fakes/common/config.h"

const fake_defaults_t fake_defaults = {
    .vendor = "musa",
    .name = "MTT S4000",
    .arch = "mp_22",
    .mask = "MUSA_VISIBLE_DEVICES",
    .rule = FAKE_MASK_STOP,
    .uuid_prefix = NULL,
    .memory = 1ull << 30,
    .first_bus = 0x81,
};
