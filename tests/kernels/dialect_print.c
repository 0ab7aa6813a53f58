/* SPDX-License-Identifier: Apache-2.0 */
/* dialect_print NUMBER FILE: the source that a compiler gets, for compilers.py;
 * dialect_print options NUMBER: the options that belong to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "hal/kernels/dialect.h"

int main(int argc, char **argv)
{
    char *text = NULL, *source = NULL;
    size_t size = 0, source_size = 0;
    if (argc == 3 && strcmp(argv[1], "options") == 0)
        return puts(yoke_dialect_options((yoke_dialect_t)atoi(argv[2]))) < 0;
    if (argc != 3 || yoke_file_read(argv[2], 0, &text, &size) != YOKE_OK)
        return 2;
    yoke_status_t status =
        yoke_dialect_source((yoke_dialect_t)atoi(argv[1]), YOKE_CAP_FP64, NULL, text,
                            size, &source, &source_size);
    free(text);
    if (status != YOKE_OK)
        return 1;
    fwrite(source, 1, source_size, stdout);
    free(source);
    return 0;
}
