/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_BASE_SUPPORT_H
#define YOKE_TESTS_BASE_SUPPORT_H

/* cmocka with what it needs before it, and the checks that these tests share. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yoke/status.h"

static inline void drop_line(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

/* Expected failures would fill the output of a passing test. */
static inline int quiet(void **state)
{
    (void)state;
    yoke_log_set_sink(drop_line, NULL);
    return 0;
}

static inline void assert_message(const char *part)
{
    if (strstr(yoke_last_error(), part) == NULL)
        fail_msg("message \"%s\" lacks \"%s\"", yoke_last_error(), part);
}

/* A locale with a decimal comma, made for the test where the machine has the sources
 * only; skips the test where it has neither. Ends with setlocale(LC_ALL, "C"). */
static inline void use_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    char folder[] = "/tmp/yoke-locale-XXXXXX";
    char command[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return;
    if (mkdtemp(folder) == NULL)
        skip();
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    made = made && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0 || !made)
        skip();
    assert_string_equal(localeconv()->decimal_point, ",");
}

#endif
