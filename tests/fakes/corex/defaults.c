/* SPDX-License-Identifier: Apache-2.0 */
/* Iluvatar CoreX: the names of CUDA, in libraries of the same name; only the device's
 * name tells ("Iluvatar", LMCache/LMCache#4559). */
#include "tests/fakes/common/config.h"

const fake_defaults_t fake_defaults = {
    .vendor = "corex",
    .name = "Iluvatar BI-V100",
    .arch = "sm_70",
    .mask = "CUDA_VISIBLE_DEVICES",
    .rule = FAKE_MASK_STOP,
    .uuid_prefix = "GPU-",
    .memory = 1ull << 30,
    .first_bus = 0x71,
};
