/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES: "CUDA Environment Variables", CUDA C++ Programming Guide. */
#include "tests/fakes/common/config.h"

const fake_defaults_t fake_defaults = {
    .vendor = "nvidia",
    .name = "NVIDIA H100 80GB HBM3",
    .arch = "sm_90",
    .mask = "CUDA_VISIBLE_DEVICES",
    .rule = FAKE_MASK_STOP,
    .uuid_prefix = "GPU-",
    .memory = 1ull << 30,
    .first_bus = 0x41,
};
