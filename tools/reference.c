/* SPDX-License-Identifier: Apache-2.0 */
/* Build-time program: writes the manual pages, the completion and the settings' page. */
#include "tools/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

static yoke_status_t write_text(const char *folder, const char *name, yoke_text_t *text)
{
    char *path = yoke_format("%s/%s", folder, name);
    yoke_status_t status = YOKE_OK;
    if (path == NULL || text->failed)
        status = yoke_fail_memory();
    else
        status = yoke_file_write(path, yoke_text_get(text), text->size);
    free(path);
    yoke_text_free(text);
    return status;
}

static yoke_status_t write_command_page(const char *folder, const char *date,
                                        const yoke_command_t *command)
{
    yoke_text_t text = {0};
    char *name = yoke_format("yoke-%s.1", command->name);
    if (name == NULL)
        return yoke_fail_memory();
    yoke_reference_man_command(command, date, &text);
    yoke_status_t status = write_text(folder, name, &text);
    free(name);
    return status;
}

static yoke_status_t write_all(const char *folder, const char *date)
{
    yoke_text_t text = {0};
    yoke_reference_man_overview(date, &text);
    yoke_status_t status = write_text(folder, "yoke.1", &text);
    for (size_t i = 0; status == YOKE_OK && yoke_commands[i] != NULL; i++)
        status = write_command_page(folder, date, yoke_commands[i]);
    if (status != YOKE_OK)
        return status;
    yoke_reference_completion(&text);
    status = write_text(folder, "yoke.bash", &text);
    if (status != YOKE_OK)
        return status;
    yoke_reference_configuration(&text);
    return write_text(folder, "configuration.md", &text);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: yoke_reference FOLDER DATE\n");
        return 2;
    }
    return yoke_status_exit_code(write_all(argv[1], argv[2]));
}
