/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of backends and devices beforehand: cases that cannot run there, and
 * cases that are known to fail, each with its reason. A case that passes although it is
 * listed as failing makes the run fail: take its line out then.
 */
#include "hal/cts/cts.h"

const yoke_cts_expectation_t yoke_cts_expectations[] = {
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "*-64m",
     .unsupported = true,
     .reason = "Oclgrind interprets: sizes above 16 MiB take minutes"},
    {.backend = "opencl",
     .device = "*Oclgrind*",
     .cases = "thread/launch",
     .unsupported = true,
     .reason = "Oclgrind ends the process by an assertion (Context::notifyKernelBegin) "
               "when two threads launch in one context"},
    {.backend = NULL},
};
