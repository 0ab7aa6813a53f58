/* SPDX-License-Identifier: Apache-2.0 */
/* MetaX. No variable that hides devices is sourced; the file's `mask` line names one. */
#include "tests/fakes/common/config.h"

const fake_defaults_t fake_defaults = {
    .vendor = "maca",
    .name = "MetaX C500",
    .arch = "xcore1000",
    .mask = NULL,
    .rule = FAKE_MASK_STOP,
    .uuid_prefix = NULL,
    .memory = 1ull << 30,
    .first_bus = 0x91,
};
