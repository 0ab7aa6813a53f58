/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of backends and devices beforehand: cases that cannot run there, and
 * cases that are known to fail, each with its reason. A case that passes although it is
 * listed as failing makes the run fail: take its line out then.
 */
#include "hal/cts/cts.h"

#include <stddef.h>
#include <string.h>

const yoke_cts_expectation_t yoke_cts_expectations[] = {
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "*-64m",
     .unsupported = true,
     .reason = "Oclgrind interprets: sizes above 16 MiB take minutes"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "thread/*",
     .unsupported = true,
     .reason = "Oclgrind takes no lock in a context: two threads at once end the process "
               "(assertion in Context::notifyKernelBegin, segmentation faults)"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "pool/threads",
     .unsupported = true,
     .reason = "Oclgrind takes no lock in a context"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "prepared/threads",
     .unsupported = true,
     .reason = "Oclgrind takes no lock in a context"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "operators/softmax-f*",
     .unsupported = false,
     .reason = "Oclgrind 21.10 has no llvm.usub.sat.i64, which its compiler makes of the "
               "kernel, and so says that there is none of that name"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "operators/softmax-bf16",
     .unsupported = false,
     .reason = "Oclgrind 21.10 has no llvm.usub.sat.i64, which its compiler makes of the "
               "kernel, and so says that there is none of that name"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "operators/softmax-causal-*",
     .unsupported = false,
     .reason = "Oclgrind 21.10 has no llvm.usub.sat.i64, which its compiler makes of the "
               "kernel, and so says that there is none of that name"},
    {.backend = "cambricon",
     .cases = "lost/second-device",
     .unsupported = false,
     .reason = "CNRT 6 has no code for a device that is gone: what it answers, "
               "cnrtErrorCndrvFuncCall, stands for any failure of the driver"},
    {.backend = "cuda",
     .cases = "*/local-argument*",
     .unsupported = true,
     .reason =
         "on CUDA's model a kernel of the dialect has no parameter for local memory: "
         "docs/kernel-dialect.md"},
    {.backend = "hip",
     .cases = "*/local-argument*",
     .unsupported = true,
     .reason =
         "on CUDA's model a kernel of the dialect has no parameter for local memory: "
         "docs/kernel-dialect.md"},
    {.backend = "dtk",
     .cases = "*/local-argument*",
     .unsupported = true,
     .reason =
         "on CUDA's model a kernel of the dialect has no parameter for local memory: "
         "docs/kernel-dialect.md"},
    {.backend = "corex",
     .cases = "*/local-argument*",
     .unsupported = true,
     .reason =
         "on CUDA's model a kernel of the dialect has no parameter for local memory: "
         "docs/kernel-dialect.md"},
    {.backend = "musa",
     .cases = "*/local-argument*",
     .unsupported = true,
     .reason =
         "on CUDA's model a kernel of the dialect has no parameter for local memory: "
         "docs/kernel-dialect.md"},
    {.backend = "maca",
     .cases = "*/local-argument*",
     .unsupported = true,
     .reason =
         "on CUDA's model a kernel of the dialect has no parameter for local memory: "
         "docs/kernel-dialect.md"},
    {.backend = "maca",
     .cases = "device/info-figures",
     .unsupported = true,
     .reason = "MACA's attribute numbers have no source that is not contradicted: "
               "docs/backends-cudalike.md"},
    {.backend = NULL},
};

const char *yoke_cts_cannot_unset(const char *backend)
{
    return strcmp(backend, "ascend") == 0 ? "aclrtSetCurrentContext() refuses NULL: "
                                            "docs/backends-ascend-cambricon.md"
                                          : NULL;
}
