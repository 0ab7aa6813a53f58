/* SPDX-License-Identifier: Apache-2.0 */
/* Context, worker and endpoints of UCP; and their end, which may have to wait. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ucx_comm/control/settings.h"
#include "ucx_comm/transport/ucp.h"

static yoke_status_t fail_ucp(const char *call, ucs_status_t status)
{
    return yoke_fail(YOKE_ERR_SYSTEM, "UCX %s: %s: %s", ucp_get_version_string(), call,
                     ucs_status_string(status));
}

/* --- configuration
 * ------------------------------------------------------------------------- */

static bool is_active(const char *device, int port)
{
    char path[320], state[32] = "";
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/%d/state", device, port);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool active =
        fgets(state, sizeof state, file) != NULL && strstr(state, "ACTIVE") != NULL;
    fclose(file);
    return active;
}

/* Ports of InfiniBand and RoCE that are up, as UCX names them: ",mlx5_0:1". */
static void add_rdma_ports(char *devices, size_t capacity)
{
    DIR *folder = opendir("/sys/class/infiniband");
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        for (int port = 1; entry->d_name[0] != '.' && port <= 4; port++) {
            size_t used = strlen(devices);
            if (is_active(entry->d_name, port) &&
                used + strlen(entry->d_name) + 4 < capacity)
                snprintf(devices + used, capacity - used, ",%s:%d", entry->d_name, port);
        }
    if (folder != NULL)
        closedir(folder);
}

static void set(ucp_config_t *config, const char *variable, const char *value)
{
    /* UCX_TLS and UCX_NET_DEVICES are the user's. */
    if (getenv(variable) != NULL)
        return;
    ucs_status_t status = ucp_config_modify(config, variable + 4, value);
    if (status != UCS_OK)
        yoke_debug("UCX: %s=%s: %s", variable, value, ucs_status_string(status));
}

/* A whole piece becomes one segment of UCX's TCP transport, one call of the kernel. UCX
 * 1.13 takes such names without their transport. */
static void set_segments(ucp_config_t *config, const char *name)
{
    char variable[64];
    snprintf(variable, sizeof variable, "UCX_TCP_%s", name);
    if (getenv(variable) != NULL)
        return;
    ucp_config_modify(config, name, "136k");
}

/* Left to itself UCX takes any interface, bridges of containers too. The control plane
 * has found one that the others reach. And of one machine's ranks only those come here
 * that cannot share memory, which UCX may find out too late. */
static yoke_status_t make_context(const yoke_transport_t *transport, yoke_ucp_t *ucp)
{
    ucp_config_t *config;
    ucs_status_t code = ucp_config_read(NULL, NULL, &config);
    if (code != UCS_OK)
        return fail_ucp("ucp_config_read", code);
    char devices[512] = "";
    snprintf(devices, sizeof devices, "%s",
             yoke_control_peer(transport->control, transport->rank)->interface);
    if (devices[0] != '\0') {
        add_rdma_ports(devices, sizeof devices);
        set(config, "UCX_NET_DEVICES", devices);
    }
    set(config, "UCX_TLS", "^shm");
    /* UCX 1.13 ends the process by an assertion when a peer dies while its TCP transport
     * sends without a copy (uct_iface.h: comp->count > 0). */
    set(config, "UCX_ZCOPY_THRESH", "inf");
    set_segments(config, "TX_SEG_SIZE");
    set_segments(config, "RX_SEG_SIZE");
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                      UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
        .estimated_num_eps = (size_t)transport->size,
        .name = "yoke",
    };
    code = ucp_init(&params, config, &ucp->context);
    ucp_config_release(config);
    return code == UCS_OK ? YOKE_OK : fail_ucp("ucp_init", code);
}

static yoke_status_t make_worker(yoke_ucp_t *ucp, ucp_am_recv_callback_t receive)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucs_status_t code = ucp_worker_create(ucp->context, &params, &ucp->worker);
    if (code != UCS_OK)
        return fail_ucp("ucp_worker_create", code);
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = YOKE_UCP_MESSAGE,
        .cb = receive,
        .arg = ucp,
    };
    code = ucp_worker_set_am_recv_handler(ucp->worker, &handler);
    if (code != UCS_OK)
        return fail_ucp("ucp_worker_set_am_recv_handler", code);
    code = ucp_worker_get_efd(ucp->worker, &ucp->descriptor);
    return code == UCS_OK ? YOKE_OK : fail_ucp("ucp_worker_get_efd", code);
}

/* --- addresses and endpoints
 * ----------------------------------------------------------------
 */

typedef struct yoke_ucp_card {
    char version[16];
    uint32_t address_size;
} yoke_ucp_card_t;

static void warn_versions(const yoke_transport_t *transport)
{
    const yoke_ucp_route_t *mine = &transport->ucp->routes[transport->rank];
    for (int rank = 0; rank < transport->rank; rank++) {
        const yoke_ucp_route_t *other = &transport->ucp->routes[rank];
        if (strcmp(mine->version, other->version) == 0)
            continue;
        yoke_warn("rank %d on %s has UCX %s, rank %d on %s has UCX %s: where messages "
                  "between them fail, install one version",
                  rank, yoke_control_peer(transport->control, rank)->host, other->version,
                  transport->rank,
                  yoke_control_peer(transport->control, transport->rank)->host,
                  mine->version);
        return;
    }
}

yoke_status_t yoke_ucp_fail_way(const yoke_transport_t *transport, int rank,
                                yoke_status_t status, const char *why)
{
    const yoke_peer_t *mine = yoke_control_peer(transport->control, transport->rank);
    const yoke_peer_t *peer = yoke_control_peer(transport->control, rank);
    const char *version = transport->ucp->routes[rank].version;
    bool same = strcmp(version, ucp_get_version_string()) == 0;
    return yoke_fail(status,
                     "no data connection from rank %d (%s, UCX %s) to rank %d (%s at %s, "
                     "UCX %s): %s. %s",
                     transport->rank, mine->host, ucp_get_version_string(), rank,
                     peer->host, peer->address, version, why,
                     same ? "Check that the interface is reachable for data too "
                            "(UCX_NET_DEVICES, UCX_TLS, firewalls)"
                          : "Versions of UCX may not understand each other: install one");
}

static void on_broken(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    (void)endpoint;
    yoke_ucp_break(argument, status);
}

static ucs_status_t make_endpoint(yoke_ucp_route_t *way, const ucp_address_t *address,
                                  bool tells_failure)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode =
            tells_failure ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = {on_broken, way},
    };
    return ucp_ep_create(way->ucp->worker, &params, &way->endpoint);
}

static yoke_status_t make_endpoints(yoke_transport_t *transport, const char *addresses,
                                    size_t size)
{
    yoke_ucp_t *ucp = transport->ucp;
    for (int rank = 0; rank < ucp->size; rank++) {
        yoke_route_t *route = &transport->routes[rank];
        yoke_ucp_route_t *way = &ucp->routes[rank];
        if (route->path != YOKE_PATH_UCP)
            continue;
        const void *address = addresses + (size_t)rank * size;
        ucs_status_t code = make_endpoint(way, address, ucp->tells_failure);
        /* Transports that the user chose may not have it. */
        if (code == UCS_ERR_UNREACHABLE && ucp->tells_failure) {
            ucp->tells_failure = false;
            code = make_endpoint(way, address, false);
        }
        if (code != UCS_OK)
            return yoke_ucp_fail_way(transport, rank, YOKE_ERR_UNREACHABLE,
                                     ucs_status_string(code));
        route->ucp = way;
        route->eager_most = YOKE_UCP_EAGER;
        route->piece_most = YOKE_UCP_PIECE;
        route->offer_least = UINT64_MAX;
    }
    return YOKE_OK;
}

static yoke_status_t exchange_cards(yoke_transport_t *transport, size_t mine,
                                    size_t *out_most)
{
    yoke_ucp_t *ucp = transport->ucp;
    yoke_ucp_card_t card = {.address_size = (uint32_t)mine};
    snprintf(card.version, sizeof card.version, "%s", ucp_get_version_string());
    yoke_ucp_card_t *cards = calloc((size_t)ucp->size, sizeof *cards);
    if (cards == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_control_all_gather(transport->control, &card, sizeof card,
                                                   cards, ucp->timeout_ms);
    *out_most = 0;
    for (int rank = 0; status == YOKE_OK && rank < ucp->size; rank++) {
        if (cards[rank].address_size > *out_most)
            *out_most = cards[rank].address_size;
        memcpy(ucp->routes[rank].version, cards[rank].version,
               sizeof cards[rank].version - 1);
    }
    free(cards);
    return status;
}

static yoke_status_t connect_all(yoke_transport_t *transport)
{
    yoke_ucp_t *ucp = transport->ucp;
    ucp_address_t *address;
    size_t size, most = 0;
    ucs_status_t code = ucp_worker_get_address(ucp->worker, &address, &size);
    if (code != UCS_OK)
        return fail_ucp("ucp_worker_get_address", code);
    yoke_status_t status = exchange_cards(transport, size, &most);
    char *mine = calloc(1, most + 1);
    char *all = calloc((size_t)ucp->size, most + 1);
    if (status == YOKE_OK && (mine == NULL || all == NULL))
        status = yoke_fail_memory();
    if (status == YOKE_OK) {
        memcpy(mine, address, size);
        status =
            yoke_control_all_gather(transport->control, mine, most, all, ucp->timeout_ms);
    }
    ucp_worker_release_address(ucp->worker, address);
    if (status == YOKE_OK) {
        warn_versions(transport);
        status = make_endpoints(transport, all, most);
    }
    free(mine);
    free(all);
    return status;
}

yoke_status_t yoke_ucp_make(yoke_transport_t *transport, ucp_am_recv_callback_t receive,
                            uint32_t timeout_ms)
{
    yoke_ucp_t *ucp = calloc(1, sizeof *ucp);
    if (ucp == NULL)
        return yoke_fail_memory();
    transport->ucp = ucp;
    ucp->transport = transport;
    ucp->size = transport->size;
    ucp->rank = transport->rank;
    ucp->timeout_ms = timeout_ms;
    ucp->tells_failure = true;
    ucp->routes = calloc((size_t)ucp->size, sizeof *ucp->routes);
    if (ucp->routes == NULL)
        return yoke_fail_memory();
    for (int rank = 0; rank < ucp->size; rank++) {
        ucp->routes[rank].ucp = ucp;
        ucp->routes[rank].rank = rank;
    }
    yoke_status_t status = make_context(transport, ucp);
    if (status == YOKE_OK)
        status = make_worker(ucp, receive);
    return status == YOKE_OK ? connect_all(transport) : status;
}

/* --- the end
 * ---------------------------------------------------------------------------------
 */

/* Those that wait for their end: UCX still holds packets for ranks that do not take
 * them. Nothing that it holds is a caller's memory. */
static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;
static yoke_ucp_t *retired;

static void close_endpoints(yoke_ucp_t *ucp)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_EP_CLOSE_FLAG_FORCE};
    if (!ucp->tells_failure)
        param.flags = 0; /* not allowed: it closes once all is out */
    for (int rank = 0; rank < ucp->size; rank++) {
        yoke_ucp_route_t *way = &ucp->routes[rank];
        if (way->endpoint == NULL)
            continue;
        way->closing = ucp_ep_close_nbx(way->endpoint, &param);
        way->endpoint = NULL;
        if (UCS_PTR_IS_ERR(way->closing))
            way->closing = NULL;
    }
}

static bool is_closed(yoke_ucp_t *ucp)
{
    for (int rank = 0; rank < ucp->size; rank++) {
        yoke_ucp_route_t *way = &ucp->routes[rank];
        if (way->closing == NULL)
            continue;
        if (ucp_request_check_status(way->closing) == UCS_INPROGRESS)
            return false;
        ucp_request_free(way->closing);
        way->closing = NULL;
    }
    return ucp->held == 0;
}

static void free_ucp(yoke_ucp_t *ucp)
{
    if (ucp->worker != NULL)
        ucp_worker_destroy(ucp->worker);
    if (ucp->context != NULL)
        ucp_cleanup(ucp->context);
    for (yoke_bounce_t *bounce = ucp->bounces, *next; bounce != NULL; bounce = next) {
        next = bounce->next;
        free(bounce);
    }
    for (int rank = 0; ucp->routes != NULL && rank < ucp->size; rank++)
        for (yoke_early_t *early = ucp->routes[rank].early, *next; early != NULL;
             early = next) {
            next = early->next;
            free(early);
        }
    free(ucp->routes);
    free(ucp);
}

#define ROUNDS 1000 /* of progress, in which an end that can come comes */

static bool try_end(yoke_ucp_t *ucp)
{
    for (int round = 0; !is_closed(ucp); round++) {
        if (round == ROUNDS)
            return false;
        ucp_worker_progress(ucp->worker);
    }
    free_ucp(ucp);
    return true;
}

void yoke_ucp_retire(yoke_ucp_t *ucp)
{
    if (ucp->worker != NULL)
        close_endpoints(ucp);
    pthread_mutex_lock(&retired_lock);
    ucp->next = retired;
    retired = ucp;
    for (yoke_ucp_t **place = &retired; *place != NULL;) {
        yoke_ucp_t *one = *place, *next = one->next;
        if (try_end(one))
            *place = next;
        else
            place = &one->next;
    }
    pthread_mutex_unlock(&retired_lock);
}

int yoke_ucp_retired(void)
{
    int count = 0;
    pthread_mutex_lock(&retired_lock);
    for (const yoke_ucp_t *one = retired; one != NULL; one = one->next)
        count++;
    pthread_mutex_unlock(&retired_lock);
    return count;
}
