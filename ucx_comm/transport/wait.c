/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting. A rank that has a core of its own spins for some microseconds; ranks that
 * share cores give them up at once. Then it yields, and then sleeps until a peer or UCX
 * wakes it.
 */
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ucx_comm/transport/core.h"

#define SPINS 2000u /* rounds: of the order of 100 us */
#define SPINS_CROWDED 4u
#define YIELDS 100u
#define SLEEP_US 1000u
#define SLEEP_BOTH_US 200u /* UCX's descriptor does not hear the bell of this host */

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

bool yoke_same_machine(const yoke_peer_t *a, const yoke_peer_t *b)
{
    return memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

void yoke_wait_prepare(yoke_transport_t *transport)
{
    int neighbours = 0;
    const yoke_peer_t *mine = yoke_control_peer(transport->control, transport->rank);
    for (int rank = 0; rank < transport->size; rank++)
        neighbours +=
            yoke_same_machine(mine, yoke_control_peer(transport->control, rank));
    transport->spins = neighbours > cores() ? SPINS_CROWDED : SPINS;
}

static void sleep_with_ucp(yoke_transport_t *transport)
{
    struct pollfd wake = {.fd = yoke_ucp_arm(transport), .events = POLLIN};
    if (wake.fd < 0)
        return;
    long us = transport->local_count > 0 ? SLEEP_BOTH_US : SLEEP_US;
    struct timespec limit = {.tv_nsec = us * 1000};
    ppoll(&wake, 1, &limit, NULL);
}

void yoke_transport_pause(yoke_transport_t *transport, unsigned idle)
{
    if (idle < transport->spins) {
        relax();
        return;
    }
    if (idle < transport->spins + YIELDS) {
        sched_yield();
        return;
    }
    if (transport->local_count > 0)
        yoke_shared_path_lie_down(transport);
    if (yoke_transport_progress(transport) == 0) {
        if (transport->ucp != NULL)
            sleep_with_ucp(transport);
        else if (transport->local_count > 0)
            yoke_shared_path_sleep(transport, SLEEP_US);
        else
            sched_yield();
    }
    if (transport->local_count > 0)
        yoke_shared_path_get_up(transport);
}
