/* SPDX-License-Identifier: Apache-2.0 */
/* A rank for the tests of launchers: meets the others as the environment says, gathers,
 * and prints what it found. Arguments: options[=value] of the test scripts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ucx_comm/control/control.h"

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(void)
{
    int size = 0, rank = 0, result = 1;
    yoke_rendezvous_t *rendezvous = NULL;
    yoke_control_t *control = NULL;
    int *all = NULL;
    alarm(100);
    for (int round = 0; round < 2; round++) { /* two communicators, one after the other */
        double before = milliseconds();
        if (yoke_rendezvous_from_env(NULL, &size, &rank, &rendezvous) != YOKE_OK)
            return 1;
        if (yoke_control_create(size, rank, yoke_rendezvous_all_gather, rendezvous, NULL,
                                &control) != YOKE_OK)
            goto out;
        double took = milliseconds() - before;
        all = calloc((size_t)size, sizeof *all);
        if (all == NULL ||
            yoke_control_all_gather(control, &rank, sizeof rank, all, 0) != YOKE_OK)
            goto out;
        for (int i = 0; i < size; i++)
            if (all[i] != i)
                goto out;
        const yoke_peer_t *self = yoke_control_peer(control, rank);
        printf("rank %d of %d met: %s %s, %.1f ms\n", rank, size, self->address,
               self->interface, took);
        yoke_control_destroy(control);
        control = NULL;
        free(all);
        all = NULL;
        if (round == 1)
            result = 0;
        yoke_rendezvous_close(rendezvous);
        rendezvous = NULL;
    }
out:
    free(all);
    yoke_control_destroy(control);
    yoke_rendezvous_close(rendezvous);
    return result;
}
