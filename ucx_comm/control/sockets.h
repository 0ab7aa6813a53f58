/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_SOCKETS_H
#define YOKE_COMM_SOCKETS_H

/* Sockets as the control plane uses them: not blocking, closed on exec, without delay. */

#include "ucx_comm/control/interfaces.h"

/*
 * Listen on `port` (0: any free one) of `address`, or of all addresses of both families
 * where it is NULL. A port in TIME_WAIT is taken; one that another program listens on is
 * not.
 * @retval YOKE_ERR_SYSTEM  the message names the port
 */
yoke_status_t yoke_socket_listen(const yoke_address_t *address, uint16_t port,
                                 int *out_fd, uint16_t *out_port);
/* One connection that waits, or -1. */
int yoke_socket_accept(int listener);
/*
 * Begin to connect, from `source` where that is not NULL (another source is taken where
 * it cannot be bound). Returns the socket, or -1 with the reason in errno.
 */
int yoke_socket_connect(const yoke_address_t *address, uint16_t port,
                        const yoke_address_t *source);
/* 0, or the errno with which connecting ended. */
int yoke_socket_error(int fd);
/* The other end has closed it, or it is broken. */
bool yoke_socket_is_closed(int fd);
bool yoke_socket_local(int fd, yoke_address_t *out_address, uint16_t *out_port);
bool yoke_socket_remote(int fd, yoke_address_t *out_address, uint16_t *out_port);

#endif
