/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared launches: a kernel object of their own, whose arguments and group size stay
 * set, so that nobody else's launch changes them. */
#include "backends/level_zero/live.h"

#include <stdlib.h>

#include "base/error.h"

struct yoke_impl_prepared {
    const yoke_impl_device_t *device;
    yoke_ze_kernel_t kernel;
    yoke_ze_group_count_t groups;
};

yoke_status_t yoke_ze_prepared_geometry(yoke_impl_prepared_t *prepared,
                                        const yoke_launch_t *launch)
{
    yoke_status_t status =
        yoke_ze_set_group(prepared->device, prepared->kernel, launch->local);
    if (status == YOKE_OK)
        prepared->groups = (yoke_ze_group_count_t){launch->groups[0], launch->groups[1],
                                                   launch->groups[2]};
    return status;
}

yoke_status_t yoke_ze_prepared_argument(yoke_impl_prepared_t *prepared, size_t index,
                                        const yoke_argument_t *argument)
{
    return yoke_ze_set_argument(prepared->device, prepared->kernel, (uint32_t)index,
                                argument);
}

yoke_status_t yoke_ze_prepared_create(yoke_impl_kernel_t *kernel,
                                      const yoke_launch_t *launch,
                                      const yoke_argument_t *arguments, size_t count,
                                      yoke_impl_prepared_t **out_prepared)
{
    const yoke_ze_live_t *ze = kernel->device->ze;
    const yoke_ze_kernel_desc_t desc = {.stype = YOKE_ZE_KERNEL_DESC,
                                        .name = kernel->name};
    if (count != kernel->argument_count)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "level_zero: %zu arguments given to a kernel that "
                                      "takes %u",
                                      count, kernel->argument_count);
    yoke_impl_prepared_t *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return yoke_fail_memory();
    prepared->device = kernel->device;
    uint32_t code = ze->kernel_create(kernel->program->module, &desc, &prepared->kernel);
    if (code != YOKE_ZE_SUCCESS) {
        free(prepared);
        return yoke_ze_fail("zeKernelCreate", code);
    }
    yoke_status_t status = yoke_ze_prepared_geometry(prepared, launch);
    for (size_t i = 0; i < count && status == YOKE_OK; i++)
        status = yoke_ze_prepared_argument(prepared, i, &arguments[i]);
    if (status == YOKE_OK)
        *out_prepared = prepared;
    else
        yoke_ze_prepared_destroy(prepared);
    return status;
}

void yoke_ze_prepared_destroy(yoke_impl_prepared_t *prepared)
{
    prepared->device->ze->kernel_destroy(prepared->kernel);
    free(prepared);
}

yoke_status_t yoke_ze_prepared_launch(yoke_impl_queue_t *queue,
                                      yoke_impl_prepared_t *prepared)
{
    yoke_status_t status = yoke_ze_begin(queue);
    if (status != YOKE_OK)
        return status;
    uint32_t code = queue->ze->launch(queue->list, prepared->kernel, &prepared->groups,
                                      NULL, 0, NULL);
    return code == YOKE_ZE_SUCCESS
               ? YOKE_OK
               : yoke_ze_fail("zeCommandListAppendLaunchKernel", code);
}
