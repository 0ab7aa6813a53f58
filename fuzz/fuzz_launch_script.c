/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of launch scripts, and what is taken from one. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "partition/launch_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_launch_t launch = {0};
    yoke_strings_t words = {0};
    yoke_status_t status = yoke_launch_parse("input", (const char *)data, size, &launch);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, launch.program);
        return 0;
    }
    size_t length = strlen(launch.program);
    fuzz_require(length > 3 && strcmp(launch.program + length - 3, ".py") == 0,
                 "the program is no Python program");
    unsigned lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    for (size_t i = 0; i < launch.words.count; i++) {
        unsigned line = 0;
        fuzz_require(launch.lines[i] >= 1 && launch.lines[i] <= lines,
                     "a word's line is outside of the script");
        if (strncmp(launch.words.items[i], "--", 2) == 0)
            fuzz_require(yoke_launch_value(&launch, launch.words.items[i], &line) !=
                                 NULL ||
                             strchr(launch.words.items[i], '=') != NULL,
                         "an option is not found by its own name");
    }
    fuzz_require(yoke_launch_without_plan(&launch, &words) == YOKE_OK &&
                     words.count <= launch.words.count,
                 "words cannot be chosen");
    yoke_strings_free(&words);
    yoke_launch_free(&launch);
    return 0;
}
