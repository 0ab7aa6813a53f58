/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

#define FILE_LIMIT ((size_t)1 << 20)
#define SYSTEM_FILE "/etc/yoke/config"

const yoke_setting_t yoke_settings[] = {
    {"log", "error|warning|info|debug", "warning",
     "How much is told on standard error. Info names the libraries that were taken; "
     "debug "
     "shows every step of a probe.",
     YOKE_SETTING_CHOICE},
    {"data-dir", "DIR", "the folder that was installed with the program",
     "Folder of the data files: catalog, constants, example clusters and models.",
     YOKE_SETTING_TEXT},
    {"catalog", "FILE[:FILE...]", "none",
     "Catalog files of your own, read after the one that comes with Yoke; a row of "
     "theirs "
     "replaces one of the same name.",
     YOKE_SETTING_TEXT},
    {"constants", "FILE", "costmodel/constants.json of the data folder",
     "File with the constants of the cost model, in place of the one that comes with "
     "Yoke.",
     YOKE_SETTING_TEXT},
    {"probe-timeout", "SECONDS", "5",
     "How long one vendor library may take to answer before its helper is ended and the "
     "library is reported as timed out.",
     YOKE_SETTING_SECONDS},
    {"probe-helper", "PATH", "the helper that was installed with the library",
     "Program that loads one vendor library and reports what it sees.",
     YOKE_SETTING_TEXT},
    {"gather-timeout", "SECONDS", "60",
     "How long rank 0 of yoke inventory --gather waits for the other ranks, and they for "
     "it.",
     YOKE_SETTING_SECONDS},
    {"backends", "NAME[,NAME...]", "all",
     "Runtimes that may be asked for devices; the others are not loaded.",
     YOKE_SETTING_TEXT},
    {"plugin-dir", "DIR", "none",
     "Folder whose files NAME.so are loaded as backends. It, the files and every folder "
     "above must be root's or your own, and writable by nobody else.",
     YOKE_SETTING_TEXT},
    {"cache-dir", "DIR", "$XDG_CACHE_HOME/yoke, else ~/.cache/yoke",
     "Folder where compiled programs are kept; the word off keeps none.",
     YOKE_SETTING_TEXT},
    {"cache-size", "BYTES", "256MiB",
     "How much compiled programs may take there; the least recently used go first.",
     YOKE_SETTING_TEXT},
    {"host-cc", "PROGRAM", "the first of cc, gcc and clang in $PATH",
     "C compiler for programs on the host.", YOKE_SETTING_TEXT},
    {"spirv-clang", "PROGRAM", "the clang beside llvm-spirv's version in $PATH",
     "Compiler from OpenCL C to LLVM bitcode for Level Zero; set llvm-spirv too.",
     YOKE_SETTING_TEXT},
    {"llvm-spirv", "PROGRAM", "llvm-spirv, else llvm-spirv-21 down to -14, in $PATH",
     "Translator from LLVM bitcode to SPIR-V for Level Zero; of the same version as "
     "spirv-clang.",
     YOKE_SETTING_TEXT},
    {"validate", "0|1", "0",
     "Check every argument of calls on live devices, freed handles included, before the "
     "runtime sees it.",
     YOKE_SETTING_CHOICE},
    {"trace-calls", "0|1", "0",
     "Log every call on live devices with its time, at the level debug.",
     YOKE_SETTING_CHOICE},
    {"comm-timeout", "SECONDS", "60",
     "How long one call of yoke/comm.h may take before the rank that it waits for is "
     "suspected, where the program does not say.",
     YOKE_SETTING_SECONDS},
    {"comm-setup-timeout", "SECONDS", "60",
     "How long ranks wait for one another when a communicator is made, where the program "
     "does not say.",
     YOKE_SETTING_SECONDS},
    {"comm-silence", "SECONDS", "20",
     "A rank of another host that was not heard for so long has failed.",
     YOKE_SETTING_SECONDS},
    {"comm-interface", "NAME", "one that the other ranks reach",
     "Network interface that other hosts reach this rank by, for example eth0.",
     YOKE_SETTING_TEXT},
    {"comm-secret", "TEXT", "none",
     "What ranks that meet by MASTER_ADDR and MASTER_PORT must know alike.",
     YOKE_SETTING_TEXT},
    {"comm-port", "NUMBER", "the one after MASTER_PORT",
     "TCP port at which rank 0 waits for the ranks that meet by MASTER_ADDR.",
     YOKE_SETTING_TEXT},
    {"comm-topology", "FILE", "the links are measured",
     "Inventory whose links say what the ranks reach each other by, in place of "
     "measuring.",
     YOKE_SETTING_TEXT},
    {"comm-algorithm", "NAME|COLLECTIVE=NAME[,...]", "chosen by size and links",
     "Algorithm of collective calls, for all or for those named, the same on all ranks: "
     "docs/comm.md lists them. Collectives that it does not do choose as ever.",
     YOKE_SETTING_TEXT},
    {"comm-vendor", "never|always|auto", "never",
     "Whether collectives on devices go by the vendors' libraries (NCCL and the like), "
     "the same on all ranks: auto where that was measured to be faster, always with an "
     "error "
     "where it cannot be. docs/comm-vendors.md",
     YOKE_SETTING_CHOICE},
    {"lib-*", "PATH", "the library's own name, by the rules of the dynamic linker",
     "Library file to load for one vendor library, for example YOKE_LIB_CUDA or "
     "YOKE_LIB_OPENBLAS.",
     YOKE_SETTING_TEXT},
    {0}};

static char upper(char letter)
{
    if (letter == '-')
        return '_';
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

char *yoke_setting_variable(const char *key, char out[64])
{
    size_t used = 0;
    for (const char *prefix = "YOKE_"; *prefix != '\0'; prefix++)
        out[used++] = *prefix;
    for (; *key != '\0' && used < 63; key++)
        out[used++] = upper(*key);
    out[used] = '\0';
    return out;
}

/* "lib-*" takes "lib-cuda": small letters, digits, '-' and '_', at most 40 of them. */
static bool pattern_takes(const char *pattern, const char *key)
{
    size_t fixed = strlen(pattern) - 1;
    if (strncmp(pattern, key, fixed) != 0)
        return false;
    const char *rest = key + fixed;
    size_t size = strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return size > 0 && size <= 40 && rest[size] == '\0';
}

const yoke_setting_t *yoke_setting_find(const char *key)
{
    for (const yoke_setting_t *setting = yoke_settings; setting->key != NULL; setting++) {
        bool pattern = setting->key[strlen(setting->key) - 1] == '*';
        if (pattern ? pattern_takes(setting->key, key) : strcmp(setting->key, key) == 0)
            return setting;
    }
    return NULL;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t size = strlen(value);
    while (*choices != '\0') {
        size_t choice = strcspn(choices, "|");
        if (choice == size && memcmp(choices, value, size) == 0)
            return true;
        choices += choice + (choices[choice] == '|');
    }
    return false;
}

/* "0.25", "10": digits and at most one point. strtod() would follow the locale. */
static bool is_seconds(const char *value)
{
    size_t whole = strspn(value, "0123456789");
    size_t part = value[whole] == '.' ? strspn(value + whole + 1, "0123456789") : 0;
    size_t size = whole + (value[whole] == '.' ? 1 + part : 0);
    double seconds = 0;
    return whole > 0 && whole <= 6 && value[size] == '\0' &&
           (value[whole] != '.' || part > 0) &&
           yoke_parse_quantity(value, &seconds) == YOKE_OK && seconds > 0 &&
           seconds <= 86400;
}

const char *yoke_setting_check(const yoke_setting_t *setting, const char *value,
                               char buffer[128])
{
    switch (setting->kind) {
    case YOKE_SETTING_CHOICE:
        if (is_choice(setting->argument, value))
            return NULL;
        snprintf(buffer, 128, "expected one of %s", setting->argument);
        return buffer;
    case YOKE_SETTING_SECONDS:
        if (is_seconds(value))
            return NULL;
        return strcpy(buffer,
                      "expected seconds as a decimal number above 0, at most 86400");
    case YOKE_SETTING_TEXT:
        break;
    }
    return value[0] != '\0' ? NULL : strcpy(buffer, "expected a value");
}

static yoke_status_t unknown_key(const char *name, size_t line, const char *key)
{
    const char *keys[64] = {NULL};
    for (size_t i = 0; i < 63 && yoke_settings[i].key != NULL; i++)
        keys[i] = yoke_settings[i].key;
    const char *nearest = yoke_nearest(key, keys);
    if (nearest != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s:%zu: unknown key '%s' (did you mean '%s'?)", name, line, key,
                         nearest);
    return yoke_fail(YOKE_ERR_BAD_INPUT,
                     "%s:%zu: unknown key '%s'; see yoke help configuration", name, line,
                     key);
}

/* The reading of one file; `keys` are those seen, to find one that is given twice. */
typedef struct reader {
    const char *name;
    size_t line;
    yoke_strings_t keys;
    yoke_config_visit_t visit;
    void *context;
} reader_t;

static yoke_status_t take_pair(reader_t *reader, const char *key, const char *value)
{
    char hint[128];
    const yoke_setting_t *setting = yoke_setting_find(key);
    if (setting == NULL)
        return unknown_key(reader->name, reader->line, key);
    const char *wrong = yoke_setting_check(setting, value, hint);
    if (wrong != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%zu: %s: %s, found '%s'", reader->name,
                         reader->line, key, wrong, value);
    for (size_t i = 0; i < reader->keys.count; i++)
        if (strcmp(reader->keys.items[i], key) == 0)
            return yoke_fail(YOKE_ERR_BAD_INPUT,
                             "%s:%zu: %s is given twice; keep one line", reader->name,
                             reader->line, key);
    yoke_status_t status = yoke_strings_add(&reader->keys, key);
    return status == YOKE_OK ? reader->visit(reader->context, key, value, reader->line)
                             : status;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t size = strlen(text);
    while (size > 0 && strchr(" \t\r", text[size - 1]) != NULL)
        text[--size] = '\0';
    return text;
}

static yoke_status_t take_line(reader_t *reader, char *line)
{
    line = trim(line);
    if (line[0] == '\0' || line[0] == '#')
        return YOKE_OK;
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s:%zu: expected 'key = value', found '%.40s'", reader->name,
                         reader->line, line);
    *equals = '\0';
    return take_pair(reader, trim(line), trim(equals + 1));
}

yoke_status_t yoke_config_parse(const char *name, const char *data, size_t size,
                                yoke_config_visit_t visit, void *context)
{
    if (memchr(data, '\0', size) != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: holds a zero byte; it is not a text file", name);
    char *copy = yoke_strndup(data, size);
    if (copy == NULL)
        return yoke_fail_memory();
    reader_t reader = {name, 0, {0}, visit, context};
    yoke_status_t status = YOKE_OK;
    char *line = strncmp(copy, "\xef\xbb\xbf", 3) == 0 ? copy + 3 : copy;
    while (status == YOKE_OK && line != NULL) {
        char *next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        reader.line++;
        status = take_line(&reader, line);
        line = next;
    }
    yoke_strings_free(&reader.keys);
    free(copy);
    return status;
}

yoke_status_t yoke_config_paths(yoke_strings_t *out_paths)
{
    const char *chosen = getenv("YOKE_CONFIG");
    if (chosen != NULL && chosen[0] != '\0')
        return yoke_strings_add(out_paths, chosen);
    const char *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char *user = NULL;
    if (base != NULL &&
        base[0] == '/') /* a relative one is to be ignored, says its rule */
        user = yoke_format("%s/yoke/config", base);
    else if (home != NULL && home[0] == '/')
        user = yoke_format("%s/.config/yoke/config", home);
    yoke_status_t status = user != NULL ? yoke_strings_add(out_paths, user) : YOKE_OK;
    free(user);
    return status == YOKE_OK ? yoke_strings_add(out_paths, SYSTEM_FILE) : status;
}

static yoke_status_t export_pair(void *context, const char *key, const char *value,
                                 size_t line)
{
    char variable[64];
    yoke_setting_variable(key, variable);
    if (getenv(variable) !=
        NULL) /* an empty one too: that is how to undo a file's line */
        return YOKE_OK;
    if (setenv(variable, value, 1) != 0)
        return yoke_fail_memory();
    yoke_debug("%s=%s, from %s:%zu", variable, value, *(const char **)context, line);
    return YOKE_OK;
}

static yoke_status_t load_file(const char *path, bool required)
{
    char *data = NULL;
    size_t size = 0;
    if (!required && !yoke_file_exists(path))
        return YOKE_OK;
    yoke_status_t status = yoke_file_read(path, FILE_LIMIT, &data, &size);
    if (status == YOKE_OK)
        status = yoke_config_parse(path, data, size, export_pair, &path);
    free(data);
    return status;
}

/* A bad value in the environment is told before any work, with the variable's name. */
static yoke_status_t check_environment(void)
{
    char variable[64], hint[128];
    for (const yoke_setting_t *setting = yoke_settings; setting->key != NULL; setting++) {
        const char *value = getenv(yoke_setting_variable(setting->key, variable));
        if (value == NULL || value[0] == '\0') /* as good as not set */
            continue;
        const char *wrong = yoke_setting_check(setting, value, hint);
        if (wrong != NULL)
            return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: %s, found '%s'", variable, wrong,
                             value);
    }
    return YOKE_OK;
}

yoke_status_t yoke_config_load(void)
{
    yoke_strings_t paths = {0};
    yoke_status_t status = check_environment();
    if (status == YOKE_OK)
        status = yoke_config_paths(&paths);
    const char *chosen = getenv("YOKE_CONFIG");
    bool required = chosen != NULL && chosen[0] != '\0';
    for (size_t i = 0; status == YOKE_OK && i < paths.count; i++)
        status = load_file(paths.items[i], required);
    yoke_strings_free(&paths);
    return status;
}
