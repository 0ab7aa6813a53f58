/* SPDX-License-Identifier: Apache-2.0 */
/* Raw program for Level Zero (specification 1.4): an immediate list, which orders its
 * commands itself where the driver is of specification 1.7 or later; before that a
 * barrier stands before every command. */
#include "bench/hal_tax.h"

#include <level_zero/ze_api.h>

static struct {
    __typeof__(&zeCommandListAppendLaunchKernel) launch;
    __typeof__(&zeCommandListAppendMemoryCopy) copy;
    __typeof__(&zeCommandListAppendMemoryFill) fill;
    __typeof__(&zeCommandListAppendBarrier) barrier;
    __typeof__(&zeEventHostReset) reset;
    ze_kernel_handle_t empty, kernel;
    ze_event_handle_t event;
    bool in_order;
} vendor;

static bool load(tax_t *tax, const char *prefix)
{
    __typeof__(&zeModuleCreate) module_create;
    __typeof__(&zeKernelCreate) kernel_create;
    __typeof__(&zeKernelSetArgumentValue) argument;
    __typeof__(&zeKernelSetGroupSize) group;
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = tax->binary_size,
                             .pInputModule = tax->binary,
                             .pBuildFlags = ""};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                               .pKernelName = "axpy"};
    ze_kernel_desc_t empty = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                              .pKernelName = "empty"};
    ze_module_handle_t module = NULL;
    if (tax->program == NULL)
        return true;
    return TAX_FIND(tax, prefix, "ModuleCreate", module_create) &&
           TAX_FIND(tax, prefix, "KernelCreate", kernel_create) &&
           TAX_FIND(tax, prefix, "KernelSetArgumentValue", argument) &&
           TAX_FIND(tax, prefix, "KernelSetGroupSize", group) &&
           module_create(tax->native.context, tax->native.handle, &desc, &module, NULL) ==
               ZE_RESULT_SUCCESS &&
           kernel_create(module, &empty, &vendor.empty) == ZE_RESULT_SUCCESS &&
           group(vendor.empty, TAX_GROUP, 1, 1) == ZE_RESULT_SUCCESS &&
           kernel_create(module, &kernel, &vendor.kernel) == ZE_RESULT_SUCCESS &&
           argument(vendor.kernel, 0, sizeof tax->factor, &tax->factor) ==
               ZE_RESULT_SUCCESS &&
           argument(vendor.kernel, 1, sizeof(void *), &tax->native_x) ==
               ZE_RESULT_SUCCESS &&
           argument(vendor.kernel, 2, sizeof(void *), &tax->native_y) ==
               ZE_RESULT_SUCCESS &&
           group(vendor.kernel, TAX_GROUP, 1, 1) == ZE_RESULT_SUCCESS;
}

static bool make_event(tax_t *tax, const char *prefix)
{
    __typeof__(&zeEventPoolCreate) pool_create;
    __typeof__(&zeEventCreate) event_create;
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                      .count = 1};
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                            .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool = NULL;
    return TAX_FIND(tax, prefix, "EventPoolCreate", pool_create) &&
           TAX_FIND(tax, prefix, "EventCreate", event_create) &&
           pool_create(tax->native.context, &pool_desc, 0, NULL, &pool) ==
               ZE_RESULT_SUCCESS &&
           event_create(pool, &desc, &vendor.event) == ZE_RESULT_SUCCESS;
}

static bool ze_open(tax_t *tax, const char *prefix)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    __typeof__(&zeInit) init;
    __typeof__(&zeDriverGet) driver_get;
    __typeof__(&zeDriverGetApiVersion) api_version;
    ze_driver_handle_t driver = NULL;
    ze_api_version_t version = 0;
    uint32_t one = 1;
    yoke_device_info(tax->device, &info);
    if (!TAX_FIND(tax, prefix, "Init", init) ||
        !TAX_FIND(tax, prefix, "DriverGet", driver_get) ||
        !TAX_FIND(tax, prefix, "DriverGetApiVersion", api_version) ||
        init(0) != ZE_RESULT_SUCCESS || driver_get(&one, &driver) != ZE_RESULT_SUCCESS ||
        api_version(driver, &version) != ZE_RESULT_SUCCESS)
        return false;
    vendor.in_order = (unsigned)version >= (1u << 16 | 7u);
    return TAX_FIND(tax, prefix, "CommandListAppendLaunchKernel", vendor.launch) &&
           TAX_FIND(tax, prefix, "CommandListAppendMemoryCopy", vendor.copy) &&
           TAX_FIND(tax, prefix, "CommandListAppendMemoryFill", vendor.fill) &&
           TAX_FIND(tax, prefix, "CommandListAppendBarrier", vendor.barrier) &&
           TAX_FIND(tax, prefix, "EventHostReset", vendor.reset) && load(tax, prefix) &&
           make_event(tax, prefix) &&
           vendor.barrier(tax->stream, vendor.event, 0, NULL) == ZE_RESULT_SUCCESS;
}

static ze_result_t enqueue(tax_t *tax, tax_operation_t operation)
{
    static const ze_group_count_t groups = {TAX_ITEMS / TAX_GROUP, 1, 1};
    static const uint32_t seven = 7;
    ze_command_list_handle_t list = tax->stream;
    switch (operation) {
    case TAX_EMPTY:
        return vendor.launch(list, vendor.empty, &groups, NULL, 0, NULL);
    case TAX_LAUNCH:
    case TAX_PREPARED:
        return vendor.launch(list, vendor.kernel, &groups, NULL, 0, NULL);
    case TAX_COPY:
        return vendor.copy(list, tax->native_y, tax->native_x, TAX_SIZE, NULL, 0, NULL);
    case TAX_WRITE:
        return vendor.copy(list, tax->native_x, tax->host, TAX_SIZE, NULL, 0, NULL);
    case TAX_READ:
        return vendor.copy(list, tax->host, tax->native_x, TAX_SIZE, NULL, 0, NULL);
    case TAX_FILL:
        return vendor.fill(list, tax->native_x, &seven, sizeof seven, TAX_SIZE, NULL, 0,
                           NULL);
    case TAX_RECORD:
        return vendor.barrier(list, vendor.event, 0, NULL);
    default:
        return vendor.barrier(list, NULL, 1, &vendor.event);
    }
}

static int ze_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    ze_result_t code = ZE_RESULT_SUCCESS;
    for (unsigned long i = 0; i < count && code == ZE_RESULT_SUCCESS; i++) {
        if (operation == TAX_RECORD)
            code = vendor.reset(vendor.event); /* a flag that is up says "reached" */
        else if (operation != TAX_WAIT && !vendor.in_order)
            code = vendor.barrier(tax->stream, NULL, 0, NULL);
        if (code == ZE_RESULT_SUCCESS)
            code = enqueue(tax, operation);
    }
    return (int)code;
}

/* Yoke asks what kind the host's memory is, keeps an event's earlier recordings apart,
 * and tells the queues that wait for it. */
const tax_vendor_t tax_level_zero = {.backend = "level_zero",
                                     .prefix = "ze",
                                     .open = ze_open,
                                     .loop = ze_loop,
                                     .differs = 1u << TAX_WRITE | 1u << TAX_READ |
                                                1u << TAX_RECORD};
