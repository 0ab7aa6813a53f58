/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and kernels: source, prologue and cache in front of the backend's compiler. */
#include "yoke/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/kernels/cache.h"
#include "hal/kernels/dialect.h"
#include "hal/live/layers.h"
#include "hal/live/log.h"

/* What one yoke_program_create() works on. */
typedef struct making {
    yoke_device_t *device;
    yoke_program_options_t options;
    yoke_impl_program_source_t source;
    char *text;  /* what source.data points to, unless it is a binary */
    char *named; /* the same with the program's name, for the compiler */
    yoke_cache_key_t key;
    bool cached; /* keep what is compiled */
} making_t;

/* --- arguments -----------------------------------------------------------------------
 */

static const char creating[] = "yoke_program_create";

/* "-DN=4 -DT=float": the one option that all compilers have. */
static yoke_status_t check_definitions(const char *options)
{
    for (const char *at = options + strspn(options, " "); *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (size < 3 || strncmp(at, "-D", 2) != 0)
            return yoke_fail(YOKE_ERR_USAGE,
                             "%s: '%.*s': programs in the dialect take -DNAME and "
                             "-DNAME=VALUE only",
                             creating, (int)(size < 64 ? size : 64), at);
        at += size;
        at += strspn(at, " ");
    }
    return YOKE_OK;
}

static yoke_status_t check_format(const yoke_device_t *device,
                                  yoke_program_format_t format)
{
    uint64_t needed = 0;
    switch (format) {
    case YOKE_PROGRAM_DIALECT:
        needed = YOKE_CAP_SOURCE;
        break;
    case YOKE_PROGRAM_NATIVE:
        needed = YOKE_CAP_NATIVE_SOURCE;
        break;
    case YOKE_PROGRAM_BINARY:
        needed = YOKE_CAP_BINARY;
        break;
    default:
        return yoke_fail(YOKE_ERR_USAGE, "%s: no program format %d", creating,
                         (int)format);
    }
    if ((device->info.capabilities & needed) == 0)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: %s takes no programs of this form "
                         "(capability '%s')",
                         creating, device->label, yoke_capability_name(needed));
    return YOKE_OK;
}

static yoke_status_t take_options(making_t *making, const yoke_program_options_t *options)
{
    yoke_program_options_t *chosen = &making->options;
    chosen->struct_size = sizeof *chosen;
    if (options == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the options are NULL", creating);
    yoke_status_t status = yoke_options_take(chosen, sizeof *chosen, options, creating);
    if (status == YOKE_OK && (chosen->data == NULL || chosen->size == 0))
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the program is empty", creating);
    if (status == YOKE_OK && (chosen->flags & ~YOKE_PROGRAM_NO_CACHE) != 0)
        status =
            yoke_fail(YOKE_ERR_USAGE, "%s: unknown flags 0x%x", creating, chosen->flags);
    if (status == YOKE_OK)
        status = check_format(making->device, chosen->format);
    if (chosen->name == NULL)
        chosen->name = "program";
    if (chosen->options == NULL)
        chosen->options = "";
    if (status == YOKE_OK && chosen->format == YOKE_PROGRAM_DIALECT)
        status = check_definitions(chosen->options);
    return status;
}

/* --- source --------------------------------------------------------------------------
 */

static yoke_status_t take_source(making_t *making)
{
    const yoke_program_options_t *options = &making->options;
    yoke_impl_program_source_t *source = &making->source;
    yoke_status_t status = YOKE_OK;
    size_t size = options->size;
    source->name = options->name;
    source->options = options->options;
    source->binary = options->format == YOKE_PROGRAM_BINARY;
    if (options->format == YOKE_PROGRAM_DIALECT) {
        status = yoke_dialect_source(making->device->dialect,
                                     making->device->info.capabilities, NULL,
                                     options->data, options->size, &making->text, &size);
    } else if (!source->binary) {
        making->text = yoke_strndup(options->data, options->size);
        if (making->text == NULL)
            status = yoke_fail_memory();
    }
    source->data = source->binary ? options->data : making->text;
    source->size = size;
    return status;
}

/* Only what can be given out and taken back as a binary is kept. */
static void take_key(making_t *making)
{
    const yoke_backend_ops_t *ops = making->device->object.ops;
    const yoke_device_info_t *info = &making->device->info;
    const char *compiler =
        ops->compiler_version == NULL
            ? NULL
            : ops->compiler_version(making->device->object.impl.device);
    making->cached = !making->source.binary && ops->program_binary != NULL &&
                     (info->capabilities & YOKE_CAP_BINARY) != 0 &&
                     (making->options.flags & YOKE_PROGRAM_NO_CACHE) == 0;
    making->key = (yoke_cache_key_t){
        .backend = info->backend,
        .architecture = info->architecture[0] != '\0' ? info->architecture : info->name,
        .driver = info->version,
        .compiler = compiler != NULL ? compiler : "",
        .options = making->options.options,
        .source = making->source.data,
        .source_size = making->source.size,
    };
}

/* --- compiling -----------------------------------------------------------------------
 */

/* The compiler's messages name the program as the caller does; the cache's key has the
 * text without a name, so that the same text is compiled once. */
static yoke_status_t name_source(making_t *making, yoke_impl_program_source_t *out_source)
{
    const yoke_program_options_t *options = &making->options;
    *out_source = making->source;
    if (options->format != YOKE_PROGRAM_DIALECT)
        return YOKE_OK;
    yoke_status_t status = yoke_dialect_source(
        making->device->dialect, making->device->info.capabilities, options->name,
        options->data, options->size, &making->named, &out_source->size);
    out_source->data = making->named;
    return status;
}

static yoke_status_t compile(making_t *making, yoke_impl_program_t **out_impl)
{
    const yoke_device_t *device = making->device;
    yoke_impl_program_source_t source;
    yoke_status_t status = name_source(making, &source);
    if (status != YOKE_OK)
        return status;
    status = device->object.ops->program_create(device->object.impl.device, &source,
                                                yoke_program_log_add, NULL, out_impl);
    if (status == YOKE_ERR_BAD_INPUT)
        yoke_fail(status, "%s: %s for %s: %s", making->options.name,
                  making->source.binary ? "cannot be loaded" : "does not compile",
                  device->label, yoke_program_log());
    return status;
}

static bool from_cache(making_t *making, yoke_impl_program_t **out_impl)
{
    void *data = NULL;
    size_t size = 0;
    if (yoke_cache_get(&making->key, &data, &size) != YOKE_OK)
        return false;
    const yoke_device_t *device = making->device;
    yoke_impl_program_source_t source = making->source;
    source.binary = true;
    source.data = data;
    source.size = size;
    yoke_status_t status = device->object.ops->program_create(
        device->object.impl.device, &source, yoke_program_log_add, NULL, out_impl);
    free(data);
    if (status != YOKE_OK) { /* a damaged entry, or a driver that changed its mind */
        yoke_debug("%s: the cached program for %s was refused; compiling anew",
                   making->options.name, device->label);
        yoke_program_log_clear();
    }
    return status == YOKE_OK;
}

static yoke_status_t make(making_t *making, yoke_impl_program_t **out_impl)
{
    yoke_status_t status = take_source(making);
    if (status != YOKE_OK)
        return status;
    take_key(making);
    if (making->cached && from_cache(making, out_impl))
        return YOKE_OK;
    status = compile(making, out_impl);
    const void *data = NULL;
    size_t size = 0;
    if (status == YOKE_OK && making->cached &&
        making->device->object.ops->program_binary(*out_impl, &data, &size) == YOKE_OK)
        yoke_cache_put(&making->key, data, size);
    return yoke_device_answer(making->device, status);
}

yoke_status_t yoke_program_create(yoke_device_t *device,
                                  const yoke_program_options_t *options,
                                  yoke_program_t **out_program)
{
    making_t making = {.device = device};
    yoke_program_log_clear();
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, creating);
    if (status == YOKE_OK && out_program == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", creating);
    if (status == YOKE_OK)
        status = take_options(&making, options);
    if (status != YOKE_OK)
        return status;
    yoke_program_t *program =
        yoke_object_new(sizeof *program, YOKE_OBJECT_PROGRAM, device);
    if (program == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&device->object);
    atomic_init(&program->holds, 1);
    status = make(&making, &program->object.impl.program);
    free(making.text);
    free(making.named);
    if (status == YOKE_OK) {
        yoke_object_attach(&program->object);
        if ((yoke_object_flags(&program->object) & YOKE_FLAG_VALIDATE) != 0 &&
            making.options.format == YOKE_PROGRAM_DIALECT)
            program->signatures =
                yoke_validate_signatures(making.options.data, making.options.size);
        *out_program = program;
    } else {
        yoke_object_discard(&program->object);
    }
    yoke_trace_end(begin, device, creating, status, "format=%d, name=%s, options=%s",
                   (int)making.options.format, making.options.name,
                   making.options.options);
    return status;
}

/* --- programs ------------------------------------------------------------------------
 */

/* Ended with the last of its kernels. */
static void release(yoke_program_t *program)
{
    if (atomic_fetch_sub_explicit(&program->holds, 1, memory_order_acq_rel) != 1)
        return;
    program->object.ops->program_destroy(program->object.impl.program);
    yoke_validate_signatures_free(program->signatures);
    yoke_object_end(&program->object);
}

void yoke_program_destroy(yoke_program_t *program)
{
    static const char call[] = "yoke_program_destroy";
    if (!yoke_object_endable(YOKE_OBJECT(program), YOKE_OBJECT_PROGRAM, call))
        return;
    /* Kernels may keep it alive, and a second call must not take their hold. */
    atomic_fetch_or(&program->object.flags, YOKE_FLAG_FREED);
    yoke_device_t *device = program->object.device;
    uint64_t begin = yoke_trace_begin(&program->object);
    uintptr_t handle = (uintptr_t)program; /* it may be gone when the line is written */
    yoke_device_retain(device);
    release(program);
    yoke_trace_end(begin, device, call, YOKE_OK, "program=0x%zx", (size_t)handle);
    yoke_device_release(device);
}

yoke_status_t yoke_program_binary(yoke_program_t *program, const void **out_data,
                                  size_t *out_size)
{
    static const char call[] = "yoke_program_binary";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(program), YOKE_OBJECT_PROGRAM, call);
    if (status != YOKE_OK)
        return status;
    if (out_data == NULL || out_size == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: an output is NULL", call);
    if (program->object.ops->program_binary == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: %s gives no binaries out", call,
                         program->object.device->label);
    const void *data = NULL;
    size_t size = 0;
    status = yoke_device_answer(
        program->object.device,
        program->object.ops->program_binary(program->object.impl.program, &data, &size));
    if (status == YOKE_OK) {
        *out_data = data;
        *out_size = size;
    }
    return status;
}

/* --- kernels -------------------------------------------------------------------------
 */

yoke_status_t yoke_kernel_create(yoke_program_t *program, const char *name,
                                 yoke_kernel_t **out_kernel)
{
    static const char call[] = "yoke_kernel_create";
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(program), YOKE_OBJECT_PROGRAM, call);
    if (status != YOKE_OK)
        return status;
    if (name == NULL || name[0] == '\0' || out_kernel == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s", call,
                         out_kernel == NULL ? "the output is NULL"
                                            : "the kernel has no name");
    yoke_device_t *device = program->object.device;
    yoke_kernel_t *kernel = yoke_object_new(sizeof *kernel, YOKE_OBJECT_KERNEL, device);
    if (kernel == NULL)
        return YOKE_ERR_NO_MEMORY;
    uint64_t begin = yoke_trace_begin(&program->object);
    atomic_init(&kernel->holds, 1);
    kernel->program = program;
    kernel->name = yoke_strdup(name);
    status = kernel->name == NULL
                 ? yoke_fail_memory()
                 : yoke_device_answer(device, device->object.ops->kernel_create(
                                                  program->object.impl.program, name,
                                                  &kernel->object.impl.kernel));
    yoke_trace_end(begin, device, call, status, "program=%p, name=%s", (void *)program,
                   name);
    if (status != YOKE_OK) {
        free(kernel->name);
        yoke_object_discard(&kernel->object);
        return status;
    }
    atomic_fetch_add_explicit(&program->holds, 1, memory_order_relaxed);
    kernel->signature = yoke_validate_signature(program->signatures, name);
    yoke_object_attach(&kernel->object);
    *out_kernel = kernel;
    return YOKE_OK;
}

/* Ended with the last of its prepared launches. */
void yoke_kernel_release(yoke_kernel_t *kernel)
{
    if (atomic_fetch_sub_explicit(&kernel->holds, 1, memory_order_acq_rel) != 1)
        return;
    yoke_program_t *program = kernel->program;
    kernel->object.ops->kernel_destroy(kernel->object.impl.kernel);
    free(kernel->name);
    yoke_object_end(&kernel->object);
    release(program);
}

void yoke_kernel_destroy(yoke_kernel_t *kernel)
{
    static const char call[] = "yoke_kernel_destroy";
    if (!yoke_object_endable(YOKE_OBJECT(kernel), YOKE_OBJECT_KERNEL, call))
        return;
    /* As of programs: a second call must not take the hold of a prepared launch. */
    atomic_fetch_or(&kernel->object.flags, YOKE_FLAG_FREED);
    yoke_device_t *device = kernel->object.device;
    uint64_t begin = yoke_trace_begin(&kernel->object);
    uintptr_t handle = (uintptr_t)kernel;
    yoke_device_retain(device);
    yoke_kernel_release(kernel);
    yoke_trace_end(begin, device, call, YOKE_OK, "kernel=0x%zx", (size_t)handle);
    yoke_device_release(device);
}
