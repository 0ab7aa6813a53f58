/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_LINKS_H
#define YOKE_COMM_LINKS_H

/* Links in the inventory document (yoke-inventory/1). */

#include "ucx_comm/topology/topology.h"

/* Latency and bandwidth of every pair, from the document's links: a rank is the device
 * "rank-N" of its host, or any device of it. BAD_INPUT names a pair without a link. */
yoke_status_t yoke_links_read(const char *path, yoke_control_t *control, double *latency,
                              double *bandwidth);

#endif
