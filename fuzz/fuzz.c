/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    yoke_log_set_sink(drop, NULL);
    return 0;
}

void fuzz_require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fuzz: %s; last error: %s\n", what, yoke_last_error());
    __builtin_trap();
}

void fuzz_require_failure(yoke_status_t status, const void *out)
{
    fuzz_require(status != YOKE_OK, "a failure was expected");
    fuzz_require(out == NULL, "the output was set by a call that failed");
    fuzz_require(yoke_last_error()[0] != '\0', "a failure has no message");
}

char *fuzz_string(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        exit(1);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}
