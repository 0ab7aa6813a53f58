/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMPRESS_H
#define YOKE_COMPRESS_H

/**
 * All-reduce of gradients within a byte budget (libyoke_comm).
 *
 * Each rank sends the entries that matter to the ranks that own them, the owners add and
 * send on the entries that matter of the sum: two exchanges whose bytes do not grow with
 * the number of ranks (the owner split of Ok-Topk, PPoPP 2022). What was not sent is kept
 * and added to the next gradient (error feedback: arXiv:1809.07599), by the sender and by
 * the owner, so that nothing is lost. The result is bitwise equal on all ranks.
 *
 * A compressor belongs to one communicator and one gradient of `count` elements, and is
 * used as the communicator is: by one thread, in the same order on all ranks.
 */

#include "yoke/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_compressor yoke_compressor_t;

typedef enum yoke_compress_method {
    YOKE_COMPRESS_TOP_K = 0, /**< the largest entries; biased, needs error feedback */
    /** Entries drawn with probability min(1, c |g|), sent as g / probability: unbiased
     *  (Wangni et al., NeurIPS 2018, arXiv:1710.09854) */
    YOKE_COMPRESS_SAMPLE = 1,
} yoke_compress_method_t;

#define YOKE_COMPRESS_NO_FEEDBACK (1u << 0) /**< what is not sent is lost */
#define YOKE_COMPRESS_ALWAYS (1u << 1)      /**< also where dense is predicted faster */
/** Dense inside islands, sparse between them: only the links across are spared. */
#define YOKE_COMPRESS_TWO_LEVEL (1u << 2)

typedef struct yoke_compressor_options {
    size_t struct_size;
    yoke_compress_method_t method;
    uint32_t flags; /**< YOKE_COMPRESS_* */
    double budget;  /**< bytes on the wire as a part of the dense ones; 0: 0.20 */
    uint64_t seed; /**< of the draws of YOKE_COMPRESS_SAMPLE; equal on all ranks or not */
    int32_t island; /**< two levels: ranks of one number are one island; -1: as found */
    uint32_t reserved;
} yoke_compressor_options_t;

/**
 * Collective. Measures what selecting and sending cost here, for the prediction.
 * @param count    elements of the gradient, at least 1
 * @param element  YOKE_ELEMENT_F32
 * @param options  NULL: defaults
 * @retval YOKE_ERR_USAGE        a budget outside ]0, 1], a count of 0
 * @retval YOKE_ERR_UNSUPPORTED  another element type
 */
yoke_status_t yoke_compressor_create(yoke_comm_t *comm, uint64_t count,
                                     yoke_element_t element,
                                     const yoke_compressor_options_t *options,
                                     yoke_compressor_t **out_compressor);
void yoke_compressor_destroy(yoke_compressor_t *compressor);

/**
 * Collective, blocking. Sum or average of `send` over the ranks into `recv`, as far as
 * the budget carries it; dense where the prediction speaks for that (what was kept back
 * is then sent along). send equal to recv is in place.
 * @param reduction  YOKE_REDUCE_SUM or YOKE_REDUCE_AVG
 */
yoke_status_t yoke_compressor_all_reduce(yoke_compressor_t *compressor,
                                         yoke_comm_buffer_t send, yoke_comm_buffer_t recv,
                                         yoke_reduction_t reduction);

typedef struct yoke_compressor_statistics {
    size_t struct_size;
    uint64_t calls;
    uint64_t sparse_calls;
    uint64_t sent_bytes;    /**< by this rank to others, of sparse calls */
    uint64_t dense_bytes;   /**< what a dense all-reduce would have sent: 2 (p-1)/p n */
    double predicted_dense; /**< seconds a call */
    double predicted_sparse;
} yoke_compressor_statistics_t;
/** @param statistics  struct_size set by the caller */
void yoke_compressor_statistics(const yoke_compressor_t *compressor,
                                yoke_compressor_statistics_t *statistics);

/**
 * What was kept back, for a checkpoint: every rank saves its own. Little-endian, with a
 * header and a checksum.
 * @param out_data  freed by the caller with free()
 */
yoke_status_t yoke_compressor_save(const yoke_compressor_t *compressor, void **out_data,
                                   size_t *out_size);
/**
 * Add what one rank had saved, of any number of ranks and any options: only the sum over
 * the ranks matters. Of s saved files rank r of p loads those numbered r, r + p, ...
 * @retval YOKE_ERR_BAD_INPUT  not such data, cut short, changed, or of another count
 */
yoke_status_t yoke_compressor_load(yoke_compressor_t *compressor, const void *data,
                                   size_t size);

#ifdef __cplusplus
}
#endif
#endif
