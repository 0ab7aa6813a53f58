/* SPDX-License-Identifier: Apache-2.0 */
/* Direct access between two devices. It is asked of the runtime, never inferred: MUSA
 * refuses it between unlike cards of one machine (llama.cpp#12077). */
#include "backends/cudalike/internal.h"

yoke_status_t yoke_cudalike_peer_query(yoke_impl_device_t *device,
                                       yoke_impl_device_t *peer, bool *out_can)
{
    int can = 0;
    yoke_status_t status;
    if (device->current == peer->current || device->api->peer_query == NULL) {
        *out_can = device->current == peer->current;
        return YOKE_OK;
    }
    YOKE_CUDALIKE_CALL(device, false, peer_query,
                       device->api->peer_query(&can, device->device, peer->device),
                       status);
    if (status == YOKE_OK)
        *out_can = can != 0;
    return status;
}

yoke_status_t yoke_cudalike_peer_enable(yoke_impl_device_t *device,
                                        yoke_impl_device_t *peer)
{
    const yoke_cudalike_api_t *api = device->api;
    bool contexts = device->flavour->contexts;
    uint16_t slot = contexts ? YOKE_CUDALIKE_SLOT(peer_enable_context)
                             : YOKE_CUDALIKE_SLOT(peer_enable_device);
    yoke_cudalike_scope_t scope;
    if (device->current == peer->current)
        return YOKE_OK;
    if ((contexts ? (void *)api->peer_enable_context : (void *)api->peer_enable_device) ==
        NULL)
        return yoke_backend_fail_text(YOKE_ERR_UNREACHABLE, "%s has no peer access",
                                      device->flavour->ops->name);
    int code = yoke_cudalike_enter(device, &scope);
    if (code != 0)
        return yoke_cudalike_fail(device->runtime, scope.slot, code);
    code = contexts ? api->peer_enable_context(peer->context, 0)
                    : api->peer_enable_device(peer->device, 0);
    yoke_cudalike_leave(&scope);
    if (code == 0 || code == YOKE_CUDALIKE_PEER_ALREADY)
        return YOKE_OK;
    return yoke_cudalike_fail(device->runtime, slot, code);
}
