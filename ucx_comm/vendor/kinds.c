/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the vendors' libraries. Sources, by kind:
 *   nccl       NVIDIA/nccl src/nccl.h.in (2.30.7) and nccl.h 2.28.9; avg and bfloat16
 *              since 2.10 and fp8 since 2.24 by the release notes
 *   ixccl      Iluvatar CoreX: NCCL's names and numbers (FlagCX ixnccl_adaptor.cc)
 *   rccl       ROCm/rccl src/nccl.h.in. Its fp8 has NCCL's numbers, but is the fnuz form
 *              on some devices: not reduced here
 *   rccl-dtk   Hygon: librccl.so with NCCL's names (FlagCX dunccl_adaptor.cc)
 *   mccl-maca  MetaX mccl.h 2.16.5
 *   mccl-musa  Moore Threads: no public header. Names from FlagCX musa_mccl_adaptor.cc
 * and torch_musa, which cast NCCL's numbers: that they are the same is assumed hccl
 * Ascend/pytorch third_party/hccl/inc/hccl/{hccl,hccl_types}.h; codes 22 to 24 from newer
 * copies; what reduces from CANN's page hcclcpp_07_0020 cncl       Cambricon
 * cncl.h 1.25.0 oneccl     oneapi/ccl.h and oneapi/ccl/v2/types.h of oneCCL 2022.1 (the C
 * interface; the C++ one has other numbers: min 2, max 3, int16 at 2) bkcl       no
 * public header: the numbers are read from the one beside the library
 */
#include "ucx_comm/vendor/library.h"

#define NONE (-1)
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ncclResult_t; MCCL's and oneCCL's first six are the same. */
static const yoke_vendor_code_t nccl_codes[] = {
    {0, "ncclSuccess", YOKE_OK},
    {1, "ncclUnhandledCudaError", YOKE_ERR_SYSTEM},
    {2, "ncclSystemError", YOKE_ERR_SYSTEM},
    {3, "ncclInternalError", YOKE_ERR_SYSTEM},
    {4, "ncclInvalidArgument", YOKE_ERR_SYSTEM},
    {5, "ncclInvalidUsage", YOKE_ERR_SYSTEM},
    {6, "ncclRemoteError", YOKE_ERR_PEER_FAILED},
    {7, "ncclInProgress", YOKE_OK},
    {8, "ncclTimeout", YOKE_ERR_TIMEOUT},
};
static const yoke_vendor_code_t mccl_codes[] = {
    {0, "mcclSuccess", YOKE_OK},
    {1, "mcclUnhandledMacaError", YOKE_ERR_SYSTEM},
    {2, "mcclSystemError", YOKE_ERR_SYSTEM},
    {3, "mcclInternalError", YOKE_ERR_SYSTEM},
    {4, "mcclInvalidArgument", YOKE_ERR_SYSTEM},
    {5, "mcclInvalidUsage", YOKE_ERR_SYSTEM},
    {6, "mcclRemoteError", YOKE_ERR_PEER_FAILED},
    {7, "mcclInProgress", YOKE_OK},
};
/* NCCL's, without names that nobody published. */
static const yoke_vendor_code_t musa_codes[] = {
    {0, "mcclSuccess", YOKE_OK},
    {1, "mcclUnhandledMusaError", YOKE_ERR_SYSTEM},
    {2, "mcclSystemError", YOKE_ERR_SYSTEM},
    {3, "mcclInternalError", YOKE_ERR_SYSTEM},
    {4, "mcclInvalidArgument", YOKE_ERR_SYSTEM},
    {5, "mcclInvalidUsage", YOKE_ERR_SYSTEM},
    {6, "mcclRemoteError", YOKE_ERR_PEER_FAILED},
    {7, "mcclInProgress", YOKE_OK},
};
static const yoke_vendor_code_t oneccl_codes[] = {
    {0, "onecclSuccess", YOKE_OK},
    {1, "onecclError", YOKE_ERR_SYSTEM},
    {2, "onecclSystemError", YOKE_ERR_SYSTEM},
    {3, "onecclInternalError", YOKE_ERR_SYSTEM},
    {4, "onecclInvalidArgument", YOKE_ERR_SYSTEM},
    {5, "onecclInvalidUsage", YOKE_ERR_SYSTEM},
    {6, "onecclInProgress", YOKE_OK}, /* 6 is "remote error" in NCCL */
    {7, "onecclFailureGPU", YOKE_ERR_SYSTEM},
    {8, "onecclFailureCPU", YOKE_ERR_SYSTEM},
    {9, "onecclAllocFailureCPU", YOKE_ERR_NO_MEMORY},
    {10, "onecclAllocFailureGPU", YOKE_ERR_DEVICE_MEMORY},
    {11, "onecclPluginException", YOKE_ERR_SYSTEM},
    {12, "onecclNotImplemented", YOKE_ERR_UNSUPPORTED},
};
static const yoke_vendor_code_t hccl_codes[] = {
    {0, "HCCL_SUCCESS", YOKE_OK},
    {1, "HCCL_E_PARA", YOKE_ERR_SYSTEM},
    {2, "HCCL_E_PTR", YOKE_ERR_SYSTEM},
    {3, "HCCL_E_MEMORY", YOKE_ERR_DEVICE_MEMORY},
    {4, "HCCL_E_INTERNAL", YOKE_ERR_SYSTEM},
    {5, "HCCL_E_NOT_SUPPORT", YOKE_ERR_UNSUPPORTED},
    {6, "HCCL_E_NOT_FOUND", YOKE_ERR_SYSTEM},
    {7, "HCCL_E_UNAVAIL", YOKE_ERR_SYSTEM},
    {8, "HCCL_E_SYSCALL", YOKE_ERR_SYSTEM},
    {9, "HCCL_E_TIMEOUT", YOKE_ERR_TIMEOUT},
    {10, "HCCL_E_OPEN_FILE_FAILURE", YOKE_ERR_SYSTEM},
    {11, "HCCL_E_TCP_CONNECT", YOKE_ERR_UNREACHABLE},
    {12, "HCCL_E_ROCE_CONNECT", YOKE_ERR_UNREACHABLE},
    {13, "HCCL_E_TCP_TRANSFER", YOKE_ERR_PEER_FAILED},
    {14, "HCCL_E_ROCE_TRANSFER", YOKE_ERR_PEER_FAILED},
    {15, "HCCL_E_RUNTIME", YOKE_ERR_SYSTEM},
    {16, "HCCL_E_DRV", YOKE_ERR_SYSTEM},
    {17, "HCCL_E_PROFILING", YOKE_ERR_SYSTEM},
    {18, "HCCL_E_CCE", YOKE_ERR_SYSTEM},
    {19, "HCCL_E_NETWORK", YOKE_ERR_SYSTEM},
    {20, "HCCL_E_AGAIN", YOKE_ERR_SYSTEM},
    {21, "HCCL_E_REMOTE", YOKE_ERR_PEER_FAILED},
    {22, "HCCL_E_SUSPENDING", YOKE_ERR_SYSTEM},
    {23, "HCCL_E_OPRETRY_FAIL", YOKE_ERR_SYSTEM},
    {24, "HCCL_E_OOM", YOKE_ERR_DEVICE_MEMORY},
};
static const yoke_vendor_code_t cncl_codes[] = {
    {0x00, "CNCL_RET_SUCCESS", YOKE_OK},
    {0x01, "CNCL_RET_ERR_INTERNAL", YOKE_ERR_SYSTEM},
    {0x11, "CNCL_RET_ERR_UNSUPPORTED", YOKE_ERR_UNSUPPORTED},
    {0x21, "CNCL_RET_ERR_NULL_POINTER", YOKE_ERR_SYSTEM},
    {0x31, "CNCL_RET_ERR_BUILD_RING", YOKE_ERR_UNREACHABLE},
    {0x41, "CNCL_RET_ERR_BUILD_TREE", YOKE_ERR_UNREACHABLE},
    {0x51, "CNCL_RET_ERR_INIT", YOKE_ERR_SYSTEM},
    {0x61, "CNCL_RET_ERR_NOT_INIT", YOKE_ERR_SYSTEM},
    {0x71, "CNCL_RET_ERR_REINIT", YOKE_ERR_SYSTEM},
    {0x81, "CNCL_RET_ERR_NO_ALGO", YOKE_ERR_UNREACHABLE},
    {0x91, "CNCL_RET_ERR_INVALID_VERSION", YOKE_ERR_SYSTEM},
    {0x02, "CNCL_RET_ERR_SYSTEM", YOKE_ERR_SYSTEM},
    {0x12, "CNCL_RET_ERR_SYS_MALLOC", YOKE_ERR_NO_MEMORY},
    {0x22, "CNCL_RET_ERR_SYS_SOCKET", YOKE_ERR_SYSTEM},
    {0x32, "CNCL_RET_ERR_SYS_IBV", YOKE_ERR_SYSTEM},
    {0x03, "CNCL_RET_ERR_MLU_RUNTIME", YOKE_ERR_SYSTEM},
    {0x13, "CNCL_RET_ERR_CNRT_DEVICE", YOKE_ERR_SYSTEM},
    {0x23, "CNCL_RET_ERR_CNRT_MEMCOPY", YOKE_ERR_SYSTEM},
    {0x33, "CNCL_RET_ERR_CNRT_MALLOC", YOKE_ERR_DEVICE_MEMORY},
    {0x04, "CNCL_RET_ERR_MLU_DEVICE", YOKE_ERR_SYSTEM},
    {0x14, "CNCL_RET_ERR_CNDEV_NODE", YOKE_ERR_SYSTEM},
    {0x24, "CNCL_RET_ERR_CNDEV_RELATIONSHIP", YOKE_ERR_SYSTEM},
    {0x05, "CNCL_RET_ERR_MLU_INNETWORK_COMPUTE", YOKE_ERR_SYSTEM},
    {0x15, "CNCL_RET_ERR_CNLINC_TASK", YOKE_ERR_SYSTEM},
    {0x25, "CNCL_RET_ERR_CNLINC_WR", YOKE_ERR_SYSTEM},
    {0x35, "CNCL_RET_ERR_CNLINC_KERNEL", YOKE_ERR_SYSTEM},
    {0x06, "CNCL_RET_ASYNC_IN_PROGRESS", YOKE_OK},
    {0x16, "CNCL_RET_ASYNC_ERROR", YOKE_ERR_PEER_FAILED},
    {0x26, "CNCL_RET_ASYNC_UNKNOWN_ERROR", YOKE_ERR_SYSTEM},
    {0x07, "CNCL_RET_ERR_ARGUMENTS", YOKE_ERR_SYSTEM},
    {0x08, "CNCL_RET_ERR_MLU_ALLOCATE", YOKE_ERR_DEVICE_MEMORY},
    {0x18, "CNCL_RET_ERR_MLU_DEALLOCATE", YOKE_ERR_SYSTEM},
    {0x09, "CNCL_RET_IB_RECV_NOTREADY", YOKE_ERR_SYSTEM},
};

static const char *const nccl_files[] = {"libnccl.so.2", "libnccl.so", NULL};
static const char *const rccl_files[] = {"librccl.so.1", "librccl.so", NULL};
static const char *const mccl_files[] = {"libmccl.so", "libmccl.so.2", NULL};
static const char *const hccl_files[] = {"libhccl.so", NULL};
static const char *const cncl_files[] = {"libcncl.so", "libcncl.so.1", NULL};
/* libccl.so.1 may be the C++ interface alone: it is passed over then. */
static const char *const oneccl_files[] = {"libccl.so.2", "libccl.so.1", "libccl.so",
                                           NULL};
static const char *const bkcl_files[] = {"libbkcl.so", NULL};

/* f64 f32 f16 bf16 e4m3 e5m2 i8 u8 i32 u32 i64 u64 */
#define NCCL_TYPES                                                                       \
    {                                                                                    \
        8, 7, 6, 9, 10, 11, 0, 1, 2, 3, 4, 5                                             \
    }
#define NCCL_TYPES_NO_FP8                                                                \
    {                                                                                    \
        8, 7, 6, 9, NONE, NONE, 0, 1, 2, 3, 4, 5                                         \
    }
#define NCCL_SINCE                                                                       \
    {                                                                                    \
        0, 0, 0, 21000, 22400, 22400, 0, 0, 0, 0, 0, 0                                   \
    }
#define NCCL_OPS                                                                         \
    {                                                                                    \
        0, 1, 2, 3, 4                                                                    \
    }
#define FOUR_OPS                                                                         \
    {                                                                                    \
        0, 1, 2, 3, NONE                                                                 \
    }

const yoke_vendor_kind_t yoke_vendor_kinds[] = {
    {.name = "nccl",
     .runtime = "cuda",
     .key = "NCCL",
     .files = nccl_files,
     .stem = "libnccl.so",
     .prefix = "nccl",
     .marker = "ncclCommInitRank",
     .family = &yoke_vendor_nccl,
     .id_size = 128,
     .flags = YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES,
     .since = NCCL_SINCE,
     .reductions = NCCL_OPS,
     .average_since = 21000,
     .bytes = 1,
     .codes = nccl_codes,
     .code_count = COUNT(nccl_codes)},
    {.name = "ixccl",
     .runtime = "corex",
     .key = "IXCCL",
     .files = nccl_files,
     .stem = "libnccl.so",
     .prefix = "nccl",
     .marker = "ncclCommInitRank",
     .family = &yoke_vendor_nccl,
     .id_size = 128,
     .flags = YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES_NO_FP8,
     .since = NCCL_SINCE,
     .reductions = NCCL_OPS,
     .average_since = 21000,
     .bytes = 1,
     .codes = nccl_codes,
     .code_count = COUNT(nccl_codes)},
    {.name = "rccl",
     .runtime = "hip",
     .key = "RCCL",
     .files = rccl_files,
     .stem = "librccl.so",
     .prefix = "nccl",
     .marker = "ncclCommInitRank",
     .family = &yoke_vendor_nccl,
     .id_size = 128,
     .flags = YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES_NO_FP8,
     .reductions = NCCL_OPS,
     .average_since = 21000,
     .bytes = 1,
     .codes = nccl_codes,
     .code_count = COUNT(nccl_codes)},
    {.name = "rccl-dtk",
     .runtime = "dtk",
     .key = "RCCL_DTK",
     .files = rccl_files,
     .stem = "librccl.so",
     .prefix = "nccl",
     .marker = "ncclCommInitRank",
     .family = &yoke_vendor_nccl,
     .id_size = 128,
     .flags = YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES_NO_FP8,
     .reductions = NCCL_OPS,
     .average_since = 21000,
     .bytes = 1,
     .codes = nccl_codes,
     .code_count = COUNT(nccl_codes)},
    {.name = "mccl-maca",
     .runtime = "maca",
     .key = "MCCL_MACA",
     .files = mccl_files,
     .stem = "libmccl.so",
     .prefix = "mccl",
     .marker = "mcclCommMcDevice",
     .foreign = "mcclCommMuDevice",
     .foreign_name = "Moore Threads' MCCL, not MetaX's",
     .family = &yoke_vendor_nccl,
     .id_size = 128,
     .flags = YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES_NO_FP8,
     .reductions = NCCL_OPS,
     .bytes = 1,
     .codes = mccl_codes,
     .code_count = COUNT(mccl_codes)},
    {.name = "mccl-musa",
     .runtime = "musa",
     .key = "MCCL_MUSA",
     .files = mccl_files,
     .stem = "libmccl.so",
     .prefix = "mccl",
     .marker = "mcclCommMuDevice",
     .foreign = "mcclCommMcDevice",
     .foreign_name = "MetaX's MCCL, not Moore Threads'",
     .family = &yoke_vendor_nccl,
     .id_size = 128,
     .flags = YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES_NO_FP8,
     .reductions = NCCL_OPS,
     .average_since = 21000,
     .bytes = 1,
     .codes = musa_codes,
     .code_count = COUNT(musa_codes)},
    {.name = "hccl",
     .runtime = "ascend",
     .key = "HCCL",
     .files = hccl_files,
     .stem = "libhccl.so",
     .prefix = "",
     .marker = "HcclCommInitRootInfo",
     .family = &yoke_vendor_hccl,
     .id_size = 4108,
     .flags = YOKE_VENDOR_FIXED | YOKE_VENDOR_PLAIN,
     .elements = {10, 4, 3, 11, NONE, NONE, 0, 7, 2, 9, 5, 6},
     .reductions = FOUR_OPS,
     .bytes = 0,
     .codes = hccl_codes,
     .code_count = COUNT(hccl_codes)},
    {.name = "cncl",
     .runtime = "cambricon",
     .key = "CNCL",
     .files = cncl_files,
     .stem = "libcncl.so",
     .prefix = "",
     .marker = "cnclInitComms",
     .family = &yoke_vendor_cncl,
     .id_size = 136,
     .elements = {NONE, 0x12, 0x10, 0x11, NONE, NONE, 0x20, 0x30, 0x22, 0x32, 0x23, 0x33},
     .reductions = FOUR_OPS,
     .bytes = 0x30,
     .codes = cncl_codes,
     .code_count = COUNT(cncl_codes)},
    {.name = "oneccl",
     .runtime = "host",
     .key = "ONECCL",
     .files = oneccl_files,
     .stem = "libccl.so",
     .prefix = "oneccl",
     .marker = "onecclCommInitRank",
     .family = &yoke_vendor_nccl,
     .id_size = 4096,
     .flags = YOKE_VENDOR_HOST | YOKE_VENDOR_SELF,
     .elements = NCCL_TYPES_NO_FP8,
     .reductions = FOUR_OPS, /* the plug-in for CPUs refuses avg: 2022.1, tried */
     .bytes = 1,
     .codes = oneccl_codes,
     .code_count = COUNT(oneccl_codes),
     .hint = "on CPUs it needs CCL_PLUGIN=ONECCL_LEGACY_CPU in the environment, and "
             "CCL_ZE_ENABLE=0 where Level Zero does not start"},
    {.name = "bkcl",
     .runtime = "kunlun",
     .key = "BKCL",
     .files = bkcl_files,
     .stem = "libbkcl.so",
     .prefix = "",
     .marker = "bkcl_init_rank",
     .family = &yoke_vendor_bkcl,
     .flags = YOKE_VENDOR_SELF,
     .elements = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
     .reductions = {NONE, NONE, NONE, NONE, NONE},
     .bytes = NONE},
};
const size_t yoke_vendor_kind_count = COUNT(yoke_vendor_kinds);
