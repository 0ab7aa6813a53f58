/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between two processes of this machine: our paths, and plain UCP as
 * ucx_perftest drives it (tagged messages), measured in turns in one run.
 *
 *   yoke_message_bench [ROUNDS [LARGEST]]
 *
 * One way is half of a round trip; an exchange is a message each way at once; GB/s are a
 * window of messages one way, answered by an empty one. Medians of ROUNDS rounds, and the
 * best.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include "tests/ucx_comm/ranks.h"
#include "ucx_comm/transport/core.h"

#define WINDOW 16
#define MOST_ROUNDS 200

typedef struct way {
    const char *name;
    yoke_path_t path;    /* ours */
    uint64_t offer_from; /* ours */
    const char *tls;     /* plain UCP; NULL: ours */
} way_t;

static const way_t ways[] = {
    {"rings", YOKE_PATH_SHARED, UINT64_MAX, NULL},
    {"single copy", YOKE_PATH_SHARED, 1024, NULL},
    {"as chosen", YOKE_PATH_NONE, 0, NULL},
    {"over UCP tcp", YOKE_PATH_UCP, 0, NULL},
    {"UCP posix,cma", YOKE_PATH_NONE, 0, "posix,cma,self"},
    {"UCP tcp", YOKE_PATH_NONE, 0, "tcp,self"},
};
#define WAYS ((int)(sizeof ways / sizeof ways[0]))

/* One open way, and how to move `count` messages over it. */
typedef struct end {
    const way_t *way;
    yoke_transport_t *transport;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h endpoint;
} end_t;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, yoke_last_error());
    exit(1);
}

/* --- opening
 * ------------------------------------------------------------------------------- */

static void open_plain(end_t *end, yoke_control_t *control, int rank)
{
    ucp_config_t *config;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker = {.field_mask = 0};
    ucp_address_t *address;
    static char all[2][4096], mine[4096];
    size_t size;
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK ||
        ucp_config_modify(config, "TLS", end->way->tls) != UCS_OK ||
        ucp_init(&params, config, &end->context) != UCS_OK ||
        ucp_worker_create(end->context, &worker, &end->worker) != UCS_OK ||
        ucp_worker_get_address(end->worker, &address, &size) != UCS_OK ||
        size > sizeof mine)
        fail("plain UCP");
    ucp_config_release(config);
    memcpy(mine, address, size);
    ucp_worker_release_address(end->worker, address);
    if (yoke_control_all_gather(control, mine, sizeof mine, all, 10000) != YOKE_OK)
        fail("all-gather");
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                          .address = (const ucp_address_t *)all[1 - rank]};
    if (ucp_ep_create(end->worker, &to, &end->endpoint) != UCS_OK)
        fail("ucp_ep_create");
}

static void open_end(end_t *end, const way_t *way, yoke_control_t *control, int rank)
{
    uint64_t measured = yoke_offer_least;
    *end = (end_t){.way = way};
    if (way->tls != NULL) {
        open_plain(end, control, rank);
        return;
    }
    yoke_forced_path = way->path;
    if (way->offer_from != 0)
        yoke_offer_least = way->offer_from;
    if (yoke_transport_create(control, NULL, &end->transport) != YOKE_OK)
        fail("transport");
    yoke_offer_least = measured;
    yoke_forced_path = YOKE_PATH_NONE;
}

/* --- moving
 * ---------------------------------------------------------------------------------
 */

static void wait_ours(end_t *end, yoke_message_t *messages, int count)
{
    unsigned idle = 0;
    for (int i = 0; i < count; i++)
        while (messages[i].status == YOKE_ERR_NOT_READY)
            if (yoke_transport_progress(end->transport) == 0)
                yoke_transport_pause(end->transport, idle++);
            else
                idle = 0;
}

static void move_ours(end_t *end, bool send, int peer, char *data, uint64_t size,
                      int count)
{
    yoke_message_t messages[WINDOW];
    for (int i = 0; i < count; i++) {
        messages[i] = (yoke_message_t){.peer = peer, .data = data, .size = size};
        if (send)
            yoke_transport_send(end->transport, &messages[i]);
        else
            yoke_transport_receive(end->transport, &messages[i]);
    }
    wait_ours(end, messages, count);
}

static void wait_plain(end_t *end, ucs_status_ptr_t *requests, int count)
{
    unsigned idle = 0;
    for (int i = 0; i < count; i++) {
        if (UCS_PTR_IS_ERR(requests[i]))
            fail("plain UCP message");
        if (requests[i] == NULL)
            continue;
        while (ucp_request_check_status(requests[i]) == UCS_INPROGRESS)
            if (ucp_worker_progress(end->worker) == 0 && ++idle % 1000 == 0)
                sched_yield();
        ucp_request_free(requests[i]);
    }
}

static void move_plain(end_t *end, bool send, char *data, uint64_t size, int count)
{
    ucs_status_ptr_t requests[WINDOW];
    ucp_request_param_t param = {.op_attr_mask = 0};
    for (int i = 0; i < count; i++)
        requests[i] =
            send ? ucp_tag_send_nbx(end->endpoint, data, size, 1, &param)
                 : ucp_tag_recv_nbx(end->worker, data, size, 1, UINT64_MAX, &param);
    wait_plain(end, requests, count);
}

/* Both sides at once. */
static void swap_ours(end_t *end, int peer, char *data, char *into, uint64_t size)
{
    yoke_message_t messages[2] = {{.peer = peer, .data = into, .size = size},
                                  {.peer = peer, .data = data, .size = size}};
    yoke_transport_receive(end->transport, &messages[0]);
    yoke_transport_send(end->transport, &messages[1]);
    wait_ours(end, messages, 2);
}

static void swap_plain(end_t *end, char *data, char *into, uint64_t size)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t requests[2] = {
        ucp_tag_recv_nbx(end->worker, into, size, 1, UINT64_MAX, &param),
        ucp_tag_send_nbx(end->endpoint, data, size, 1, &param)};
    wait_plain(end, requests, 2);
}

static void move(end_t *end, bool send, int peer, char *data, uint64_t size, int count)
{
    if (end->way->tls != NULL)
        move_plain(end, send, data, size, count);
    else
        move_ours(end, send, peer, data, size, count);
}

/* --- measuring
 * -------------------------------------------------------------------------------
 */

static int repeats(uint64_t size)
{
    return size <= 4096 ? 400 : size <= 65536 ? 60 : size <= 1048576 ? 12 : 3;
}

static double latency(end_t *end, int rank, char *data, uint64_t size)
{
    int n = repeats(size);
    double begin = now();
    for (int i = 0; i < n; i++) {
        move(end, rank == 0, 1 - rank, data, size, 1);
        move(end, rank == 1, 1 - rank, data, size, 1);
    }
    return (now() - begin) / n / 2;
}

static double exchange(end_t *end, int rank, char *data, char *into, uint64_t size)
{
    int n = repeats(size);
    double begin = now();
    for (int i = 0; i < n; i++)
        if (end->way->tls != NULL)
            swap_plain(end, data, into, size);
        else
            swap_ours(end, 1 - rank, data, into, size);
    return (now() - begin) / n;
}

static double bandwidth(end_t *end, int rank, char *data, uint64_t size)
{
    int n = repeats(size) / 3 + 1, window = size > 1048576 ? 2 : WINDOW;
    double begin = now();
    for (int i = 0; i < n; i++) {
        move(end, rank == 0, 1 - rank, data, size, window);
        move(end, rank == 1, 1 - rank, data, 0, 1);
    }
    return (double)size * n * window / (now() - begin);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static const uint64_t sizes[] = {0,     8,      64,      512,     4096,    16384,
                                 65536, 262144, 1048576, 4194304, 67108864};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

static double times[WAYS][SIZES][MOST_ROUNDS], swaps[WAYS][SIZES][MOST_ROUNDS],
    rates[WAYS][SIZES][MOST_ROUNDS];

static void show(int way, int rounds, uint64_t largest)
{
    for (int i = 0; i < SIZES && sizes[i] <= largest; i++) {
        double *t = times[way][i], *x = swaps[way][i], *r = rates[way][i];
        qsort(t, (size_t)rounds, sizeof *t, compare);
        qsort(x, (size_t)rounds, sizeof *x, compare);
        qsort(r, (size_t)rounds, sizeof *r, compare);
        printf("%-14s %9llu  %10.2f %10.2f  %10.2f %10.2f  %8.2f %8.2f\n", ways[way].name,
               (unsigned long long)sizes[i], t[rounds / 2] * 1e6, t[0] * 1e6,
               x[rounds / 2] * 1e6, x[0] * 1e6, r[rounds / 2] * 1e-9,
               r[rounds - 1] * 1e-9);
    }
}

typedef struct plan {
    int rounds;
    uint64_t largest;
} plan_t;

static int measure(int rank, int size, void *context)
{
    const plan_t *plan = context;
    end_t ends[WAYS];
    yoke_control_t *control;
    if (yoke_control_create(size, rank, yoke_test_all_gather, NULL, NULL, &control) !=
        YOKE_OK)
        fail("control plane");
    for (int way = 0; way < WAYS; way++)
        open_end(&ends[way], &ways[way], control, rank);
    char *data = malloc(plan->largest + 1);
    char *into = malloc(plan->largest + 1);
    memset(data, 1, plan->largest);
    memset(into, 1, plan->largest);
    for (int round = -1; round < plan->rounds; round++) /* the first warms up */
        for (int i = 0; i < SIZES && sizes[i] <= plan->largest; i++)
            for (int way = 0; way < WAYS; way++) {
                double t = latency(&ends[way], rank, data, sizes[i]);
                double x = exchange(&ends[way], rank, data, into, sizes[i]);
                double r = bandwidth(&ends[way], rank, data, sizes[i]);
                if (round >= 0) {
                    times[way][i][round] = t;
                    swaps[way][i][round] = x;
                    rates[way][i][round] = r;
                }
            }
    if (rank == 0)
        printf("%-14s %9s  %10s %10s  %10s %10s  %8s %8s\n", "", "bytes", "one way us",
               "min", "exchange", "min", "GB/s", "max");
    for (int way = 0; rank == 0 && way < WAYS; way++)
        show(way, plan->rounds, plan->largest);
    fflush(stdout);
    yoke_test_meet();
    _exit(0); /* plain UCP's ends are not worth code of their own */
}

int main(int argc, char **argv)
{
    plan_t plan = {.rounds = argc > 1 ? atoi(argv[1]) : 15,
                   .largest = argc > 2 ? strtoull(argv[2], NULL, 10) : 4194304};
    if (plan.rounds < 1 || plan.rounds > MOST_ROUNDS || plan.largest > 1u << 30) {
        fprintf(stderr, "usage: %s [ROUNDS (1 to %d) [LARGEST]]\n", argv[0], MOST_ROUNDS);
        return 2;
    }
    return yoke_test_ranks(2, measure, &plan) == 0 ? 0 : 1;
}
