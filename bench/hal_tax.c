/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Yoke's layer costs over the vendor's calls, on one device:
 *
 *     yoke_hal_tax [--count N] [--check] [--quiet-paths] DEVICE
 *
 * makes N enqueues of each kind raw and through Yoke, and prints the vendor's calls of
 * both, for the libraries that count them (tests/fakes). --check fails where Yoke makes
 * others than the raw program, or, with another device current, others than what saves
 * and restores it. --quiet-paths, with tests/live/count_calls.c preloaded, fails where
 * Yoke's own code allocates or takes a lock.
 *
 * bench/hal_tax.py counts instructions: it runs this under callgrind, which collects
 * within tax_timed() and dumps at each of its returns.
 */
#include "bench/hal_tax.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tax_vendor_t *const vendors[] = {
    &tax_cuda,       &tax_corex, &tax_musa,   &tax_hip,
    &tax_dtk,        &tax_maca,  &tax_ascend, &tax_cambricon,
#ifdef YOKE_TAX_LEVEL_ZERO
    &tax_level_zero,
#endif
#ifdef YOKE_TAX_OPENCL
    &tax_opencl,
#endif
};

static const char *const operation_names[] = {
    "empty", "launch", "prepared", "copy", "write", "read", "fill", "record", "wait"};

static const char source[] =
    "YOKE_KERNEL void empty(void)\n{ }\n"
    "YOKE_KERNEL void axpy(f32 a, YOKE_GLOBAL const f32 *x, YOKE_GLOBAL f32 *y)\n"
    "{ u32 i = (u32)YOKE_GLOBAL_ID(0); y[i] = a * x[i] + y[i]; }\n";

void *tax_symbol(const tax_t *tax, const char *prefix, const char *name)
{
    char symbol[128];
    /* What a vendor's header makes of a plain name, where it has versions. */
    snprintf(symbol, sizeof symbol, "%s%s_v2", prefix, name);
    void *address = dlsym(tax->library, symbol);
    symbol[strlen(symbol) - 3] = '\0';
    if (address == NULL)
        address = dlsym(tax->library, symbol);
    if (address == NULL)
        fprintf(stderr, "%s: %s is missing\n", tax->backend, symbol);
    return address;
}

static const yoke_launch_t groups = {{TAX_ITEMS / TAX_GROUP, 1, 1}, {TAX_GROUP, 1, 1}};

/* --- objects ------------------------------------------------------------------------ */

static bool make_program(tax_t *tax)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    const yoke_program_options_t options = {.struct_size = sizeof options,
                                            .format = YOKE_PROGRAM_DIALECT,
                                            .data = source,
                                            .size = sizeof source - 1};
    yoke_device_info(tax->device, &info);
    if ((info.capabilities & YOKE_CAP_SOURCE) == 0)
        return true;
    if (yoke_program_create(tax->device, &options, &tax->program) != YOKE_OK ||
        yoke_kernel_create(tax->program, "empty", &tax->empty) != YOKE_OK ||
        yoke_kernel_create(tax->program, "axpy", &tax->kernel) != YOKE_OK)
        return false;
    const yoke_argument_t arguments[] = {
        yoke_argument_value(&tax->factor, sizeof tax->factor),
        yoke_argument_span(tax->x, 0), yoke_argument_span(tax->y, 0)};
    if (yoke_prepared_launch_create(tax->kernel, &groups, arguments, 3, &tax->prepared) !=
        YOKE_OK)
        return false;
    /* Raw programs load what Yoke compiled; OpenCL's has a source of its own. */
    if (yoke_program_binary(tax->program, &tax->binary, &tax->binary_size) != YOKE_OK)
        tax->binary = NULL;
    return true;
}

static bool make_objects(tax_t *tax, const char *device)
{
    uint32_t one = 1;
    if (yoke_device_open(device, NULL, &tax->device) != YOKE_OK ||
        yoke_queue_create(tax->device, NULL, &tax->queue) != YOKE_OK ||
        yoke_event_create(tax->device, 0, &tax->mark) != YOKE_OK ||
        yoke_buffer_create(tax->device, YOKE_MEMORY_DEVICE, TAX_SIZE, &tax->x) !=
            YOKE_OK ||
        yoke_buffer_create(tax->device, YOKE_MEMORY_DEVICE, TAX_SIZE, &tax->y) != YOKE_OK)
        return false;
    if (!tax->pinned)
        tax->host = calloc(1, TAX_SIZE);
    else if ((yoke_buffer_create(tax->device, YOKE_MEMORY_HOST, TAX_SIZE,
                                 &tax->host_buffer) != YOKE_OK ||
              yoke_buffer_host_address(tax->host_buffer, &tax->host) != YOKE_OK))
        return false;
    tax->factor = 0.5f;
    return tax->host != NULL && make_program(tax) &&
           yoke_queue_fill(tax->queue, yoke_span(tax->x, 0), &one, 4, TAX_SIZE) ==
               YOKE_OK &&
           yoke_queue_fill(tax->queue, yoke_span(tax->y, 0), &one, 4, TAX_SIZE) ==
               YOKE_OK &&
           yoke_event_record(tax->mark, tax->queue) == YOKE_OK &&
           yoke_queue_sync(tax->queue) == YOKE_OK;
}

static bool find_natives(tax_t *tax)
{
    yoke_native_t stream = {.struct_size = sizeof stream}, event = stream, x = stream,
                  y = stream;
    tax->native.struct_size = sizeof tax->native;
    if (yoke_device_native(tax->device, &tax->native) != YOKE_OK ||
        yoke_queue_native(tax->queue, &stream) != YOKE_OK ||
        yoke_event_native(tax->mark, &event) != YOKE_OK ||
        yoke_buffer_native(tax->x, &x) != YOKE_OK ||
        yoke_buffer_native(tax->y, &y) != YOKE_OK)
        return false;
    tax->stream = stream.handle;
    tax->event = event.handle;
    tax->native_x = x.handle;
    tax->native_y = y.handle;
    return true;
}

static void end_objects(tax_t *tax)
{
    if (!tax->pinned)
        free(tax->host);
    yoke_prepared_launch_destroy(tax->prepared);
    yoke_kernel_destroy(tax->empty);
    yoke_kernel_destroy(tax->kernel);
    yoke_program_destroy(tax->program);
    yoke_buffer_destroy(tax->host_buffer);
    yoke_buffer_destroy(tax->x);
    yoke_buffer_destroy(tax->y);
    yoke_event_destroy(tax->mark);
    yoke_queue_destroy(tax->queue);
    yoke_device_close(tax->device);
}

/* --- the loops ---------------------------------------------------------------------- */

static int yoke_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    static const uint32_t words[] = {7, 0x07070707}; /* what all can fill with */
    const yoke_argument_t arguments[] = {
        yoke_argument_value(&tax->factor, sizeof tax->factor),
        yoke_argument_span(tax->x, 0), yoke_argument_span(tax->y, 0)};
    const yoke_span_t x = yoke_span(tax->x, 0), y = yoke_span(tax->y, 0);
    /* Ascend and Cambricon fill with bytes. */
    const bool bytes = tax->backend[0] == 'a' || strcmp(tax->backend, "cambricon") == 0;
    yoke_status_t status = YOKE_OK;
    for (unsigned long i = 0; i < count && status == YOKE_OK; i++)
        switch (operation) {
        case TAX_EMPTY:
            status = yoke_kernel_launch(tax->queue, tax->empty, &groups, NULL, 0);
            break;
        case TAX_LAUNCH:
            status = yoke_kernel_launch(tax->queue, tax->kernel, &groups, arguments, 3);
            break;
        case TAX_PREPARED:
            status = yoke_queue_launch_prepared(tax->queue, tax->prepared);
            break;
        case TAX_COPY:
            status = yoke_queue_copy(tax->queue, y, x, TAX_SIZE);
            break;
        case TAX_WRITE:
            status = yoke_queue_write(tax->queue, x, tax->host, TAX_SIZE);
            break;
        case TAX_READ:
            status = yoke_queue_read(tax->queue, tax->host, x, TAX_SIZE);
            break;
        case TAX_FILL:
            status = yoke_queue_fill(tax->queue, x, &words[bytes], 4, TAX_SIZE);
            break;
        case TAX_RECORD:
            status = yoke_event_record(tax->mark, tax->queue);
            break;
        default:
            status = yoke_queue_wait(tax->queue, tax->mark);
            break;
        }
    return (int)status;
}

typedef int (*tax_loop_t)(tax_t *tax, tax_operation_t operation, unsigned long count);

/* Named by hal_tax.py. */
int tax_timed(tax_loop_t loop, tax_t *tax, tax_operation_t operation,
              unsigned long count);
__attribute__((noinline)) int tax_timed(tax_loop_t loop, tax_t *tax,
                                        tax_operation_t operation, unsigned long count)
{
    int code = loop(tax, operation, count);
    __asm__ volatile("" ::: "memory"); /* no tail call: the return is what dumps */
    return code;
}

/* --- vendor calls ------------------------------------------------------------------- */

typedef struct counter {
    const char *const *functions;
    size_t count;
    uint64_t (*calls_of)(const char *function);
    void (*set_current)(int ordinal);
    uint64_t (*current)(void);
    uint64_t *before, *raw, *through;
} counter_t;

static counter_t counter;
static unsigned failures;

static void open_counter(const tax_t *tax)
{
    const char *const *(*functions)(size_t *);
    /* The fake driver of Level Zero stands behind the real loader. */
    void *library = strcmp(tax->backend, "level_zero") == 0
                        ? dlopen("libze_intel_gpu.so.1", RTLD_NOW | RTLD_NOLOAD)
                        : tax->library;
    if (library == NULL)
        return;
    *(void **)(void *)&functions = dlsym(library, "yoke_fake_functions");
    *(void **)(void *)&counter.calls_of = dlsym(library, "yoke_fake_calls_of");
    *(void **)(void *)&counter.set_current = dlsym(library, "yoke_fake_set_current");
    *(void **)(void *)&counter.current = dlsym(library, "yoke_fake_current");
    if (functions == NULL || counter.calls_of == NULL)
        return;
    counter.functions = functions(&counter.count);
    counter.before = calloc(3 * counter.count, sizeof *counter.before);
    if (counter.before == NULL)
        counter.count = 0;
    counter.raw = counter.before + counter.count;
    counter.through = counter.raw + counter.count;
}

static void note(void)
{
    for (size_t i = 0; i < counter.count; i++)
        counter.before[i] = counter.calls_of(counter.functions[i]);
}

static void take(uint64_t *out_calls)
{
    for (size_t i = 0; i < counter.count; i++)
        out_calls[i] = counter.calls_of(counter.functions[i]) - counter.before[i];
}

/* One side: once to warm up, then counted. */
static void run(tax_t *tax, tax_loop_t loop, tax_operation_t operation,
                unsigned long count, uint64_t *out_calls, const char *side)
{
    int code = loop(tax, operation, 4);
    if (yoke_queue_sync(tax->queue) != YOKE_OK || code != 0) {
        printf("%s %s %s: fails with %d: %s\n", tax->backend, operation_names[operation],
               side, code, yoke_last_error());
        failures++;
        return;
    }
    printf("part %s %s %lu\n", operation_names[operation], side, count);
    note();
    code = tax_timed(loop, tax, operation, count);
    take(out_calls);
    if (yoke_queue_sync(tax->queue) != YOKE_OK || code != 0) {
        printf("%s %s %s: fails with %d\n", tax->backend, operation_names[operation],
               side, code);
        failures++;
    }
}

/* Prints where the two sides differ per enqueue; `get`, `set`: what Yoke may make more.
 */
static void compare(const char *backend, const char *operation, unsigned long count,
                    const char *get, const char *set, bool differs, bool check)
{
    uint64_t raw = 0, through = 0;
    for (size_t i = 0; i < counter.count; i++) {
        const char *function = counter.functions[i];
        uint64_t more = get != NULL && strcmp(function, get) == 0   ? count
                        : set != NULL && strcmp(function, set) == 0 ? 2 * count
                                                                    : 0;
        raw += counter.raw[i];
        through += counter.through[i];
        if (counter.raw[i] == counter.through[i] ||
            counter.raw[i] + more == counter.through[i])
            continue;
        printf("differs %s %s: %s raw %llu, Yoke %llu of %lu enqueues\n", backend,
               operation, function, (unsigned long long)counter.raw[i],
               (unsigned long long)counter.through[i], count);
        if (check && !differs && counter.through[i] > counter.raw[i] + more)
            failures++;
    }
    printf("calls %s%s raw %.3f yoke %.3f\n", operation, get != NULL ? " other" : "",
           (double)raw / (double)count, (double)through / (double)count);
}

/* Another library of the process has another device or context current. */
static void run_other(tax_t *tax, const tax_vendor_t *vendor, tax_operation_t operation,
                      unsigned long count, bool check)
{
    counter.set_current(1);
    uint64_t before = counter.current();
    run(tax, yoke_loop, operation, count, counter.through, "other");
    if (counter.current() != before) {
        printf("%s %s: the caller's current device was changed\n", tax->backend,
               operation_names[operation]);
        failures++;
    }
    compare(tax->backend, operation_names[operation], count, vendor->get, vendor->set,
            (vendor->differs >> operation & 1) != 0, check);
    if (vendor->make_current(tax) != 0)
        failures++;
}

static void run_all(tax_t *tax, const tax_vendor_t *vendor, unsigned long count,
                    bool check)
{
    for (tax_operation_t operation = TAX_EMPTY; operation < TAX_OPERATIONS; operation++) {
        if (operation <= TAX_PREPARED && tax->program == NULL)
            continue;
        run(tax, vendor->loop, operation, count, counter.raw, "raw");
        run(tax, yoke_loop, operation, count, counter.through, "yoke");
        compare(tax->backend, operation_names[operation], count, NULL, NULL,
                (vendor->differs >> operation & 1) != 0, check);
        if (vendor->get != NULL && counter.set_current != NULL)
            run_other(tax, vendor, operation, count, check);
    }
}

/* --- locks and allocations ---------------------------------------------------------- */

static int find_yoke(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t *range = context;
    (void)size;
    if (strstr(info->dlpi_name, "/libyoke.so") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            range[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            range[1] = range[0] + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void count_quiet(tax_t *tax)
{
    atomic_int *counting = dlsym(RTLD_DEFAULT, "yoke_test_counting");
    atomic_int *allocations = dlsym(RTLD_DEFAULT, "yoke_test_allocations");
    atomic_int *locks = dlsym(RTLD_DEFAULT, "yoke_test_locks");
    uintptr_t *from = dlsym(RTLD_DEFAULT, "yoke_test_from");
    uintptr_t *to = dlsym(RTLD_DEFAULT, "yoke_test_to"), range[2] = {0, 0};
    dl_iterate_phdr(find_yoke, range);
    if (counting == NULL || from == NULL || to == NULL || range[0] == 0) {
        printf("count_calls.so is not preloaded, or there is no libyoke.so\n");
        failures++;
        return;
    }
    *from = range[0];
    *to = range[1];
    /* It counts at all: making an object allocates and locks. */
    yoke_event_t *event = NULL;
    atomic_store(counting, 1);
    yoke_event_create(tax->device, 0, &event);
    atomic_store(counting, 0);
    yoke_event_destroy(event);
    if (atomic_exchange(allocations, 0) == 0 || atomic_exchange(locks, 0) == 0) {
        printf("nothing is counted\n");
        failures++;
    }
    for (tax_operation_t operation = TAX_EMPTY; operation < TAX_OPERATIONS; operation++) {
        if (operation <= TAX_PREPARED && tax->program == NULL)
            continue;
        /* The first few of each may make what the later ones use again. */
        int code = yoke_loop(tax, operation, 5) | (int)yoke_queue_sync(tax->queue);
        for (int round = 0; round < 20; round++) {
            atomic_store(counting, 1);
            code |= yoke_loop(tax, operation, 3);
            atomic_store(counting, 0);
            code |= (int)yoke_queue_sync(tax->queue);
        }
        int allocated = atomic_exchange(allocations, 0),
            locked = atomic_exchange(locks, 0);
        printf("quiet %s %s: %d allocations, %d locks of 60 enqueues%s\n", tax->backend,
               operation_names[operation], allocated, locked,
               code != 0 ? "; it fails" : "");
        failures += code != 0 || allocated + locked != 0;
    }
}

/* --- main --------------------------------------------------------------------------- */

static const tax_vendor_t *vendor_of(const char *device)
{
    size_t length = strcspn(device, ":");
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strlen(vendors[i]->backend) == length &&
            strncmp(vendors[i]->backend, device, length) == 0)
            return vendors[i];
    return NULL;
}

static bool open_raw(tax_t *tax, const tax_vendor_t *vendor)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_device_info(tax->device, &info);
    tax->library = dlopen(info.library, RTLD_NOW | RTLD_NOLOAD);
    if (tax->library == NULL || !find_natives(tax))
        return false;
    open_counter(tax);
    return vendor->open(tax, vendor->prefix);
}

static int usage(void)
{
    fputs("usage: yoke_hal_tax [--count N] [--check] [--quiet-paths] DEVICE\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    tax_t tax = {0};
    unsigned long count = 200;
    bool check = false, quiet = false;
    int at = 1;
    for (; at < argc - 1; at++)
        if (strcmp(argv[at], "--check") == 0)
            check = true;
        else if (strcmp(argv[at], "--quiet-paths") == 0)
            quiet = true;
        else if (strcmp(argv[at], "--count") == 0 && at + 2 < argc)
            count = strtoul(argv[++at], NULL, 10);
        else
            return usage();
    if (at != argc - 1 || count == 0)
        return usage();
    const char *device = argv[at];
    const tax_vendor_t *vendor = vendor_of(device);
    tax.backend = vendor != NULL ? vendor->backend : device;
    tax.pinned = strncmp(device, "level_zero", 10) == 0;
    if (!make_objects(&tax, device)) {
        printf("skipped: %s: %s\n", device, yoke_last_error());
        return 77;
    }
    if (quiet) {
        count_quiet(&tax);
    } else if (vendor == NULL || !open_raw(&tax, vendor)) {
        printf("%s: no raw program\n", device);
        failures++;
    } else {
        run_all(&tax, vendor, count, check && counter.count > 0);
        if (check && counter.count == 0) {
            printf("%s: its library counts no calls\n", device);
            failures++;
        }
    }
    end_objects(&tax);
    free(counter.before);
    return failures == 0 ? 0 : 1;
}
