/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed [OPERATIONS [SEED]]: host, every OpenCL platform and every fake vendor library
 * that can be opened, at once in this process; random operations against a model on the
 * host, bit by bit; then three threads with objects of their own on the same devices.
 * Exit code 77: fewer devices than the test is about.
 */
#include "tests/mixed/current.h"
#include "tests/mixed/world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 3
#define CHECKPOINT 500

static const char *const wanted[] = {
    "host",     "opencl:0",    "opencl:1", "cuda:0", "cuda:1", "hip:0",
    "ascend:0", "cambricon:0", "musa:0",   "maca:0", "dtk:0",  "level_zero:0",
};
static const char *names[MAX_ENDS];
static yoke_device_t *devices[MAX_ENDS];
static unsigned count;

static void open_devices(void)
{
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
        options.layers = i % 2 == 0 ? 0 : YOKE_LAYER_VALIDATE;
        if (yoke_device_open(wanted[i], &options, &devices[count]) == YOKE_OK)
            names[count++] = wanted[i];
        else
            printf("without %s: %s\n", wanted[i], yoke_last_error());
    }
    printf("%u devices:", count);
    for (unsigned i = 0; i < count; i++)
        printf(" %s", names[i]);
    printf("\n");
}

static void run(world_t *world, unsigned operations)
{
    for (unsigned i = 1; i <= operations && !world->failed && !current_fault(); i++) {
        world_step(world);
        if (i % CHECKPOINT == 0 || i == operations)
            world_settle(world, true);
        if (world->failed)
            printf("in operation %u\n", i);
    }
}

/* The devices without emulators: Oclgrind is one thread's (operations.c). */
static unsigned for_threads(const char **out_names, yoke_device_t **out_devices)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        yoke_device_info_t info = {.struct_size = sizeof info};
        if (yoke_device_info(devices[i], &info) == YOKE_OK &&
            info.kind == YOKE_DEVICE_EMULATOR)
            continue;
        out_names[kept] = names[i];
        out_devices[kept++] = devices[i];
    }
    return kept;
}

static bool one_world(unsigned operations, uint64_t seed, bool all)
{
    static const char *const titles[] = {"copies",    "fills",          "writes", "reads",
                                         "transfers", "foreign events", "pool"};
    world_t *world = calloc(1, sizeof *world);
    if (world == NULL)
        return false;
    current_set(1);
    const char *some_names[MAX_ENDS];
    yoke_device_t *some[MAX_ENDS];
    unsigned some_count = for_threads(some_names, some);
    if (all ? world_make(world, names, devices, count, seed)
            : world_make(world, some_names, some, some_count, seed))
        run(world, operations);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        printf("%s%llu %s", i > 0 ? ", " : "", (unsigned long long)world->done[i],
               titles[i]);
    printf("; %llu bytes compared\n", (unsigned long long)world->compared);
    bool well = !world->failed;
    world_end(world);
    free(world);
    current_set(-1);
    return well;
}

typedef struct job {
    pthread_t thread;
    uint64_t seed;
    unsigned operations;
    bool all, well;
} job_t;

static void *work(void *argument)
{
    job_t *job = argument;
    job->well = one_world(job->operations, job->seed, job->all);
    return NULL;
}

static bool many_worlds(unsigned operations, uint64_t seed)
{
    job_t jobs[THREADS];
    bool well = true;
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (job_t){.seed = seed + i, .operations = operations, .all = i == 0};
        if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0)
            return false;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        well = well && jobs[i].well;
    }
    return well;
}

/* What fails against expectation is printed with its message. */
static void no_log(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

int main(int argc, char **argv)
{
    yoke_log_set_sink(no_log, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    unsigned operations = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 10000;
    uint64_t seed =
        argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL) * 1000003u;
    printf("seed %llu\n", (unsigned long long)seed);
    open_devices();
    for (unsigned i = 0; i < count; i++) {
        yoke_device_info_t info = {.struct_size = sizeof info};
        if (yoke_device_info(devices[i], &info) == YOKE_OK && info.library[0] != '\0')
            current_add(info.library);
    }
    unsigned fakes = current_count();
    if (fakes < 4) {
        printf("skipped: %u fake libraries are there, the test is about 4 or more\n",
               fakes);
        return 77;
    }
    bool well = one_world(operations, seed, true);
    well = well && many_worlds(operations / 5 + 1, seed + 1);
    for (unsigned i = 0; i < count; i++)
        yoke_device_close(devices[i]);
    if (current_fault() != NULL)
        printf("%s\n", current_fault());
    if (current_alive() != 0)
        printf("%llu vendor handles are alive\n", (unsigned long long)current_alive());
    return well && current_fault() == NULL && current_alive() == 0 ? 0 : 1;
}
