/* SPDX-License-Identifier: Apache-2.0 */
/* The reference page of the settings, in Markdown. */
#include "tools/reference.h"

#include "base/config.h"
#include "base/table.h"
#include "tools/help.h"

static void add_cell(const char *text, yoke_text_t *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            yoke_text_add(out, "\\");
        yoke_text_add_bytes(out, text, 1);
    }
}

void yoke_reference_configuration(yoke_text_t *out)
{
    char variable[64];
    yoke_text_add(out, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
                       "<!-- Generated from the table in base/config.c by the target "
                       "yoke_reference_pages; do not edit. -->\n"
                       "# Configuration\n\n");
    yoke_wrap(yoke_help_configuration_files, 80, 0, out);
    yoke_text_add(out, "\n\n| key | variable | value | default | meaning |\n"
                       "|---|---|---|---|---|\n");
    for (const yoke_setting_t *setting = yoke_settings; setting->key != NULL; setting++) {
        yoke_text_printf(out, "| `%s` | `%s` | ", setting->key,
                         yoke_setting_variable(setting->key, variable));
        add_cell(setting->argument, out);
        yoke_text_add(out, " | ");
        add_cell(setting->initial, out);
        yoke_text_add(out, " | ");
        add_cell(setting->help, out);
        yoke_text_add(out, " |\n");
    }
    yoke_text_add(out,
                  "\nThe key of a setting whose name ends with `*` takes a name in that "
                  "place: `lib-cuda`\nis the variable `YOKE_LIB_CUDA`.\n");
}
