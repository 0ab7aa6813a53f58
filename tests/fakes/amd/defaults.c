/* SPDX-License-Identifier: Apache-2.0 */
/* HIP_VISIBLE_DEVICES: "GPU isolation techniques" of the ROCm documentation. */
#include "tests/fakes/common/config.h"

const fake_defaults_t fake_defaults = {
    .vendor = "amd",
    .name = "AMD Instinct MI250X",
    .arch = "gfx90a",
    .mask = "HIP_VISIBLE_DEVICES",
    .rule = FAKE_MASK_STOP,
    .uuid_prefix = "GPU-",
    .memory = 1ull << 30,
    .first_bus = 0x31,
};
