/* SPDX-License-Identifier: Apache-2.0 */
/* An all-gather over PMIx: every rank puts its block under a key, all fence, and get. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <pmix.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/control/rendezvous.h"

struct yoke_pmix {
    pmix_proc_t self;
    int size;
    uint32_t number; /* of this rendezvous in the process: keys live as long as the job */
    uint32_t gathers;
};

/* The library is opened once in a process and stays open to its end: opened again after
 * it was closed, it fences no more (Open MPI 4.1). A launcher takes it for a crash when a
 * process ends without closing it. */
static struct {
    pthread_once_t once;
    pmix_status_t code;
    pmix_proc_t self;
    _Atomic uint32_t opened;
} library = {.once = PTHREAD_ONCE_INIT};

static void close_library(void)
{
    (void)PMIx_Finalize(NULL, 0);
}

static void open_library(void)
{
    library.code = PMIx_Init(&library.self, NULL, 0);
    if (library.code == PMIX_SUCCESS)
        (void)atexit(close_library);
}

bool yoke_pmix_present(void)
{
    /* Both are of PMIx 1 and every version since; asking the library would make it search
     * for a server and complain. */
    return getenv("PMIX_RANK") != NULL && getenv("PMIX_NAMESPACE") != NULL;
}

static yoke_status_t fail_pmix(const char *what, pmix_status_t code)
{
    bool late = code == PMIX_ERR_TIMEOUT;
    return yoke_fail(late ? YOKE_ERR_TIMEOUT : YOKE_ERR_SYSTEM, "PMIx: %s failed: %s%s",
                     what, PMIx_Error_string(code),
                     late ? "; some rank of the job did not come" : "");
}

/* Whole seconds left, at least one. */
static int seconds_left(int64_t deadline)
{
    int64_t left = (deadline - yoke_clock_ms() + 999) / 1000;
    return left < 1 ? 1 : (int)left;
}

static yoke_status_t job_size(const pmix_proc_t *self, int *out_size)
{
    pmix_proc_t job;
    pmix_value_t *value = NULL;
    PMIX_PROC_CONSTRUCT(&job);
    PMIX_LOAD_PROCID(&job, self->nspace, PMIX_RANK_WILDCARD);
    pmix_status_t code = PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value);
    if (code != PMIX_SUCCESS)
        return fail_pmix("asking for the number of ranks", code);
    bool right = value->type == PMIX_UINT32 && value->data.uint32 >= 1 &&
                 value->data.uint32 <= YOKE_RANKS_LIMIT;
    if (right)
        *out_size = (int)value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    if (!right)
        return yoke_fail(YOKE_ERR_SYSTEM, "PMIx tells no usable number of ranks");
    return YOKE_OK;
}

yoke_status_t yoke_pmix_open(int64_t deadline, int *out_size, int *out_rank,
                             struct yoke_pmix **out_pmix)
{
    struct yoke_pmix *pmix = calloc(1, sizeof *pmix);
    (void)deadline; /* the server is on this host: it answers or is not there */
    if (pmix == NULL)
        return yoke_fail_memory();
    (void)pthread_once(&library.once, open_library);
    pmix->self = library.self;
    if (library.code != PMIX_SUCCESS) {
        free(pmix);
        return yoke_fail(YOKE_ERR_SYSTEM,
                         "PMIx: PMIX_RANK is set, but its server is not reached: %s",
                         PMIx_Error_string(library.code));
    }
    yoke_status_t status = job_size(&pmix->self, &pmix->size);
    if (status == YOKE_OK && pmix->self.rank >= (pmix_rank_t)pmix->size)
        status = yoke_fail(YOKE_ERR_SYSTEM, "PMIx calls this rank %u of %d",
                           pmix->self.rank, pmix->size);
    if (status != YOKE_OK) {
        yoke_pmix_close(pmix);
        return status;
    }
    pmix->number = atomic_fetch_add(&library.opened, 1);
    *out_size = pmix->size;
    *out_rank = (int)pmix->self.rank;
    *out_pmix = pmix;
    return YOKE_OK;
}

static yoke_status_t put(const char *key, const void *mine, size_t size)
{
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = (char *)(uintptr_t)mine;
    value.data.bo.size = size;
    pmix_status_t code = PMIx_Put(PMIX_GLOBAL, key, &value);
    if (code == PMIX_SUCCESS)
        code = PMIx_Commit();
    return code == PMIX_SUCCESS ? YOKE_OK : fail_pmix("giving a block", code);
}

static yoke_status_t fence(const struct yoke_pmix *pmix, int64_t deadline)
{
    pmix_proc_t job;
    pmix_info_t info[2];
    bool collect = true;
    int seconds = seconds_left(deadline);
    PMIX_PROC_CONSTRUCT(&job);
    PMIX_LOAD_PROCID(&job, pmix->self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info[0], PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_status_t code = PMIx_Fence(&job, 1, info, 2);
    return code == PMIX_SUCCESS ? YOKE_OK : fail_pmix("the fence of all ranks", code);
}

static yoke_status_t get(const struct yoke_pmix *pmix, int rank, const char *key,
                         size_t size, void *out)
{
    pmix_proc_t of;
    pmix_value_t *value = NULL;
    PMIX_PROC_CONSTRUCT(&of);
    PMIX_LOAD_PROCID(&of, pmix->self.nspace, (pmix_rank_t)rank);
    pmix_status_t code = PMIx_Get(&of, key, NULL, 0, &value);
    if (code != PMIX_SUCCESS)
        return fail_pmix("getting the block of a rank", code);
    bool right = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == size;
    if (right && size > 0)
        memcpy(out, value->data.bo.bytes, size);
    PMIX_VALUE_RELEASE(value);
    if (!right)
        return yoke_fail(YOKE_ERR_MISMATCH,
                         "PMIx: the block of rank %d is not of %zu bytes: the ranks make "
                         "different calls, or run different versions of Yoke",
                         rank, size);
    return YOKE_OK;
}

yoke_status_t yoke_pmix_all_gather(struct yoke_pmix *pmix, int64_t deadline,
                                   const void *mine, size_t size, void *all)
{
    char key[64];
    yoke_snprintf(key, sizeof key, "yoke.comm.%u.%u", pmix->number, pmix->gathers++);
    yoke_status_t status = put(key, mine, size);
    if (status == YOKE_OK)
        status = fence(pmix, deadline);
    for (int rank = 0; status == YOKE_OK && rank < pmix->size; rank++)
        status = get(pmix, rank, key, size, (uint8_t *)all + (size_t)rank * size);
    return status;
}

void yoke_pmix_close(struct yoke_pmix *pmix)
{
    free(pmix);
}
