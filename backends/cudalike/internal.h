/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDALIKE_INTERNAL_H
#define YOKE_BACKENDS_CUDALIKE_INTERNAL_H

/* The objects, and how a call is made with the right context current. */

#include <pthread.h>
#include <stdatomic.h>

#include "backends/cudalike/cudalike.h"

/* What is known of one device. Texts live as long as the runtime. */
typedef struct yoke_cudalike_card {
    bool known;
    int device; /* the vendor's number */
    char name[256], architecture[64];
    const char *vendor;
    yoke_impl_info_t info;
    bool managed, wait_value;
} yoke_cudalike_card_t;

struct yoke_impl_runtime {
    const yoke_cudalike_flavour_t *flavour;
    yoke_cudalike_api_t api;
    yoke_library_t library;
    char version[32];
    uint32_t count;
    yoke_cudalike_card_t *cards;
    pthread_mutex_t lock; /* of cards, rtc and blas */
    yoke_rtc_loaded_t rtc;
    yoke_blas_loaded_t blas;
};

struct yoke_impl_device {
    const yoke_cudalike_api_t *api;
    const yoke_cudalike_flavour_t *flavour;
    yoke_impl_runtime_t *runtime;
    uintptr_t current; /* what "this device is current" looks like: the context, or the
                          ordinal + 1; never 0 */
    uint32_t index;    /* of the flavour's note */
    uint32_t ordinal;
    int device;
    void *context; /* driver APIs */
    bool retained, managed, wait_value;
    pthread_mutex_t blas_lock;
    void *blas_handle;
};

struct yoke_impl_buffer {
    yoke_impl_device_t *device;
    yoke_cudalike_address_t address;
    void *host;
    uint32_t kind;
    bool owned;
};

struct yoke_impl_queue {
    yoke_impl_device_t *device;
    void *stream;
    /* For launches, near at hand: the device's, and what the note must say; of a stream
     * that is not pinned no note is enough. */
    const yoke_cudalike_api_t *api;
    uintptr_t enough;
    uint32_t index;
    bool pinned; /* the stream itself says which device it is of */
    bool owned;
};

struct yoke_impl_event {
    yoke_impl_device_t *device;
    void *event;
    bool owned;
};

struct yoke_impl_kernel {
    void *function;
};

/* --- currentness ---------------------------------------------------------------------
 *
 * The calling thread's note of what was current in a flavour when we last looked. It may
 * be stale: the caller changes contexts without telling us. Work on a stream of its own
 * needs no more than a note: it goes straight to the vendor, who refuses where the
 * current context is another; then we look, set, repeat and set back. Everything else
 * looks first. Nothing is ever left changed.
 */
#define YOKE_CUDALIKE_NOTES 8
extern _Thread_local uintptr_t yoke_cudalike_noted[YOKE_CUDALIKE_NOTES]
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

typedef struct yoke_cudalike_scope {
    yoke_impl_device_t *device;
    uintptr_t previous;
    bool changed;
    uint16_t slot; /* the call that failed */
} yoke_cudalike_scope_t;

/* Make the device current where it is not. A vendor's code; then nothing was changed. */
int yoke_cudalike_enter(yoke_impl_device_t *device, yoke_cudalike_scope_t *out_scope);
void yoke_cudalike_leave(yoke_cudalike_scope_t *scope);

/* Could this code mean that another context is current? */
static inline bool yoke_cudalike_suspect(int code)
{
    return code == YOKE_CUDALIKE_INVALID_CONTEXT ||
           code == YOKE_CUDALIKE_INVALID_HANDLE ||
           code == YOKE_CUDALIKE_CONTEXT_DESTROYED;
}

/* Status of a vendor's code, recorded with the name of the call in `slot`. */
yoke_status_t yoke_cudalike_fail(const yoke_impl_runtime_t *runtime, uint16_t slot,
                                 int code);
/* The status alone. */
yoke_status_t yoke_cudalike_status(int code);
const char *yoke_cudalike_symbol_name(const yoke_cudalike_flavour_t *flavour,
                                      uint16_t slot);

/*
 * `call` with the device current; `direct`: it names a stream or event of the device, so
 * that the note is enough. The call is written out twice on purpose: what comes first is
 * all that a repeated enqueue runs.
 */
#define YOKE_CUDALIKE_CALL(device_, direct_, member_, call_, out_status_)                \
    do {                                                                                 \
        yoke_impl_device_t *on_ = (device_);                                             \
        bool noted_ = (direct_) && yoke_cudalike_noted[on_->index] == on_->current;      \
        int code_ = 0;                                                                   \
        if (__builtin_expect(noted_, 1)) {                                               \
            code_ = (call_);                                                             \
            if (__builtin_expect(code_ == 0, 1)) {                                       \
                (out_status_) = YOKE_OK;                                                 \
                break;                                                                   \
            }                                                                            \
        }                                                                                \
        if (!noted_ || yoke_cudalike_suspect(code_)) {                                   \
            yoke_cudalike_scope_t scope_;                                                \
            int entered_ = yoke_cudalike_enter(on_, &scope_);                            \
            if (entered_ != 0) {                                                         \
                (out_status_) = yoke_cudalike_fail(on_->runtime, scope_.slot, entered_); \
                break;                                                                   \
            }                                                                            \
            if (!noted_ || scope_.changed)                                               \
                code_ = (call_);                                                         \
            yoke_cudalike_leave(&scope_);                                                \
        }                                                                                \
        (out_status_) =                                                                  \
            code_ == 0                                                                   \
                ? YOKE_OK                                                                \
                : yoke_cudalike_fail(on_->runtime, YOKE_CUDALIKE_SLOT(member_), code_);  \
    } while (0)

/* The card of `ordinal`, filled in at the first call. Takes the runtime's lock.
 * YOKE_ERR_NOT_FOUND: there is no such device. */
yoke_status_t yoke_cudalike_card(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_cudalike_card_t **out_card);
/* Resolve a flavour's table; NULL, or the required name that is missing. */
const char *yoke_cudalike_resolve(const yoke_cudalike_flavour_t *flavour,
                                  const yoke_library_t *library,
                                  yoke_cudalike_api_t *out_api);
/* "13.0", "5.2.21153" */
void yoke_cudalike_show_version(const yoke_cudalike_flavour_t *flavour, int version,
                                char *text, size_t size);
/* Name, address and so on by calls that make no context; shared with the probe. */
void yoke_cudalike_read_identity(const yoke_cudalike_flavour_t *flavour,
                                 const yoke_cudalike_api_t *api, int device,
                                 yoke_impl_info_t *info, char *name, size_t size);
int yoke_cudalike_attribute(const yoke_cudalike_flavour_t *flavour,
                            const yoke_cudalike_api_t *api, yoke_cudalike_key_t key,
                            int device, int otherwise);

#endif
