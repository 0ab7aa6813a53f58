/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/kernels/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* dialect_*.inc, by embed.cmake */
extern const char yoke_text_dialect_host[], yoke_text_dialect_cuda[],
    yoke_text_dialect_opencl[], yoke_text_dialect_convert[], yoke_text_dialect_common[];

static const char *prologue(yoke_dialect_t dialect)
{
    switch (dialect) {
    case YOKE_DIALECT_HOST:
        return yoke_text_dialect_host;
    case YOKE_DIALECT_CUDA:
    case YOKE_DIALECT_HIP:
        return yoke_text_dialect_cuda;
    case YOKE_DIALECT_OPENCL:
        return yoke_text_dialect_opencl;
    case YOKE_DIALECT_NONE:
        break;
    }
    return NULL;
}

const char *yoke_dialect_options(yoke_dialect_t dialect)
{
    switch (dialect) {
    case YOKE_DIALECT_CUDA: /* NVRTC's manual, "Supported Compile Options" */
        return "--fmad=false";
    case YOKE_DIALECT_HIP: /* Clang's manual, "Controlling Floating Point Behavior" */
    case YOKE_DIALECT_HOST:
        return "-ffp-contract=off";
    case YOKE_DIALECT_OPENCL:
    case YOKE_DIALECT_NONE:
        break;
    }
    return "";
}

void yoke_dialect_line(yoke_text_t *text, const char *name)
{
    yoke_text_add(text, "#line 1 \"");
    for (const char *c = name != NULL ? name : "program"; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            yoke_text_add(text, "\\");
        yoke_text_add_bytes(text, (unsigned char)*c < ' ' ? "?" : c, 1);
    }
    yoke_text_add(text, "\"\n");
}

yoke_status_t yoke_dialect_source(yoke_dialect_t dialect, uint64_t capabilities,
                                  const char *name, const char *text, size_t size,
                                  char **out_text, size_t *out_size)
{
    const char *head = prologue(dialect);
    yoke_text_t whole = {0};
    if (head == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "no prologue for dialect %d",
                         (int)dialect);
    if (memchr(text, '\0', size) != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "the program's text has a zero byte; give its size without one");
    yoke_text_printf(&whole, YOKE_DIALECT_MARK "%d\n", (int)dialect);
    if ((capabilities & YOKE_CAP_FP64) != 0)
        yoke_text_add(&whole, "#define YOKE_HAS_F64 1\n");
    if ((capabilities & YOKE_CAP_ATOMICS64) != 0)
        yoke_text_add(&whole, "#define YOKE_HAS_ATOMICS64 1\n");
    yoke_text_add(&whole, head);
    yoke_text_add(&whole, yoke_text_dialect_common);
    yoke_text_add(&whole, yoke_text_dialect_convert);
    /* Messages of the compiler count the user's lines. */
    yoke_dialect_line(&whole, name);
    yoke_text_add_bytes(&whole, text, size);
    yoke_text_add(&whole, "\n");
    if (whole.failed) {
        yoke_text_free(&whole);
        return yoke_fail_memory();
    }
    *out_text = whole.data;
    *out_size = whole.size;
    return YOKE_OK;
}
