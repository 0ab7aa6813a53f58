/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cases of a device one after another and says how each ended. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/cts/context.h"
#include "hal/cts/current.h"
#include "hal/cts/groups.h"

const char *yoke_cts_outcome_name(yoke_cts_outcome_t outcome)
{
    static const char *const names[] = {"passed", "FAILED", "unsupported",
                                        "expected failure", "UNEXPECTED PASS"};
    return (size_t)outcome < sizeof names / sizeof names[0] ? names[outcome] : "?";
}

static const yoke_cts_case_t *nth_case(size_t index)
{
    for (size_t g = 0; yoke_cts_groups[g] != NULL; g++) {
        if (index < yoke_cts_groups[g]->count)
            return &yoke_cts_groups[g]->cases[index];
        index -= yoke_cts_groups[g]->count;
    }
    return NULL;
}

const char *yoke_cts_case_name(size_t index)
{
    const yoke_cts_case_t *row = nth_case(index);
    return row != NULL ? row->name : NULL;
}

static bool matches(const char *pattern, size_t size, const char *name)
{
    char text[128];
    if (size >= sizeof text)
        return false;
    memcpy(text, pattern, size);
    text[size] = '\0';
    return fnmatch(text, name, 0) == 0 || strncmp(name, text, size) == 0;
}

/* Of "queue/,event/fan-*,!*-64m": any of those without '!', none of those with. */
static bool selected(const char *filter, const char *name)
{
    bool any = false, wanted = false;
    for (const char *at = filter; at != NULL && *at != '\0';) {
        size_t size = strcspn(at, ",");
        bool without = *at == '!';
        if (without && matches(at + 1, size - 1, name))
            return false;
        if (!without && size > 0) {
            any = true;
            wanted |= matches(at, size, name);
        }
        at += size + (at[size] == ',');
    }
    return wanted || !any;
}

static const yoke_cts_expectation_t *find_expectation(const yoke_cts_t *t,
                                                      const char *name)
{
    const yoke_cts_expectation_t *e = t->options->expectations;
    for (e = e != NULL ? e : yoke_cts_expectations; e->backend != NULL; e++)
        if (fnmatch(e->backend, t->backend, 0) == 0 &&
            (e->device == NULL || fnmatch(e->device, t->info.name, 0) == 0) &&
            fnmatch(e->cases, name, 0) == 0)
            return e;
    return NULL;
}

/* setjmp() is alone in its function: nothing here changes after it. */
static void call_case(yoke_cts_t *t)
{
    if (setjmp(t->leave) == 0)
        t->row->run(t);
}

static void run_once(yoke_cts_t *t, int current)
{
    yoke_cts_current_set(current);
    yoke_cts_current_clear();
    call_case(t);
    yoke_cts_current_set(
        current); /* the case may have left it; its end is looked at too */
    yoke_cts_context_clear(t);
    const char *fault = yoke_cts_current_fault();
    if (fault != NULL && t->outcome != YOKE_CTS_FAIL) {
        t->outcome = YOKE_CTS_FAIL;
        yoke_snprintf(t->reason, sizeof t->reason, "%s", fault);
    }
    if (t->outcome == YOKE_CTS_FAIL && current >= 0) {
        size_t used = strlen(t->reason);
        yoke_snprintf(t->reason + used, sizeof t->reason - used,
                      " [while device %d was the caller's]", current);
    }
}

/* With a fake library twice: nothing current, and another device current. */
static void run_case(yoke_cts_t *t, bool watched)
{
    uint32_t devices = 0;
    run_once(t, -1);
    if (!watched || t->outcome != YOKE_CTS_PASS)
        return;
    (void)yoke_device_count(t->backend, &devices);
    run_once(t, devices > 1 && t->info.ordinal == 0 ? 1 : 0);
    if (t->outcome == YOKE_CTS_UNSUPPORTED) /* it can be done once, as losing a device */
        t->outcome = YOKE_CTS_PASS;
    if (t->outcome == YOKE_CTS_PASS)
        t->reason[0] = '\0';
    yoke_cts_current_set(-1);
}

static void judge(yoke_cts_t *t, const yoke_cts_expectation_t *expectation)
{
    if (expectation == NULL || expectation->unsupported)
        return;
    char why[sizeof t->reason];
    if (t->outcome == YOKE_CTS_FAIL) {
        t->outcome = YOKE_CTS_EXPECTED_FAIL;
        yoke_snprintf(why, sizeof why, "%s (%s)", expectation->reason, t->reason);
    } else if (t->outcome == YOKE_CTS_PASS) {
        t->outcome = YOKE_CTS_UNEXPECTED_PASS;
        yoke_snprintf(why, sizeof why, "listed as failing: %s", expectation->reason);
    } else {
        return;
    }
    memcpy(t->reason, why, sizeof why);
}

static void do_case(yoke_cts_t *t, const yoke_cts_case_t *row, bool watched)
{
    char buffer[128];
    const yoke_cts_expectation_t *expectation = find_expectation(t, row->name);
    t->row = row;
    t->outcome = YOKE_CTS_PASS;
    t->reason[0] = '\0';
    if (t->device == NULL) {
        t->outcome = YOKE_CTS_FAIL;
        yoke_snprintf(t->reason, sizeof t->reason,
                      "the device was lost in an earlier case and does not open again");
        return;
    }
    const char *missing = expectation != NULL && expectation->unsupported
                              ? expectation->reason
                              : yoke_cts_context_missing(t, row, buffer);
    if (missing != NULL) {
        t->outcome = YOKE_CTS_UNSUPPORTED;
        yoke_snprintf(t->reason, sizeof t->reason, "%s", missing);
        return;
    }
    run_case(t, watched);
    judge(t, expectation);
}

static void count_result(yoke_cts_summary_t *summary, yoke_cts_outcome_t outcome)
{
    summary->count++;
    summary->passed += outcome == YOKE_CTS_PASS;
    summary->failed += outcome == YOKE_CTS_FAIL;
    summary->unsupported += outcome == YOKE_CTS_UNSUPPORTED;
    summary->expected_failures += outcome == YOKE_CTS_EXPECTED_FAIL;
    summary->unexpected_passes += outcome == YOKE_CTS_UNEXPECTED_PASS;
}

static size_t count_selected(const char *filter)
{
    size_t count = 0;
    const char *name;
    for (size_t i = 0; (name = yoke_cts_case_name(i)) != NULL; i++)
        count += selected(filter, name);
    return count;
}

static void give_result(const yoke_cts_t *t, size_t index, size_t count)
{
    yoke_cts_result_t result = {t->row->name, t->outcome, t->reason, index, count};
    if (t->options->verbose)
        fprintf(stderr, "%s%s%s\n", yoke_cts_outcome_name(t->outcome),
                t->reason[0] != '\0' ? ": " : "", t->reason);
    if (t->options->on_result != NULL)
        t->options->on_result(t->options->context, &result);
}

/* A case that ruined its device must not fail all that follow: what they share is made
 * anew. Where it does not come back, each of them says so. */
static void renew_device(yoke_cts_t *t)
{
    if (t->outcome == YOKE_CTS_PASS || yoke_device_status(t->device) == YOKE_OK)
        return;
    yoke_cts_context_end(t);
    yoke_device_t *device = NULL;
    if (yoke_device_open(t->options->device, NULL, &device) == YOKE_OK) {
        t->device = device;
        t->info.struct_size = sizeof t->info;
        (void)yoke_device_info(device, &t->info);
    }
}

static void run_all(yoke_cts_t *t, size_t count, yoke_cts_summary_t *summary)
{
    const yoke_cts_case_t *row;
    for (size_t i = 0, index = 0; (row = nth_case(i)) != NULL; i++) {
        if (!selected(t->options->filter, row->name))
            continue;
        if (t->options->verbose) {
            fprintf(stderr, "[%zu/%zu] %s ... ", index + 1, count, row->name);
            fflush(stderr);
        }
        do_case(t, row, summary->watched);
        count_result(summary, t->outcome);
        give_result(t, index++, count);
        renew_device(t);
    }
}

/* A fake counts what is alive: after the last close nothing of ours may be. */
static void check_nothing_left(yoke_cts_t *t, size_t count, yoke_cts_summary_t *summary)
{
    static const yoke_cts_case_t row = {.name = "device/nothing-left-behind"};
    uint64_t (*alive)(void) = NULL;
    *(void **)&alive = yoke_cts_current_symbol("yoke_fake_alive");
    if (alive == NULL || !selected(t->options->filter, row.name))
        return;
    t->row = &row;
    t->outcome = alive() == 0 ? YOKE_CTS_PASS : YOKE_CTS_FAIL;
    t->reason[0] = '\0';
    if (t->outcome == YOKE_CTS_FAIL)
        yoke_snprintf(t->reason, sizeof t->reason,
                      "%llu of the library's handles are alive after the last close",
                      (unsigned long long)alive());
    count_result(summary, t->outcome);
    give_result(t, count, count + 1);
}

static yoke_status_t open_device(yoke_cts_t *t)
{
    size_t length = strcspn(t->options->device, ":");
    if (length >= sizeof t->backend)
        return yoke_fail(YOKE_ERR_USAGE, "%s: no device's name", t->options->device);
    memcpy(t->backend, t->options->device, length);
    t->backend[length] = '\0';
    yoke_status_t status = yoke_device_open(t->options->device, NULL, &t->device);
    t->info.struct_size = sizeof t->info;
    return status != YOKE_OK ? status : yoke_device_info(t->device, &t->info);
}

yoke_status_t yoke_cts_run(const yoke_cts_options_t *options,
                           yoke_cts_summary_t *out_summary)
{
    yoke_cts_summary_t summary = {0};
    if (options == NULL || options->device == NULL || out_summary == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_cts_run: no options, device or summary");
    size_t count = count_selected(options->filter);
    if (count == 0)
        return yoke_fail(YOKE_ERR_NOT_FOUND, "no conformance case matches '%s'",
                         options->filter);
    yoke_cts_t *t = calloc(1, sizeof *t);
    if (t == NULL)
        return yoke_fail_memory();
    t->options = options;
    yoke_status_t status = open_device(t);
    if (status == YOKE_OK) {
        char library[512];
        yoke_snprintf(library, sizeof library, "%s", t->info.library);
        yoke_snprintf(summary.device, sizeof summary.device, "%s", t->info.name);
        yoke_snprintf(summary.version, sizeof summary.version, "%s", t->info.version);
        summary.watched =
            yoke_cts_current_watch(library, yoke_cts_cannot_unset(t->backend) != NULL);
        yoke_cts_context_sink(t);
        run_all(t, count, &summary);
        yoke_cts_current_set(-1);
        yoke_cts_context_end(t);
        check_nothing_left(t, count, &summary);
        yoke_log_set_sink(NULL, NULL);
        yoke_cts_current_unwatch();
        *out_summary = summary;
    } else {
        yoke_cts_context_end(t);
    }
    free(t);
    return status;
}
