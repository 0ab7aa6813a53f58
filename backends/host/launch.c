/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/host/host.h"

void yoke_host_launch_run(yoke_impl_queue_t *queue, const yoke_host_launch_t *launch)
{
    (void)queue;
    (void)launch;
}

void yoke_host_fibers_destroy(yoke_host_fibers_t *fibers)
{
    (void)fibers;
}
