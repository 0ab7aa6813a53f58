/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_OBJECT_H
#define YOKE_COMM_OBJECT_H

/*
 * What is behind yoke_comm_t and yoke_comm_request_t. For comm/ alone.
 *
 * A call is checked (arguments.c), gets a number, an algorithm and a route (choose.c),
 * and joins the list of calls under way (call.c). It passes through the states below;
 * whoever waits, tests or makes another call advances all of them, and so does the
 * communicator's own thread where YOKE_COMM_THREAD asked for one.
 */

#include <pthread.h>
#include "ucx_comm/collectives/engine.h"
#include "ucx_comm/collectives/shared/shared.h"
#include "ucx_comm/control/control.h"
#include "ucx_comm/topology/topology.h"
#include "ucx_comm/transport/arena.h"
#include "ucx_comm/transport/staging.h"
#include "yoke/comm.h"

/* Tags of messages: see yoke_run_options_t. The lower 32 bits are the channel's. */
#define TAG_PAIR (1ull << 63)  /* point to point; the caller's tag below */
#define TAG_CHECK (1ull << 62) /* the comparing that YOKE_COMM_CHECK asks for */
/* In flags: made for a communicator's own use, without vendors' libraries. */
#define YOKE_COMM_PLAIN (1u << 31)
#define TAG_SEQUENCE(n) (((n)&0x3fffffffu) << 32)

typedef enum yoke_route {
    YOKE_ROUTE_ENGINE = 0, /* a schedule over the transport */
    YOKE_ROUTE_SHARED,     /* collectives/shared: all ranks on one arena */
    YOKE_ROUTE_VENDOR,     /* the vendors' libraries: route.h */
} yoke_route_t;

typedef enum yoke_call_state {
    YOKE_CALL_QUEUED = 0, /* until its queue comes to it, and device memory is staged */
    YOKE_CALL_UNCHECKED,  /* is to be compared on all ranks */
    YOKE_CALL_CHECKING,
    YOKE_CALL_READY, /* until its turn comes (shared ones: one at a time, in order) */
    YOKE_CALL_RUNNING,
    YOKE_CALL_DRAINING, /* its output is on the way to a device */
    YOKE_CALL_ENDED,
} yoke_call_state_t;

/* What all ranks must have given alike, as it is compared. */
typedef struct yoke_check {
    uint64_t count, counts; /* elements; a hash of a v-form's counts */
    int32_t root;
    uint8_t collective, element, reduction, algorithm;
    uint8_t v_form, reserved[7];
} yoke_check_t;

struct yoke_comm_request {
    yoke_comm_t *comm; /* NULL: it is gone */
    yoke_comm_request_t *next;
    yoke_call_state_t state;
    bool held; /* the caller will test or wait, or a group will */
    bool left; /* nobody will: ordered by a queue */
    yoke_comm_request_t *group_next;
    yoke_comm_request_t *held_next, **held_link; /* among those that somebody holds */
    yoke_route_t route;
    yoke_shape_t shape;
    uint64_t *arrays; /* 4 x size: room of the shape's arrays */
    yoke_signature_t signature;
    uint64_t tag;
    yoke_comm_buffer_t send, recv;
    uint64_t send_size, recv_size;
    bool direct; /* by a vendor's library, in the call's own buffers */
    yoke_queue_t *queue;
    void *host_send, *host_recv; /* of vendor calls that are not direct */
    int step;
    yoke_stage_t *stage; /* NULL: the buffers are used where they are */
    bool reads_recv;     /* a broadcast's root: recv is only read */
    uint32_t timeout_ms;
    uint64_t deadline; /* ns; of a shared call that runs */
    yoke_run_t *run;
    yoke_check_t *checks; /* of all ranks */
    yoke_status_t status;
};

typedef struct yoke_comm_staging yoke_comm_staging_t;
typedef struct yoke_vendors yoke_vendors_t;

struct yoke_comm {
    yoke_control_t *control;
    yoke_arena_t *arena;   /* NULL: none */
    yoke_shared_t *shared; /* NULL: the ranks do not share one arena */
    yoke_transport_t *transport;
    yoke_engine_t *engine;
    yoke_topology_t *topology; /* NULL: not measured */
    yoke_vendors_t *vendors;   /* NULL: their libraries are not used */
    int mode;                  /* yoke_vendor_mode_t */
    int size, rank;
    uint32_t flags, timeout_ms;
    uint32_t setup_timeout_ms;
    char interface[64];
    yoke_device_t *device;
    yoke_comm_staging_t *stagings;
    uint64_t sequence;                  /* of collective calls */
    uint32_t splits, shrinks;           /* communicators made from this one */
    yoke_comm_request_t *first, **last; /* calls under way, in the order they were made */
    yoke_comm_request_t *idle;          /* to be used again */
    yoke_comm_request_t *held;          /* those that the caller will test or wait for */
    yoke_comm_request_t *group;         /* calls since yoke_comm_group_begin() */
    bool in_group;
    yoke_algorithm_t forced[YOKE_COLLECTIVE_COUNT]; /* YOKE_COMM_ALGORITHM; AUTO: none */
    unsigned rounds, tests;
    /* YOKE_COMM_THREAD */
    bool threaded, stopping;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
};

/* --- call.c ---------------------------------------------------------------------------
 */

/* One call as the public functions describe it. */
typedef struct yoke_call {
    yoke_shape_t shape; /* arrays: copied; NULL displacements: one after the other */
    yoke_comm_buffer_t send, recv;
    uint64_t send_size, recv_size; /* bytes that the call uses of them */
    bool v_form;
    uint32_t tag; /* point to point */
} yoke_call_t;

/* Makes the call as `options` (NULL: blocking) says. `call` has been checked. */
yoke_status_t yoke_call_make(yoke_comm_t *comm, const yoke_call_t *call,
                             const yoke_comm_call_t *options);
/* All-gather of small data among all ranks, for what is made of a communicator. Advances
 * calls under way. The lock is not held. */
yoke_status_t yoke_call_exchange(yoke_comm_t *comm, const void *mine, size_t size,
                                 void *all);
yoke_status_t yoke_call_thread_start(yoke_comm_t *comm);
void yoke_call_thread_stop(yoke_comm_t *comm);
/* Ends all calls with YOKE_ERR_REVOKED and frees what the caller does not hold. The
 * thread has stopped and the engine is gone. */
void yoke_call_end_all(yoke_comm_t *comm);

void yoke_comm_lock(yoke_comm_t *comm);
void yoke_comm_unlock(yoke_comm_t *comm);
/* YOKE_OK, or YOKE_ERR_REVOKED with the reason in the message. */
yoke_status_t yoke_comm_usable(yoke_comm_t *comm);

/* --- arguments.c
 * ------------------------------------------------------------------------ */

/* Checks what a call was given; fills call->shape's own fields, in_place and the sizes.
 */
yoke_status_t yoke_call_check(yoke_comm_t *comm, yoke_call_t *call,
                              const yoke_comm_call_t *options, const char *name);
/* "host" place of a buffer; NULL where there is none (and nothing is used). */
yoke_status_t yoke_buffer_place(const yoke_comm_buffer_t *buffer, void **out_place);

/* --- stage.c
 * ---------------------------------------------------------------------------- */

yoke_status_t yoke_comm_staging(yoke_comm_t *comm, yoke_device_t *device,
                                yoke_staging_t **out_staging);
void yoke_comm_stagings_free(yoke_comm_t *comm);
/* A queue orders the call, or it has memory that the host cannot reach. */
bool yoke_stage_needed(const yoke_call_t *call, const yoke_comm_call_t *options);
yoke_status_t yoke_stage_open(yoke_comm_request_t *request, const yoke_call_t *call,
                              const yoke_comm_call_t *options);
/* Where the call reads and writes. */
void yoke_stage_places(const yoke_comm_request_t *request, void **out_send,
                       void **out_recv);

/* --- choose.c --------------------------------------------------------------------------
 */

/* Algorithm, route and their parameters. `name`: the caller's wish, or NULL. Only fails
 * for a wish. */
yoke_status_t yoke_call_choose(const yoke_comm_t *comm, const char *name, bool v_form,
                               yoke_shape_t *shape, yoke_route_t *out_route);
/* Reads YOKE_COMM_ALGORITHM into forced[]. */
yoke_status_t yoke_choose_settings(yoke_algorithm_t forced[YOKE_COLLECTIVE_COUNT]);

/* --- check.c ---------------------------------------------------------------------------
 */

yoke_check_t yoke_check_of(const yoke_comm_request_t *request);
uint64_t yoke_check_hash(const uint64_t *counts, int n);
/* YOKE_OK, or YOKE_ERR_MISMATCH with a sentence that says which rank gave what. */
yoke_status_t yoke_check_compare(const yoke_comm_t *comm, uint64_t sequence,
                                 const yoke_check_t *checks);

/* --- create.c --------------------------------------------------------------------------
 */

/* A communicator on a control plane, which becomes its own also on failure. */
yoke_status_t yoke_comm_open(yoke_control_t *control, const yoke_comm_options_t *options,
                             yoke_comm_t **out_comm);
/* The options that a communicator made from this one has. */
yoke_comm_options_t yoke_comm_inherited(const yoke_comm_t *comm);

#endif
