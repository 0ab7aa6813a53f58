/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For test_plan_schema.py: with --full, prints the fixture's full plan; otherwise reads
 * one document a line from standard input and prints "ok" or the refusal.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

static void quiet(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

static void print_full(void)
{
    yoke_model_t *model = fixture_plan_model();
    yoke_inventory_t *cluster = fixture_plan_cluster();
    yoke_plan_t *plan = fixture_full_plan(model, cluster);
    char *text = NULL;
    if (yoke_plan_text(plan, &text) == YOKE_OK)
        fputs(text, stdout);
    free(text);
    yoke_plan_free(plan);
    fixture_model_free(model);
    yoke_inventory_free(cluster);
}

int main(int argc, char **argv)
{
    yoke_log_set_sink(quiet, NULL);
    if (argc > 1 && strcmp(argv[1], "--full") == 0) {
        print_full();
        return 0;
    }
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        yoke_plan_t *plan = NULL;
        yoke_status_t status = yoke_plan_parse("plan", line, (size_t)size, &plan);
        puts(status == YOKE_OK ? "ok" : yoke_last_error());
        yoke_plan_free(plan);
    }
    free(line);
    return 0;
}
