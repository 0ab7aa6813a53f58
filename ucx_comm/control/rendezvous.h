/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_RENDEZVOUS_H
#define YOKE_COMM_RENDEZVOUS_H

/*
 * Where ranks that know a secret meet: one of them hosts (a thread that lives until all
 * have come and gone, or the set-up time is over), all join, and gather through the host.
 * What is said after the handshake:
 *
 *   guest: size of the block, block
 *   host:  status; YOKE_OK: blocks of all ranks; else a sentence
 */

#include "ucx_comm/control/proof.h"
#include "ucx_comm/control/settings.h"

#define YOKE_ID_ADDRESSES 10
#define YOKE_GUEST_LIMIT (64u * 1024) /* bytes of one block */

/* What is in a yoke_comm_id_t. */
typedef struct yoke_meeting {
    uint32_t size;
    uint16_t port;
    uint32_t sequence; /* number of the communicator, where one port serves several */
    uint64_t machine;  /* of the host: loopback reaches it from there only */
    uint8_t secret[YOKE_KEY_SIZE];
    unsigned addresses;
    yoke_address_t address[YOKE_ID_ADDRESSES];
} yoke_meeting_t;

void yoke_meeting_write(const yoke_meeting_t *meeting, yoke_comm_id_t *out_id);
/* @retval YOKE_ERR_BAD_INPUT  not an id, or damaged
 *  @retval YOKE_ERR_REFUSED    of another version: both are named */
yoke_status_t yoke_meeting_read(const yoke_comm_id_t *id, yoke_meeting_t *out_meeting);

/* Addresses that ranks of other hosts may use, and `machine`. */
yoke_status_t yoke_meeting_place(const yoke_control_settings_t *settings,
                                 yoke_meeting_t *meeting);
uint64_t yoke_meeting_machine(void);

/* Open the port (0: any free one; set in *meeting) and start the thread. */
yoke_status_t yoke_meeting_host(yoke_meeting_t *meeting,
                                const yoke_control_settings_t *settings,
                                const yoke_address_t *only);
/* patient: the host may come later than this rank. */
yoke_status_t yoke_meeting_join(const yoke_meeting_t *meeting, int rank, bool patient,
                                const yoke_control_settings_t *settings,
                                yoke_rendezvous_t **out_rendezvous);

/* How a rendezvous of any kind is held. */
struct yoke_rendezvous {
    int size, rank;
    int64_t deadline;
    int fd; /* to the host of a meeting; -1: PMIx */
    struct yoke_pmix *pmix;
};

/* --- environment.c, pmix.c -------------------------------------------------------- */

/* What the environment says of the ranks; see docs/comm-bootstrap.md. */
typedef struct yoke_environment {
    bool found; /* RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are there */
    int rank, size;
    char address[256];
    uint16_t port; /* of the rendezvous, not torch's */
    uint8_t secret[YOKE_KEY_SIZE];
    bool has_secret;
} yoke_environment_t;

/* `get`: getenv(), or a test's. */
yoke_status_t yoke_environment_read(const char *(*get)(const char *name),
                                    yoke_environment_t *out_environment);

/* A PMIx server is there. */
bool yoke_pmix_present(void);
yoke_status_t yoke_pmix_open(int64_t deadline, int *out_size, int *out_rank,
                             struct yoke_pmix **out_pmix);
yoke_status_t yoke_pmix_all_gather(struct yoke_pmix *pmix, int64_t deadline,
                                   const void *mine, size_t size, void *all);
void yoke_pmix_close(struct yoke_pmix *pmix);

#endif
