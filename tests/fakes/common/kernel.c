/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK ((size_t)128 << 10)
#define MAX_PARAMETERS 64

/* As in device_code.hpp. */
struct fake_kernel {
    const char *name;
    unsigned count;
    const unsigned short *sizes, *alignments;
    const unsigned char *pointers;
    void (*body)(void **);
};
typedef struct run {
    unsigned grid[3], block[3];
    size_t shared;
    void *(*stack)(unsigned index, size_t *size);
} run_t;
typedef void (*run_function_t)(const run_t *, const fake_kernel_t *, void **);

struct fake_module {
    struct fake_module *next;
    uint64_t hash, size;
    void *library;
    const fake_kernel_t *kernels;
    run_function_t run;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_module_t *modules;

/* ---- loading ----------------------------------------------------------------------- */

static void *open_object(const fake_image_t *image)
{
    char path[] = "/tmp/yoke-fake-XXXXXX";
    void *library = NULL;
    int file = mkstemp(path);
    if (file < 0)
        return NULL;
    if (write(file, image + 1, image->size) == (ssize_t)image->size)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fprintf(stderr, "fake: %s\n", dlerror());
    close(file);
    unlink(path);
    return library;
}

static fake_module_t *load_module(const fake_image_t *image)
{
    fake_module_t *module = calloc(1, sizeof *module);
    if (module == NULL)
        return NULL;
    module->library = open_object(image);
    if (module->library == NULL) {
        free(module);
        return NULL;
    }
    module->hash = image->hash;
    module->size = image->size;
    module->kernels = dlsym(module->library, "fake_entries");
    *(void **)(void *)&module->run = dlsym(module->library, "fake_run");
    module->next = modules;
    modules = module;
    return module;
}

const fake_module_t *fake_module_load(const fake_image_t *image)
{
    pthread_mutex_lock(&lock);
    fake_module_t *module = modules;
    while (module != NULL && (module->hash != image->hash || module->size != image->size))
        module = module->next;
    if (module == NULL)
        module = load_module(image);
    pthread_mutex_unlock(&lock);
    return module;
}

const fake_kernel_t *fake_module_kernel(const fake_module_t *module, const char *name)
{
    /* Without extern "C" the symbol has another name. */
    if (dlsym(module->library, name) == NULL)
        return NULL;
    for (const fake_kernel_t *k = module->kernels; k->name != NULL; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

void *fake_module_variable(const fake_module_t *module, const char *name,
                           size_t *out_size)
{
    void *address = dlsym(module->library, name);
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (address == NULL ||
        dladdr1(address, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || (symbol->st_info & 15) != STT_OBJECT)
        return NULL;
    *out_size = symbol->st_size;
    return address;
}

/* ---- running ----------------------------------------------------------------------- */

typedef struct task {
    const fake_kernel_t *kernel;
    run_function_t function;
    run_t run;
    void (*illegal)(void *);
    bool (*reaches)(void *, const fake_block_t *);
    void *context;
    _Alignas(16) unsigned char bytes[]; /* parameters, each at 16 */
} task_t;

/* Stacks are kept: the library's one worker uses them again. */
static void *stack_of(unsigned index, size_t *size)
{
    (void)index;
    void *at = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED)
        abort();
    *size = STACK;
    return at;
}

static size_t padded(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* The end of a block will do: there may be nothing left to read. */
static bool usable(const task_t *task, const char *address)
{
    fake_block_t block;
    return (fake_memory_find(address, 0, &block) ||
            fake_memory_find(address - 1, 0, &block)) &&
           (task->reaches == NULL || task->reaches(task->context, &block));
}

static void run_task(void *data)
{
    task_t *task = data;
    const fake_kernel_t *kernel = task->kernel;
    void *arguments[MAX_PARAMETERS];
    unsigned char *at = task->bytes;
    for (unsigned i = 0; i < kernel->count; at += padded(kernel->sizes[i++])) {
        arguments[i] = at;
        if (!kernel->pointers[i])
            continue;
        char *address;
        memcpy(&address, at, sizeof address);
        if (address != NULL && !usable(task, address)) {
            task->illegal(task->context);
            return;
        }
        address = fake_shadow(address);
        memcpy(at, &address, sizeof address);
    }
    task->run.stack = stack_of;
    task->function(&task->run, kernel, arguments);
}

static run_function_t function_of(const fake_kernel_t *kernel)
{
    run_function_t run = NULL;
    pthread_mutex_lock(&lock);
    for (const fake_module_t *m = modules; m != NULL && run == NULL; m = m->next)
        for (const fake_kernel_t *k = m->kernels; k->name != NULL; k++)
            if (k == kernel)
                run = m->run;
    pthread_mutex_unlock(&lock);
    return run;
}

static bool copy_parameters(const fake_kernel_t *kernel, const fake_launch_t *launch,
                            unsigned char *to)
{
    size_t offset = 0;
    for (unsigned i = 0; i < kernel->count; i++) {
        size_t size = kernel->sizes[i], alignment = kernel->alignments[i];
        offset = (offset + alignment - 1) / alignment * alignment;
        if (launch->parameters == NULL && offset + size > launch->packed_size)
            return false;
        memcpy(to,
               launch->parameters != NULL ? launch->parameters[i]
                                          : (const char *)launch->packed + offset,
               size);
        offset += size;
        to += padded(size);
    }
    return true;
}

bool fake_kernel_launch(const fake_kernel_t *kernel, fake_stream_t *stream,
                        const fake_launch_t *launch)
{
    _Alignas(16) unsigned char place[sizeof(task_t) + 4608];
    task_t *task = (task_t *)(void *)place;
    size_t size = sizeof *task;
    if (kernel->count > MAX_PARAMETERS)
        return false;
    for (unsigned i = 0; i < kernel->count; i++)
        size += padded(kernel->sizes[i]);
    if (size > sizeof place)
        return false;
    task->kernel = kernel;
    task->function = function_of(kernel);
    task->illegal = launch->illegal;
    task->reaches = launch->reaches;
    task->context = launch->context;
    memcpy(task->run.grid, launch->grid, sizeof task->run.grid);
    memcpy(task->run.block, launch->block, sizeof task->run.block);
    task->run.shared = launch->shared;
    if (!copy_parameters(kernel, launch, task->bytes))
        return false;
    fake_stream_push(stream, run_task, task, size);
    return true;
}

uint32_t fake_kernel_parameters(const fake_kernel_t *kernel)
{
    return kernel->count;
}
