/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators by this library's own kernels: operands are read into ordinary memory, or
 * used where they are when the host can reach them, and results are written back.
 */

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "hal/kernels/operator_host.h"

const yoke_host_kernels_t *yoke_host_kernels(yoke_element_t element)
{
    static const yoke_host_kernels_t *const all[YOKE_ELEMENT_COUNT] = {
        [YOKE_ELEMENT_F64] = &yoke_host_kernels_f64,
        [YOKE_ELEMENT_F32] = &yoke_host_kernels_f32,
        [YOKE_ELEMENT_F16] = &yoke_host_kernels_f16,
        [YOKE_ELEMENT_BF16] = &yoke_host_kernels_bf16,
        [YOKE_ELEMENT_F8E4M3] = &yoke_host_kernels_f8e4m3,
        [YOKE_ELEMENT_F8E5M2] = &yoke_host_kernels_f8e5m2,
        [YOKE_ELEMENT_I8] = &yoke_host_kernels_i8,
        [YOKE_ELEMENT_U8] = &yoke_host_kernels_u8,
        [YOKE_ELEMENT_I32] = &yoke_host_kernels_i32,
        [YOKE_ELEMENT_U32] = &yoke_host_kernels_u32,
        [YOKE_ELEMENT_I64] = &yoke_host_kernels_i64,
        [YOKE_ELEMENT_U64] = &yoke_host_kernels_u64,
    };
    return all[element];
}

void yoke_host_element(yoke_element_t element, double value, void *out)
{
    void *const pointers[2] = {out, &value};
    const yoke_scalar_t scalars[2] = {{{.u64 = 1}, sizeof(uint64_t)},
                                      {{.u32 = YOKE_ELEMENT_F64}, sizeof(uint32_t)}};
    yoke_host_kernels(element)->run[YOKE_OP_CONVERT](pointers, scalars);
}

/* Memory of the host, and every buffer of the host backend, needs no staging. */
static bool reachable(const yoke_call_t *call, const yoke_operand_t *operand,
                      void **out_address)
{
    void *base;
    if (yoke_buffer_kind(operand->span.buffer) == YOKE_MEMORY_DEVICE &&
        strcmp(call->operators->info.backend, "host") != 0)
        return false;
    if (yoke_buffer_host_address(operand->span.buffer, &base) != YOKE_OK)
        return false;
    *out_address = (char *)base + operand->span.offset;
    return true;
}

static size_t padded(uint64_t bytes)
{
    return ((size_t)bytes + 63) & ~(size_t)63;
}

static yoke_status_t need_bounce(yoke_operators_t *operators, uint64_t bytes)
{
    if (bytes <= operators->bounce_size)
        return YOKE_OK;
    void *larger = bytes > SIZE_MAX / 2 ? NULL : malloc((size_t)bytes);
    if (larger == NULL)
        return yoke_fail_memory();
    free(operators->bounce);
    operators->bounce = larger;
    operators->bounce_size = (size_t)bytes;
    return YOKE_OK;
}

/* Addresses of all operands; those that are staged get room in the bounce memory. */
static yoke_status_t place(const yoke_call_t *call, void *pointers[YOKE_OP_MAX_OPERANDS],
                           bool staged[YOKE_OP_MAX_OPERANDS])
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const yoke_operand_t *operand = &call->operand[i];
        staged[i] =
            operand->span.buffer != NULL && !reachable(call, operand, &pointers[i]);
        if (staged[i])
            bytes += padded(operand->bytes) + 64;
    }
    yoke_status_t status = need_bounce(call->operators, bytes);
    if (status != YOKE_OK)
        return status;
    char *at = call->operators->bounce;
    for (uint32_t i = 0; i < call->operand_count; i++)
        if (staged[i]) {
            pointers[i] = at;
            at += padded(call->operand[i].bytes) + 64;
        } else if (call->operand[i].span.buffer == NULL) {
            pointers[i] = pointers[0];
        }
    return YOKE_OK;
}

yoke_status_t yoke_call_on_host(yoke_call_t *call, yoke_op_kernel_t kernel)
{
    void *pointers[YOKE_OP_MAX_OPERANDS] = {NULL};
    bool staged[YOKE_OP_MAX_OPERANDS] = {false};
    yoke_host_kernel_t run = yoke_host_kernels(call->element)->run[kernel];
    bool writes = false;
    if (run == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "yoke_op_%s: no such kernel for %s",
                         call->name, yoke_element_name(call->element));
    yoke_status_t status = place(call, pointers, staged);
    for (uint32_t i = 0; status == YOKE_OK && i < call->operand_count; i++)
        if (staged[i] && (call->operand[i].access & YOKE_OP_READ) != 0)
            status = yoke_queue_read(call->queue, pointers[i], call->operand[i].span,
                                     call->operand[i].bytes);
    yoke_status_t reached = yoke_queue_sync(call->queue);
    if (status == YOKE_OK)
        status = reached;
    if (status != YOKE_OK)
        return status;
    run(pointers, call->scalar);
    for (uint32_t i = 0; status == YOKE_OK && i < call->operand_count; i++)
        if (staged[i] && (call->operand[i].access & YOKE_OP_WRITE) != 0) {
            writes = true;
            status = yoke_queue_write(call->queue, call->operand[i].span, pointers[i],
                                      call->operand[i].bytes);
        }
    if (!writes)
        return status;
    reached = yoke_queue_sync(call->queue);
    return status == YOKE_OK ? reached : status;
}

/* The bounce memory of one piece stays below this many bytes per operand. */
#define PIECE (UINT64_C(1) << 22)

yoke_status_t yoke_call_in_pieces(yoke_call_t *call, yoke_op_kernel_t kernel)
{
    yoke_call_t piece = *call;
    uint64_t count = call->scalar[0].value.u64;
    for (uint64_t done = 0; done < count; done += PIECE / 8) {
        uint64_t now = count - done < PIECE / 8 ? count - done : PIECE / 8;
        piece.scalar[0].value.u64 = now;
        for (uint32_t i = 0; i < call->operand_count; i++) {
            piece.operand[i].span.offset =
                call->operand[i].span.offset + done * call->operand[i].size;
            piece.operand[i].bytes = now * call->operand[i].size;
        }
        yoke_status_t status = yoke_call_on_host(&piece, kernel);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

yoke_status_t yoke_host_largest(yoke_call_t *call, yoke_span_t indices, uint64_t count,
                                uint64_t limit, uint64_t *out_extent)
{
    uint64_t extent = 0;
    yoke_status_t status = need_bounce(call->operators, PIECE);
    for (uint64_t done = 0; status == YOKE_OK && done < count; done += PIECE / 4) {
        uint64_t now = count - done < PIECE / 4 ? count - done : PIECE / 4;
        const uint32_t *at = call->operators->bounce;
        status = yoke_queue_read(call->queue, call->operators->bounce,
                                 yoke_span(indices.buffer, indices.offset + done * 4),
                                 now * 4);
        if (status == YOKE_OK)
            status = yoke_queue_sync(call->queue);
        for (uint64_t i = 0; status == YOKE_OK && i < now; i++)
            if (at[i] < limit && at[i] >= extent)
                extent = (uint64_t)at[i] + 1;
    }
    if (status == YOKE_OK)
        *out_extent = extent;
    return status;
}
