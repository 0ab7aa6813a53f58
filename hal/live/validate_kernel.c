/* SPDX-License-Identifier: Apache-2.0 */
/* The validation layer: arguments of a launch against the kernel's parameters, where the
 * text of the program says what they are. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/kernels/signature.h"
#include "hal/live/layers.h"

struct yoke_signatures *yoke_validate_signatures(const char *text, size_t size)
{
    yoke_signatures_t *signatures = calloc(1, sizeof *signatures);
    if (signatures == NULL)
        return NULL;
    yoke_fail_quiet(true);
    yoke_status_t status = yoke_signatures_read(text, size, signatures);
    yoke_fail_quiet(false);
    if (status == YOKE_OK)
        return signatures;
    free(signatures);
    return NULL;
}

void yoke_validate_signatures_free(struct yoke_signatures *signatures)
{
    if (signatures == NULL)
        return;
    yoke_signatures_free(signatures);
    free(signatures);
}

/* Directives are not followed: what a macro may stand for, or has another form under an
 * #if, is not known. */
static bool is_known(const yoke_signature_t *kernel)
{
    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->parameters[i].kind == YOKE_ARGUMENT_VALUE &&
            kernel->parameters[i].size == 0)
            return false;
    return true;
}

static bool is_same(const yoke_signature_t *a, const yoke_signature_t *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->parameters[i].kind != b->parameters[i].kind ||
            a->parameters[i].size != b->parameters[i].size)
            return false;
    return true;
}

const struct yoke_signature *
yoke_validate_signature(const struct yoke_signatures *signatures, const char *name)
{
    const yoke_signature_t *first = NULL;
    for (size_t i = 0; signatures != NULL && i < signatures->count; i++) {
        const yoke_signature_t *kernel = &signatures->items[i];
        if (strcmp(kernel->name, name) != 0)
            continue;
        if (!is_known(kernel) || (first != NULL && !is_same(first, kernel)))
            return NULL;
        first = kernel;
    }
    return first;
}

static const char *kind_name(uint32_t kind)
{
    switch ((yoke_argument_kind_t)kind) {
    case YOKE_ARGUMENT_SPAN:
        return "a span";
    case YOKE_ARGUMENT_VALUE:
        return "a value";
    case YOKE_ARGUMENT_LOCAL:
        return "local memory";
    }
    return "nothing known";
}

yoke_status_t yoke_validate_arguments(const yoke_kernel_t *kernel,
                                      const yoke_argument_t *arguments, size_t count,
                                      const char *call)
{
    const yoke_signature_t *signature = kernel->signature;
    if (signature == NULL)
        return YOKE_OK;
    if (count != signature->count)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: %zu arguments; kernel '%s' (line %u of the program) has %u "
                         "parameters",
                         call, count, kernel->name, signature->line, signature->count);
    for (size_t i = 0; i < count; i++) {
        const yoke_parameter_t *parameter = &signature->parameters[i];
        if (arguments[i].kind != (uint32_t)parameter->kind)
            return yoke_fail(
                YOKE_ERR_USAGE, "%s: argument %zu is %s; '%s %s' of kernel '%s' takes %s",
                call, i, kind_name(arguments[i].kind), parameter->type, parameter->name,
                kernel->name, kind_name((uint32_t)parameter->kind));
        if (parameter->kind == YOKE_ARGUMENT_VALUE &&
            arguments[i].size != parameter->size)
            return yoke_fail(YOKE_ERR_USAGE,
                             "%s: argument %zu has %u bytes; '%s %s' of kernel '%s' "
                             "takes %u",
                             call, i, arguments[i].size, parameter->type, parameter->name,
                             kernel->name, parameter->size);
    }
    return YOKE_OK;
}
