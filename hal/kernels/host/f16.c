/* SPDX-License-Identifier: Apache-2.0 */
#define YO_ELEMENT 2
#include "hal/kernels/host/element.h"

YOKE_HOST_KERNELS(yoke_host_kernels_f16);
