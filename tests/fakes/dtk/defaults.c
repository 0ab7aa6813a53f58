/* SPDX-License-Identifier: Apache-2.0 */
/* Hygon DTK: HIP's calls in libgalaxyhip.so (hashcat/hashcat#4758); the device is a DCU
 * Z100, gfx906 (hashcat/hashcat#4758). */
#include "tests/fakes/common/config.h"

const fake_defaults_t fake_defaults = {
    .vendor = "dtk",
    .name = "Hygon DCU Z100",
    .arch = "gfx906",
    .mask = "HIP_VISIBLE_DEVICES",
    .rule = FAKE_MASK_STOP,
    .uuid_prefix = NULL,
    .memory = 1ull << 30,
    .first_bus = 0x61,
};
