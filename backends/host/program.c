/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: shared objects, loaded from their bytes. */
#include "backends/host/host.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

struct yoke_impl_program {
    void *handle;
    char *data;
    size_t size;
    const yoke_host_table_t *table; /* NULL: a native program */
};

#if UINTPTR_MAX == UINT64_MAX
typedef Elf64_Ehdr header_t;
typedef Elf64_Phdr segment_t;
#define CLASS ELFCLASS64
#else
typedef Elf32_Ehdr header_t;
typedef Elf32_Phdr segment_t;
#define CLASS ELFCLASS32
#endif

/* The dynamic linker maps what the headers say and dies of pages that the file has not:
 * a cut file must not get that far. */
static const char *what_is_wrong(const char *data, size_t size)
{
    header_t header;
    segment_t segment;
    if (size < sizeof header || memcmp(data, ELFMAG, SELFMAG) != 0)
        return "it is no shared object";
    memcpy(&header, data, sizeof header);
    if (header.e_ident[EI_CLASS] != CLASS || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof segment)
        return "it is a shared object of another machine";
    if (header.e_phoff > size ||
        (size - header.e_phoff) / sizeof segment < header.e_phnum)
        return "it is cut short";
    /* Nobody needs its sections to run it, but they come last. */
    if (header.e_shoff > size ||
        (header.e_shentsize > 0 &&
         (size - header.e_shoff) / header.e_shentsize < header.e_shnum))
        return "it is cut short";
    for (size_t i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
            return "it is cut short";
    }
    return NULL;
}

/* dlopen() takes a name, and gives the old object for a name it has seen: each is new. */
static void *open_bytes(const char *data, size_t size)
{
    static _Atomic unsigned counter;
    char *folder = yoke_host_scratch_make();
    if (folder == NULL)
        return NULL;
    void *handle = NULL;
    char *file = yoke_format("%s/%ld-%u.so", folder, (long)getpid(),
                             atomic_fetch_add(&counter, 1));
    if (file == NULL) {
        yoke_fail_memory();
    } else if (yoke_file_write(file, data, size) == YOKE_OK) {
        handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (handle == NULL)
            yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                   "a compiled program cannot be loaded: %s; TMPDIR may "
                                   "name a folder that lets programs run",
                                   dlerror());
        unlink(file);
    }
    yoke_host_scratch_remove(folder);
    free(file);
    free(folder);
    return handle;
}

static yoke_status_t read_table(yoke_impl_program_t *program)
{
    program->table = dlsym(program->handle, YOKE_HOST_PROGRAM_SYMBOL);
    if (program->table != NULL && program->table->version != YOKE_HOST_PROGRAM_VERSION)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "the program was compiled by another version of "
                                      "Yoke; compile its source again");
    return YOKE_OK;
}

static yoke_status_t get_bytes(const yoke_impl_program_source_t *source,
                               yoke_log_text_t log, void *log_context,
                               yoke_impl_program_t *program)
{
    if (!source->binary)
        return yoke_host_compile(source, log, log_context, &program->data,
                                 &program->size);
    const char *wrong = what_is_wrong(source->data, source->size);
    if (wrong != NULL) {
        if (log != NULL)
            log(log_context, wrong, strlen(wrong));
        return YOKE_ERR_BAD_INPUT;
    }
    program->data = malloc(source->size);
    if (program->data == NULL)
        return yoke_fail_memory();
    memcpy(program->data, source->data, source->size);
    program->size = source->size;
    return YOKE_OK;
}

yoke_status_t yoke_host_program_create(yoke_impl_device_t *device,
                                       const yoke_impl_program_source_t *source,
                                       yoke_log_text_t log, void *log_context,
                                       yoke_impl_program_t **out_program)
{
    (void)device;
    yoke_impl_program_t *program = calloc(1, sizeof *program);
    if (program == NULL)
        return yoke_fail_memory();
    yoke_status_t status = get_bytes(source, log, log_context, program);
    if (status == YOKE_OK) {
        program->handle = open_bytes(program->data, program->size);
        status = program->handle == NULL ? YOKE_ERR_SYSTEM : read_table(program);
    }
    if (status == YOKE_OK)
        *out_program = program;
    else
        yoke_host_program_destroy(program);
    return status;
}

void yoke_host_program_destroy(yoke_impl_program_t *program)
{
    if (program->handle != NULL)
        dlclose(program->handle);
    free(program->data);
    free(program);
}

yoke_status_t yoke_host_program_binary(yoke_impl_program_t *program,
                                       const void **out_data, size_t *out_size)
{
    *out_data = program->data;
    *out_size = program->size;
    return YOKE_OK;
}

static bool find(const yoke_impl_program_t *program, const char *name,
                 yoke_impl_kernel_t *out_kernel)
{
    if (program->table == NULL) {
        /* ISO C has no other way from an object pointer to a function's. */
        void *address = dlsym(program->handle, name);
        memcpy(&out_kernel->native, &address, sizeof address);
        out_kernel->entry.name = "";
        return address != NULL;
    }
    for (uint32_t i = 0; i < program->table->count; i++)
        if (strcmp(program->table->entries[i].name, name) == 0) {
            out_kernel->entry = program->table->entries[i];
            return true;
        }
    return false;
}

yoke_status_t yoke_host_kernel_create(yoke_impl_program_t *program, const char *name,
                                      yoke_impl_kernel_t **out_kernel)
{
    yoke_impl_kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return yoke_fail_memory();
    if (!find(program, name, kernel)) {
        free(kernel);
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND, "the program has no kernel %s",
                                      name);
    }
    *out_kernel = kernel;
    return YOKE_OK;
}

void yoke_host_kernel_destroy(yoke_impl_kernel_t *kernel)
{
    free(kernel);
}
