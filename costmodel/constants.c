/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the constants of the cost model: every one must be there, in range, with its
 * source. */
#include "costmodel/constants.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#define SCHEMA "yoke-constants/1"
#define FILE_LIMIT ((size_t)1 << 20)

typedef struct field {
    const char *name;
    size_t offset;
    double min, max;
} field_t;

#define FIELD(name, min, max)                                                            \
    {                                                                                    \
#name, offsetof(yoke_constants_t, name), min, max                                \
    }
#define FRACTION(name) FIELD(name, 1e-3, 1.0)
#define LATENCY(name) FIELD(name, 0.0, 1.0)
#define UNCERTAINTY(name) FIELD(name, 0.0, 1.0)

static const field_t fields[] = {
    FRACTION(compute_fraction),
    FRACTION(gemm_fraction),
    FRACTION(attention_fraction),
    FRACTION(bandwidth_fraction),
    LATENCY(gemm_latency),
    LATENCY(kernel_latency),
    FIELD(kernels_per_layer, 0, 1e4),
    FIELD(elementwise_hidden, 0, 1e3),
    FIELD(elementwise_ffn, 0, 1e3),
    FIELD(softmax_passes, 0, 100),
    FIELD(kernels_backward, 0, 10),
    FIELD(backward_gemm, 1, 10),
    FIELD(backward_attention, 1, 10),
    FIELD(backward_elementwise, 0, 10),
    FRACTION(expert_fraction),
    FRACTION(link_fraction),
    LATENCY(link_latency),
    FRACTION(nic_fraction),
    LATENCY(nic_latency),
    FIELD(default_intra_rate, 1e6, 1e13),
    FIELD(data_overlap, 0, 1),
    FIELD(gradient_bytes, 0, 16),
    FIELD(gradient_exchange_bytes, 0, 16),
    FIELD(adam_bytes, 0, 64),
    FIELD(sgd_bytes, 0, 64),
    FIELD(adam_bytes_fp32, 0, 64),
    FIELD(sgd_bytes_fp32, 0, 64),
    FIELD(optimizer_traffic_adam, 0, 256),
    FIELD(optimizer_traffic_sgd, 0, 256),
    FIELD(step_overhead, 0, 60),
    FIELD(context_bytes, 0, 1e12),
    FIELD(host_context_bytes, 0, 1e12),
    FIELD(communication_bytes, 0, 1e12),
    FIELD(bucket_bytes, 0, 1e12),
    FIELD(slack_fraction, 0, 1),
    FIELD(reserve_fraction, 0, 0.9),
    FIELD(score_traffic, 0, 100),
    FIELD(dense_attention, 0, 1),
    FIELD(gemm_exposed, 0, 1),
    LATENCY(exchange_ramp),
    FIELD(exchange_half, 1, 1e12),
    FIELD(kernels_exchange, 0, 1e3),
    FIELD(send_exposed, 0, 1),
    FIELD(gather_exposed, 0, 1),
    FIELD(gather_bytes, 0, 16),
    FIELD(scatter_bytes, 0, 16),
    FIELD(selective_gemm, 0, 1),
    FIELD(selective_elementwise, 0, 1),
    FIELD(exchange_hidden, 0, 1),
    LATENCY(head_latency),
    FIELD(misaligned_fraction, 0, 1),
    FIELD(ring_exposed, 0, 1),
    FRACTION(fp8_fraction),
    UNCERTAINTY(uncertainty_measured),
    UNCERTAINTY(uncertainty_runtime),
    UNCERTAINTY(uncertainty_catalog),
    UNCERTAINTY(uncertainty_not_reread),
    UNCERTAINTY(uncertainty_disputed),
    UNCERTAINTY(uncertainty_default),
    UNCERTAINTY(uncertainty_user),
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

/* A constant that the table forgets would silently be zero. */
_Static_assert(FIELD_COUNT * sizeof(double) == sizeof(yoke_constants_t),
               "every constant has a row in the table");

static yoke_status_t read_field(const yoke_cursor_t *all, const field_t *field,
                                yoke_constants_t *out)
{
    static const char *const allowed[] = {"value", "unit", "source", NULL};
    yoke_cursor_t at;
    const char *text = NULL;
    double value = 0;
    yoke_status_t status = yoke_cursor_need(all, field->name, &at);
    if (status == YOKE_OK)
        status = yoke_cursor_object(&at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(&at, "unit", &text);
    if (status == YOKE_OK)
        status = yoke_need_string(&at, "source", &text);
    if (status == YOKE_OK)
        status = yoke_need_double(&at, "value", field->min, field->max, &value);
    if (status == YOKE_OK)
        memcpy((char *)out + field->offset, &value, sizeof value);
    return status;
}

static yoke_status_t read_document(const yoke_json_t *json, yoke_constants_t *out)
{
    static const char *const allowed[] = {"schema", "constants", NULL};
    const char *names[FIELD_COUNT + 1] = {NULL};
    const char *schema = NULL;
    yoke_cursor_t all;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        names[i] = fields[i].name;

    yoke_cursor_t root = yoke_json_cursor(json);
    yoke_status_t status = yoke_cursor_object(&root);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&root, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(&root, "schema", &schema);
    if (status == YOKE_OK && strcmp(schema, SCHEMA) != 0)
        status = yoke_cursor_fail(&root, "schema", "must be \"" SCHEMA "\", not \"%s\"",
                                  schema);
    if (status == YOKE_OK)
        status = yoke_cursor_need(&root, "constants", &all);
    if (status == YOKE_OK)
        status = yoke_cursor_object(&all);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&all, names);
    for (size_t i = 0; status == YOKE_OK && i < FIELD_COUNT; i++)
        status = read_field(&all, &fields[i], out);
    return status;
}

yoke_status_t yoke_constants_read(const char *path, yoke_constants_t *out_constants)
{
    yoke_json_t json;
    yoke_constants_t constants = {0};
    yoke_status_t status = yoke_json_read(path, FILE_LIMIT, &json);
    if (status != YOKE_OK)
        return status;
    status = read_document(&json, &constants);
    yoke_json_free(&json);
    if (status == YOKE_OK)
        *out_constants = constants;
    return status;
}

static yoke_status_t read_default(yoke_constants_t *out_constants)
{
    const char *path = getenv("YOKE_CONSTANTS");
    if (path != NULL && path[0] != '\0')
        return yoke_constants_read(path, out_constants);
    char *file = yoke_format("%s/costmodel/constants.json", yoke_data_dir());
    if (file == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_constants_read(file, out_constants);
    free(file);
    return status;
}

yoke_status_t yoke_constants_get(const yoke_constants_t **out_constants)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static yoke_constants_t constants;
    static bool loaded;
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&lock);
    if (!loaded)
        status = read_default(&constants);
    loaded = status == YOKE_OK;
    pthread_mutex_unlock(&lock);
    if (status == YOKE_OK)
        *out_constants = &constants;
    return status;
}

static const field_t *find_field(const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

const char *const *yoke_constants_names(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *names[FIELD_COUNT + 1];
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        names[i] = fields[i].name;
    pthread_mutex_unlock(&lock);
    return names;
}

bool yoke_constants_value(const yoke_constants_t *constants, const char *name,
                          double *out_value)
{
    const field_t *field = find_field(name);
    if (field != NULL)
        memcpy(out_value, (const char *)constants + field->offset, sizeof *out_value);
    return field != NULL;
}

bool yoke_constants_set(yoke_constants_t *constants, const char *name, double value)
{
    const field_t *field = find_field(name);
    if (field == NULL || !(value >= field->min && value <= field->max))
        return false;
    memcpy((char *)constants + field->offset, &value, sizeof value);
    return true;
}
