/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_INTERFACES_H
#define YOKE_COMM_INTERFACES_H

/*
 * Which addresses of this host are told to the others. The choice is a pure function of
 * the list of interfaces; reading that list from the kernel is apart.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include "yoke/status.h"

typedef struct yoke_address {
    uint8_t family; /* 4 or 6; 0: none */
    uint8_t prefix; /* bits of the network */
    uint8_t bytes[16];
    char interface[16];
} yoke_address_t;

typedef struct yoke_interface {
    char name[16];
    yoke_address_t address; /* family 0: the interface has none */
    bool up;                /* switched on, and its link works */
    bool loopback;
    bool no_arp;   /* dummy devices and point-to-point links: often lead nowhere */
    bool physical; /* a device stands behind it */
} yoke_interface_t;

/* All interfaces of this network namespace, one entry for each address. Caller frees. */
yoke_status_t yoke_interfaces_read(yoke_interface_t **out_list, size_t *out_count);

/*
 * The addresses worth telling, best first; loopback is never among them. Left out:
 * interfaces that are down, or stand on one that is down (bond0.310 on bond0); link-local
 * addresses; the bridges and tunnels of container runtimes, whose addresses other hosts
 * have as well. `setting`: the exact name of the one interface to use; NULL: any.
 *
 * @retval YOKE_ERR_NOT_FOUND  `setting` does not exist: the message lists what does
 * @retval YOKE_ERR_UNREACHABLE  it is down, or has no address
 * @retval YOKE_OK with *out_count 0  no setting, and nothing but loopback
 */
yoke_status_t yoke_interfaces_choose(const yoke_interface_t *list, size_t count,
                                     const char *setting, yoke_address_t *out_addresses,
                                     size_t capacity, size_t *out_count);

/* "10.0.0.1" or "fd00::1" into `buffer`; returns `buffer`. */
char *yoke_address_text(const yoke_address_t *address, char buffer[64]);
/* Numeric text only. */
bool yoke_address_parse(const char *text, yoke_address_t *out_address);
bool yoke_address_equal(const yoke_address_t *a, const yoke_address_t *b);
/* Both lie in the network of `a`. */
bool yoke_address_shares(const yoke_address_t *a, const yoke_address_t *b);
bool yoke_address_is_loopback(const yoke_address_t *address);

socklen_t yoke_address_socket(const yoke_address_t *address, uint16_t port,
                              struct sockaddr_storage *out_socket);
bool yoke_address_of_socket(const struct sockaddr_storage *socket,
                            yoke_address_t *out_address, uint16_t *out_port);

#endif
