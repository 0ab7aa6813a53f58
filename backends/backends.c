/* SPDX-License-Identifier: Apache-2.0 */
/* The list of backends: native runtimes before Level Zero before OpenCL. */
#include "backends/backend.h"

#include <string.h>

extern const yoke_backend_t yoke_backend_host, yoke_backend_cuda, yoke_backend_nvml,
    yoke_backend_hip, yoke_backend_dtk, yoke_backend_musa, yoke_backend_maca,
    yoke_backend_corex, yoke_backend_ascend, yoke_backend_cambricon,
    yoke_backend_level_zero, yoke_backend_opencl, yoke_backend_null;

const yoke_backend_t *const yoke_backends[] = {
    &yoke_backend_host,       &yoke_backend_cuda,
    &yoke_backend_nvml,       &yoke_backend_hip,
    &yoke_backend_dtk,        &yoke_backend_musa,
    &yoke_backend_maca,       &yoke_backend_corex,
    &yoke_backend_ascend,     &yoke_backend_cambricon,
    &yoke_backend_level_zero, &yoke_backend_opencl,
    &yoke_backend_null,       NULL,
};

const yoke_backend_t *yoke_backend_find(const char *name)
{
    for (size_t i = 0; yoke_backends[i] != NULL; i++)
        if (strcmp(yoke_backends[i]->name, name) == 0)
            return yoke_backends[i];
    return NULL;
}
