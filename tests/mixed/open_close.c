/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_close BACKEND [ROUNDS]: a device is opened, used and closed again and again; after
 * the first rounds the process must not grow. Exit code 77: no such device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "yoke/buffer.h"
#include "yoke/device.h"
#include "yoke/queue.h"

#define SIZE 4096u
/* Bytes a round. A page is what one forgotten small buffer keeps; the fakes keep the
 * contexts that they ended, about 150 bytes each, to recognise them. */
#define ALLOWED 1024

static long resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = -1;
    if (file != NULL)
        fclose(file);
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

static yoke_status_t one_round(const char *name, uint32_t layers)
{
    static const unsigned char seven = 7;
    unsigned char back = 0;
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    yoke_device_t *device = NULL;
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_buffer_t *buffer = NULL;
    options.layers = layers;
    yoke_status_t status = yoke_device_open(name, &options, &device);
    if (status == YOKE_OK)
        status = yoke_queue_create(device, NULL, &queue);
    if (status == YOKE_OK)
        status = yoke_event_create(device, 0, &event);
    if (status == YOKE_OK)
        status = yoke_buffer_create(device, YOKE_MEMORY_DEVICE, SIZE, &buffer);
    if (status == YOKE_OK)
        status = yoke_queue_fill(queue, yoke_span(buffer, 0), &seven, 1, SIZE);
    if (status == YOKE_OK)
        status = yoke_queue_read(queue, &back, yoke_span(buffer, SIZE - 1), 1);
    if (status == YOKE_OK)
        status = yoke_event_record(event, queue);
    if (status == YOKE_OK)
        status = yoke_queue_sync(queue);
    if (status == YOKE_OK && back != seven)
        status = YOKE_ERR_NO;
    yoke_buffer_destroy(buffer);
    yoke_event_destroy(event);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    return status;
}

/* Twice as many rounds before: what is kept up to a bound is kept by then. */
static int rounds_of(const char *name, uint32_t layers, long rounds)
{
    long before = 0;
    for (long i = -2 * rounds; i < rounds; i++) {
        if (i == 0)
            before = resident();
        yoke_status_t status = one_round(name, layers);
        if (status != YOKE_OK) {
            fprintf(stderr, "%s: round %ld: %s: %s\n", name, i, yoke_status_name(status),
                    yoke_last_error());
            return status == YOKE_ERR_NOT_FOUND && i == -2 * rounds ? 77 : 1;
        }
    }
    long grown = resident() - before;
    printf("%s, layers %u: %ld bytes a round\n", name, layers, grown / rounds);
    return before < 0 || grown / rounds > ALLOWED;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    if (rounds < 1)
        return 2;
    int code = rounds_of(argv[1], 0, rounds);
    return code != 0 ? code : rounds_of(argv[1], YOKE_LAYER_VALIDATE, rounds);
}
