/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks say to each other: every reader takes any bytes; what it takes, written,
 * reads back the same. The first byte chooses the reader. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "ucx_comm/control/wire.h"

static uint8_t block[YOKE_PLACE_SIZE], again[YOKE_PLACE_SIZE];

static void try_first_words(void)
{
    static yoke_place_t place, other;
    yoke_card_t card;
    yoke_outcome_t outcome;
    (void)yoke_card_read(block, &card);
    yoke_outcome_read(block, &outcome);
    fuzz_require(memchr(outcome.text, 0, sizeof outcome.text) != NULL,
                 "a text has no end");
    if (!yoke_place_read(block, &place))
        return;
    fuzz_require(place.addresses <= YOKE_ADDRESSES, "too many addresses");
    yoke_place_write(&place, again);
    fuzz_require(yoke_place_read(again, &other), "a place that was written is refused");
    fuzz_require(memcmp(&place, &other, sizeof place) == 0, "a place has changed");
}

static void try_handshake(void)
{
    yoke_hello_t hello, other;
    yoke_reply_t reply;
    memset(&hello, 0, sizeof hello);
    memset(&other, 0, sizeof other);
    if (yoke_hello_read(block, &hello)) {
        yoke_hello_write(&hello, again);
        fuzz_require(yoke_hello_read(again, &other), "a greeting is refused");
        fuzz_require(memcmp(&hello, &other, sizeof hello) == 0, "a greeting has changed");
    }
    if (yoke_reply_read(block, &reply))
        fuzz_require(memchr(reply.text, 0, sizeof reply.text) != NULL,
                     "a text has no end");
}

static void try_frames(size_t size)
{
    yoke_frame_t frame;
    yoke_notice_t notice;
    uint32_t ranks = 1 + block[40];
    if (yoke_frame_read(block, ranks, &frame)) {
        fuzz_require(frame.size <= YOKE_FRAME_LIMIT && frame.origin < ranks &&
                         (frame.target < ranks || frame.target == YOKE_ANY_RANK),
                     "a frame is beyond its limits");
        yoke_frame_write(&frame, again);
        fuzz_require(memcmp(block, again, YOKE_FRAME_HEADER) == 0, "a frame has changed");
    }
    if (yoke_notice_read(block, size, &notice))
        fuzz_require(memchr(notice.text, 0, sizeof notice.text) != NULL,
                     "a text has no end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t rest = size - 1 < sizeof block ? size - 1 : sizeof block;
    memset(block, 0, sizeof block);
    memcpy(block, data + 1, rest);
    if (data[0] % 3 == 0)
        try_first_words();
    else if (data[0] % 3 == 1)
        try_handshake();
    else
        try_frames(rest);
    return 0;
}
