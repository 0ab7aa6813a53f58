/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_AMD_HIP_H
#define YOKE_TESTS_FAKES_AMD_HIP_H

/*
 * Types and values of HIP, from hip_runtime_api.h and hiprtc.h of HIP 5.2.3 (ROCm/HIP,
 * include/hip; ../header_check_hip.cpp compares them with the installed ones). What a
 * call does is by the comments there and by the HIP documentation of ROCm; where those
 * are silent, as CUDA's runtime manual says of the call of the same name.
 *
 * HIP_FAKE_MAJOR: 5 or 6; 4 stands for DTK, whose libgalaxyhip.so keeps the attribute
 * numbers of the first HIP versions and the old property struct (hashcat/hashcat#4758).
 */

#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/kernel.h"
#include "tests/fakes/common/memory.h"
#include "tests/fakes/common/stream.h"

typedef int hip_result_t;

enum {
    HIP_SUCCESS = 0,
    HIP_INVALID_VALUE = 1,
    HIP_OUT_OF_MEMORY = 2,
    HIP_INVALID_MEMCPY_DIRECTION = 21,
    HIP_NO_DEVICE = 100,
    HIP_INVALID_DEVICE = 101,
    HIP_INVALID_IMAGE = 200,
    HIP_NO_BINARY_FOR_GPU = 209,
    HIP_INVALID_HANDLE = 400,
    HIP_NOT_FOUND = 500,
    HIP_NOT_READY = 600,
    HIP_ILLEGAL_ADDRESS = 700,
    HIP_PEER_ACCESS_ALREADY_ENABLED = 704,
    HIP_PEER_ACCESS_NOT_ENABLED = 705,
    HIP_HOST_MEMORY_ALREADY_REGISTERED = 712,
    HIP_HOST_MEMORY_NOT_REGISTERED = 713,
    HIP_LAUNCH_FAILURE = 719,
    HIP_NOT_SUPPORTED = 801
};
#define HIP_NON_BLOCKING 1u   /* hipStreamNonBlocking */
#define HIP_DISABLE_TIMING 2u /* hipEventDisableTiming */

enum { KIND_STREAM = 1, KIND_EVENT, KIND_MODULE, KIND_FUNCTION, KIND_PROGRAM };

/* One per ordinal: what CUDA calls the primary context. */
typedef struct hip_device {
    fake_card_t *card;
    int ordinal;
    fake_stream_t *null;
    atomic_int error;
    atomic_bool peers[FAKE_MAX_CARDS];
} hip_device_t;

typedef struct hip_stream {
    fake_handle_t handle;
    hip_device_t *device;
    fake_stream_t *queue;
    unsigned flags;
    int priority;
} hip_stream_t;

typedef struct hip_event {
    fake_handle_t handle;
    hip_device_t *device;
    unsigned flags;
    fake_mark_t *_Atomic mark;
} hip_event_t;

typedef struct hip_module {
    fake_handle_t handle;
    hip_device_t *device;
    const fake_module_t *module;
    struct hip_function *functions;
} hip_module_t;

typedef struct hip_function {
    fake_handle_t handle;
    hip_module_t *module;
    const fake_kernel_t *kernel;
    struct hip_function *next;
} hip_function_t;

/* The device behind an ordinal, or the error. Makes nothing that costs. */
hip_result_t hip_device(int ordinal, hip_device_t **out_device);
/* The calling thread's. */
hip_result_t hip_current(hip_device_t **out_device);
hip_result_t hip_usable(const hip_device_t *device);
hip_result_t hip_queue(void *stream, fake_stream_t **out_queue,
                       hip_device_t **out_device);
void hip_fail(void *device, hip_result_t error);
/* Keeps a failure for hipGetLastError(). */
hip_result_t hip_done(hip_result_t result);

#define HIP_CALL(function) FAKE_CALL(function, hip_result_t)
/* Leaves the thread's device in `device`. */
#define HIP_CALL_DEVICE(function)                                                        \
    HIP_CALL(function);                                                                  \
    hip_device_t *device = NULL;                                                         \
    hip_result_t hip_state = hip_current(&device);                                       \
    if (hip_state != HIP_SUCCESS)                                                        \
    return hip_done(hip_state)

#include "functions.h"

#endif
