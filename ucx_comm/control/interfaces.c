/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/control/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

/* --- addresses -------------------------------------------------------------------- */

char *yoke_address_text(const yoke_address_t *address, char buffer[64])
{
    int family = address->family == 6 ? AF_INET6 : AF_INET;
    if (address->family == 0 || inet_ntop(family, address->bytes, buffer, 64) == NULL)
        strcpy(buffer, "(none)");
    return buffer;
}

bool yoke_address_parse(const char *text, yoke_address_t *out_address)
{
    yoke_address_t address = {0};
    if (inet_pton(AF_INET, text, address.bytes) == 1) {
        address.family = 4;
        address.prefix = 32;
    } else if (inet_pton(AF_INET6, text, address.bytes) == 1) {
        address.family = 6;
        address.prefix = 128;
    } else {
        return false;
    }
    *out_address = address;
    return true;
}

static size_t address_bytes(const yoke_address_t *address)
{
    return address->family == 6 ? 16 : 4;
}

bool yoke_address_equal(const yoke_address_t *a, const yoke_address_t *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, address_bytes(a)) == 0;
}

bool yoke_address_shares(const yoke_address_t *a, const yoke_address_t *b)
{
    if (a->family != b->family || a->family == 0)
        return false;
    for (unsigned bit = 0; bit < a->prefix; bit++) {
        uint8_t mask = (uint8_t)(0x80u >> (bit % 8));
        if ((a->bytes[bit / 8] & mask) != (b->bytes[bit / 8] & mask))
            return false;
    }
    return true;
}

bool yoke_address_is_loopback(const yoke_address_t *address)
{
    static const uint8_t six[16] = {[15] = 1};
    if (address->family == 6)
        return memcmp(address->bytes, six, sizeof six) == 0;
    return address->family == 4 && address->bytes[0] == 127;
}

static bool is_link_local(const yoke_address_t *address)
{
    if (address->family == 6)
        return address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
    return address->bytes[0] == 169 && address->bytes[1] == 254;
}

/* Unspecified, multicast, broadcast: nothing that one can connect to. */
static bool is_nobody(const yoke_address_t *address)
{
    static const uint8_t zero[16];
    if (address->family == 6)
        return address->bytes[0] == 0xff || memcmp(address->bytes, zero, 16) == 0;
    return address->bytes[0] == 0 || address->bytes[0] >= 224;
}

socklen_t yoke_address_socket(const yoke_address_t *address, uint16_t port,
                              struct sockaddr_storage *out_socket)
{
    memset(out_socket, 0, sizeof *out_socket);
    if (address->family == 6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)out_socket;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        memcpy(&six->sin6_addr, address->bytes, 16);
        return sizeof *six;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)out_socket;
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    memcpy(&four->sin_addr, address->bytes, 4);
    return sizeof *four;
}

bool yoke_address_of_socket(const struct sockaddr_storage *socket,
                            yoke_address_t *out_address, uint16_t *out_port)
{
    yoke_address_t address = {0};
    if (socket->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)socket;
        address.family = 4;
        address.prefix = 32;
        memcpy(address.bytes, &four->sin_addr, 4);
        *out_port = ntohs(four->sin_port);
    } else if (socket->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)socket;
        bool mapped = IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
        address.family = mapped ? 4 : 6;
        address.prefix = mapped ? 32 : 128;
        memcpy(address.bytes, six->sin6_addr.s6_addr + (mapped ? 12 : 0),
               mapped ? 4 : 16);
        *out_port = ntohs(six->sin6_port);
    } else {
        return false;
    }
    *out_address = address;
    return true;
}

/* --- the choice ------------------------------------------------------------------- */

/* Bridges and tunnels that container runtimes and hypervisors make on every host, with
 * addresses that are the same on many: a peer that connects to one reaches itself. */
static bool is_of_containers(const char *name)
{
    static const char *const prefixes[] = {
        "docker", "br-",     "virbr", "veth",   "cni",   "podman", "lxcbr",
        "lxdbr",  "flannel", "cali",  "cilium", "weave", "kube-",  "nodelocaldns",
        "vmnet",  "vboxnet", "tunl",  "vnet",   "azv",   "ovs-",   "dummy-kube"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* "bond0.310.2" stands on "bond0.310", and that on "bond0". */
static bool stands_on_down(const yoke_interface_t *list, size_t count, const char *name)
{
    for (const char *dot = strrchr(name, '.'); dot != NULL;) {
        size_t size = (size_t)(dot - name);
        for (size_t i = 0; i < count; i++)
            if (strlen(list[i].name) == size && memcmp(list[i].name, name, size) == 0 &&
                !list[i].up)
                return true;
        do
            dot = dot == name ? NULL : dot - 1;
        while (dot != NULL && *dot != '.');
    }
    return false;
}

static bool is_usable(const yoke_interface_t *list, size_t count,
                      const yoke_interface_t *one)
{
    return one->up && !one->loopback && one->address.family != 0 &&
           !yoke_address_is_loopback(&one->address) && !is_link_local(&one->address) &&
           !is_nobody(&one->address) && !is_of_containers(one->name) &&
           !stands_on_down(list, count, one->name);
}

/* Smaller is better. */
static int rank_of(const yoke_interface_t *one)
{
    return (one->no_arp ? 4 : 0) + (one->physical ? 0 : 2) +
           (one->address.family == 6 ? 1 : 0);
}

static yoke_status_t no_such_interface(const yoke_interface_t *list, size_t count,
                                       const char *setting)
{
    yoke_text_t names = {0};
    for (size_t i = 0; i < count; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again = again || strcmp(list[i].name, list[j].name) == 0;
        if (!again)
            yoke_text_printf(&names, "%s%s", names.size > 0 ? ", " : "", list[i].name);
    }
    yoke_status_t status = yoke_fail(
        YOKE_ERR_NOT_FOUND,
        "there is no network interface '%s' (YOKE_COMM_INTERFACE, or the option "
        "`interface`; the name must be exact); there are: %s",
        setting, yoke_text_get(&names));
    yoke_text_free(&names);
    return status;
}

static yoke_status_t choose_named(const yoke_interface_t *list, size_t count,
                                  const char *setting, yoke_address_t *out_addresses,
                                  size_t capacity, size_t *out_count)
{
    bool found = false, up = false;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, setting) != 0)
            continue;
        found = true;
        up = up || list[i].up;
        if (list[i].up && list[i].address.family != 0 &&
            !(list[i].address.family == 6 && is_link_local(&list[i].address)) &&
            used < capacity)
            out_addresses[used++] = list[i].address;
    }
    if (!found)
        return no_such_interface(list, count, setting);
    if (used == 0)
        return yoke_fail(
            YOKE_ERR_UNREACHABLE,
            "network interface '%s' (YOKE_COMM_INTERFACE, or the option `interface`) %s",
            setting, up ? "has no address that others could connect to" : "is down");
    *out_count = used;
    return YOKE_OK;
}

yoke_status_t yoke_interfaces_choose(const yoke_interface_t *list, size_t count,
                                     const char *setting, yoke_address_t *out_addresses,
                                     size_t capacity, size_t *out_count)
{
    if (setting != NULL)
        return choose_named(list, count, setting, out_addresses, capacity, out_count);
    size_t used = 0;
    for (int rank = 0; rank < 8; rank++)
        for (size_t i = 0; i < count; i++)
            if (rank_of(&list[i]) == rank && is_usable(list, count, &list[i]) &&
                used < capacity)
                out_addresses[used++] = list[i].address;
    *out_count = used;
    return YOKE_OK;
}

/* --- the kernel's list ------------------------------------------------------------ */

static uint8_t prefix_of(const struct sockaddr *mask)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    unsigned bits = 0;
    if (mask == NULL)
        return 0;
    if (mask->sa_family == AF_INET) {
        bytes = (const uint8_t *)&((const struct sockaddr_in *)mask)->sin_addr;
        size = 4;
    } else if (mask->sa_family == AF_INET6) {
        bytes = (const uint8_t *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
        size = 16;
    }
    while (bits < size * 8 && (bytes[bits / 8] & (0x80u >> (bits % 8))) != 0)
        bits++;
    return (uint8_t)bits;
}

static void read_one(const struct ifaddrs *from, yoke_interface_t *out)
{
    char path[64];
    uint16_t port;
    struct sockaddr_storage storage = {0};
    memset(out, 0, sizeof *out);
    yoke_snprintf(out->name, sizeof out->name, "%s", from->ifa_name);
    unsigned both = IFF_UP | IFF_RUNNING;
    out->up = (from->ifa_flags & both) == both;
    out->loopback = (from->ifa_flags & IFF_LOOPBACK) != 0;
    out->no_arp = (from->ifa_flags & (IFF_NOARP | IFF_POINTOPOINT)) != 0;
    yoke_snprintf(path, sizeof path, "/sys/class/net/%s/device", out->name);
    out->physical = access(path, F_OK) == 0;
    if (from->ifa_addr == NULL)
        return;
    size_t size = from->ifa_addr->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
                  : from->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                          : 0;
    memcpy(&storage, from->ifa_addr, size);
    if (size == 0 || !yoke_address_of_socket(&storage, &out->address, &port))
        return;
    out->address.prefix = prefix_of(from->ifa_netmask);
    memcpy(out->address.interface, out->name, sizeof out->name);
}

yoke_status_t yoke_interfaces_read(yoke_interface_t **out_list, size_t *out_count)
{
    struct ifaddrs *first = NULL;
    if (getifaddrs(&first) != 0)
        return yoke_fail(YOKE_ERR_SYSTEM, "cannot list the network interfaces");
    size_t count = 0;
    for (const struct ifaddrs *one = first; one != NULL; one = one->ifa_next)
        count++;
    yoke_interface_t *list = calloc(count + 1, sizeof *list);
    if (list == NULL) {
        freeifaddrs(first);
        return yoke_fail_memory();
    }
    count = 0;
    for (const struct ifaddrs *one = first; one != NULL; one = one->ifa_next)
        read_one(one, &list[count++]);
    freeifaddrs(first);
    *out_list = list;
    *out_count = count;
    return YOKE_OK;
}
