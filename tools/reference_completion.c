/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for bash; needs nothing but bash. */
#include "tools/reference.h"

#include <string.h>

#include "base/file.h"
#include "tools/help.h"

/* "table|json|yaml" names the very words; "FILE|-" does not. */
static bool is_word_list(const char *argument)
{
    return argument != NULL && strchr(argument, '|') != NULL &&
           strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789_-|") ==
               strlen(argument);
}

static void add_words(const char *choices, yoke_text_t *out)
{
    for (; *choices != '\0'; choices++)
        yoke_text_add_bytes(out, *choices == '|' ? " " : choices, 1);
}

/* Folder of the bundled documents that the option takes by name; file names go as well.
 */
static const char *bundled_folder(const yoke_option_t *option)
{
    if (strcmp(option->argument, "MODEL") == 0)
        return "models";
    return strcmp(option->argument, "CLUSTER") == 0 ? "clusters" : NULL;
}

static void add_bundled(const char *folder, yoke_text_t *out)
{
    yoke_strings_t names = {0};
    out->failed |= yoke_data_names(folder, &names) != YOKE_OK;
    for (size_t i = 0; i < names.count; i++)
        yoke_text_printf(out, "%s%s", i > 0 ? " " : "", names.items[i]);
    yoke_strings_free(&names);
}

static void add_value_words(const yoke_option_t *option, yoke_text_t *out)
{
    yoke_text_printf(out, "        --%s", option->name);
    if (option->letter != 0)
        yoke_text_printf(out, " | -%c", option->letter);
    yoke_text_add(out, ") value=yes");
    if (is_word_list(option->argument)) {
        yoke_text_add(out, "; words=\"");
        add_words(option->argument, out);
        yoke_text_add(out, "\"");
    } else if (bundled_folder(option) != NULL) {
        yoke_text_add(out, "; files=yes words=\"");
        add_bundled(bundled_folder(option), out);
        yoke_text_add(out, "\"");
    }
    yoke_text_add(out, " ;;\n");
}

static void add_option_words(const yoke_command_t *command, yoke_text_t *out)
{
    const yoke_option_t *option;
    yoke_text_printf(out, "    %s)\n        options=\"", command->name);
    for (size_t i = 0; (option = yoke_command_option(command, i)) != NULL; i++) {
        yoke_text_printf(out, "%s--%s", i > 0 ? " " : "", option->name);
        if (option->letter != 0)
            yoke_text_printf(out, " -%c", option->letter);
    }
    yoke_text_add(out, "\"\n        case $previous in\n");
    for (size_t i = 0; (option = yoke_command_option(command, i)) != NULL; i++) {
        if (option->argument == NULL)
            continue;
        add_value_words(option, out);
    }
    yoke_text_add(out, "        esac\n        ;;\n");
}

void yoke_reference_completion(yoke_text_t *out)
{
    yoke_text_add(out, "# SPDX-License-Identifier: Apache-2.0\n"
                       "# Generated from the option tables; do not edit.\n"
                       "_yoke()\n{\n"
                       "    local current=${COMP_WORDS[COMP_CWORD]} commands=\"");
    for (size_t i = 0; yoke_commands[i] != NULL; i++)
        yoke_text_printf(out, "%s ", yoke_commands[i]->name);
    yoke_text_add(
        out,
        "help\"\n"
        "    local previous=${COMP_WORDS[COMP_CWORD-1]} options= words= value= files=\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- "
        "\"$current\"))\n"
        "        return\n"
        "    fi\n"
        "    # \"--name=value\" comes as three words.\n"
        "    if [[ $current == = ]]; then\n"
        "        current=\n"
        "    elif [[ $previous == = ]]; then\n"
        "        previous=${COMP_WORDS[COMP_CWORD-2]}\n"
        "    fi\n"
        "    case ${COMP_WORDS[1]} in\n"
        "    help)\n"
        "        words=\"$commands configuration\"\n"
        "        ;;\n");
    for (size_t i = 0; yoke_commands[i] != NULL; i++)
        add_option_words(yoke_commands[i], out);
    yoke_text_add(out, "    esac\n"
                       "    if [[ $words ]]; then\n"
                       "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                       "        if [[ $files ]]; then\n"
                       "            COMPREPLY+=($(compgen -f -- \"$current\"))\n"
                       "        fi\n"
                       "    elif [[ ! $value && $current == -* ]]; then\n"
                       "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
                       "    fi\n"
                       "}\n"
                       "# Where the function has no answer, bash completes file names.\n"
                       "complete -o default -F _yoke yoke\n");
}
