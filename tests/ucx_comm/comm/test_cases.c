/* SPDX-License-Identifier: Apache-2.0 */
/* Cases from public reports: comm-01 calls that disagree, comm-03 zero and tiny counts,
 * comm-05 sums of bf16, comm-09 odd offsets, comm-11's sum; the inputs are those of
 * YOKE_SHARED_DIR/cases, written out here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/ucx_comm/comm/one_call.h"
#include "tests/ucx_comm/ranks.h"

#define F32 YOKE_ELEMENT_F32
#define I32 YOKE_ELEMENT_I32
#define SUM YOKE_REDUCE_SUM

static yoke_comm_t *make(int rank, int size, uint32_t flags)
{
    yoke_comm_options_t options = {.struct_size = sizeof options, .flags = flags};
    options.timeout_ms = 3000;
    yoke_comm_t *comm = NULL;
    yoke_status_t status =
        yoke_comm_create(size, rank, yoke_test_all_gather, NULL, &options, &comm);
    return status == YOKE_OK ? comm : NULL;
}

/* --- comm-01: calls that disagree
 * --------------------------------------------------------- */

typedef struct disagreement {
    const char *name;
    const char *named; /* in the message under YOKE_COMM_CHECK */
    yoke_status_t (*call)(yoke_comm_t *comm, bool odd, void *data,
                          const yoke_comm_call_t *options);
} disagreement_t;

enum { MOST = 512000 };

static yoke_comm_buffer_t at(void *data, size_t offset)
{
    return yoke_comm_host((char *)data + offset);
}

#define OUT ((size_t)MOST * 4)

static yoke_status_t by_count(yoke_comm_t *comm, bool odd, void *data,
                              const yoke_comm_call_t *options)
{
    return yoke_comm_all_reduce(comm, at(data, 0), at(data, OUT), odd ? 256000 : 512000,
                                F32, SUM, options);
}

static yoke_status_t by_type(yoke_comm_t *comm, bool odd, void *data,
                             const yoke_comm_call_t *options)
{
    return yoke_comm_all_reduce(comm, at(data, 0), at(data, OUT), odd ? 1000 : 2000,
                                odd ? F32 : YOKE_ELEMENT_F16, SUM, options);
}

static yoke_status_t by_reduction(yoke_comm_t *comm, bool odd, void *data,
                                  const yoke_comm_call_t *options)
{
    return yoke_comm_all_reduce(comm, at(data, 0), at(data, OUT), 64, F32,
                                odd ? YOKE_REDUCE_MAX : SUM, options);
}

static yoke_status_t by_collective(yoke_comm_t *comm, bool odd, void *data,
                                   const yoke_comm_call_t *options)
{
    if (odd)
        return yoke_comm_all_gather(comm, at(data, 0), at(data, OUT), 64, F32, options);
    return yoke_comm_all_reduce(comm, at(data, 0), at(data, OUT), 64, F32, SUM, options);
}

static yoke_status_t by_root(yoke_comm_t *comm, bool odd, void *data,
                             const yoke_comm_call_t *options)
{
    return yoke_comm_broadcast(comm, at(data, 0), 64, F32, odd ? 1 : 0, options);
}

static yoke_status_t by_element_alone(yoke_comm_t *comm, bool odd, void *data,
                                      const yoke_comm_call_t *options)
{
    return yoke_comm_all_gather(comm, at(data, 0), at(data, OUT), 64, odd ? I32 : F32,
                                options);
}

static yoke_status_t by_counts(yoke_comm_t *comm, bool odd, void *data,
                               const yoke_comm_call_t *options)
{
    uint64_t counts[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    counts[2] += odd;
    return yoke_comm_all_gather_v(comm, at(data, 0), at(data, OUT), counts, NULL, F32,
                                  options);
}

static yoke_status_t by_form(yoke_comm_t *comm, bool odd, void *data,
                             const yoke_comm_call_t *options)
{
    uint64_t counts[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    if (odd)
        return yoke_comm_all_gather_v(comm, at(data, 0), at(data, OUT), counts, NULL, F32,
                                      options);
    return yoke_comm_all_gather(comm, at(data, 0), at(data, OUT), 7, F32, options);
}

static yoke_status_t by_barrier(yoke_comm_t *comm, bool odd, void *data,
                                const yoke_comm_call_t *options)
{
    if (odd)
        return yoke_comm_barrier(comm, options);
    return yoke_comm_reduce_scatter(comm, at(data, 0), at(data, OUT), 5, F32, SUM,
                                    options);
}

static yoke_status_t by_algorithm(yoke_comm_t *comm, bool odd, void *data,
                                  const yoke_comm_call_t *options)
{
    yoke_comm_call_t call = *options;
    call.algorithm = odd ? "ring" : "rabenseifner";
    return yoke_comm_all_reduce(comm, at(data, 0), at(data, OUT), 64, F32, SUM, &call);
}

static const disagreement_t disagreements[] = {
    {"count", "count", by_count},
    {"type of equal bytes", "element type", by_type},
    {"reduction", "reduction", by_reduction},
    {"collective", "collective", by_collective},
    {"root", "root", by_root},
    {"element", "element type", by_element_alone},
    {"counts", "counts", by_counts},
    {"form", "form", by_form},
    {"barrier", "collective", by_barrier},
    {"algorithm", "algorithm", by_algorithm},
};
enum { DISAGREEMENTS = sizeof disagreements / sizeof disagreements[0] };

static const char *disagreement_algorithm;

static int disagree(int rank, int size, void *context)
{
    const uint32_t flags = *(const uint32_t *)context;
    void *data = calloc(1, 2 * OUT + 4096);
    RANK_CHECK(data != NULL);
    for (int d = 0; d < DISAGREEMENTS; d++) {
        const disagreement_t *what = &disagreements[d];
        yoke_comm_t *comm = make(rank, size, flags), *fresh = NULL;
        RANK_CHECK(comm != NULL);
        /* A rank that disagrees revokes: not while another still makes its own. */
        int made = 1, all[8];
        RANK_CHECK(yoke_test_all_gather(NULL, &made, sizeof made, all) == YOKE_OK);
        bool odd = rank == (d % 2 == 0 ? 0 : 2);
        yoke_comm_call_t call = {.struct_size = sizeof call, .timeout_ms = 1000};
        if (what->call != by_algorithm && what->call != by_barrier)
            call.algorithm = disagreement_algorithm;
        yoke_status_t status = what->call(comm, odd, data, &call);
        bool checked = (flags & YOKE_COMM_CHECK) != 0;
        if (checked && status != YOKE_ERR_MISMATCH)
            fprintf(stderr, "%s: %s %s\n", what->name, yoke_status_name(status),
                    yoke_last_error());
        if (checked) {
            RANK_CHECK(status == YOKE_ERR_MISMATCH);
            RANK_CHECK(strstr(yoke_last_error(), what->named) != NULL);
            RANK_CHECK(strstr(yoke_last_error(), odd && rank == 0 ? "rank 0" : "rank") !=
                       NULL);
        }
        /* Without checking a rank that gets all that it needs may succeed: no more than
         * that, and only until the next call. */
        RANK_CHECK(status == YOKE_OK || status == YOKE_ERR_MISMATCH ||
                   status == YOKE_ERR_TIMEOUT || status == YOKE_ERR_REVOKED);
        int failures[8], mine = status != YOKE_OK, any = 0;
        RANK_CHECK(yoke_test_all_gather(NULL, &mine, sizeof mine, failures) == YOKE_OK);
        for (int r = 0; r < size; r++)
            any += failures[r];
        if (any == 0)
            fprintf(stderr, "%s: nobody noticed\n", what->name);
        RANK_CHECK(any > 0);
        struct timespec nap = {0, 1000000};
        for (int i = 0; i < 20000 && yoke_comm_status(comm) == YOKE_OK; i++)
            nanosleep(&nap, NULL);
        RANK_CHECK(yoke_comm_barrier(comm, NULL) == YOKE_ERR_REVOKED);
        RANK_CHECK(yoke_comm_shrink(comm, &fresh) == YOKE_OK);
        RANK_CHECK(yoke_comm_size(fresh) == size);
        int one = 1, sum = 0;
        RANK_CHECK(yoke_comm_all_reduce(fresh, yoke_comm_host(&one), yoke_comm_host(&sum),
                                        1, I32, SUM, NULL) == YOKE_OK);
        RANK_CHECK(sum == size);
        yoke_comm_destroy(comm);
        yoke_comm_destroy(fresh);
    }
    free(data);
    return 0;
}

static void comm_01_calls_that_disagree(void **state)
{
    (void)state;
    uint32_t none = 0, check = YOKE_COMM_CHECK;
    disagreement_algorithm = NULL;
    assert_int_equal(yoke_test_ranks(4, disagree, &check), 0);
    assert_int_equal(yoke_test_ranks(4, disagree, &none), 0);
    disagreement_algorithm = "linear";
    assert_int_equal(yoke_test_ranks(4, disagree, &none), 0);
}

/* --- comm-03: zero and tiny
 * -------------------------------------------------------------- */

static int zero_and_tiny(int rank, int size, void *context)
{
    yoke_comm_t *comm = make(rank, size, 0);
    yoke_comm_buffer_t none = yoke_comm_host(NULL);
    yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = context};
    RANK_CHECK(comm != NULL);
    RANK_CHECK(yoke_comm_all_reduce(comm, none, none, 0, I32, SUM, &call) == YOKE_OK);

    int32_t one = rank + 1, ten = 0;
    RANK_CHECK(yoke_comm_all_reduce(comm, yoke_comm_host(&one), yoke_comm_host(&ten), 1,
                                    I32, SUM, &call) == YOKE_OK);
    RANK_CHECK(ten == 10);

    int32_t three[3] = {rank + 1, 2 * (rank + 1), 3 * (rank + 1)}, sums[3];
    RANK_CHECK(yoke_comm_all_reduce(comm, yoke_comm_host(three), yoke_comm_host(sums), 3,
                                    I32, SUM, &call) == YOKE_OK);
    RANK_CHECK(sums[0] == 10 && sums[1] == 20 && sums[2] == 30);

    const uint64_t gathered[4] = {3, 0, 2, 0};
    int32_t mine[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2}, all[5];
    RANK_CHECK(yoke_comm_all_gather_v(
                   comm, gathered[rank] > 0 ? yoke_comm_host(mine) : none,
                   yoke_comm_host(all), gathered, NULL, I32, &call) == YOKE_OK);
    RANK_CHECK(all[0] == 0 && all[1] == 1 && all[2] == 2 && all[3] == 20 && all[4] == 21);

    const uint64_t scattered[4] = {0, 5, 0, 1};
    int32_t six[6] = {rank + 1, rank + 1, rank + 1, rank + 1, rank + 1, rank + 1};
    int32_t part[5] = {0};
    RANK_CHECK(
        yoke_comm_reduce_scatter_v(comm, yoke_comm_host(six),
                                   scattered[rank] > 0 ? yoke_comm_host(part) : none,
                                   scattered, I32, SUM, &call) == YOKE_OK);
    for (uint64_t i = 0; i < scattered[rank]; i++)
        RANK_CHECK(part[i] == 10);

    static const uint64_t matrix[4][4] = {
        {0, 2, 0, 1}, {0, 0, 0, 0}, {1, 0, 0, 3}, {0, 4, 0, 0}};
    uint64_t came[4], total = 0, sent = 0;
    int32_t out[8], in[8];
    for (int i = 0; i < 4; i++) {
        came[i] = matrix[i][rank];
        total += came[i];
        for (uint64_t k = 0; k < matrix[rank][i]; k++)
            out[sent++] = 100 * rank + 10 * i + (int32_t)k;
    }
    RANK_CHECK(yoke_comm_all_to_all_v(comm, sent > 0 ? yoke_comm_host(out) : none,
                                      matrix[rank], NULL,
                                      total > 0 ? yoke_comm_host(in) : none, came, NULL,
                                      I32, &call) == YOKE_OK);
    uint64_t next = 0;
    for (int i = 0; i < 4; i++)
        for (uint64_t k = 0; k < came[i]; k++)
            RANK_CHECK(in[next++] == 100 * i + 10 * rank + (int32_t)k);

    RANK_CHECK(yoke_comm_broadcast(comm, none, 0, I32, 3, &call) == YOKE_OK);
    RANK_CHECK(yoke_comm_barrier(comm, &call) == YOKE_OK);
    yoke_comm_destroy(comm);
    return 0;
}

static void comm_03_zero_and_tiny(void **state)
{
    (void)state;
    static char linear[] = "linear";
    assert_int_equal(yoke_test_ranks(4, zero_and_tiny, NULL), 0);
    assert_int_equal(yoke_test_ranks(4, zero_and_tiny, linear), 0);
}

/* --- comm-05: sums of bf16
 * ---------------------------------------------------------------- */

static uint16_t bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16); /* the case's values have no more digits */
}

typedef struct sum_case {
    const float *values;
    int count;
    uint16_t right;
    const char *algorithm;
} sum_case_t;

/* Every permutation of which rank holds which value: number `index` of n!. */
static void permute(int n, int index, int *out)
{
    int left[8];
    for (int i = 0; i < n; i++)
        left[i] = i;
    for (int i = n; i > 0; i--) {
        int pick = index % i;
        index /= i;
        out[n - i] = left[pick];
        for (int k = pick; k + 1 < i; k++)
            left[k] = left[k + 1];
    }
}

static int sum_bf16(int rank, int size, void *context)
{
    const sum_case_t *what = context;
    yoke_comm_t *comm = make(rank, size, 0);
    RANK_CHECK(comm != NULL);
    yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = what->algorithm};
    int all = 1;
    for (int i = 2; i <= size; i++)
        all *= i;
    for (int p = 0; p < all; p++) {
        int order[8];
        permute(size, p, order);
        uint16_t mine = bf16(what->values[order[rank]]), sum = 0;
        RANK_CHECK(yoke_comm_all_reduce(comm, yoke_comm_host(&mine), yoke_comm_host(&sum),
                                        1, YOKE_ELEMENT_BF16, SUM, &call) == YOKE_OK);
        RANK_CHECK(sum == what->right);
    }
    yoke_comm_destroy(comm);
    return 0;
}

static void comm_05_bf16_sum(void **state)
{
    (void)state;
    static const float a[] = {256, 1, 1, 1, 1}, b[] = {1, 0.00390625f, 0.00390625f};
    static const char *const names[] = {NULL, "bruck", "linear"};
    for (size_t i = 0; i < 3; i++) {
        sum_case_t first = {a, 5, 0x4382, names[i]}, second = {b, 3, 0x3f81, names[i]};
        assert_int_equal(yoke_test_ranks(5, sum_bf16, &first), 0);
        assert_int_equal(yoke_test_ranks(3, sum_bf16, &second), 0);
    }
}

/* --- comm-09: odd offsets and lengths
 * -------------------------------------------------------- */

static int odd_offsets(int rank, int size, void *context)
{
    static const yoke_element_t types[] = {YOKE_ELEMENT_BF16, YOKE_ELEMENT_F16, F32,
                                           YOKE_ELEMENT_I8};
    static const uint64_t offsets[] = {0, 1, 2, 4, 6, 8, 12, 14};
    static const uint64_t counts[] = {1, 3, 7, 8, 9, 15, 17, 4097};
    yoke_comm_t *comm = make(rank, size, 0);
    RANK_CHECK(comm != NULL);
    for (int t = 0; t < 4; t++)
        for (int o = 0; o < 8; o++)
            for (int c = 0; c < 8; c++) {
                one_call_t call = {.collective = YOKE_COLLECTIVE_ALL_REDUCE,
                                   .element = types[t],
                                   .count = counts[c],
                                   .shift = offsets[o],
                                   .in_place = (t + o + c) % 2 == 0,
                                   .seed = 6,
                                   .algorithm = context};
                const char *wrong = one_call(comm, &call);
                if (wrong != NULL)
                    fprintf(stderr, "%s\n", wrong);
                RANK_CHECK(wrong == NULL);
            }
    yoke_comm_destroy(comm);
    return 0;
}

static void comm_09_unaligned(void **state)
{
    (void)state;
    static char linear[] = "linear", ring[] = "ring";
    assert_int_equal(yoke_test_ranks(3, odd_offsets, NULL), 0);
    assert_int_equal(yoke_test_ranks(3, odd_offsets, linear), 0);
    assert_int_equal(yoke_test_ranks(3, odd_offsets, ring), 0);
}

/* --- comm-11: five ranks of several islands
 * ---------------------------------------------------- */

static int sum_of_five(int rank, int size, void *context)
{
    static const char *const names[] = {NULL, "linear", "ring", "knomial", "bruck"};
    (void)context;
    yoke_comm_t *comm = make(rank, size, 0);
    RANK_CHECK(comm != NULL);
    for (int i = 0; i < 5; i++) {
        yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = names[i]};
        float mine = (float)(rank + 1), sum = 0;
        RANK_CHECK(yoke_comm_all_reduce(comm, yoke_comm_host(&mine), yoke_comm_host(&sum),
                                        1, F32, SUM, &call) == YOKE_OK);
        RANK_CHECK(sum == 15);
    }
    yoke_comm_destroy(comm);
    return 0;
}

static void comm_11_sum(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(5, sum_of_five, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comm_01_calls_that_disagree),
        cmocka_unit_test(comm_03_zero_and_tiny),
        cmocka_unit_test(comm_05_bf16_sum),
        cmocka_unit_test(comm_09_unaligned),
        cmocka_unit_test(comm_11_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
