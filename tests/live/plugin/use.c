/* SPDX-License-Identifier: Apache-2.0 */
/* use [load FILE]... [BACKEND]: load plug-ins, then use the first device of a backend. */
#include <stdio.h>
#include <string.h>

#include <yoke/device.h>
#include <yoke/queue.h>

static yoke_status_t use(const char *backend)
{
    yoke_device_t *device = NULL;
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *buffer = NULL;
    char back[8] = "";
    yoke_status_t status = yoke_device_open(backend, NULL, &device);
    if (status == YOKE_OK)
        status = yoke_queue_create(device, NULL, &queue);
    if (status == YOKE_OK)
        status = yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &buffer);
    if (status == YOKE_OK)
        status = yoke_queue_write(queue, yoke_span(buffer, 1), "works", 6);
    if (status == YOKE_OK)
        status = yoke_queue_read(queue, back, yoke_span(buffer, 1), 6);
    if (status == YOKE_OK)
        status = yoke_queue_sync(queue);
    yoke_buffer_destroy(buffer);
    yoke_queue_destroy(queue);
    yoke_device_info_t info = {.struct_size = sizeof info};
    if (status == YOKE_OK)
        status = yoke_device_info(device, &info);
    if (status == YOKE_OK)
        printf("%s:%u %s\n", info.backend, info.ordinal, back);
    yoke_device_close(device);
    return status;
}

int main(int count, char **arguments)
{
    yoke_status_t status = YOKE_OK;
    for (int i = 1; i < count && status == YOKE_OK; i++)
        if (strcmp(arguments[i], "load") == 0)
            status = yoke_backend_load(arguments[++i]);
        else
            status = use(arguments[i]);
    printf("%s: %s\n", yoke_status_name(status), yoke_last_error());
    return status == YOKE_OK ? 0 : 1;
}
