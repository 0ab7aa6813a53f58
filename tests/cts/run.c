/* SPDX-License-Identifier: Apache-2.0 */
/* yoke_cts_test [--verbose] [--filter PATTERNS] [--load PLUGIN] [--optional] DEVICE...:
 * the conformance suite on devices by name; --list: names of all cases. Exit code 0: all
 * is as expected; 1: not; 77, with --optional: a device is not there. */
#include <stdio.h>
#include <stdbool.h>
#include <string.h>

#include "hal/cts/cts.h"
#include "yoke/device.h"

static void tell(void *context, const yoke_cts_result_t *result)
{
    (void)context;
    if (result->outcome == YOKE_CTS_FAIL || result->outcome == YOKE_CTS_UNEXPECTED_PASS ||
        result->outcome == YOKE_CTS_EXPECTED_FAIL)
        printf("%s: %s: %s\n", yoke_cts_outcome_name(result->outcome), result->name,
               result->reason);
}

static int run_device(const char *device, const char *filter, bool verbose, bool optional)
{
    yoke_cts_options_t options = {device, filter, verbose, NULL, tell, NULL};
    yoke_cts_summary_t summary;
    yoke_status_t status = yoke_cts_run(&options, &summary);
    if (status == YOKE_ERR_NOT_FOUND && optional) {
        printf("skipped: %s\n", yoke_last_error());
        return 77;
    }
    if (status != YOKE_OK) {
        printf("%s: %s\n", device, yoke_last_error());
        return 1;
    }
    printf(
        "%s (%s%s%s): %zu cases: %zu passed, %zu unsupported, %zu expected failures, %zu "
        "failed, %zu unexpected passes%s\n",
        device, summary.device, summary.version[0] != '\0' ? "; " : "", summary.version,
        summary.count, summary.passed, summary.unsupported, summary.expected_failures,
        summary.failed, summary.unexpected_passes,
        summary.watched ? "; the caller's current device was watched" : "");
    return summary.failed + summary.unexpected_passes > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *filter = NULL;
    bool verbose = false, optional = false;
    int code = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0) {
            verbose = true;
        } else if (strcmp(argv[i], "--optional") == 0) {
            optional = true;
        } else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
            filter = argv[++i];
        } else if (strcmp(argv[i], "--load") == 0 && i + 1 < argc) {
            if (yoke_backend_load(argv[++i]) != YOKE_OK)
                return 1; /* the message went to the log */
        } else if (strcmp(argv[i], "--list") == 0) {
            for (size_t n = 0; yoke_cts_case_name(n) != NULL; n++)
                puts(yoke_cts_case_name(n));
        } else {
            int one = run_device(argv[i], filter, verbose, optional);
            code = code == 1 || one == 0 ? code : one;
        }
    }
    return code;
}
