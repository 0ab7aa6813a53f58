/* SPDX-License-Identifier: Apache-2.0 */
/* The vendors' own libraries, where this machine has them: oneCCL on its CPUs, and NCCL
 * without a device, whose errors must be named. Skips with a reason otherwise.
 *     vendor_real oneccl|nccl
 * oneCCL: $YOKE_TEST_ONECCL is the folder of libccl.so.2 (docs/comm-vendors.md). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/ucx_comm/ranks.h"
#include "tests/ucx_comm/vendor/numbers.h"
#include "tests/ucx_comm/vendor/world.h"

#define COUNT 33

static bool reduces(yoke_collective_t c)
{
    return c == YOKE_COLLECTIVE_REDUCE || c == YOKE_COLLECTIVE_ALL_REDUCE ||
           c == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

/* All-reduce and all-gather, in every element and reduction that the table has; those
 * that the library refuses are told, and never wrong. */
static int use_oneccl(int rank, int size, void *context)
{
    static const yoke_collective_t all[] = {YOKE_COLLECTIVE_ALL_REDUCE,
                                            YOKE_COLLECTIVE_ALL_GATHER};
    int *refused = context, works = 0;
    world_t w;
    alarm(100);
    RANK_CHECK(world_open(&w, "host", rank, size) == YOKE_OK);
    RANK_CHECK(world_join(&w, 60000) == YOKE_OK);
    if (rank == 0)
        printf("oneccl %s: %s\n", yoke_vendor_version(w.vendor),
               yoke_vendor_path(w.vendor));
    for (size_t c = 0; c < 2; c++)
        for (int e = 0; e < YOKE_ELEMENT_COUNT; e++)
            for (int r = 0; r < (reduces(all[c]) ? YOKE_REDUCTION_COUNT : 1); r++) {
                yoke_element_t element = (yoke_element_t)e;
                yoke_reduction_t reduction = (yoke_reduction_t)r;
                size_t bytes = yoke_element_size(element);
                char want[COUNT * 8 * 4];
                if (!yoke_vendor_can(w.vendor, all[c], element, reduction, NULL))
                    continue;
                for (int i = 0; i < COUNT; i++)
                    number_put(w.send + (size_t)i * bytes, element,
                               2 * number_given(reduction, element, rank, i));
                int blocks = reduces(all[c]) ? 1 : size;
                for (int b = 0; b < blocks; b++)
                    for (int i = 0; i < COUNT; i++)
                        number_put(want + (size_t)(b * COUNT + i) * bytes, element,
                                   reduces(all[c])
                                       ? number_reduced(reduction, element, size, i)
                                       : 2 * number_given(reduction, element, b, i));
                w.comm->failed = false; /* a refusal is the same on all ranks here */
                yoke_status_t status = yoke_vendor_call(
                    w.comm, all[c], w.send, w.recv, COUNT, element, reduction, 0, NULL);
                if (status != YOKE_OK) {
                    if (rank == 0)
                        printf("refused: %s %s: %s\n", yoke_element_name(element),
                               yoke_reduction_name(reduction), yoke_last_error());
                    RANK_CHECK(yoke_last_vendor_error(NULL, NULL, NULL));
                    *refused += rank == 0;
                    continue;
                }
                if (memcmp(w.recv, want, (size_t)(blocks * COUNT) * bytes) != 0) {
                    fprintf(stderr, "rank %d: %s %s is wrong\n", rank,
                            yoke_element_name(element), yoke_reduction_name(reduction));
                    return 1;
                }
                works++;
            }
    if (rank == 0)
        printf("%d ranks: %d combinations\n", size, works);
    RANK_CHECK(works >= 30);
    w.comm->failed = false;
    yoke_test_meet();
    world_close(&w);
    fflush(NULL);
    _exit(0); /* its threads and those of its transport are left to the system */
}

static int test_oneccl(void)
{
    char path[4200];
    int *refused = yoke_test_shared(sizeof(int)), failed = 0;
    const char *folder = getenv("YOKE_TEST_ONECCL");
    if (folder == NULL || folder[0] == '\0') {
        puts("skipped: YOKE_TEST_ONECCL does not name the folder of libccl.so.2");
        return 77;
    }
    snprintf(path, sizeof path, "%s/libccl.so.2", folder);
    setenv("YOKE_LIB_ONECCL", path, 1);
    for (int n = 1; n <= 2; n++)
        failed += yoke_test_ranks(n, use_oneccl, refused);
    printf("refused by the library: %d\n", *refused);
    return failed > 0;
}

/* Its numbers are those of the table, and what it cannot do without a device is named. */
static int test_nccl(void)
{
    yoke_vendor_t *vendor = NULL;
    yoke_device_t *device = NULL;
    yoke_vendor_comm_t *comm = NULL;
    char id[128];
    if (yoke_vendor_open(yoke_vendor_kind("nccl"), NULL, &vendor) != YOKE_OK) {
        printf("skipped: %s\n", yoke_last_error());
        return 77;
    }
    printf("nccl %s: %s\n", yoke_vendor_version(vendor), yoke_vendor_path(vendor));
    RANK_CHECK(yoke_device_open("host", NULL, &device) == YOKE_OK);
    RANK_CHECK(yoke_vendor_make_id(vendor, device, id) == YOKE_OK);
    yoke_status_t status =
        yoke_vendor_comm_create_within(vendor, device, id, 1, 0, 60000, &comm);
    if (status == YOKE_OK) { /* a device after all */
        yoke_vendor_comm_destroy(comm);
        puts("it made a communicator: this machine has a device");
    } else {
        const char *name = "";
        int64_t code = 0;
        printf("%s\n", yoke_last_error());
        RANK_CHECK(status == YOKE_ERR_SYSTEM);
        RANK_CHECK(strstr(yoke_last_error(), "ncclCommInitRank: nccl") != NULL);
        (void)yoke_last_vendor_error(NULL, &code, &name);
    }
    id[5] ^= 1;
    RANK_CHECK(yoke_vendor_can(vendor, YOKE_COLLECTIVE_ALL_REDUCE, YOKE_ELEMENT_BF16,
                               YOKE_REDUCE_AVG, NULL));
    yoke_vendor_close(vendor);
    yoke_device_close(device);
    return 0;
}

int main(int count, char **arguments)
{
    alarm(200);
    if (count == 2 && strcmp(arguments[1], "oneccl") == 0)
        return test_oneccl();
    return count == 2 && strcmp(arguments[1], "nccl") == 0 ? test_nccl() : 2;
}
