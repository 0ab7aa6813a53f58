/* SPDX-License-Identifier: Apache-2.0 */
/* The id of a communicator: what is in its bytes, and what a host puts there. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ucx_comm/control/plane.h"
#include "ucx_comm/control/rendezvous.h"

static const char magic[8] = {'Y', 'O', 'K', 'E', 'C', 'O', 'I', 'D'};

/* Places in the bytes. */
enum {
    AT_PROTOCOL = 8,
    AT_SIZE = 12,
    AT_PORT = 16,
    AT_SEQUENCE = 20,
    AT_MACHINE = 24,
    AT_SECRET = 32,
    AT_COUNT = 64,
    AT_ADDRESSES = 68,
    ADDRESS_SIZE = 17, /* family and 16 bytes */
    AT_CHECKSUM = 248,
};

static uint64_t checksum(const uint8_t *bytes)
{
    uint8_t hash[YOKE_KEY_SIZE];
    yoke_hash(bytes, AT_CHECKSUM, hash);
    return yoke_get_u64(hash);
}

void yoke_meeting_write(const yoke_meeting_t *meeting, yoke_comm_id_t *out_id)
{
    uint8_t *bytes = out_id->bytes;
    memset(bytes, 0, sizeof out_id->bytes);
    memcpy(bytes, magic, sizeof magic);
    yoke_put_u32(bytes + AT_PROTOCOL, YOKE_COMM_PROTOCOL);
    yoke_put_u32(bytes + AT_SIZE, meeting->size);
    yoke_put_u32(bytes + AT_PORT, meeting->port);
    yoke_put_u32(bytes + AT_SEQUENCE, meeting->sequence);
    yoke_put_u64(bytes + AT_MACHINE, meeting->machine);
    memcpy(bytes + AT_SECRET, meeting->secret, YOKE_KEY_SIZE);
    yoke_put_u32(bytes + AT_COUNT, meeting->addresses);
    for (unsigned i = 0; i < meeting->addresses; i++) {
        uint8_t *to = bytes + AT_ADDRESSES + i * ADDRESS_SIZE;
        to[0] = meeting->address[i].family;
        memcpy(to + 1, meeting->address[i].bytes, 16);
    }
    yoke_put_u64(bytes + AT_CHECKSUM, checksum(bytes));
}

static yoke_status_t damaged(const char *how)
{
    return yoke_fail(YOKE_ERR_BAD_INPUT,
                     "the id of the communicator is %s; it must be the 256 bytes that "
                     "yoke_comm_id_create() made",
                     how);
}

yoke_status_t yoke_meeting_read(const yoke_comm_id_t *id, yoke_meeting_t *out_meeting)
{
    const uint8_t *bytes = id->bytes;
    yoke_meeting_t meeting = {0};
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return damaged("none");
    uint32_t protocol = yoke_get_u32(bytes + AT_PROTOCOL);
    if (yoke_get_u64(bytes + AT_CHECKSUM) != checksum(bytes))
        return damaged("damaged");
    if (protocol != YOKE_COMM_PROTOCOL)
        return yoke_fail(YOKE_ERR_REFUSED,
                         "the id of the communicator is of version %u of the protocol, "
                         "this rank speaks version %u: install one version of Yoke "
                         "everywhere",
                         protocol, YOKE_COMM_PROTOCOL);
    meeting.size = yoke_get_u32(bytes + AT_SIZE);
    uint32_t port = yoke_get_u32(bytes + AT_PORT);
    meeting.sequence = yoke_get_u32(bytes + AT_SEQUENCE);
    meeting.machine = yoke_get_u64(bytes + AT_MACHINE);
    memcpy(meeting.secret, bytes + AT_SECRET, YOKE_KEY_SIZE);
    meeting.addresses = yoke_get_u32(bytes + AT_COUNT);
    if (meeting.size == 0 || meeting.size > INT32_MAX || port == 0 || port > UINT16_MAX ||
        meeting.addresses == 0 || meeting.addresses > YOKE_ID_ADDRESSES)
        return damaged("damaged");
    meeting.port = (uint16_t)port;
    for (unsigned i = 0; i < meeting.addresses; i++) {
        const uint8_t *from = bytes + AT_ADDRESSES + i * ADDRESS_SIZE;
        meeting.address[i].family = from[0];
        memcpy(meeting.address[i].bytes, from + 1, 16);
        if (from[0] != 4 && from[0] != 6)
            return damaged("damaged");
    }
    *out_meeting = meeting;
    return YOKE_OK;
}

/* Kernel and network namespace in one number. */
uint64_t yoke_meeting_machine(void)
{
    yoke_peer_t here;
    uint8_t bytes[24], hash[YOKE_KEY_SIZE];
    if (yoke_peer_here(&here) != YOKE_OK)
        return 0;
    memcpy(bytes, here.machine, 16);
    yoke_put_u64(bytes + 16, here.net_space);
    yoke_hash(bytes, sizeof bytes, hash);
    return yoke_get_u64(hash) | 1;
}

yoke_status_t yoke_meeting_place(const yoke_control_settings_t *settings,
                                 yoke_meeting_t *meeting)
{
    yoke_place_t place = {0};
    yoke_status_t status = yoke_own_addresses(settings, &place);
    if (status != YOKE_OK)
        return status;
    /* Loopback is the last of the place's, and must not be cut off. */
    unsigned keep =
        place.addresses < YOKE_ID_ADDRESSES ? place.addresses : YOKE_ID_ADDRESSES;
    for (unsigned i = 0; i < keep; i++)
        meeting->address[i] = place.address[i];
    meeting->address[keep - 1] = place.address[place.addresses - 1];
    meeting->addresses = keep;
    meeting->machine = yoke_meeting_machine();
    return YOKE_OK;
}
