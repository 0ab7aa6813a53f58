/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_COSTMODEL_MODEL_SUPPORT_H
#define YOKE_TESTS_COSTMODEL_MODEL_SUPPORT_H

/* Reading models in tests: paths, expected failures, and what they must say. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costmodel/model_parts.h"
#include "yoke/model.h"

static inline void support_silent(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

/* Failures are expected here: keep them out of the output. */
static inline int support_setup(void **state)
{
    (void)state;
    yoke_log_set_sink(support_silent, NULL);
    return 0;
}

/* "SOURCE_DIR/relative"; one of four buffers. */
static inline const char *support_path(const char *relative)
{
    static char buffers[4][4096];
    static unsigned next;
    char *buffer = buffers[next++ % 4];
    const char *source = getenv("YOKE_SOURCE_DIR");
    snprintf(buffer, sizeof buffers[0], "%s/%s", source == NULL ? "." : source, relative);
    return buffer;
}

static inline yoke_model_t *support_read(const char *path,
                                         const yoke_model_options_t *options)
{
    yoke_model_t *model = NULL;
    if (yoke_model_read(path, options, &model) != YOKE_OK)
        fail_msg("%s: %s", path, yoke_last_error());
    return model;
}

static inline yoke_model_t *support_parse(const char *text)
{
    yoke_model_t *model = NULL;
    if (yoke_model_parse("test.json", text, strlen(text), NULL, &model) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return model;
}

/* It must fail with `status`, and say each of up to three things (NULL: no more). */
static inline void support_refuse(const char *text, yoke_status_t status, const char *a,
                                  const char *b, const char *c)
{
    const char *const parts[] = {a, b, c};
    yoke_model_t *model = NULL;
    yoke_status_t got = yoke_model_parse("test.json", text, strlen(text), NULL, &model);
    if (got == YOKE_OK) {
        yoke_model_free(model);
        fail_msg("accepted: %s", text);
    }
    assert_null(model);
    if (got != status)
        fail_msg("%s instead of %s: %s", yoke_status_name(got), yoke_status_name(status),
                 yoke_last_error());
    for (size_t i = 0; i < 3 && parts[i] != NULL; i++)
        if (strstr(yoke_last_error(), parts[i]) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", yoke_last_error(), parts[i]);
}

static inline bool support_noticed(const yoke_model_t *model, const char *part)
{
    for (size_t i = 0; i < model->notice_count; i++)
        if (strstr(model->notices[i], part) != NULL)
            return true;
    return false;
}

static inline json_t *support_json(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (root == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return root;
}

#endif
