/* SPDX-License-Identifier: Apache-2.0 */
#include "spirv.h"
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Programs and objects that the build found or made. */
#ifndef FAKE_LLVM_SPIRV
#define FAKE_LLVM_SPIRV "llvm-spirv-14"
#define FAKE_LLVM_DIS "llvm-dis-14"
#define FAKE_CLANG "clang-14"
#define FAKE_BUILTINS "builtins.o"
#define FAKE_RUNNER "runner.o"
#endif

extern char **environ;

/* --- files and programs ------------------------------------------------------------- */

static char *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    char *data = NULL;
    if (file == NULL)
        return NULL;
    if (fstat(fileno(file), &status) == 0 &&
        (data = malloc((size_t)status.st_size + 1)) != NULL) {
        size_t size = fread(data, 1, (size_t)status.st_size, file);
        data[size] = '\0';
        if (out_size != NULL)
            *out_size = size;
    }
    fclose(file);
    return data;
}

static bool write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool good = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && good;
}

/* Its messages are appended to `log`. Sanitizer run times must not be preloaded into it.
 */
static bool run_program(const char *const *arguments, const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int failed = posix_spawnp(&child, arguments[0], &actions, NULL,
                              (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        FILE *file = fopen(log, "a");
        if (file != NULL) {
            fprintf(file, "%s: %s\n", arguments[0], strerror(failed));
            fclose(file);
        }
        return false;
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

typedef struct job {
    char folder[64], spirv[96], bitcode[96], text[96], object[96], log[96];
} job_t;

static bool job_open(job_t *job)
{
    snprintf(job->folder, sizeof job->folder, "/tmp/yoke-fake-ze-XXXXXX");
    if (mkdtemp(job->folder) == NULL)
        return false;
    snprintf(job->spirv, sizeof job->spirv, "%s/module.spv", job->folder);
    snprintf(job->bitcode, sizeof job->bitcode, "%s/module.bc", job->folder);
    snprintf(job->text, sizeof job->text, "%s/module.ll", job->folder);
    snprintf(job->object, sizeof job->object, "%s/module.so", job->folder);
    snprintf(job->log, sizeof job->log, "%s/log", job->folder);
    return true;
}

static void job_close(const job_t *job)
{
    unlink(job->spirv);
    unlink(job->bitcode);
    unlink(job->text);
    unlink(job->object);
    unlink(job->log);
    rmdir(job->folder);
}

/* --- the text: from the SPIR target to the host, and a caller for each kernel ----------
 */

/* Words that mean nothing to the host become blanks; lines that name the target go. */
static void retarget(char *text)
{
    static const char *const words[] = {"spir_kernel", "spir_func"};
    for (size_t w = 0; w < 2; w++)
        for (char *at = text; (at = strstr(at, words[w])) != NULL;)
            memset(at, ' ', strlen(words[w]));
    for (char *at = text; (at = strstr(at, "\ntarget ")) != NULL;)
        at[1] = ';';
}

/* The length of the parameter that begins at `text`: up to a comma or the closing bracket
 * of the list. */
static size_t parameter_length(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] != '\0'; n++) {
        if (strchr("([{<", text[n]) != NULL)
            depth++;
        else if (depth > 0 && strchr(")]}>", text[n]) != NULL)
            depth--;
        else if (depth == 0 && (text[n] == ',' || text[n] == ')'))
            break;
    }
    return n;
}

/* The type at the head of a parameter: "float addrspace(1)*", "<4 x float>", "i32". */
static size_t type_length(const char *text, size_t length)
{
    size_t n = 0;
    int depth = 0;
    for (; n < length; n++) {
        if (strchr("([{<", text[n]) != NULL)
            depth++;
        else if (strchr(")]}>", text[n]) != NULL)
            depth--;
        else if (text[n] == ' ' && depth == 0 &&
                 strncmp(text + n, " addrspace(", 11) != 0)
            break;
    }
    return n;
}

static uint16_t scalar_size(const char *type, size_t length)
{
    int lanes, bits;
    char name[16];
    if (type[0] == '<' && sscanf(type, "<%d x %15[a-z0-9]", &lanes, name) == 2)
        return (uint16_t)((lanes == 3 ? 4 : lanes) * scalar_size(name, strlen(name)));
    if (length > 0 && type[length - 1] == '*')
        return 8;
    if (sscanf(type, "i%d", &bits) == 1)
        return (uint16_t)((bits + 7) / 8);
    return strncmp(type, "double", 6) == 0  ? 8
           : strncmp(type, "float", 5) == 0 ? 4
           : strncmp(type, "half", 4) == 0  ? 2
                                            : 0;
}

typedef struct writer {
    FILE *code;  /* callers, in LLVM's language */
    FILE *table; /* "axpy 8g 8g 4v;sum ...;" */
    size_t structures;
} writer_t;

static void write_parameter(writer_t *w, int index, const char *text, size_t length)
{
    size_t n = type_length(text, length);
    bool by_value = memmem(text, length, "byval(", 6) != NULL;
    const char *space = memmem(text, n, "addrspace(", 10);
    char kind = by_value ? 'v' : space != NULL && space[10] == '3' ? 'l' : 'v';
    if (!by_value && space != NULL && text[n - 1] == '*' && kind == 'v')
        kind = 'g';
    fprintf(w->table, " %u%c", by_value ? 0 : scalar_size(text, n), kind);
    fprintf(w->code,
            "  %%s%d = getelementptr i8*, i8** %%arguments, i64 %d\n"
            "  %%p%d = load i8*, i8** %%s%d\n",
            index, index, index, index);
    if (by_value)
        fprintf(w->code, "  %%v%d = bitcast i8* %%p%d to %.*s\n", index, index, (int)n,
                text);
    else
        fprintf(w->code,
                "  %%t%d = bitcast i8* %%p%d to %.*s*\n"
                "  %%v%d = load %.*s, %.*s* %%t%d, align 1\n",
                index, index, (int)n, text, index, (int)n, text, (int)n, text, index);
}

/* One kernel, `at` behind "define spir_kernel void @". */
static void write_caller(writer_t *w, const char *at)
{
    size_t name = strcspn(at, "(");
    const char *list = at + name + 1;
    fprintf(w->code, "\ndefine void @yoke_fake_call_%.*s(i8** %%arguments) {\n",
            (int)name, at);
    fprintf(w->table, "%.*s", (int)name, at);
    int count = 0;
    for (const char *p = list; *p != ')'; count++) {
        size_t length = parameter_length(p);
        write_parameter(w, count, p, length);
        p += length + (p[length] == ',');
        p += strspn(p, " ");
    }
    fprintf(w->code, "  call void @%.*s(", (int)name, at);
    int index = 0;
    for (const char *p = list; *p != ')'; index++) {
        size_t length = parameter_length(p), n = type_length(p, length);
        const char *by_value = memmem(p, length, "byval(", 6);
        size_t attribute = by_value != NULL ? parameter_length(by_value + 6) + 7 : 0;
        fprintf(w->code, "%s%.*s %.*s %%v%d", index > 0 ? ", " : "", (int)n, p,
                (int)attribute, by_value != NULL ? by_value : "", index);
        p += length + (p[length] == ',');
        p += strspn(p, " ");
    }
    fprintf(w->code, ")\n  ret void\n}\n");
    fputc(';', w->table);
}

static char *host_text(const char *text)
{
    static const char head[] = "define spir_kernel void @";
    char *code = NULL, *table = NULL, *whole = NULL, *copy = strdup(text);
    size_t code_size, table_size;
    writer_t w = {open_memstream(&code, &code_size), open_memstream(&table, &table_size),
                  0};
    for (const char *at = text; (at = strstr(at, head)) != NULL;) {
        at += sizeof head - 1;
        write_caller(&w, at);
    }
    fclose(w.code);
    fclose(w.table);
    if (copy != NULL)
        retarget(copy);
    if (copy == NULL ||
        asprintf(&whole, "%s\n%s\n@yoke_fake_kernels = constant [%zu x i8] c\"%s\\00\"\n",
                 copy, code, table_size + 1, table) < 0)
        whole = NULL;
    free(copy);
    free(code);
    free(table);
    return whole;
}

/* --- compiling ---------------------------------------------------------------------- */

static bool translate(const job_t *job)
{
    const char *reverse[] = {
        FAKE_LLVM_SPIRV, "-r", "--spirv-target-env=CL1.2", job->spirv, "-o",
        job->bitcode,    NULL};
    const char *print[] = {FAKE_LLVM_DIS, job->bitcode, "-o", job->text, NULL};
    if (!run_program(reverse, job->log) || !run_program(print, job->log))
        return false;
    char *text = read_file(job->text, NULL);
    char *changed = text != NULL ? host_text(text) : NULL;
    bool good = changed != NULL && write_file(job->text, changed, strlen(changed));
    free(text);
    free(changed);
    return good;
}

static bool build(const job_t *job)
{
    const char *arguments[] = {FAKE_CLANG,    "-O1",
                               "-w",          "-shared",
                               "-fPIC",       "-ffp-contract=off",
                               "-Wl,-z,defs", "-Wl,-Bsymbolic",
                               "-x",          "ir",
                               job->text,     "-x",
                               "none",        FAKE_BUILTINS,
                               FAKE_RUNNER,   "-o",
                               job->object,   "-lm",
                               NULL};
    return run_program(arguments, job->log);
}

static bool parse_kernel(void *library, const char *text, spirv_kernel_t *kernel)
{
    char symbol[160];
    int used = 0;
    if (sscanf(text, "%127[^ ;]%n", kernel->name, &used) != 1)
        return false;
    snprintf(symbol, sizeof symbol, "yoke_fake_call_%s", kernel->name);
    *(void **)(void *)&kernel->body = dlsym(library, symbol);
    for (text += used; *text == ' ' && kernel->count < SPIRV_MAX_ARGUMENTS;) {
        char *end;
        kernel->sizes[kernel->count] = (uint16_t)strtoul(text + 1, &end, 10);
        kernel->kinds[kernel->count] = *end == 'g'   ? SPIRV_POINTER
                                       : *end == 'l' ? SPIRV_LOCAL
                                                     : SPIRV_VALUE;
        kernel->count++;
        text = end + 1;
    }
    return kernel->body != NULL;
}

static bool open_module(const char *path, spirv_module_t *module, char **out_log)
{
    module->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module->library == NULL) {
        *out_log = strdup(dlerror());
        return false;
    }
    *(void **)(void *)&module->run = dlsym(module->library, "yoke_fake_run");
    const char *table = dlsym(module->library, "yoke_fake_kernels");
    for (const char *p = table; p != NULL && (p = strchr(p, ';')) != NULL; p++)
        module->count++;
    module->kernels = calloc(module->count + 1, sizeof *module->kernels);
    if (table == NULL || module->kernels == NULL || module->run == NULL)
        return false;
    for (uint32_t i = 0; i < module->count; i++) {
        if (!parse_kernel(module->library, table, &module->kernels[i]))
            return false;
        table = strchr(table, ';') + 1;
    }
    return true;
}

/* --- the cache: $YOKE_FAKES_CACHE, a folder -------------------------------------------
 */

/* FNV-1a; of the SPIR-V, and of what else goes into the object. */
static uint64_t hash(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ bytes[i]) * 0x100000001b3u;
    return seed;
}

static bool cache_path(const void *data, size_t size, char *path, size_t room)
{
    const char *folder = getenv("YOKE_FAKES_CACHE");
    struct stat builtins, runner;
    if (folder == NULL || *folder == '\0' || stat(FAKE_BUILTINS, &builtins) != 0 ||
        stat(FAKE_RUNNER, &runner) != 0)
        return false;
    const int64_t made[] = {builtins.st_mtim.tv_sec, builtins.st_mtim.tv_nsec,
                            runner.st_mtim.tv_sec, runner.st_mtim.tv_nsec};
    uint64_t seed = hash(made, sizeof made, 0xcbf29ce484222325u);
    snprintf(path, room, "%s/ze-%016llx%016llx.so", folder,
             (unsigned long long)hash(data, size, seed),
             (unsigned long long)hash(data, size, seed + 1));
    return true;
}

static void keep(const char *path, const spirv_module_t *module)
{
    char draft[4200];
    snprintf(draft, sizeof draft, "%s.%d", path, (int)getpid());
    if (!write_file(draft, module->object, module->size) || rename(draft, path) != 0)
        unlink(draft);
}

static bool compile(const void *data, size_t size, spirv_module_t *out_module,
                    char **out_log)
{
    job_t job;
    spirv_module_t module = {0};
    *out_log = NULL;
    if (!job_open(&job))
        return false;
    bool good = write_file(job.spirv, data, size) && translate(&job) && build(&job) &&
                (module.object = read_file(job.object, &module.size)) != NULL &&
                open_module(job.object, &module, out_log);
    if (*out_log == NULL)
        *out_log = read_file(job.log, NULL);
    job_close(&job);
    if (*out_log == NULL)
        *out_log = strdup("");
    if (good)
        *out_module = module;
    else
        spirv_free(&module);
    return good;
}

bool spirv_compile(const void *data, size_t size, spirv_module_t *out_module,
                   char **out_log)
{
    char path[4096];
    if (!cache_path(data, size, path, sizeof path))
        return compile(data, size, out_module, out_log);
    size_t object_size = 0;
    char *object = read_file(path, &object_size);
    if (object != NULL) {
        bool good = spirv_load(object, object_size, out_module, out_log);
        free(object);
        return good;
    }
    bool good = compile(data, size, out_module, out_log);
    if (good)
        keep(path, out_module);
    return good;
}

bool spirv_load(const void *object, size_t size, spirv_module_t *out_module,
                char **out_log)
{
    job_t job;
    spirv_module_t module = {0};
    *out_log = NULL;
    if (!job_open(&job))
        return false;
    module.object = malloc(size);
    module.size = size;
    bool good = module.object != NULL && write_file(job.object, object, size) &&
                open_module(job.object, &module, out_log);
    if (module.object != NULL)
        memcpy(module.object, object, size);
    job_close(&job);
    if (*out_log == NULL)
        *out_log = strdup("");
    if (good)
        *out_module = module;
    else
        spirv_free(&module);
    return good;
}

void spirv_free(spirv_module_t *module)
{
    if (module->library != NULL)
        dlclose(module->library);
    free(module->kernels);
    free(module->object);
    memset(module, 0, sizeof *module);
}
