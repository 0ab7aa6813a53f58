/* SPDX-License-Identifier: Apache-2.0 */
/* A handshake whose other end says what it likes: first byte, which side is ours; then
 * what comes, in pieces of the lengths that the bytes say. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "ucx_comm/control/handshake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t key[YOKE_KEY_SIZE] = {1, 2, 3};
    yoke_hello_t hello = {
        .protocol = YOKE_COMM_PROTOCOL, .kind = YOKE_HELLO_RENDEZVOUS, .size = 4};
    yoke_handshake_t handshake;
    uint8_t drain[1024];
    int ends[2];
    if (size < 2 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    bool joins = (data[0] & 1) != 0;
    yoke_status_t status = joins ? yoke_handshake_join(&handshake, ends[0], key, &hello)
                                 : yoke_handshake_host(&handshake, ends[0], key);
    fuzz_require(status == YOKE_OK, "a handshake does not begin");
    for (size_t at = 1; at < size && handshake.stage < YOKE_HANDSHAKE_DONE;) {
        size_t piece = data[at] < size - at - 1 ? data[at] : size - at - 1;
        (void)send(ends[1], data + at + 1, piece, MSG_NOSIGNAL);
        at += piece + 1;
        yoke_handshake_step(&handshake, &hello);
        fuzz_require(handshake.stage != YOKE_HANDSHAKE_ASK,
                     "a stranger has proved what it does not know");
        (void)recv(ends[1], drain, sizeof drain, MSG_DONTWAIT);
    }
    fuzz_require(handshake.stage != YOKE_HANDSHAKE_DONE, "a stranger was welcomed");
    yoke_handshake_end(&handshake);
    close(ends[1]);
    return 0;
}
