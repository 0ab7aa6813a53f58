/* SPDX-License-Identifier: Apache-2.0 */
/* `yoke help configuration`: the settings, from the table in base/config.c. */
#include "tools/help.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/error.h"
#include "base/table.h"

#define WIDTH 80

const char yoke_help_configuration_files[] =
    "The file that YOKE_CONFIG names is read, and no other; without it, "
    "$XDG_CONFIG_HOME/yoke/config (by default ~/.config/yoke/config) and then "
    "/etc/yoke/config. A file has one \"key = value\" a line; a line that begins with # "
    "is "
    "a comment. The environment wins over the user's file, and that over the one in "
    "/etc; an "
    "empty variable undoes what a file says. The command reads these files; the "
    "libraries "
    "read the environment only.";

static void add_setting(const yoke_setting_t *setting, yoke_text_t *out)
{
    char variable[64];
    yoke_text_printf(out, "\n  %s = %s\n  %s\n      ", setting->key, setting->argument,
                     yoke_setting_variable(setting->key, variable));
    yoke_wrap(setting->help, WIDTH, 6, out);
    yoke_text_add(out, "\n      ");
    char *initial = yoke_format("Default: %s.", setting->initial);
    yoke_wrap(initial != NULL ? initial : "", WIDTH, 6, out);
    free(initial);
    yoke_text_add(out, "\n");
}

yoke_status_t yoke_help_print_configuration(void)
{
    yoke_text_t out = {0};
    yoke_text_add(&out,
                  "Settings of Yoke, as key of the configuration file and as environment "
                  "variable.\n\n");
    yoke_wrap(yoke_help_configuration_files, WIDTH, 0, &out);
    yoke_text_add(&out, "\n");
    for (const yoke_setting_t *setting = yoke_settings; setting->key != NULL; setting++)
        add_setting(setting, &out);
    yoke_status_t status =
        out.failed ? yoke_fail_memory() : yoke_write_output(NULL, yoke_text_get(&out));
    yoke_text_free(&out);
    return status;
}
