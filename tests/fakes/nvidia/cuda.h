/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_NVIDIA_CUDA_H
#define YOKE_TESTS_FAKES_NVIDIA_CUDA_H

/*
 * Types and values of the CUDA driver API, from cuda.h of the CUDA Toolkit 13.0
 * (developer.nvidia.com; ../header_check_cuda.c compares them with the installed one),
 * and the objects behind the handles. What a call does is by the comments of cuda.h and
 * by the "API synchronization behavior" and "Stream synchronization behavior" pages of
 * the Driver API manual.
 */

#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/kernel.h"
#include "tests/fakes/common/memory.h"
#include "tests/fakes/common/stream.h"

typedef int cu_result_t;
typedef int cu_device_t;
typedef unsigned long long cu_address_t;

enum {
    CU_SUCCESS = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_INITIALIZED = 3,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_INVALID_CONTEXT = 201,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_PEER_ACCESS_UNSUPPORTED = 217,
    CU_INVALID_PTX = 218,
    CU_INVALID_HANDLE = 400,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_ILLEGAL_ADDRESS = 700,
    CU_PEER_ACCESS_ALREADY_ENABLED = 704,
    CU_PEER_ACCESS_NOT_ENABLED = 705,
    CU_PRIMARY_CONTEXT_ACTIVE = 708,
    CU_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CU_HOST_MEMORY_NOT_REGISTERED = 713,
    CU_MISALIGNED_ADDRESS = 716,
    CU_LAUNCH_FAILED = 719,
    CU_NOT_SUPPORTED = 801
};

#define CU_LEGACY_STREAM 1u /* CU_STREAM_LEGACY */
#define CU_THREAD_STREAM 2u /* CU_STREAM_PER_THREAD */
#define CU_NON_BLOCKING 1u  /* CU_STREAM_NON_BLOCKING */
#define CU_DISABLE_TIMING 2u

enum { KIND_CONTEXT = 1, KIND_STREAM, KIND_EVENT, KIND_MODULE, KIND_FUNCTION };

typedef struct cu_context {
    fake_handle_t handle; /* first in all of these */
    fake_card_t *card;
    cu_device_t device;
    bool primary;
    int references; /* of a primary one */
    unsigned flags;
    fake_stream_t *null;
    fake_stream_t *thread; /* CU_STREAM_PER_THREAD; one for all threads */
    atomic_int error;      /* of its work; sticks */
    atomic_bool peers[FAKE_MAX_CARDS];
    struct cu_context *next; /* of those that ended */
} cu_context_t;

typedef struct cu_stream {
    fake_handle_t handle;
    cu_context_t *context;
    fake_stream_t *queue;
    unsigned flags;
    int priority;
} cu_stream_t;

typedef struct cu_event {
    fake_handle_t handle;
    cu_context_t *context;
    unsigned flags;
    fake_mark_t *_Atomic mark; /* NULL: never recorded */
} cu_event_t;

typedef struct cu_module {
    fake_handle_t handle;
    cu_context_t *context;
    const fake_module_t *module;
    struct cu_function *functions;
} cu_module_t;

typedef struct cu_function {
    fake_handle_t handle;
    cu_module_t *module;
    const fake_kernel_t *kernel;
    int dynamic_limit;
    struct cu_function *next;
} cu_function_t;

/* Head of a function that needs cuInit(). */
#define CU_CALL(function)                                                                \
    FAKE_CALL(function, cu_result_t);                                                    \
    if (!cu_initialized())                                                               \
    return CU_NOT_INITIALIZED
/* Head of one that needs a current context, which is left in `context`. */
#define CU_CALL_CONTEXT(function)                                                        \
    CU_CALL(function);                                                                   \
    cu_context_t *context = NULL;                                                        \
    cu_result_t cu_state = cu_current(&context);                                         \
    if (cu_state != CU_SUCCESS)                                                          \
    return cu_state

bool cu_initialized(void);
/* The calling thread's context, or why it cannot be used. */
cu_result_t cu_current(cu_context_t **out_context);
/* Can this context be used: not lost, broken or ruined? */
cu_result_t cu_usable(const cu_context_t *context);
/* The card behind a CUdevice, or the error. */
cu_result_t cu_card(cu_device_t device, fake_card_t **out_card);
/* The queue behind a CUstream; the special ones are the context's. `out_of`: the context
 * that it belongs to, may be NULL. */
cu_result_t cu_queue(cu_context_t *context, void *stream, fake_stream_t **out_queue,
                     cu_context_t **out_of);
void cu_fail(void *context, cu_result_t error);
fake_stream_t *cu_thread_stream(cu_context_t *context);

#include "functions.h"

#endif
