/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/vendor/world.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ucx_comm/ranks.h"

yoke_status_t world_open(world_t *world, const char *runtime, int rank, int size)
{
    char name[32];
    bool host = strcmp(runtime, "host") == 0 || strcmp(runtime, "kunlun") == 0;
    memset(world, 0, sizeof *world);
    world->rank = rank;
    world->size = size;
    world->host = malloc(WORLD_BYTES);
    if (host)
        snprintf(name, sizeof name, "host");
    else
        snprintf(name, sizeof name, "%s:%d", runtime, rank);
    yoke_status_t status = yoke_device_open(name, NULL, &world->device);
    if (status == YOKE_OK)
        status = yoke_vendor_load(runtime, &world->vendor);
    if (status != YOKE_OK)
        return status;
    if (host) {
        world->send = malloc(WORLD_BYTES);
        world->recv = malloc(WORLD_BYTES);
        return YOKE_OK;
    }
    void *address = NULL;
    status = yoke_queue_create(world->device, NULL, &world->queue);
    if (status == YOKE_OK)
        status = yoke_buffer_create(world->device, YOKE_MEMORY_DEVICE, WORLD_BYTES,
                                    &world->send_buffer);
    if (status == YOKE_OK)
        status = yoke_buffer_address(world->send_buffer, &address);
    world->send = address;
    if (status == YOKE_OK)
        status = yoke_buffer_create(world->device, YOKE_MEMORY_DEVICE, WORLD_BYTES,
                                    &world->recv_buffer);
    if (status == YOKE_OK)
        status = yoke_buffer_address(world->recv_buffer, &address);
    world->recv = address;
    return status;
}

yoke_status_t world_id(world_t *world, void *id)
{
    size_t size = yoke_vendor_id_size(world->vendor);
    char *all = malloc((size_t)world->size * size), *mine = calloc(1, size);
    yoke_status_t status = YOKE_OK;
    if (world->rank == 0)
        status = yoke_vendor_make_id(world->vendor, world->device, mine);
    if (status == YOKE_OK)
        status = yoke_test_all_gather(NULL, mine, size, all);
    memcpy(id, all, size);
    free(mine);
    free(all);
    return status;
}

yoke_status_t world_join(world_t *world, uint32_t timeout_ms)
{
    char id[8192];
    yoke_status_t status = world_id(world, id);
    if (status != YOKE_OK)
        return status;
    return yoke_vendor_comm_create_within(world->vendor, world->device, id, world->size,
                                          world->rank, timeout_ms, &world->comm);
}

void world_close(world_t *world)
{
    yoke_vendor_comm_destroy(world->comm);
    yoke_buffer_destroy(world->send_buffer);
    yoke_buffer_destroy(world->recv_buffer);
    if (world->send_buffer == NULL && world->queue == NULL) {
        free(world->send);
        free(world->recv);
    }
    yoke_queue_destroy(world->queue);
    yoke_device_close(world->device);
    free(world->host);
}

yoke_status_t world_write(world_t *world, bool to_recv, const void *data, uint64_t size)
{
    yoke_buffer_t *buffer = to_recv ? world->recv_buffer : world->send_buffer;
    if (world->queue == NULL) {
        memcpy(to_recv ? world->recv : world->send, data, size);
        return YOKE_OK;
    }
    yoke_status_t status =
        yoke_queue_write(world->queue, yoke_span(buffer, 0), data, size);
    return status == YOKE_OK ? yoke_queue_sync(world->queue) : status;
}

yoke_status_t world_read(world_t *world, void *data, uint64_t size)
{
    if (world->queue == NULL) {
        memcpy(data, world->recv, size);
        return YOKE_OK;
    }
    yoke_status_t status =
        yoke_queue_read(world->queue, data, yoke_span(world->recv_buffer, 0), size);
    return status == YOKE_OK ? yoke_queue_sync(world->queue) : status;
}

yoke_status_t world_sync(world_t *world)
{
    return world->queue != NULL ? yoke_queue_sync(world->queue) : YOKE_OK;
}

void *world_hook(const yoke_vendor_t *vendor, const char *file, const char *name)
{
    char path[4400];
    const char *library = yoke_vendor_path(vendor);
    const char *slash = strrchr(library, '/');
    if (file != NULL)
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - library), library, file);
    else
        snprintf(path, sizeof path, "%s", library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    return handle != NULL ? dlsym(handle, name) : NULL;
}

void world_fault(const yoke_vendor_t *vendor, const char *function,
                 yoke_fake_fault_t fault, int64_t code)
{
    void (*set)(const char *, yoke_fake_fault_t, int64_t, uint64_t);
    *(void **)(void *)&set = world_hook(vendor, NULL, "yoke_fake_fault");
    if (set != NULL)
        set(function, fault, code, 1);
}
