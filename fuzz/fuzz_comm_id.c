/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of communicators: any 256 bytes, as they come and with the checksum set right. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "ucx_comm/control/rendezvous.h"

static void try_id(const yoke_comm_id_t *id)
{
    yoke_comm_id_t again;
    yoke_meeting_t meeting, untouched;
    memset(&meeting, 0x5a, sizeof meeting);
    memset(&untouched, 0x5a, sizeof untouched);
    yoke_status_t status = yoke_meeting_read(id, &meeting);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, NULL);
        fuzz_require(memcmp(&meeting, &untouched, sizeof meeting) == 0,
                     "a refused id has set its output");
        return;
    }
    fuzz_require(meeting.addresses <= YOKE_ID_ADDRESSES, "too many addresses");
    yoke_meeting_t other;
    yoke_meeting_write(&meeting, &again);
    fuzz_require(yoke_meeting_read(&again, &other) == YOKE_OK, "an id is refused");
    fuzz_require(other.port == meeting.port && other.size == meeting.size,
                 "an id has changed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_comm_id_t id;
    uint8_t hash[YOKE_KEY_SIZE];
    memset(&id, 0, sizeof id);
    memcpy(id.bytes, data, size < sizeof id.bytes ? size : sizeof id.bytes);
    try_id(&id);
    memcpy(id.bytes, "YOKECOID", 8);
    yoke_hash(id.bytes, 248, hash);
    memcpy(id.bytes + 248, hash, 8);
    try_id(&id);
    return 0;
}
