/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_CONSTANTS_H
#define YOKE_COSTMODEL_CONSTANTS_H

/*
 * Every constant of the cost model, read from data/costmodel/constants.json (each with
 * unit and source there). Nothing numeric hides in the code.
 */

#include <stdbool.h>
#include "yoke/status.h"

typedef struct yoke_constants {
    double compute_fraction; /* of peak, for a device without an achieved figure */
    double
        gemm_fraction; /* of the best achieved matmul that a training-size GEMM reaches */
    double attention_fraction; /* of the achieved matmul rate that attention reaches */
    double bandwidth_fraction; /* of peak bandwidth, for a device without an achieved
                                  figure */
    double gemm_latency;       /* seconds added to every GEMM */
    double kernel_latency;     /* seconds per launched kernel, host-bound floor */
    double kernels_per_layer;  /* forward kernels of one decoder layer, GEMMs included */
    double elementwise_hidden; /* elements of the hidden width moved per token and layer,
                                  forward */
    double elementwise_ffn;    /* elements of the MLP width moved per token and layer,
                                  forward */
    double softmax_passes;   /* fp32 passes over the logits, forward (loss of the head) */
    double kernels_backward; /* kernels of the backward / of the forward (host-bound
                                floor) */
    double backward_gemm;    /* backward / forward FLOPs of a GEMM (2) */
    double backward_attention; /* backward / forward of flash attention (2.5) */
    double backward_elementwise;
    double expert_fraction; /* grouped-GEMM rate / dense GEMM rate */
    double link_fraction;   /* of nominal, for a link class without an achieved figure */
    double link_latency;    /* intra-node, seconds */
    double nic_fraction, nic_latency;
    double
        default_intra_rate; /* bytes/s per direction where no link is known: PCIe class */
    double data_overlap;    /* fraction of the gradient exchange that can hide behind the
                               last micro-batch's backward */
    double gradient_bytes;  /* per parameter held (fp32 accumulation) */
    double gradient_exchange_bytes; /* per parameter on the wire */
    double adam_bytes,
        sgd_bytes; /* optimizer state per parameter, master weights included */
    double adam_bytes_fp32, sgd_bytes_fp32; /* fp32 weights are their own master copy */
    double optimizer_traffic_adam,
        optimizer_traffic_sgd;  /* bytes moved per parameter, update */
    double step_overhead;       /* seconds per iteration */
    double context_bytes;       /* runtime context of an accelerator */
    double host_context_bytes;  /* of a CPU device */
    double communication_bytes; /* buffers of the communication library, when ranks > 1 */
    double bucket_bytes;     /* flat gradients under way, when several replicas exchange;
                                at most the gradients themselves */
    double slack_fraction;   /* allocator slack on all but the context */
    double reserve_fraction; /* usable = total x (1 - reserve) when usable is unknown */
    /* Terms of frameworks; 0 leaves a term out. */
    double score_traffic;   /* elements moved per attention score, forward, where the
                               scores are written out: 0 with flash attention */
    double dense_attention; /* part of the masked scores that is computed all the same */
    double gemm_exposed;    /* part of the lesser of a GEMM's compute and traffic that is
                               not hidden behind the greater */
    double exchange_ramp;   /* seconds that a collective needs to fill its pipeline,
                               reached by half at exchange_half bytes */
    double exchange_half;
    double kernels_exchange; /* launches that one tensor-parallel collective adds */
    double send_exposed;     /* part of a send that holds up its stage */
    double gather_exposed;   /* part of ZeRO-3's traffic not hidden behind computing */
    double gather_bytes;     /* per parameter and all-gather of ZeRO-3 */
    double scatter_bytes;    /* per parameter and reduce-scatter of ZeRO-2 and 3 */
    double selective_gemm;   /* part of the GEMMs that selective recomputation repeats */
    double selective_elementwise; /* part of the elementwise work that it repeats */
    double exchange_hidden;       /* part of tensor parallelism's exchange that is hidden
                                      behind computing */
    double
        head_latency; /* seconds a micro-batch, beside the layers: loss, scaling, data */
    double misaligned_fraction; /* of the GEMM rate, for vocabulary rows that are no
                                   multiple of 8 and not padded; 0: no such loss */
    double ring_exposed;        /* the same of context parallelism's ring */
    double fp8_fraction;        /* of the 8-bit peak, relative to what 16 bits reach */
    double uncertainty_measured, uncertainty_runtime, uncertainty_catalog,
        uncertainty_not_reread, uncertainty_disputed, uncertainty_default,
        uncertainty_user;
} yoke_constants_t;

/*
 * Read one file. Every constant must be there, in range, with unit and source; others are
 * refused. Fails with the file and the JSON pointer.
 */
yoke_status_t yoke_constants_read(const char *path, yoke_constants_t *out_constants);
/* Read the file of the data folder (or YOKE_CONSTANTS). Cached after the first success.
 * Threads: any. */
yoke_status_t yoke_constants_get(const yoke_constants_t **out_constants);

/* One constant by its name: NULL-terminated names in the order of the struct, its value,
 * and setting it. False: no such name, or the value is out of its range. */
const char *const *yoke_constants_names(void);
bool yoke_constants_value(const yoke_constants_t *constants, const char *name,
                          double *out_value);
bool yoke_constants_set(yoke_constants_t *constants, const char *name, double value);

#endif
