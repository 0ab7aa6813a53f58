/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation, devices, contexts and errors of the fake AscendCL. */
#include "core.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fake_defaults_t fake_defaults = {
    .vendor = "ascend",
    .name = "Ascend910B3",
    .arch = "Ascend910B3",
    .mask = "ASCEND_RT_VISIBLE_DEVICES",
    /* the list ends before the first entry that is no device: hicann/runtime
     * docs/zh/env_vars/ASCEND_RT_VISIBLE_DEVICES.md */
    .rule = FAKE_MASK_DIGITS,
    .memory = 1ull << 30,
    .first_bus = 0xc1,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ready;
static context_t *primaries[FAKE_MAX_CARDS]; /* by card; all under `lock` */
static int uses[FAKE_MAX_CARDS];             /* aclrtSetDevice() not yet reset */
static bool peers[FAKE_MAX_CARDS][FAKE_MAX_CARDS];

static _Thread_local context_t *current;
static _Thread_local aclError last_error;
static _Thread_local char message[512], given_message[512];

/* --- errors ------------------------------------------------------------------------- */

aclError acl_fail(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    last_error = code;
    return code;
}

/* A message is given once. */
FAKE_API const char *aclGetRecentErrMsg(void)
{
    FAKE_CALL_OTHER(aclGetRecentErrMsg, NULL);
    if (message[0] == '\0')
        return NULL;
    memcpy(given_message, message, sizeof message);
    message[0] = '\0';
    return given_message;
}

FAKE_API aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    FAKE_CALL(aclrtGetLastError, aclError);
    aclError code = last_error;
    (void)level;
    last_error = ACL_SUCCESS;
    return code;
}

FAKE_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    FAKE_CALL(aclrtPeekAtLastError, aclError);
    (void)level;
    return last_error;
}

aclError acl_check_ready(void)
{
    if (!atomic_load(&ready))
        return acl_fail(ACL_ERROR_UNINITIALIZE, "aclInit has not been called");
    return ACL_SUCCESS;
}

aclError acl_check_card(const fake_card_t *card)
{
    if (atomic_load(&card->lost))
        return acl_fail(ACL_ERROR_RT_LOST_HEARTBEAT, "device %d lost its heartbeat",
                        card->index);
    if (card->broken != 0)
        return acl_fail((aclError)card->broken, "device %d is faulty", card->index);
    return ACL_SUCCESS;
}

aclError acl_enter(context_t **out_context)
{
    aclError code = acl_check_ready();
    if (code != ACL_SUCCESS)
        return code;
    context_t *context = fake_handle_check(current, KIND_CONTEXT);
    if (context == NULL)
        return acl_fail(ACL_ERROR_RT_CONTEXT_NULL,
                        "no context on this thread: call aclrtSetDevice first");
    *out_context = context;
    return acl_check_card(context->card);
}

/* --- which devices there are -------------------------------------------------------- */

/* Ids must rise, and at least one be a device: hicann/runtime src/runtime/core/src/
 * runtime.cc, Runtime::GetVisibleDevices(); api_impl.cc, ApiImpl::GetDeviceCount(). */
static bool mask_is_valid(void)
{
    const char *text = getenv("ASCEND_RT_VISIBLE_DEVICES");
    long previous = -1;
    if (text == NULL)
        return true;
    while (*text >= '0' && *text <= '9') {
        char *end;
        long id = strtol(text, &end, 10);
        if ((*end != '\0' && *end != ',') || id >= fake_card_count())
            break;
        if (id <= previous)
            return false;
        previous = id;
        text = *end == ',' ? end + 1 : end;
    }
    return previous >= 0;
}

static aclError count_devices(int *out_count)
{
    aclError code = acl_check_ready();
    if (code != ACL_SUCCESS)
        return code;
    if (!mask_is_valid())
        return acl_fail(ACL_ERROR_RT_NO_DEVICE,
                        "EE2002: ASCEND_RT_VISIBLE_DEVICES is invalid");
    if (fake_visible_count() == 0)
        return acl_fail(ACL_ERROR_RT_NO_DEVICE, "no device");
    *out_count = fake_visible_count();
    return ACL_SUCCESS;
}

aclError acl_enter_device(int64_t ordinal, fake_card_t **out_card)
{
    int count;
    aclError code = count_devices(&count);
    if (code != ACL_SUCCESS)
        return code;
    if (ordinal < 0 || ordinal >= count)
        return acl_fail(ACL_ERROR_RT_INVALID_DEVICEID, "device %lld: not in [0, %d)",
                        (long long)ordinal, count);
    *out_card = fake_visible((int)ordinal);
    return acl_check_card(*out_card);
}

/* --- contexts ----------------------------------------------------------------------- */

static context_t *context_create(fake_card_t *card, bool quiet)
{
    context_t *context = calloc(1, sizeof *context);
    if (context == NULL)
        return NULL;
    context->card = card;
    if (quiet)
        fake_handle_add_quiet(&context->handle, KIND_CONTEXT);
    else
        fake_handle_add(&context->handle, KIND_CONTEXT);
    return context;
}

static void context_destroy(context_t *context)
{
    acl_streams_destroy(context);
    fake_handle_remove(&context->handle);
    free(context);
}

static context_t *primary_of(fake_card_t *card)
{
    context_t **primary = &primaries[card->index];
    if (*primary == NULL && (*primary = context_create(card, true)) != NULL)
        (*primary)->primary = true;
    return *primary;
}

FAKE_API aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    FAKE_CALL(aclrtCreateContext, aclError);
    fake_card_t *card;
    if (context == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "context is NULL");
    aclError code = acl_enter_device(deviceId, &card);
    if (code != ACL_SUCCESS)
        return code;
    context_t *made = context_create(card, false);
    if (made == NULL)
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    current = made;
    *context = made;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtDestroyContext(aclrtContext context)
{
    FAKE_CALL(aclrtDestroyContext, aclError);
    context_t *old = fake_handle_check(context, KIND_CONTEXT);
    aclError code = acl_check_ready();
    if (code != ACL_SUCCESS)
        return code;
    if (old == NULL || old->primary)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                        "not a context of aclrtCreateContext");
    if (current == old)
        current = NULL;
    context_destroy(old);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtSetCurrentContext(aclrtContext context)
{
    FAKE_CALL(aclrtSetCurrentContext, aclError);
    aclError code = acl_check_ready();
    if (code != ACL_SUCCESS)
        return code;
    context_t *wanted = fake_handle_check(context, KIND_CONTEXT);
    if (wanted == NULL)
        return acl_fail(ACL_ERROR_RT_CONTEXT_NULL, "%p is not a context", context);
    current = wanted;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtGetCurrentContext(aclrtContext *context)
{
    FAKE_CALL(aclrtGetCurrentContext, aclError);
    if (context == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "context is NULL");
    aclError code = acl_check_ready();
    if (code != ACL_SUCCESS)
        return code;
    if (fake_handle_check(current, KIND_CONTEXT) == NULL)
        return acl_fail(ACL_ERROR_RT_CONTEXT_NULL, "no context on this thread");
    *context = current;
    return ACL_SUCCESS;
}

/* --- init, set, reset --------------------------------------------------------------- */

FAKE_API aclError aclInit(const char *configPath)
{
    FAKE_CALL(aclInit, aclError);
    (void)configPath;
    if (atomic_exchange(&ready, true))
        return ACL_ERROR_REPEAT_INITIALIZE;
    return ACL_SUCCESS;
}

FAKE_API aclError aclFinalize(void)
{
    FAKE_CALL(aclFinalize, aclError);
    if (!atomic_exchange(&ready, false))
        return ACL_ERROR_REPEAT_FINALIZE;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtSetDevice(int32_t deviceId)
{
    FAKE_CALL(aclrtSetDevice, aclError);
    fake_card_t *card;
    aclError code = acl_enter_device(deviceId, &card);
    if (code != ACL_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    context_t *primary = primary_of(card);
    uses[card->index]++;
    pthread_mutex_unlock(&lock);
    if (primary == NULL)
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory");
    current = primary;
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtResetDevice(int32_t deviceId)
{
    FAKE_CALL(aclrtResetDevice, aclError);
    fake_card_t *card;
    aclError code = acl_enter_device(deviceId, &card);
    if (code != ACL_SUCCESS)
        return code;
    pthread_mutex_lock(&lock);
    context_t *last = NULL;
    if (uses[card->index] > 0 && --uses[card->index] == 0) {
        last = primaries[card->index];
        primaries[card->index] = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (last == NULL)
        return ACL_SUCCESS;
    if (current == last)
        current = NULL;
    context_destroy(last);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtGetDevice(int32_t *deviceId)
{
    FAKE_CALL(aclrtGetDevice, aclError);
    context_t *context;
    if (deviceId == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "deviceId is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    FAKE_OUT(*deviceId, fake_ordinal_of(context->card));
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtGetDeviceCount(uint32_t *count)
{
    FAKE_CALL(aclrtGetDeviceCount, aclError);
    int there;
    if (count == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "count is NULL");
    aclError code = count_devices(&there);
    if (code != ACL_SUCCESS)
        return code;
    FAKE_OUT(*count, there);
    return ACL_SUCCESS;
}

/* --- peers -------------------------------------------------------------------------- */

bool acl_peer_enabled(const fake_card_t *from, const fake_card_t *to)
{
    pthread_mutex_lock(&lock);
    bool enabled = from == to || peers[from->index][to->index];
    pthread_mutex_unlock(&lock);
    return enabled;
}

FAKE_API aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId,
                                           int32_t peerDeviceId)
{
    FAKE_CALL(aclrtDeviceCanAccessPeer, aclError);
    fake_card_t *device, *peer;
    if (canAccessPeer == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "canAccessPeer is NULL");
    aclError code = acl_enter_device(deviceId, &device);
    if (code == ACL_SUCCESS)
        code = acl_enter_device(peerDeviceId, &peer);
    if (code != ACL_SUCCESS)
        return code;
    FAKE_OUT(*canAccessPeer, device != peer && device->peer && peer->peer);
    return ACL_SUCCESS;
}

static aclError set_peer(int32_t peerDeviceId, bool enabled)
{
    context_t *context = NULL;
    fake_card_t *peer;
    aclError code = acl_enter(&context);
    if (code == ACL_SUCCESS)
        code = acl_enter_device(peerDeviceId, &peer);
    if (code != ACL_SUCCESS)
        return code;
    if (peer == context->card || !peer->peer || !context->card->peer)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "device %d is no peer", peerDeviceId);
    pthread_mutex_lock(&lock);
    peers[context->card->index][peer->index] = enabled;
    pthread_mutex_unlock(&lock);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    FAKE_CALL(aclrtDeviceEnablePeerAccess, aclError);
    if (flags != 0)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "flags must be 0");
    return set_peer(peerDeviceId, true);
}

FAKE_API aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    FAKE_CALL(aclrtDeviceDisablePeerAccess, aclError);
    return set_peer(peerDeviceId, false);
}

/* --- for tests ---------------------------------------------------------------------- */

FAKE_API uint64_t yoke_fake_current(void)
{
    return (uint64_t)(uintptr_t)current;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    static context_t *others[FAKE_MAX_CARDS];
    fake_card_t *card = fake_visible(ordinal);
    current = NULL;
    if (card == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (others[card->index] == NULL)
        others[card->index] = context_create(card, true);
    current = others[card->index];
    pthread_mutex_unlock(&lock);
}
