/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source to shared object by the machine's C compiler, in a folder of its own. A program
 * in the portable dialect is read twice: the preprocessed text tells which kernels there
 * are, then an epilogue with one function a kernel, which unpacks its arguments, is
 * compiled with it.
 */
#include "backends/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "hal/kernels/dialect.h"
#include "hal/kernels/signature.h"

#define MAX_OUTPUT ((size_t)256 << 20)
#define MAX_WORDS 256

extern char **environ;

/* --- the compiler ------------------------------------------------------------------- */

static char *in_path(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0 ? yoke_strdup(name) : NULL;
    while (path != NULL && *path != '\0') {
        size_t size = strcspn(path, ":");
        char *file = yoke_format("%.*s/%s", (int)size, path, name);
        if (size > 0 && file != NULL && access(file, X_OK) == 0)
            return file;
        free(file);
        path += size + (path[size] == ':' ? 1 : 0);
    }
    return NULL;
}

char *yoke_host_compiler(void)
{
    static const char *const names[] = {"cc", "gcc", "clang", NULL};
    const char *chosen = getenv("YOKE_HOST_CC");
    if (chosen != NULL && chosen[0] != '\0')
        return in_path(chosen);
    for (size_t i = 0; names[i] != NULL; i++) {
        char *file = in_path(names[i]);
        if (file != NULL)
            return file;
    }
    return NULL;
}

/* How a program ended. */
typedef struct ended {
    int error;  /* it was not started: errno */
    int status; /* of waitpid() */
} ended_t;

static bool is_good(ended_t ended)
{
    return ended.error == 0 && ended.status == 0;
}

/* Run a program in `folder`; its output goes to files there. */
static ended_t run(const char *folder, char *const *words, const char *output,
                   const char *log)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, child;
    pid_t pid;
    ended_t how = {0};
    how.error = posix_spawn_file_actions_init(&files);
    if (how.error != 0)
        return how;
    how.error = posix_spawnattr_init(&attributes);
    if (how.error != 0) {
        posix_spawn_file_actions_destroy(&files);
        return how;
    }
    /* A caller that ignores SIGCHLD must not make the compiler lose its own children. */
    sigemptyset(&none);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &child);
    posix_spawnattr_setsigmask(&attributes, &none);
    int wrong = posix_spawn_file_actions_addchdir_np(&files, folder);
    wrong |= posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    wrong |= posix_spawn_file_actions_addopen(&files, 1, output,
                                              O_WRONLY | O_CREAT | O_TRUNC, 0600);
    wrong |= posix_spawn_file_actions_addopen(&files, 2, log,
                                              O_WRONLY | O_CREAT | O_TRUNC, 0600);
    how.error = wrong != 0
                    ? ENOMEM
                    : posix_spawn(&pid, words[0], &files, &attributes, words, environ);
    if (how.error == 0) {
        pid_t ended;
        while ((ended = waitpid(pid, &how.status, 0)) < 0 && errno == EINTR)
            ;
        /* Somebody else reaped it (SIGCHLD ignored): what it made must tell. */
        if (ended < 0)
            how.status = 0;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return how;
}

/* --- files -------------------------------------------------------------------------- */

char *yoke_host_scratch_make(void)
{
    const char *base = getenv("TMPDIR");
    char *folder =
        yoke_format("%s/yoke-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
    if (folder != NULL && mkdtemp(folder) != NULL)
        return folder;
    yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s: cannot make a folder there: %s",
                           folder != NULL ? folder : "TMPDIR", strerror(errno));
    free(folder);
    return NULL;
}

void yoke_host_scratch_remove(const char *folder)
{
    static const char *const files[] = {"program.c", "program.i", "program.so", "log",
                                        "output"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *file = yoke_format("%s/%s", folder, files[i]);
        if (file != NULL)
            unlink(file);
        free(file);
    }
    rmdir(folder);
}

static yoke_status_t write_in(const char *folder, const char *name, const char *data,
                              size_t size)
{
    char *file = yoke_format("%s/%s", folder, name);
    if (file == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_file_write(file, data, size);
    free(file);
    return status;
}

static bool read_in(const char *folder, const char *name, char **out_data,
                    size_t *out_size)
{
    char *file = yoke_format("%s/%s", folder, name);
    bool done = file != NULL && yoke_file_try_read(file, MAX_OUTPUT, out_data, out_size);
    free(file);
    return done;
}

/* Did the compiler say anything? */
static bool pass_log(const char *folder, yoke_log_text_t log, void *context)
{
    char *text = NULL;
    size_t size = 0;
    bool said = read_in(folder, "log", &text, &size) && size > 0;
    if (said && log != NULL)
        log(context, text, size);
    free(text);
    return said;
}

/* The source is at fault where the compiler ends by itself with words about it; else the
 * compiler is. */
static yoke_status_t judge(const char *compiler, ended_t ended, bool said)
{
    static const char advice[] = "set YOKE_HOST_CC to a C compiler that works";
    int status = ended.status;
    if (ended.error != 0)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                      "the C compiler %s cannot be run: %s; %s", compiler,
                                      strerror(ended.error), advice);
    if (WIFSIGNALED(status))
        return yoke_backend_fail_text(
            YOKE_ERR_SYSTEM, "the C compiler %s was ended by signal %d (%s)", compiler,
            WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (said)
        return YOKE_ERR_BAD_INPUT;
    if (status == 0)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                      "the C compiler %s made no file and no message; %s",
                                      compiler, advice);
    return yoke_backend_fail_text(
        YOKE_ERR_SYSTEM, "the C compiler %s ended with exit code %d and no message; %s",
        compiler, WEXITSTATUS(status), advice);
}

/* --- command line ------------------------------------------------------------------- */

typedef struct command {
    char *words[MAX_WORDS + 1];
    size_t count;
    char *options; /* the caller's, cut into words */
    bool overflow;
} command_t;

static void add(command_t *command, const char *word)
{
    if (command->count == MAX_WORDS)
        command->overflow = true;
    else
        command->words[command->count++] = (char *)(uintptr_t)word;
}

static void add_options(command_t *command, const char *options)
{
    char *rest = NULL;
    command->options = yoke_strdup(options);
    if (command->options == NULL) {
        command->overflow = true;
        return;
    }
    for (char *word = strtok_r(command->options, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest))
        add(command, word);
}

static ended_t run_command(const char *folder, command_t *command, const char *output)
{
    ended_t ended = {.error = E2BIG};
    command->words[command->count] = NULL;
    if (!command->overflow)
        ended = run(folder, command->words, output, "log");
    free(command->options);
    return ended;
}

static ended_t preprocess(const char *compiler, const char *folder, const char *options)
{
    command_t command = {0};
    add(&command, compiler);
    add(&command, "-E");
    add(&command, "-DYOKE_HOST_SCAN");
    add_options(&command, options);
    add(&command, "program.c");
    return run_command(folder, &command, "program.i");
}

static ended_t compile(const char *compiler, const char *folder, const char *options,
                       bool dialect)
{
    /* GCC 12.2 miscompiles loops over two arrays of unlike element sizes with induction-
     * variable optimisation (the top CMakeLists.txt); Clang has no such option and says
     * so unless told not to. */
    static const char *const fixed[] = {"-std=gnu17",
                                        "-O2",
                                        "-fPIC",
                                        "-shared",

                                        "-ffp-contract=off",
                                        "-fno-math-errno",
                                        "-fno-ivopts",
                                        "-Qunused-arguments",
                                        "-Wno-ignored-optimization-argument",
                                        "-Wno-unused-function",
                                        NULL};
    command_t command = {0};
    bool clang = strstr(yoke_host_compiler_version(NULL), "clang") != NULL;
    add(&command, compiler);
    for (size_t i = 0; fixed[i] != NULL; i++)
        if (clang || (fixed[i][1] != 'Q' && strncmp(fixed[i], "-Wno-ignored", 12) != 0))
            add(&command, fixed[i]);
    if (dialect) /* a native program's kernels are its visible functions */
        add(&command, "-fvisibility=hidden");
    add_options(&command, options);
    add(&command, "-o");
    add(&command, "program.so");
    add(&command, "program.c");
    add(&command, "-lm");
    return run_command(folder, &command, "output");
}

/* First line of --version: what changes the compiler's output. Asked once
 * for each compiler that is named. */
const char *yoke_host_compiler_version(yoke_impl_device_t *device)
{
    static _Thread_local char version[160], asked[256];
    (void)device;
    char *compiler = yoke_host_compiler(), *folder = NULL, *text = NULL;
    size_t size = 0;
    if (compiler == NULL)
        return "";
    if (strcmp(compiler, asked) == 0 && version[0] != '\0')
        goto out;
    folder = yoke_host_scratch_make();
    if (folder == NULL)
        goto out;
    char *words[] = {compiler, (char *)(uintptr_t) "--version", NULL};
    if (is_good(run(folder, words, "output", "log")) &&
        read_in(folder, "output", &text, &size)) {
        snprintf(asked, sizeof asked, "%s", compiler);
        /* The number counts changes of the options and the epilogue here. */
        snprintf(version, sizeof version, "%.*s, 1", (int)strcspn(text, "\n"), text);
    }
    yoke_host_scratch_remove(folder);
out:
    free(text);
    free(folder);
    free(compiler);
    return version;
}

/* --- epilogue ----------------------------------------------------------------------- */

static void write_sizes(yoke_text_t *text, const yoke_signature_t *kernel)
{
    yoke_text_printf(text, "static const u32 yoke_sizes_%s[] = {", kernel->name);
    for (uint32_t i = 0; i < kernel->count; i++) {
        const yoke_parameter_t *parameter = &kernel->parameters[i];
        if (parameter->kind == YOKE_ARGUMENT_VALUE)
            yoke_text_printf(text, "(u32)sizeof(%s), ", parameter->type);
        else
            yoke_text_printf(text, "%uu, ",
                             parameter->kind == YOKE_ARGUMENT_LOCAL
                                 ? YOKE_HOST_SIZE_LOCAL
                                 : YOKE_HOST_SIZE_SPAN);
    }
    yoke_text_add(text, "0};\n");
}

static void write_call(yoke_text_t *text, const yoke_signature_t *kernel)
{
    yoke_text_printf(text, "%s(", kernel->name);
    for (uint32_t i = 0; i < kernel->count; i++)
        yoke_text_printf(text, "%syoke_p%u", i > 0 ? ", " : "", i);
    yoke_text_add(text, ");\n");
}

static void write_run(yoke_text_t *text, const yoke_signature_t *kernel, bool barrier)
{
    yoke_text_printf(text,
                     "static void yoke_run_%s(const void *const *yoke_a, "
                     "const struct yoke_self *yoke_s)\n{\n",
                     kernel->name);
    for (uint32_t i = 0; i < kernel->count; i++)
        yoke_text_printf(text, "%s yoke_p%u = *(%s *)yoke_a[%u];\n",
                         kernel->parameters[i].type, i, kernel->parameters[i].type, i);
    yoke_text_add(text, "(void)yoke_a;\nyoke_self = *yoke_s;\n");
    if (!barrier) {
        static const char *const over[] = {"groups", "items"};
        static const char *const at[] = {"group", "item"};
        for (int what = 0; what < 2; what++)
            for (int d = 2; d >= 0; d--)
                yoke_text_printf(text,
                                 "for (u32 yoke_%s%d = 0; yoke_%s%d < yoke_s->%s[%d]; "
                                 "yoke_%s%d++) { yoke_self.%s[%d] = yoke_%s%d;\n",
                                 at[what], d, at[what], d, over[what], d, at[what], d,
                                 at[what], d, at[what], d);
    }
    write_call(text, kernel);
    yoke_text_add(text, barrier ? "}\n" : "}}}}}}\n}\n");
}

static void write_epilogue(yoke_text_t *text, const yoke_signatures_t *kernels)
{
    uint32_t count = 0;
    yoke_text_add(text, "\n#line 1 \"epilogue\"\n"
                        "struct yoke_entry { const char *name; "
                        "void (*run)(const void *const *, const struct yoke_self *); "
                        "const u32 *sizes; u32 count, barrier; };\n");
    for (size_t i = 0; i < kernels->count; i++) {
        const yoke_signature_t *kernel = &kernels->items[i];
        if (yoke_signatures_find(kernels, kernel->name) != kernel)
            continue; /* a declaration went before */
        write_sizes(text, kernel);
        write_run(text, kernel, kernels->barrier);
    }
    yoke_text_add(text, "static const struct yoke_entry yoke_entries[] = {\n");
    for (size_t i = 0; i < kernels->count; i++) {
        const yoke_signature_t *kernel = &kernels->items[i];
        if (yoke_signatures_find(kernels, kernel->name) != kernel)
            continue;
        yoke_text_printf(text, "{\"%s\", yoke_run_%s, yoke_sizes_%s, %u, %d},\n",
                         kernel->name, kernel->name, kernel->name, kernel->count,
                         kernels->barrier ? 1 : 0);
        count++;
    }
    yoke_text_printf(text,
                     "{0}};\nextern const struct yoke_table { u32 version, count; "
                     "const struct yoke_entry *entries; } " YOKE_HOST_PROGRAM_SYMBOL ";\n"
                     "__attribute__((visibility(\"default\"))) const struct "
                     "yoke_table " YOKE_HOST_PROGRAM_SYMBOL
                     " = {%u, %u, yoke_entries};\n",
                     YOKE_HOST_PROGRAM_VERSION, count);
}

/* --- all of it ---------------------------------------------------------------------- */

static yoke_status_t add_epilogue(const char *compiler, const char *folder,
                                  const yoke_impl_program_source_t *source,
                                  yoke_log_text_t log, void *log_context)
{
    yoke_signatures_t kernels = {0};
    yoke_text_t text = {0};
    char *scanned = NULL;
    size_t size = 0;
    ended_t ended = preprocess(compiler, folder, source->options);
    if (!is_good(ended) || !read_in(folder, "program.i", &scanned, &size))
        return judge(compiler, ended, pass_log(folder, log, log_context));
    yoke_status_t status = yoke_signatures_read(scanned, size, &kernels);
    if (status == YOKE_ERR_BAD_INPUT && log != NULL)
        log(log_context, yoke_last_error(), strlen(yoke_last_error()));
    if (status != YOKE_OK)
        goto out;
    yoke_text_add_bytes(&text, source->data, source->size);
    write_epilogue(&text, &kernels);
    status = text.failed ? yoke_fail_memory()
                         : write_in(folder, "program.c", text.data, text.size);
out:
    yoke_text_free(&text);
    yoke_signatures_free(&kernels);
    free(scanned);
    return status;
}

static bool in_dialect(const yoke_impl_program_source_t *source)
{
    size_t size = strlen(YOKE_DIALECT_MARK);
    return source->size > size && memcmp(source->data, YOKE_DIALECT_MARK, size) == 0;
}

/* A native program is named here; in the dialect its text says its name. */
static yoke_status_t write_source(const char *folder,
                                  const yoke_impl_program_source_t *source)
{
    yoke_text_t text = {0};
    if (!in_dialect(source))
        yoke_dialect_line(&text, source->name);
    yoke_text_add_bytes(&text, source->data, source->size);
    yoke_status_t status = text.failed
                               ? yoke_fail_memory()
                               : write_in(folder, "program.c", text.data, text.size);
    yoke_text_free(&text);
    return status;
}

static yoke_status_t no_compiler(void)
{
    const char *chosen = getenv("YOKE_HOST_CC");
    if (chosen != NULL && chosen[0] != '\0')
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "YOKE_HOST_CC: %s is no program that can be run",
                                      chosen);
    return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                  "no C compiler (cc, gcc or clang) in $PATH: install "
                                  "one or set YOKE_HOST_CC");
}

yoke_status_t yoke_host_compile(const yoke_impl_program_source_t *source,
                                yoke_log_text_t log, void *log_context, char **out_data,
                                size_t *out_size)
{
    char *compiler = yoke_host_compiler(), *folder = NULL;
    yoke_status_t status;
    if (compiler == NULL)
        return no_compiler();
    folder = yoke_host_scratch_make();
    status = folder == NULL ? YOKE_ERR_SYSTEM : write_source(folder, source);
    if (status == YOKE_OK && in_dialect(source))
        status = add_epilogue(compiler, folder, source, log, log_context);
    if (status == YOKE_OK) {
        ended_t ended = compile(compiler, folder, source->options, in_dialect(source));
        bool good = is_good(ended) && read_in(folder, "program.so", out_data, out_size);
        bool said = pass_log(folder, log, log_context);
        status = good ? YOKE_OK : judge(compiler, ended, said);
    }
    if (folder != NULL)
        yoke_host_scratch_remove(folder);
    free(folder);
    free(compiler);
    return status;
}
