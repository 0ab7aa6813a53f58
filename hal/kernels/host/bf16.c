/* SPDX-License-Identifier: Apache-2.0 */
#define YO_ELEMENT 3
#include "hal/kernels/host/element.h"

YOKE_HOST_KERNELS(yoke_host_kernels_bf16);
