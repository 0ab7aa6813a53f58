/* SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"
#include "scan.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
/* device_code.hpp, as it is. */
extern const char fake_device_code[] __attribute__((visibility("hidden")));
__asm__(".pushsection .rodata\n"
        ".globl fake_device_code\n.hidden fake_device_code\n"
        "fake_device_code:\n.incbin \"" FAKE_DEVICE_CODE "\"\n.byte 0\n"
        ".popsection\n");

#define MAX_ARGUMENTS 160

/* ---- files and processes ----------------------------------------------------------- */

uint64_t fake_hash(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static char *read_whole(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    char *text = NULL;
    if (file == NULL)
        return NULL;
    if (fstat(fileno(file), &status) == 0 &&
        (text = malloc((size_t)status.st_size + 1)) != NULL) {
        *out_size = fread(text, 1, (size_t)status.st_size, file);
        text[*out_size] = '\0';
    }
    fclose(file);
    return text;
}

static bool write_whole(const char *path, const char *const *parts)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool good = true;
    for (; *parts != NULL; parts++)
        good = fputs(*parts, file) >= 0 && good;
    return fclose(file) == 0 && good;
}

/* Exit status, -1 when it could not be started. */
static int start(const char *program, char *const *arguments, const char *errors)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    int failed = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static const char *compiler(void)
{
    static const char *const names[] = {"/usr/bin/c++", "/usr/bin/g++",
                                        "/usr/bin/clang++"};
    const char *chosen = getenv("YOKE_FAKES_CXX");
    if (chosen != NULL && *chosen != '\0')
        return chosen;
    for (int i = 0; i < 3; i++)
        if (access(names[i], X_OK) == 0)
            return names[i];
    return "c++";
}

/* ---- the two steps ----------------------------------------------------------------- */

typedef struct job {
    char folder[64];
    char source[96], expanded[96], code[96], object[96], errors[96];
} job_t;

static bool open_job(job_t *job)
{
    snprintf(job->folder, sizeof job->folder, "/tmp/yoke-fake-XXXXXX");
    if (mkdtemp(job->folder) == NULL)
        return false;
    snprintf(job->source, sizeof job->source, "%s/source.cpp", job->folder);
    snprintf(job->expanded, sizeof job->expanded, "%s/expanded.ii", job->folder);
    snprintf(job->code, sizeof job->code, "%s/code.ii", job->folder);
    snprintf(job->object, sizeof job->object, "%s/object.so", job->folder);
    snprintf(job->errors, sizeof job->errors, "%s/errors", job->folder);
    return true;
}

static void close_job(const job_t *job)
{
    unlink(job->source);
    unlink(job->expanded);
    unlink(job->code);
    unlink(job->object);
    unlink(job->errors);
    rmdir(job->folder);
}

static bool can_contract(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* Macros expanded, so that kernels are found whatever they are written with. */
static bool expand(const fake_compile_t *what, const job_t *job)
{
    const char *arguments[MAX_ARGUMENTS] = {compiler(),    "-E",         "-x",
                                            "c++",         "-std=c++17", "-nostdinc",
                                            "-U__linux__", "-U__unix__", "-w"};
    char words[MAX_ARGUMENTS][512];
    int count = 9, word = 0;
    for (size_t i = 0; i < what->folder_count && word < 136; i++, word++) {
        snprintf(words[word], sizeof words[word], "-I%s", what->folders[i]);
        arguments[count++] = words[word];
    }
    arguments[count++] = "-o";
    arguments[count++] = job->expanded;
    arguments[count++] = job->source;
    arguments[count] = NULL;
    return start(arguments[0], (char *const *)(uintptr_t)arguments, job->errors) == 0;
}

static bool build(const fake_compile_t *what, const job_t *job, const fake_scan_t *scan)
{
    bool contract = what->contract && can_contract();
    const char *arguments[MAX_ARGUMENTS] = {compiler(),
                                            "-x",
                                            "c++-cpp-output",
                                            "-std=c++17",
                                            "-shared",
                                            "-fPIC",
                                            "-O1",
                                            "-w",
                                            "-fno-exceptions",
                                            "-fno-rtti",
                                            "-fno-stack-protector",
                                            "-Wl,-Bsymbolic",
                                            contract ? "-ffp-contract=fast"
                                                     : "-ffp-contract=off",
                                            contract ? "-mfma" : "-fno-fast-math"};
    char words[16][128];
    int count = 14;
    for (size_t i = 0; i < scan->dynamic_count && i < 16; i++) {
        snprintf(words[i], sizeof words[i], "-Wl,--defsym,%s=fake_dynamic_shared",
                 scan->dynamic[i]);
        arguments[count++] = words[i];
    }
    arguments[count++] = "-o";
    arguments[count++] = job->object;
    arguments[count++] = job->code;
    arguments[count++] = "-lm";
    arguments[count] = NULL;
    return start(arguments[0], (char *const *)(uintptr_t)arguments, job->errors) == 0;
}

static char *compile_object(const fake_compile_t *what, const char *text,
                            size_t *out_size, char **out_log)
{
    job_t job;
    char *object = NULL, *expanded = NULL, *log = NULL;
    size_t size = 0;
    if (!open_job(&job))
        return NULL;
    const char *const source[] = {text, NULL};
    if (!write_whole(job.source, source) || !expand(what, &job))
        goto out;
    expanded = read_whole(job.expanded, &size);
    fake_scan_t scan = {0};
    if (expanded != NULL && fake_scan(expanded, &scan)) {
        const char *const code[] = {expanded, scan.tail, NULL};
        if (write_whole(job.code, code) && build(what, &job, &scan))
            object = read_whole(job.object, out_size);
    }
    fake_scan_free(&scan);
out:
    log = read_whole(job.errors, &size);
    if (log != NULL) {
        free(*out_log);
        *out_log = log;
    }
    free(expanded);
    close_job(&job);
    return object;
}

/* ---- the cache --------------------------------------------------------------------- */

static bool cache_path(const fake_compile_t *what, const char *text, char *path,
                       size_t size)
{
    const char *folder = getenv("YOKE_FAKES_CACHE");
    if (folder == NULL || *folder == '\0')
        return false;
    uint64_t seed = what->contract ? 7 : 3;
    for (size_t i = 0; i < what->folder_count; i++)
        seed = fake_hash(what->folders[i], strlen(what->folders[i]) + 1, seed);
    seed = fake_hash(compiler(), strlen(compiler()), seed);
    snprintf(path, size, "%s/%016llx%016llx.so", folder,
             (unsigned long long)fake_hash(text, strlen(text), seed),
             (unsigned long long)fake_hash(text, strlen(text), seed + 1));
    return true;
}

static void keep(const char *path, const char *object, size_t size)
{
    char draft[4200];
    snprintf(draft, sizeof draft, "%s.XXXXXX", path);
    int file = mkstemp(draft);
    if (file < 0)
        return;
    bool good = write(file, object, size) == (ssize_t)size;
    close(file);
    if (!good || rename(draft, path) != 0)
        unlink(draft);
}

static char *object_of(const fake_compile_t *what, const char *text, size_t *out_size,
                       char **out_log)
{
    char path[4096];
    bool cached = cache_path(what, text, path, sizeof path);
    char *object = cached ? read_whole(path, out_size) : NULL;
    if (object != NULL)
        return object;
    object = compile_object(what, text, out_size, out_log);
    if (object != NULL && cached)
        keep(path, object, *out_size);
    return object;
}

/* ---- the text ---------------------------------------------------------------------- */

/* The program's macros come after the prologue, whose names they may not touch. */
static char *whole_text(const fake_compile_t *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fprintf(out, "#define %s 1\n%s", what->language, fake_device_code);
    for (size_t i = 0; i < what->define_count; i++) {
        const char *define = what->defines[i];
        int name = (int)strcspn(define, "=");
        fprintf(out, "#define %.*s %s\n", name, define,
                define[name] == '=' ? define + name + 1 : "1");
    }
    fprintf(out, "#line 1 \"%s\"\n%s\n",
            what->name != NULL ? what->name : "default_program", what->source);
    fclose(out);
    return text;
}

/* ---- images ------------------------------------------------------------------------ */

bool fake_compile(const fake_compile_t *what, fake_image_t **out_image, char **out_log)
{
    size_t size = 0;
    char *text = whole_text(what), *log = strdup("");
    char *object = text != NULL ? object_of(what, text, &size, &log) : NULL;
    free(text);
    fake_image_t *image = object != NULL ? calloc(1, sizeof *image + size) : NULL;
    if (image != NULL) {
        memcpy(image->magic, FAKE_IMAGE_MAGIC, sizeof image->magic);
        snprintf(image->vendor, sizeof image->vendor, "%s", what->vendor);
        snprintf(image->arch, sizeof image->arch, "%s", what->arch);
        image->form = what->form;
        image->size = size;
        image->hash = fake_hash(object, size, 0);
        memcpy(image + 1, object, size);
        *out_image = image;
    }
    free(object);
    *out_log = log;
    return image != NULL;
}

const fake_image_t *fake_image_check(const void *data, size_t size)
{
    const fake_image_t *image = data;
    if (data == NULL || (size > 0 && size < sizeof *image) ||
        memcmp(data, FAKE_IMAGE_MAGIC, sizeof image->magic) != 0)
        return NULL;
    if (size > 0 && image->size > size - sizeof *image)
        return NULL;
    return image->size < 1u << 28 && fake_hash(image + 1, image->size, 0) == image->hash
               ? image
               : NULL;
}
