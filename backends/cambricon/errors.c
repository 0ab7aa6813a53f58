/* SPDX-License-Identifier: Apache-2.0 */
/* Names of CNRT 6's codes (cnrtRet_t; see cnrt.h). */
#include "backends/cambricon/cnrt.h"

#define NAME(code, name)                                                                 \
    case code:                                                                           \
        return name

static const char *name_of_old_range(int64_t code)
{
    switch (code) {
        NAME(632002, "cnrtErrorSetOnActiveProcess");
        NAME(632006, "cnrtErrorDevice");
        NAME(632009, "cnrtErrorNoAttribute");
        NAME(632013, "cnrtErrorMemcpyDirectionInvalid");
        NAME(632014, "cnrtErrorBusy");
        NAME(632015, "cnrtErrorCndrvFuncCall");
        NAME(632017, "cnrtErrorCndevFuncCall");
        NAME(632019, "cnrtErrorNoCnrtContext");
        NAME(632020, "cnrtErrorCndrvFuncNotFound");
        NAME(632100, "cnrtErrorInvalidSymbol");
        NAME(999991, "cnrtErrorUnknown");
    }
    return 0;
}

const char *yoke_cnrt_error_name(int64_t code)
{
    switch (code) {
        NAME(0, "cnrtSuccess");
        NAME(1, "cnrtErrorNotReady");
        NAME(100002, "cnrtErrorInit");
        NAME(100004, "cnrtErrorNoDevice");
        NAME(100005, "cnrtErrorDeviceInvalid");
        NAME(100006, "cnrtErrorArgsInvalid");
        NAME(100007, "cnrtErrorSys");
        NAME(100010, "cnrtErrorSysNoMem");
        NAME(100014, "cnrtErrorInvalidResourceHandle");
        NAME(100015, "cnrtErrorIllegalState");
        NAME(100050, "cnrtErrorNotSupport");
        NAME(100051, "cnrtErrorOpsNotPermitted");
        NAME(100060, "cnrtErrorQueue");
        NAME(100100, "cnrtErrorNoMem");
        NAME(100128, "cnrtErrorAssert");
        NAME(100132, "cnrtErrorKernelTrap");
        NAME(100133, "cnrtErrorKernelUserTrap");
        NAME(100301, "cnrtErrorNotFound");
        NAME(100302, "cnrtErrorInvalidKernel");
        NAME(100303, "cnrtErrorUnsupportedKernelVersion");
    }
    return name_of_old_range(code);
}
