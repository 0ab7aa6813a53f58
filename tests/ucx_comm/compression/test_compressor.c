/* SPDX-License-Identifier: Apache-2.0 */
/* The compressor over real communicators; ranks are threads. */

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "yoke/compress.h"

enum { MOST = 8 };

typedef struct job job_t;
typedef void (*part_t)(job_t *job, int rank, yoke_comm_t *comm);

struct job {
    int ranks;
    part_t part;
    yoke_comm_id_t id;
    /* of the parts */
    uint64_t count;
    yoke_compressor_options_t options;
    double share[MOST];
    float *results[MOST];
    void *saved[MOST];
    size_t saved_size[MOST];
    const job_t *before;
};

typedef struct member {
    job_t *job;
    int rank;
} member_t;

/* cmocka's asserts leave by longjmp, which only the main thread may do. */
#define MUST(condition)                                                                  \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,           \
                    yoke_last_error());                                                  \
            abort();                                                                     \
        }                                                                                \
    } while (0)
#define OK(call) MUST((call) == YOKE_OK)

static void *member_main(void *argument)
{
    member_t *me = argument;
    yoke_comm_t *comm = NULL;
    OK(yoke_comm_create_from_id(&me->job->id, me->job->ranks, me->rank, NULL, &comm));
    me->job->part(me->job, me->rank, comm);
    OK(yoke_comm_barrier(comm, NULL));
    yoke_comm_destroy(comm);
    return NULL;
}

static void run(job_t *job, part_t part)
{
    pthread_t threads[MOST];
    member_t members[MOST];
    job->part = part;
    OK(yoke_comm_id_create(job->ranks, NULL, &job->id));
    for (int i = 0; i < job->ranks; i++) {
        members[i] = (member_t){job, i};
        MUST(pthread_create(&threads[i], NULL, member_main, &members[i]) == 0);
    }
    for (int i = 0; i < job->ranks; i++)
        pthread_join(threads[i], NULL);
}

static void clean(job_t *job)
{
    for (int i = 0; i < MOST; i++) {
        free(job->results[i]);
        free(job->saved[i]);
    }
}

/* Small whole numbers, so that every sum is exact in any order. */
static float gradient_at(int rank, int call, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull + (uint64_t)(rank * 64 + call) * 77777;
    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9ull;
    return (float)((int)((z >> 40) % 201) - 100);
}

enum { CALLS = 5 };

/* CALLS all-reduces; results[rank]: the sum of what came. */
static void calls(job_t *job, int rank, yoke_comm_t *comm)
{
    yoke_compressor_t *compressor = NULL;
    OK(yoke_compressor_create(comm, job->count, YOKE_ELEMENT_F32, &job->options,
                              &compressor));
    if (job->before != NULL)
        for (int i = rank; i < job->before->ranks; i += job->ranks)
            OK(yoke_compressor_load(compressor, job->before->saved[i],
                                    job->before->saved_size[i]));
    float *gradient = malloc(job->count * sizeof *gradient);
    float *result = malloc(job->count * sizeof *result);
    float *total = calloc(job->count, sizeof *total);
    MUST(gradient != NULL && result != NULL && total != NULL);
    for (int call = 0; call < CALLS; call++) {
        for (uint64_t i = 0; i < job->count; i++)
            gradient[i] = gradient_at(rank, call, i);
        float *to = call % 2 == 0 ? result : gradient; /* in place too */
        OK(yoke_compressor_all_reduce(compressor, yoke_comm_host(gradient),
                                      yoke_comm_host(to), YOKE_REDUCE_SUM));
        for (uint64_t i = 0; i < job->count; i++)
            total[i] += to[i];
    }
    yoke_compressor_statistics_t statistics = {.struct_size = sizeof statistics};
    yoke_compressor_statistics(compressor, &statistics);
    MUST(statistics.calls == CALLS && statistics.sparse_calls <= CALLS);
    if (statistics.dense_bytes > 0)
        job->share[rank] = (double)statistics.sent_bytes / (double)statistics.dense_bytes;
    OK(yoke_compressor_save(compressor, &job->saved[rank], &job->saved_size[rank]));
    job->results[rank] = total;
    free(gradient);
    free(result);
    yoke_compressor_destroy(compressor);
}

static float kept_at(const job_t *job, uint64_t i)
{
    float sum = 0;
    for (int rank = 0; rank < job->ranks; rank++) {
        float kept;
        memcpy(&kept, (const char *)job->saved[rank] + 32 + i * sizeof kept, sizeof kept);
        sum += kept;
    }
    return sum;
}

static void equal_on_all_ranks(const job_t *job)
{
    for (int rank = 1; rank < job->ranks; rank++)
        assert_memory_equal(job->results[rank], job->results[0],
                            job->count * sizeof(float));
}

/* What came and what is kept is what was given. */
static void nothing_is_lost(const job_t *job)
{
    equal_on_all_ranks(job);
    for (uint64_t i = 0; i < job->count; i++) {
        float given = job->before != NULL ? kept_at(job->before, i) : 0;
        for (int rank = 0; rank < job->ranks; rank++)
            for (int call = 0; call < CALLS; call++)
                given += gradient_at(rank, call, i);
        assert_true(job->results[0][i] + kept_at(job, i) == given);
    }
}

static void within_the_budget(const job_t *job)
{
    for (int rank = 0; rank < job->ranks; rank++)
        assert_true(job->share[rank] <= 0.20);
}

static yoke_compressor_options_t options_of(yoke_compress_method_t method, uint32_t flags)
{
    return (yoke_compressor_options_t){.struct_size = sizeof(yoke_compressor_options_t),
                                       .method = method,
                                       .flags = flags | YOKE_COMPRESS_ALWAYS,
                                       .seed = 3,
                                       .island = -1};
}

static void bytes_and_sums(void **unused)
{
    (void)unused;
    static const int ranks[] = {2, 3, 4, 8};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        job_t job = {.ranks = ranks[i],
                     .count = 100003,
                     .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
        run(&job, calls);
        nothing_is_lost(&job);
        within_the_budget(&job);
        assert_true(job.share[0] > 0.15);
        clean(&job);
    }
}

static void tiny_gradients(void **unused)
{
    (void)unused;
    for (uint64_t count = 1; count <= 20; count += count < 5 ? 1 : 5) {
        job_t job = {
            .ranks = 3, .count = count, .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
        run(&job, calls);
        nothing_is_lost(&job);
        clean(&job);
    }
}

static void two_levels(void **unused)
{
    (void)unused;
    job_t job = {.ranks = 5,
                 .count = 70001,
                 .options = options_of(YOKE_COMPRESS_TOP_K, YOKE_COMPRESS_TWO_LEVEL)};
    run(&job, calls);
    nothing_is_lost(&job);
    clean(&job);
}

static void two_levels_named(job_t *job, int rank, yoke_comm_t *comm)
{
    /* islands {0, 3} and {1, 2, 4}: any order, unlike sizes */
    job_t mine = *job;
    mine.options.island = rank == 0 || rank == 3 ? 7 : 2;
    calls(&mine, rank, comm);
    job->results[rank] = mine.results[rank];
    job->saved[rank] = mine.saved[rank];
    job->share[rank] = mine.share[rank];
}

static void islands_by_number(void **unused)
{
    (void)unused;
    job_t job = {.ranks = 5,
                 .count = 70001,
                 .options = options_of(YOKE_COMPRESS_TOP_K, YOKE_COMPRESS_TWO_LEVEL)};
    run(&job, two_levels_named);
    nothing_is_lost(&job);
    within_the_budget(&job);
    assert_true(job.share[0] > 0.1 && job.share[1] > 0.1 && job.share[2] == 0);
    clean(&job);
}

static void sampling(void **unused)
{
    (void)unused;
    job_t job = {.ranks = 4,
                 .count = 100003,
                 .options = options_of(YOKE_COMPRESS_SAMPLE, YOKE_COMPRESS_NO_FEEDBACK)};
    run(&job, calls);
    equal_on_all_ranks(&job);
    within_the_budget(&job);
    for (uint64_t i = 0; i < job.count; i++)
        assert_true(kept_at(&job, i) == 0);
    double given = 0, came = 0, square = 0;
    for (uint64_t i = 0; i < job.count; i++) {
        double sum = 0;
        for (int rank = 0; rank < job.ranks; rank++)
            for (int call = 0; call < CALLS; call++)
                sum += gradient_at(rank, call, i);
        given += sum * sum;
        came += sum * (double)job.results[0][i];
        square += (double)job.results[0][i] * (double)job.results[0][i];
    }
    /* unbiased: the product with what was given is that of the gradient itself, within
     * six standard errors */
    assert_true(fabs(came / given - 1) <
                6 * sqrt(square / given) / sqrt((double)job.count));
    clean(&job);
}

static void goes_on_with_other_ranks(void **unused)
{
    (void)unused;
    job_t before = {
        .ranks = 4, .count = 30011, .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
    run(&before, calls);
    for (int ranks = 2; ranks <= 6; ranks += 2) {
        job_t after = {.ranks = ranks,
                       .count = before.count,
                       .options = before.options,
                       .before = &before};
        run(&after, calls);
        nothing_is_lost(&after);
        clean(&after);
    }
    clean(&before);
}

/* Dense where that is predicted faster; whatever was chosen, all chose it. */
static void may_be_dense(void **unused)
{
    (void)unused;
    job_t before = {
        .ranks = 3, .count = 5003, .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
    run(&before, calls);
    job_t after = before;
    memset(after.results, 0, sizeof after.results);
    memset(after.saved, 0, sizeof after.saved);
    after.before = &before;
    after.options.flags = 0;
    run(&after, calls);
    nothing_is_lost(&after);
    clean(&after);
    clean(&before);
}

static void not_a_number(job_t *job, int rank, yoke_comm_t *comm)
{
    yoke_compressor_t *compressor = NULL;
    float *gradient = calloc(job->count, sizeof *gradient);
    MUST(gradient != NULL);
    OK(yoke_compressor_create(comm, job->count, YOKE_ELEMENT_F32, &job->options,
                              &compressor));
    if (rank == 1) {
        gradient[5] = NAN;
        gradient[6] = INFINITY;
    }
    yoke_comm_buffer_t place = yoke_comm_host(gradient);
    OK(yoke_compressor_all_reduce(compressor, place, place, YOKE_REDUCE_AVG));
    MUST(isnan(gradient[5]) && isinf(gradient[6]) && gradient[7] == 0);
    memset(gradient, 0, job->count * sizeof *gradient);
    OK(yoke_compressor_all_reduce(compressor, place, place, YOKE_REDUCE_AVG));
    for (uint64_t i = 0; i < job->count; i++) /* nothing of it was kept */
        MUST(gradient[i] == 0);
    free(gradient);
    yoke_compressor_destroy(compressor);
}

static void not_numbers_come_through(void **unused)
{
    (void)unused;
    job_t job = {
        .ranks = 2, .count = 1000, .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
    run(&job, not_a_number);
}

static void on_a_device(job_t *job, int rank, yoke_comm_t *comm)
{
    yoke_device_t *device = NULL;
    yoke_buffer_t *buffer = NULL;
    yoke_queue_t *queue = NULL;
    yoke_compressor_t *compressor = NULL;
    uint64_t size = job->count * sizeof(float);
    float *values = malloc(size);
    MUST(values != NULL);
    OK(yoke_device_open("host:0", NULL, &device));
    OK(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, size, &buffer));
    OK(yoke_queue_create(device, NULL, &queue));
    for (uint64_t i = 0; i < job->count; i++)
        values[i] = gradient_at(rank, 0, i);
    OK(yoke_queue_write(queue, yoke_span(buffer, 0), values, size));
    OK(yoke_queue_sync(queue));
    OK(yoke_compressor_create(comm, job->count, YOKE_ELEMENT_F32, &job->options,
                              &compressor));
    yoke_comm_buffer_t place = yoke_comm_span(buffer, 0);
    OK(yoke_compressor_all_reduce(compressor, place, place, YOKE_REDUCE_SUM));
    OK(yoke_queue_read(queue, values, yoke_span(buffer, 0), size));
    OK(yoke_queue_sync(queue));
    uint64_t sent = 0;
    for (uint64_t i = 0; i < job->count; i++) {
        float first = gradient_at(0, 0, i), second = gradient_at(1, 0, i);
        sent += values[i] != 0; /* by one of them, or by both */
        MUST(values[i] == 0 || values[i] == first || values[i] == second ||
             values[i] == first + second);
    }
    MUST(sent > job->count / 20 && sent < job->count / 3);
    yoke_compressor_destroy(compressor);
    yoke_queue_destroy(queue);
    yoke_buffer_destroy(buffer);
    yoke_device_close(device);
    free(values);
}

static void device_memory(void **unused)
{
    (void)unused;
    job_t job = {
        .ranks = 2, .count = 20000, .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
    run(&job, on_a_device);
}

static void refused(yoke_status_t status, yoke_status_t wanted, const char *word)
{
    if (status != wanted || strstr(yoke_last_error(), word) == NULL) {
        fprintf(stderr, "%s, wanted %s: %s (wanted '%s')\n", yoke_status_name(status),
                yoke_status_name(wanted), yoke_last_error(), word);
        abort();
    }
}

static void bad_calls(job_t *job, int rank, yoke_comm_t *comm)
{
    (void)rank;
    yoke_compressor_t *c = NULL;
    yoke_compressor_options_t o = job->options;
    refused(yoke_compressor_create(comm, 0, YOKE_ELEMENT_F32, &o, &c), YOKE_ERR_USAGE,
            "0 elements");
    refused(yoke_compressor_create(NULL, 1, YOKE_ELEMENT_F32, &o, &c), YOKE_ERR_USAGE,
            "comm");
    refused(yoke_compressor_create(comm, 1, YOKE_ELEMENT_I32, &o, &c),
            YOKE_ERR_UNSUPPORTED, "i32");
    refused(yoke_compressor_create(comm, (uint64_t)1 << 32, YOKE_ELEMENT_F32, &o, &c),
            YOKE_ERR_UNSUPPORTED, "4294967296");
    o.budget = 1.5;
    refused(yoke_compressor_create(comm, 1, YOKE_ELEMENT_F32, &o, &c), YOKE_ERR_USAGE,
            "1.5");
    o.budget = NAN;
    refused(yoke_compressor_create(comm, 1, YOKE_ELEMENT_F32, &o, &c), YOKE_ERR_USAGE,
            "nan");
    o = job->options;
    o.flags = 1u << 9;
    refused(yoke_compressor_create(comm, 1, YOKE_ELEMENT_F32, &o, &c), YOKE_ERR_USAGE,
            "0x200");
    o = job->options;
    o.struct_size = 8;
    refused(yoke_compressor_create(comm, 1, YOKE_ELEMENT_F32, &o, &c), YOKE_ERR_USAGE,
            "struct_size");
    OK(yoke_compressor_create(comm, 100, YOKE_ELEMENT_F32, NULL, &c));
    float values[100] = {0};
    refused(yoke_compressor_all_reduce(NULL, yoke_comm_host(values),
                                       yoke_comm_host(values), YOKE_REDUCE_SUM),
            YOKE_ERR_USAGE, "NULL");
    refused(yoke_compressor_all_reduce(c, yoke_comm_host(values), yoke_comm_host(NULL),
                                       YOKE_REDUCE_SUM),
            YOKE_ERR_USAGE, "recv");
    refused(yoke_compressor_all_reduce(c, yoke_comm_host(values), yoke_comm_host(values),
                                       YOKE_REDUCE_MAX),
            YOKE_ERR_USAGE, "max");
    void *data = NULL;
    size_t size = 0;
    OK(yoke_compressor_save(c, &data, &size));
    unsigned char *bytes = data;
    for (size_t cut = 0; cut < size; cut += 7)
        refused(yoke_compressor_load(c, data, cut), YOKE_ERR_BAD_INPUT, "load");
    for (size_t at = 0; at < size; at += at < 32 ? 1 : 13) {
        if (at >= 12 && at < 16)
            continue; /* reserved */
        bytes[at] ^= 0x40;
        refused(yoke_compressor_load(c, data, size), YOKE_ERR_BAD_INPUT, "load");
        bytes[at] ^= 0x40;
    }
    OK(yoke_compressor_load(c, data, size));
    free(data);
    yoke_compressor_destroy(c);
    yoke_compressor_destroy(NULL);
}

static void bad_input(void **unused)
{
    (void)unused;
    job_t job = {.ranks = 1, .options = options_of(YOKE_COMPRESS_TOP_K, 0)};
    run(&job, bad_calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_sums), cmocka_unit_test(tiny_gradients),
        cmocka_unit_test(two_levels),     cmocka_unit_test(islands_by_number),
        cmocka_unit_test(sampling),       cmocka_unit_test(goes_on_with_other_ranks),
        cmocka_unit_test(may_be_dense),   cmocka_unit_test(not_numbers_come_through),
        cmocka_unit_test(device_memory),  cmocka_unit_test(bad_input),
    };
    alarm(200); /* a test that hangs ends */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
