/* SPDX-License-Identifier: Apache-2.0 */
/* Modules from SPIR-V, kernels and launches. */
#include "queue.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK ((size_t)64 << 10)
#define MAX_ITEMS 1024
#define MAX_LOCAL ((size_t)64 << 10)

typedef struct module {
    fake_handle_t handle;
    spirv_module_t code;
    atomic_int users; /* the module and its kernels; the last unloads it */
} module_t;

typedef struct log {
    fake_handle_t handle;
    char *text;
} log_t;

typedef struct kernel {
    fake_handle_t handle;
    module_t *module;
    const spirv_kernel_t *code;
    uint32_t group[3];                       /* 0: not set */
    uint64_t set;                            /* bit i: argument i was given */
    size_t local[SPIRV_MAX_ARGUMENTS];       /* bytes of local memory */
    uint32_t offsets[SPIRV_MAX_ARGUMENTS];   /* into `values` */
    _Alignas(16) unsigned char values[1024]; /* each at a multiple of 16 */
} kernel_t;

/* --- modules ------------------------------------------------------------------------ */

static const char magic[8] = "YOKEFZE";

static bool load(const ze_module_desc_t *desc, spirv_module_t *out_code, char **out_log)
{
    const uint8_t *data = desc->pInputModule;
    if (desc->format == ZE_MODULE_FORMAT_IL_SPIRV)
        return spirv_compile(data, desc->inputSize, out_code, out_log);
    *out_log = NULL;
    return desc->inputSize > sizeof magic && memcmp(data, magic, sizeof magic) == 0 &&
           spirv_load(data + sizeof magic, desc->inputSize - sizeof magic, out_code,
                      out_log);
}

static void give_log(char *text, ze_module_build_log_handle_t *out_log)
{
    log_t *log = out_log != NULL ? calloc(1, sizeof *log) : NULL;
    if (log == NULL) {
        free(text);
        return;
    }
    log->text = text != NULL ? text : strdup("");
    fake_handle_add(&log->handle, KIND_LOG);
    *out_log = (ze_module_build_log_handle_t)(void *)log;
}

ze_result_t zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                           const ze_module_desc_t *desc, ze_module_handle_t *phModule,
                           ze_module_build_log_handle_t *phBuildLog)
{
    FAKE_CALL(zeModuleCreate, ze_result_t);
    context_t *context;
    device_t *device;
    spirv_module_t code;
    char *text;
    ze_result_t result = context_enter(hContext, &context);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (desc == NULL || desc->pInputModule == NULL || phModule == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->inputSize == 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (desc->format > ZE_MODULE_FORMAT_NATIVE)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    bool built = load(desc, &code, &text);
    give_log(text, phBuildLog);
    if (!built)
        return desc->format == ZE_MODULE_FORMAT_NATIVE
                   ? ZE_RESULT_ERROR_INVALID_NATIVE_BINARY
                   : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    module_t *module = calloc(1, sizeof *module);
    if (module == NULL) {
        spirv_free(&code);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    module->code = code;
    atomic_store(&module->users, 1);
    fake_handle_add(&module->handle, KIND_MODULE);
    *phModule = (ze_module_handle_t)(void *)module;
    return ZE_RESULT_SUCCESS;
}

static void module_release(module_t *module)
{
    if (atomic_fetch_sub(&module->users, 1) > 1)
        return;
    spirv_free(&module->code);
    free(module);
}

ze_result_t zeModuleDestroy(ze_module_handle_t hModule)
{
    FAKE_CALL(zeModuleDestroy, ze_result_t);
    module_t *module = fake_handle_check(hModule, KIND_MODULE);
    if (module == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    fake_handle_remove(&module->handle);
    module_release(module);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    FAKE_CALL(zeModuleBuildLogDestroy, ze_result_t);
    log_t *log = fake_handle_check(hModuleBuildLog, KIND_LOG);
    if (log == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    fake_handle_remove(&log->handle);
    free(log->text);
    free(log);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog,
                                      size_t *pSize, char *pBuildLog)
{
    FAKE_CALL(zeModuleBuildLogGetString, ze_result_t);
    log_t *log = fake_handle_check(hModuleBuildLog, KIND_LOG);
    if (log == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (pSize == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    size_t there = strlen(log->text) + 1;
    size_t size = *pSize == 0 || *pSize > there ? there : *pSize;
    if (*pSize > 0 && pBuildLog != NULL)
        memcpy(pBuildLog, log->text, size);
    FAKE_OUT(*pSize, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t *pSize,
                                    uint8_t *pModuleNativeBinary)
{
    FAKE_CALL(zeModuleGetNativeBinary, ze_result_t);
    module_t *module = fake_handle_check(hModule, KIND_MODULE);
    if (module == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (pSize == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    size_t size = sizeof magic + module->code.size;
    if (pModuleNativeBinary != NULL && *pSize >= size) {
        memcpy(pModuleNativeBinary, magic, sizeof magic);
        memcpy(pModuleNativeBinary + sizeof magic, module->code.object,
               module->code.size);
    }
    FAKE_OUT(*pSize, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount,
                                   const char **pNames)
{
    FAKE_CALL(zeModuleGetKernelNames, ze_result_t);
    module_t *module = fake_handle_check(hModule, KIND_MODULE);
    if (module == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    uint32_t there = module->code.count;
    uint32_t count = *pCount == 0 || *pCount > there ? there : *pCount;
    for (uint32_t i = 0; *pCount > 0 && pNames != NULL && i < count; i++)
        pNames[i] = module->code.kernels[i].name;
    FAKE_OUT(*pCount, count);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetProperties(ze_module_handle_t hModule, ze_module_properties_t *p)
{
    FAKE_CALL(zeModuleGetProperties, ze_result_t);
    if (fake_handle_check(hModule, KIND_MODULE) == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    p->flags = 0;
    return ZE_RESULT_SUCCESS;
}

/* --- kernels ------------------------------------------------------------------------ */

ze_result_t zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc,
                           ze_kernel_handle_t *phKernel)
{
    FAKE_CALL(zeKernelCreate, ze_result_t);
    module_t *module = fake_handle_check(hModule, KIND_MODULE);
    const spirv_kernel_t *code = NULL;
    if (module == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (desc == NULL || desc->pKernelName == NULL || phKernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; i < module->code.count; i++)
        if (strcmp(module->code.kernels[i].name, desc->pKernelName) == 0)
            code = &module->code.kernels[i];
    if (code == NULL)
        return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    kernel->module = module;
    kernel->code = code;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < code->count; i++) {
        kernel->offsets[i] = offset;
        offset += code->sizes[i] == 0 ? 128 : (code->sizes[i] + 15u) / 16 * 16;
    }
    if (offset > sizeof kernel->values) {
        free(kernel);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_fetch_add(&module->users, 1);
    fake_handle_add(&kernel->handle, KIND_KERNEL);
    *phKernel = (ze_kernel_handle_t)(void *)kernel;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t hKernel)
{
    FAKE_CALL(zeKernelDestroy, ze_result_t);
    kernel_t *kernel = fake_handle_check(hKernel, KIND_KERNEL);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    fake_handle_remove(&kernel->handle);
    module_release(kernel->module);
    free(kernel);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t x, uint32_t y,
                                 uint32_t z)
{
    FAKE_CALL(zeKernelSetGroupSize, ze_result_t);
    kernel_t *kernel = fake_handle_check(hKernel, KIND_KERNEL);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (x == 0 || y == 0 || z == 0 || x > MAX_ITEMS || y > MAX_ITEMS || z > MAX_ITEMS ||
        (uint64_t)x * y * z > MAX_ITEMS)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    kernel->group[0] = x;
    kernel->group[1] = y;
    kernel->group[2] = z;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel, uint32_t globalSizeX,
                                     uint32_t globalSizeY, uint32_t globalSizeZ,
                                     uint32_t *groupSizeX, uint32_t *groupSizeY,
                                     uint32_t *groupSizeZ)
{
    FAKE_CALL(zeKernelSuggestGroupSize, ze_result_t);
    if (fake_handle_check(hKernel, KIND_KERNEL) == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (groupSizeX == NULL || groupSizeY == NULL || groupSizeZ == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (globalSizeX == 0 || globalSizeY == 0 || globalSizeZ == 0)
        return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
    uint32_t x = 256;
    while (globalSizeX % x != 0)
        x /= 2;
    *groupSizeX = x;
    *groupSizeY = *groupSizeZ = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                     size_t argSize, const void *pArgValue)
{
    FAKE_CALL(zeKernelSetArgumentValue, ze_result_t);
    kernel_t *kernel = fake_handle_check(hKernel, KIND_KERNEL);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (argIndex >= kernel->code->count)
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    uint16_t size = kernel->code->sizes[argIndex];
    uint8_t kind = kernel->code->kinds[argIndex];
    if (kind == SPIRV_LOCAL) {
        if (pArgValue != NULL || argSize == 0)
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        kernel->local[argIndex] = argSize;
    } else {
        if (size != 0 ? argSize != size : argSize > 128)
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        unsigned char *to = kernel->values + kernel->offsets[argIndex];
        if (pArgValue != NULL)
            memcpy(to, pArgValue, argSize);
        else
            memset(to, 0, argSize); /* a null pointer */
    }
    kernel->set |= (uint64_t)1 << argIndex;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel,
                                      ze_kernel_indirect_access_flags_t flags)
{
    FAKE_CALL(zeKernelSetIndirectAccess, ze_result_t);
    if (fake_handle_check(hKernel, KIND_KERNEL) == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return flags > 7 ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetCacheConfig(ze_kernel_handle_t hKernel,
                                   ze_cache_config_flags_t flags)
{
    FAKE_CALL(zeKernelSetCacheConfig, ze_result_t);
    if (fake_handle_check(hKernel, KIND_KERNEL) == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return flags > 3 ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t hKernel, ze_kernel_properties_t *p)
{
    FAKE_CALL(zeKernelGetProperties, ze_result_t);
    kernel_t *kernel = fake_handle_check(hKernel, KIND_KERNEL);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_kernel_properties_t properties = {.stype = p->stype, .pNext = p->pNext};
    properties.numKernelArgs = kernel->code->count;
    properties.maxSubgroupSize = 32;
    properties.maxNumSubgroups = 64;
    *p = properties;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName)
{
    FAKE_CALL(zeKernelGetName, ze_result_t);
    kernel_t *kernel = fake_handle_check(hKernel, KIND_KERNEL);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (pSize == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    size_t there = strlen(kernel->code->name) + 1;
    size_t size = *pSize == 0 || *pSize > there ? there : *pSize;
    if (*pSize > 0 && pName != NULL)
        memcpy(pName, kernel->code->name, size);
    *pSize = size;
    return ZE_RESULT_SUCCESS;
}

/* --- launches ----------------------------------------------------------------------- */

typedef struct launch {
    void (*run)(const yoke_fake_grid_t *grid);
    const spirv_kernel_t *code;
    fake_card_t *card;
    uint32_t groups[3], items[3];
    _Alignas(16) unsigned char values[]; /* as in kernel_t; local ones hold their size */
} launch_t;

static unsigned char local_memory[MAX_LOCAL] __attribute__((aligned(128)));
static char *stacks; /* both of the library's one worker */

/* Where the fake has what a pointer means to the device; false: to the device it means
 * nothing. */
static bool translate(void *place)
{
    void *address;
    memcpy(&address, place, sizeof address);
    fake_place_t where = fake_memory_place(address, 0);
    if (address == NULL)
        return true;
    if (where == FAKE_PLACE_HOST || where == FAKE_PLACE_BAD)
        return false;
    address = fake_shadow(address);
    memcpy(place, &address, sizeof address);
    return true;
}

static bool bind(launch_t *launch, void **arguments)
{
    unsigned char *at = launch->values, *local = local_memory;
    for (uint32_t i = 0; i < launch->code->count; i++) {
        uint16_t size = launch->code->sizes[i];
        arguments[i] = at;
        if (launch->code->kinds[i] == SPIRV_POINTER && !translate(at))
            return false;
        if (launch->code->kinds[i] == SPIRV_LOCAL) {
            size_t bytes;
            memcpy(&bytes, at, sizeof bytes);
            memcpy(at, &local, sizeof local);
            local += (bytes + 127) / 128 * 128;
        }
        at += size == 0 ? 128 : (size + 15u) / 16 * 16;
    }
    return true;
}

static void run_launch(void *data)
{
    launch_t *launch = data;
    void *arguments[SPIRV_MAX_ARGUMENTS];
    if (stacks == NULL) {
        stacks = mmap(NULL, MAX_ITEMS * STACK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stacks == MAP_FAILED)
            abort();
    }
    if (!bind(launch, arguments)) {
        fprintf(stderr, "fake level_zero: page fault in %s\n", launch->code->name);
        atomic_store(&launch->card->lost, true);
        return;
    }
    yoke_fake_grid_t grid = {.body = launch->code->body,
                             .arguments = arguments,
                             .stacks = stacks,
                             .stack_size = STACK};
    memcpy(grid.groups, launch->groups, sizeof grid.groups);
    memcpy(grid.items, launch->items, sizeof grid.items);
    launch->run(&grid);
}

static size_t fill_launch(launch_t *launch, const kernel_t *kernel, fake_card_t *card,
                          const ze_group_count_t *count)
{
    const spirv_kernel_t *code = kernel->code;
    uint32_t groups[3] = {count->groupCountX, count->groupCountY, count->groupCountZ};
    size_t bytes = 0;
    launch->run = kernel->module->code.run;
    launch->code = code;
    launch->card = card;
    memcpy(launch->groups, groups, sizeof groups);
    memcpy(launch->items, kernel->group, sizeof launch->items);
    if (code->count > 0) {
        uint32_t last = code->count - 1;
        bytes = kernel->offsets[last] +
                (code->sizes[last] == 0 ? 128u : (code->sizes[last] + 15u) / 16 * 16);
    }
    memcpy(launch->values, kernel->values, bytes);
    for (uint32_t i = 0; i < code->count; i++)
        if (code->kinds[i] == SPIRV_LOCAL)
            memcpy(launch->values + kernel->offsets[i], &kernel->local[i],
                   sizeof(size_t));
    return sizeof *launch + bytes;
}

static ze_result_t check_launch(const kernel_t *kernel, const ze_group_count_t *count)
{
    size_t local = 0;
    if (count->groupCountX == 0 || count->groupCountY == 0 || count->groupCountZ == 0)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (kernel->group[0] == 0)
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    for (uint32_t i = 0; i < kernel->code->count; i++) {
        if ((kernel->set >> i & 1) == 0)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        if (kernel->code->kinds[i] == SPIRV_LOCAL)
            local += (kernel->local[i] + 127) / 128 * 128;
    }
    return local <= MAX_LOCAL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                            ze_kernel_handle_t hKernel,
                                            const ze_group_count_t *pLaunchFuncArgs,
                                            ze_event_handle_t hSignalEvent,
                                            uint32_t numWaitEvents,
                                            ze_event_handle_t *phWaitEvents)
{
    FAKE_CALL(zeCommandListAppendLaunchKernel, ze_result_t);
    list_t *list;
    _Alignas(16) unsigned char place[COMMAND_DATA];
    ze_result_t result = list_enter(hCommandList, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    kernel_t *kernel = fake_handle_check(hKernel, KIND_KERNEL);
    if (kernel == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (pLaunchFuncArgs == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (list->ordinal != 0)
        return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    result = check_launch(kernel, pLaunchFuncArgs);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    launch_t *launch = (launch_t *)(void *)place;
    size_t size = fill_launch(launch, kernel, list->device->card, pLaunchFuncArgs);
    return list_append(list, command_new(run_launch, place, size), hSignalEvent,
                       numWaitEvents, phWaitEvents);
}
