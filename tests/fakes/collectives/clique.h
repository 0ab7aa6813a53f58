/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COLLECTIVES_CLIQUE_H
#define YOKE_TESTS_FAKES_COLLECTIVES_CLIQUE_H

/* The memory that the ranks of one clique share: a pipe from each to each. */

#include "ccl.h"

#define CCL_MAX_RANKS 16
#define CCL_PIPE 32768u

typedef struct ccl_pipe {
    atomic_ulong written, read; /* bytes, ever growing */
    char data[CCL_PIPE];
} ccl_pipe_t;

typedef struct ccl_clique {
    atomic_int ranks; /* 0: nobody has come */
    atomic_uint version;
    atomic_uint joined; /* bits */
    atomic_bool failed; /* who came first and who came later disagree */
    ccl_pipe_t pipes[CCL_MAX_RANKS][CCL_MAX_RANKS]; /* from, to */
} ccl_clique_t;

/* The clique of an id, mapped. */
ccl_result_t ccl_clique_open(const void *id, size_t size, ccl_clique_t **out_clique);
void ccl_clique_close(ccl_clique_t *clique);
/* Bytes moved. */
size_t ccl_pipe_write(ccl_pipe_t *pipe, const void *data, size_t size);
size_t ccl_pipe_read(ccl_pipe_t *pipe, void *data, size_t size);

#endif
