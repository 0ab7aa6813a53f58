/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults BACKEND VENDOR FOLDER [EVERY]: everything that a device can do, with every
 * function of the fake libraries of FOLDER made to fail in turn, each in a process of its
 * own: with an error code, without writing its outputs, with absurd counts. VENDOR is the
 * first word of the fakes' configuration. EVERY n: only each n-th function.
 *
 * faults --one BACKEND FOLDER LIBRARY FUNCTION KIND CODE: one of these processes; the
 * fault itself stands in $YOKE_FAKES. It prints what is wrong; exit code 1 then.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fakes/fake.h"
#include "tests/faults/scenario.h"
#include "tests/mixed/current.h"
#include "yoke/status.h"

extern char **environ;

enum { MAX_LIBRARIES = 8, AT_ONCE = 3, SECONDS = 30 };

typedef struct library {
    char path[512], name[256];
    const char *const *(*functions)(size_t *out_count);
    uint64_t (*calls_of)(const char *function);
    void (*fault)(const char *function, yoke_fake_fault_t fault, int64_t code,
                  uint64_t nth);
} library_t;

static library_t libraries[MAX_LIBRARIES];
static unsigned library_count;

static void no_log(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

static void load_library(const char *folder, const char *name)
{
    library_t *library = &libraries[library_count];
    snprintf(library->path, sizeof library->path, "%s/%s", folder, name);
    snprintf(library->name, sizeof library->name, "%s", name);
    /* Level Zero's driver is opened by its loader. */
    void *handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return;
    *(void **)&library->functions = dlsym(handle, "yoke_fake_functions");
    *(void **)&library->calls_of = dlsym(handle, "yoke_fake_calls_of");
    *(void **)&library->fault = dlsym(handle, "yoke_fake_fault");
    if (library->functions == NULL)
        return;
    library_count++;
    current_add(library->path);
}

static bool load(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.' && library_count < MAX_LIBRARIES)
            load_library(folder, entry->d_name);
    if (entries != NULL)
        closedir(entries);
    return library_count > 0;
}

/* --- one fault -------------------------------------------------------------------------
 */

static bool has_word(const char *function, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcasestr(function, *words) != NULL)
            return true;
    return false;
}

/* What ends objects, or carries one over (an aclnn operator takes its executor): when it
 * fails, the vendor's handle stays. */
static bool ends_objects(const char *function)
{
    static const char *const words[] = {"Free",  "Destroy",  "Unload",   "Release",
                                        "Close", "Finalize", "ResetDev", NULL};
    return has_word(function, words) || strncmp(function, "aclnn", 5) == 0;
}

/* Asks for or sets what is current: what is not known cannot be given back, and without
 * it nothing can be ended. */
static bool tells_current(const char *function)
{
    static const char *const words[] = {"CtxGetCurrent",     "CtxSetCurrent",
                                        "GetCurrentContext", "SetCurrentContext",
                                        "GetDevice",         "SetDevice"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(function, words[i]);
        if (at != NULL && at[strlen(words[i])] == '\0')
            return true;
    }
    return false;
}

/* Asked once in a process: an untrue answer stays. */
static bool asked_once(const char *function)
{
    static const char *const words[] = {
        "Init", "DeviceGet", "GetDevice", "DriverGet", "Properties", "Version", NULL};
    return has_word(function, words);
}

/* A library that says that it waited, signalled or recorded, and did not, cannot be told
 * from a slow one; what follows (memory used after its end, waiting for ever) is not
 * ours. The same when a gate cannot be opened. */
static bool untestable(const char *function, const char *kind)
{
    static const char *const words[] = {"Sync",     "Query",          "Record",
                                        "Wait",     "Signal",         "Barrier",
                                        "Notifier", "EventHostReset", NULL};
    if (strcmp(function, "zeEventHostSignal") == 0)
        return true;
    return strcmp(kind, "unwritten") == 0 && has_word(function, words);
}

/* The name that the message has for a function: without the version's suffix, and the
 * outer one where a fake's function calls another of its own. */
static bool names_call(const char *message, const char *function)
{
    static const char *const outer[][2] = {{"cuModuleLoadDataEx", "cuModuleLoadData"},
                                           {"muModuleLoadDataEx", "muModuleLoadData"},
                                           {"mcMemsetD8Async", "mcMemsetAsync"}};
    char name[128];
    snprintf(name, sizeof name, "%s", function);
    char *suffix = strstr(name, "_v");
    if (suffix != NULL)
        *suffix = '\0';
    suffix = strstr(name, "R0600");
    if (suffix != NULL)
        *suffix = '\0';
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
        if (strcmp(name, outer[i][0]) == 0)
            snprintf(name, sizeof name, "%s", outer[i][1]);
    return strstr(message, name) != NULL;
}

static bool say(const char *what, const outcome_t *outcome)
{
    printf("  %s; first: %s: %s: %s\n", what, outcome->step, outcome->status,
           outcome->message);
    return false;
}

/* The status names the vendor's call, its code and the code's name. */
static bool check_error(const char *function, int64_t code, const outcome_t *outcome)
{
    char decimal[32], hexadecimal[32];
    if (outcome->status[0] == '\0')
        return true; /* it can be done without, or is not supported then */
    if (strncmp(function, "aclCreate", 9) == 0) /* a pointer, no code */
        return strstr(outcome->message, function) != NULL ||
               say("the message has not the vendor's call", outcome);
    snprintf(decimal, sizeof decimal, "%lld", (long long)code);
    snprintf(hexadecimal, sizeof hexadecimal, "0x%llx", (unsigned long long)code);
    if (strstr(outcome->message, decimal) == NULL &&
        strstr(outcome->message, hexadecimal) == NULL)
        return say("the message has not the vendor's code", outcome);
    if (!names_call(outcome->message, function))
        return say("the message has not the vendor's call", outcome);
    if (outcome->vendor && (outcome->code != code || outcome->name[0] == '\0' ||
                            strstr(outcome->message, outcome->name) == NULL))
        return say("yoke_last_vendor_error() has another code or no name", outcome);
    return true;
}

static int one(char **arguments)
{
    const char *backend = arguments[0], *function = arguments[3], *kind = arguments[4];
    int64_t code = strtoll(arguments[5], NULL, 0);
    bool well = true, error = strcmp(kind, "error") == 0;
    outcome_t outcome;
    load(arguments[1]);
    current_set(1);
    scenario_run(backend, &outcome);
    if (error && !check_error(function, code, &outcome))
        well = false;
    if (outcome.outputs)
        well = say("an output of a failed call was set", &outcome);
    if (current_fault() != NULL && !tells_current(function)) {
        printf("  %s\n", current_fault());
        well = false;
    }
    for (unsigned i = 0; i < library_count; i++)
        libraries[i].fault(NULL, YOKE_FAKE_NONE, 0, 0);
    unsetenv("YOKE_FAKES"); /* the libraries have read it; a helper has not */
    uint64_t left = current_alive();
    if (left != 0 && !ends_objects(function) && !tells_current(function)) {
        printf("  %llu vendor handles are left\n", (unsigned long long)left);
        well = false;
    }
    current_set(1);
    scenario_run(backend, &outcome);
    if ((outcome.status[0] != '\0' || outcome.bytes || outcome.outputs) &&
        !(asked_once(function) && (!error || strcmp(function, "zeInit") == 0)))
        well = say("it does not work when the fault is gone", &outcome);
    if (current_alive() > left)
        well = say("handles are left without a fault", &outcome);
    return well ? 0 : 1;
}

/* --- all of them -----------------------------------------------------------------------
 */

typedef struct child {
    pid_t pid;
    char what[160], file[96], log[96];
    unsigned age; /* in hundredths of a second */
} child_t;

static child_t children[AT_ONCE];
static unsigned failed, started;
static char folder_name[64] = "/tmp/yoke-faults-XXXXXX";

static void print_log(const child_t *child)
{
    char line[1024];
    FILE *log = fopen(child->log, "r");
    for (int i = 0; log != NULL && i < 12 && fgets(line, sizeof line, log) != NULL; i++)
        fputs(line, stdout);
    if (log != NULL)
        fclose(log);
}

static void take(child_t *child, int status)
{
    if (status != 0) {
        failed++;
        if (WIFSIGNALED(status))
            printf("%s: %s\n", child->what,
                   child->age >= SECONDS * 100 ? "hangs" : strsignal(WTERMSIG(status)));
        else
            printf("%s:\n", child->what);
        print_log(child);
    }
    unlink(child->file);
    unlink(child->log);
    child->pid = 0;
}

/* Wait until there are at most `most`; kill what hangs. */
static void reap(unsigned most)
{
    for (;;) {
        unsigned running = 0;
        for (unsigned i = 0; i < AT_ONCE; i++) {
            int status = 0;
            if (children[i].pid == 0)
                continue;
            if (waitpid(children[i].pid, &status, WNOHANG) == children[i].pid) {
                take(&children[i], status);
                continue;
            }
            running++;
            if (++children[i].age == SECONDS * 100)
                kill(children[i].pid, SIGKILL);
        }
        if (running <= most)
            return;
        usleep(10000);
    }
}

static char **child_environment(char *fakes)
{
    static char *list[512];
    size_t count = 0;
    for (char **entry = environ; *entry != NULL && count < 500; entry++)
        if (strncmp(*entry, "YOKE_FAKES=", 11) != 0)
            list[count++] = *entry;
    list[count++] = fakes;
    list[count] = NULL;
    return list;
}

static void start(const char *backend, const char *vendor, const char *folder,
                  const char *library, const char *function, const char *kind,
                  long long code)
{
    char fakes[128], number[32];
    reap(AT_ONCE - 1);
    child_t *child = children;
    while (child->pid != 0)
        child++;
    child->age = 0;
    snprintf(child->what, sizeof child->what, "%s: %s %s", backend, function, kind);
    snprintf(child->file, sizeof child->file, "%s/%u.txt", folder_name, started);
    snprintf(child->log, sizeof child->log, "%s/%u.log", folder_name, started);
    snprintf(fakes, sizeof fakes, "YOKE_FAKES=%s", child->file);
    snprintf(number, sizeof number, "%lld", code);
    started++;
    FILE *file = fopen(child->file, "w");
    if (file == NULL)
        exit(1);
    fprintf(file, "%s latency 20\n%s fault %s %s %lld\n", vendor, vendor, function, kind,
            strcmp(kind, "error") == 0 ? code : 0);
    fclose(file);
    char *const arguments[] = {"faults",       "--one",         (char *)backend,
                               (char *)folder, (char *)library, (char *)function,
                               (char *)kind,   number,          NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, child->log, O_CREAT | O_WRONLY, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (posix_spawn(&child->pid, "/proc/self/exe", &actions, NULL, arguments,
                    child_environment(fakes)) != 0)
        exit(1);
    posix_spawn_file_actions_destroy(&actions);
}

/* A code that the library has and that means nothing more: "operating system", "invalid
 * argument" (tests/fakes has the sources). */
static long long code_for(const char *library)
{
    static const struct {
        const char *library;
        long long code;
    } rows[] = {{"libcuda.", 304},     {"libmusa.", 304},     {"libamdhip64", 304},
                {"libgalaxyhip", 304}, {"libmcruntime", 1},   {"libascendcl", 107000},
                {"libcnrt", 100006},   {"libze_", 0x78000004}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(library, rows[i].library, strlen(rows[i].library)) == 0)
            return rows[i].code;
    return 7;
}

/* Called in the helper program, for which no calls are counted here. */
static bool in_helper(const char *function)
{
    return strncmp(function, "hiprtc", 6) == 0;
}

static int all(char **arguments, unsigned every)
{
    static const char *const kinds[] = {"error", "unwritten", "garbage"};
    outcome_t outcome;
    unsigned called = 0, uncalled = 0, left_out = 0;
    if (!load(arguments[2])) {
        printf("skipped: no fake libraries in %s\n", arguments[2]);
        return 77;
    }
    scenario_run(arguments[0], &outcome);
    if (outcome.status[0] != '\0' || outcome.bytes || outcome.outputs) {
        printf("without a fault: %s: %s: %s\n", outcome.step, outcome.status,
               outcome.message);
        return 1;
    }
    printf("%s: %u steps\n", arguments[0], outcome.steps);
    if (mkdtemp(folder_name) == NULL)
        return 1;
    for (unsigned i = 0; i < library_count; i++) {
        size_t count = 0;
        const char *const *names = libraries[i].functions(&count);
        for (size_t f = 0; f < count; f++) {
            if (libraries[i].calls_of(names[f]) == 0 && !in_helper(names[f])) {
                uncalled++;
                continue;
            }
            if (called++ % every != 0)
                continue;
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
                if (untestable(names[f], kinds[k]))
                    left_out++;
                else
                    start(arguments[0], arguments[1], arguments[2], libraries[i].name,
                          names[f], kinds[k], code_for(libraries[i].name));
        }
    }
    reap(0);
    rmdir(folder_name);
    printf("%u functions are called, %u are not; %u processes, %u faults left out, "
           "%u failed\n",
           called, uncalled, started, left_out, failed);
    return failed > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    yoke_log_set_sink(no_log, NULL);
    if (argc == 8 && strcmp(argv[1], "--one") == 0)
        return one(argv + 2);
    if (argc < 4) {
        fprintf(stderr, "usage: faults BACKEND VENDOR FOLDER [EVERY]\n");
        return 2;
    }
    return all(argv + 1, argc > 4 ? (unsigned)atoi(argv[4]) : 1);
}
