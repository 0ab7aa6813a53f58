/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_CAMBRICON_CNRT_H
#define YOKE_TESTS_FAKES_CAMBRICON_CNRT_H

/*
 * The part of CNRT, CNDev and CNNL that the fakes have. Sources:
 *   cnrt   cnrt.h of CNRT 6.14.1 (public copy of the Neuware header)
 *   cndev  cndev.h, API version 5 (public copy, as in Cambricon's device plug-in)
 *   cnnl   cnnl_core.h (public copy) for cnnlStatus_t, cnnlTensorLayout_t,
 * cnnlDataType_t; mlu-ops mlu_op.h and core/cnnl_helper.cpp, which hands its own values
 * on as CNNL's, for the data types that the copy is too old for
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- cnrt ----------------------------------------------------------------------------
 */

typedef enum cnrtRet {
    cnrtSuccess = 0,
    cnrtErrorNotReady = 1,
    cnrtErrorInit = 100002,
    cnrtErrorNoDevice = 100004,
    cnrtErrorDeviceInvalid = 100005,
    cnrtErrorArgsInvalid = 100006,
    cnrtErrorSys = 100007,
    cnrtErrorSysNoMem = 100010,
    cnrtErrorInvalidResourceHandle = 100014,
    cnrtErrorIllegalState = 100015,
    cnrtErrorNotSupport = 100050,
    cnrtErrorOpsNotPermitted = 100051,
    cnrtErrorQueue = 100060,
    cnrtErrorNoMem = 100100,
    cnrtErrorAssert = 100128,
    cnrtErrorKernelTrap = 100132,
    cnrtErrorDevice = 632006,
    cnrtErrorNoAttribute = 632009,
    cnrtErrorMemcpyDirectionInvalid = 632013,
    cnrtErrorBusy = 632014,
    cnrtErrorCndrvFuncCall = 632015,
    cnrtErrorCndevFuncCall = 632017,
    cnrtErrorNoCnrtContext = 632019,
    cnrtErrorCndrvFuncNotFound = 632020,
    cnrtErrorUnknown = 999991
} cnrtRet_t;

typedef enum cnrtMemTransDir {
    cnrtMemcpyHostToDev = 0,
    cnrtMemcpyDevToDev = 1,
    cnrtMemcpyDevToHost = 2,
    cnrtMemcpyHostToHost = 3,
    cnrtMemcpyPeerToPeer = 4,
    cnrtMemcpyNoDirection = 5
} cnrtMemTransDir_t;

typedef enum cnrtDeviceAttr {
    cnrtAttrComputeCapabilityMajor = 0x01,
    cnrtAttrComputeCapabilityMinor = 0x02,
    cnrtAttrFP16ComputingSupported = 0x04,
    cnrtAttrINT8ComputingSupported = 0x06,
    cnrtAttrBF16ComputingSupported = 0x07,
    cnrtAttrTF32ComputingSupported = 0x08,
    cnrtAttrQueueSize = 0x101,
    cnrtAttrNotifierSize = 0x102,
    cnrtAttrClusterCount = 0x205,
    cnrtAttrMcorePerCluster = 0x206,
    cnrtAttrISAVersion = 0x20a,
    cnrtAttrMaxL2CacheSize = 0x301,
    cnrtAttrNramSizePerMcore = 0x302,
    cnrtAttrAvailableGlobalMemorySize = 0x312, /* MB */
    cnrtAttrEccEnable = 0x401,
    cnrtAttrIpuClockRate = 0x402, /* kHz */
    cnrtAttrMemClockRate = 0x403, /* kHz */
    cnrtAttrGmemBusWidth = 0x404, /* bits */
    cnrtAttrTotalMemSize = 0x405, /* MB */
    cnrtAttrPciBusID = 0x406,
    cnrtAttrPciDeviceID = 0x407,
    cnrtAttrPciDomainID = 0x408
} cnrtDeviceAttr_t;

typedef enum cnrtMemType {
    cnrtMemTypeUnregistered = 0,
    cnrtMemTypeHost = 1,
    cnrtMemTypeDevice = 2
} cnrtMemType_t;

typedef struct cnrtPointerAttributes {
    cnrtMemType_t type;
    int device;
    size_t size;
    void *devicePointer;
    void *hostPointer;
    int cacheMode;
    void *deviceBasePointer;
} cnrtPointerAttributes_t;

typedef struct cnrtUUID {
    char uuid[16];
} cnrtUUID_t;

/* cnrtGetDeviceProperties_V3 fills this one; the header renames the call. */
typedef struct cnrtDeviceProp {
    char name[256];
    int totalMem; /* MB */
    int maxDim[3];
    int ipuClockRate, memClockRate, totalConstMem, major, minor, ECCEnabled;
    int pciBusID, pciDeviceID, pciDomainID;
    int maxL2CacheSize, persistingL2CacheMaxSize, queuePrioritiesSupported;
    int sparseComputingSupported, FP16ComputingSupported, INT4ComputingSupported;
    int INT8ComputingSupported, BF16ComputingSupported, TF32ComputingSupported;
    int maxQueueSize, maxNotifierSize, tinyCoreSupported;
    int codecJPEGSupported, codecH264Supported, codecH265Supported;
    int maxClusterCountPerUnionTask, clusterCount, McorePerCluster, maxQuadrantCount;
    int maxUnionTypePerQuadrant, maxClusterPerUnionLimitTask, ISAVersion;
    int isMultipleTensorProcessor, NramSizePerMcore, WramSizePerMcore, LmemSizePerMcore;
    int SramSizePerMcore, globalMemoryNodeCount, cacheSize, GmemBusWidth, computeMode;
    int MDRMemorySize, availableGlobalMemorySize;
    cnrtUUID_t uuid;
    uint64_t totalGlobalMemSize;
    int reserved[30];
} cnrtDeviceProp_t;

#define CNRT_NOTIFIER_DEFAULT 0x0u
#define CNRT_NOTIFIER_DISABLE_TIMING_SW 0x2u
#define CNRT_NOTIFIER_DISABLE_TIMING_ALL 0x4u
#define CNRT_NOTIFIER_INTERPROCESS 0x8u

typedef struct CNqueue_st *cnrtQueue_t;
typedef struct CNnotifier_st *cnrtNotifier_t;
typedef void (*cnrtHostFn_t)(void *userData);

/* --- cndev ---------------------------------------------------------------------------
 */

typedef enum cndevRet {
    CNDEV_SUCCESS = 0,
    CNDEV_ERROR_NO_DRIVER = 1,
    CNDEV_ERROR_LOW_DRIVER_VERSION = 2,
    CNDEV_ERROR_UNSUPPORTED_API_VERSION = 3,
    CNDEV_ERROR_UNINITIALIZED = 4,
    CNDEV_ERROR_INVALID_ARGUMENT = 5,
    CNDEV_ERROR_INVALID_DEVICE_ID = 6,
    CNDEV_ERROR_UNKNOWN = 7,
    CNDEV_ERROR_NO_DEVICES = 12
} cndevRet_t;

#define CNDEV_VERSION_5 5
#define CNDEV_VERSION_6 6
typedef int32_t cndevDevice_t;

typedef struct cndevCardInfo {
    int version;
    unsigned number;
} cndevCardInfo_t;

typedef struct cndevUUID {
    int version;
    uint8_t uuid[37];
    uint64_t ncsUUID64;
} cndevUUID_t;

typedef struct cndevMemoryInfo {
    int version;
    int64_t physicalMemoryTotal; /* MB, all */
    int64_t physicalMemoryUsed;
    int64_t virtualMemoryTotal;
    int64_t virtualMemoryUsed;
    int64_t channelNumber;
    int64_t channelMemoryUsed[20];
    uint64_t globalMemory;
} cndevMemoryInfo_t;

typedef struct cndevVersionInfo {
    int version;
    unsigned mcuMajorVersion, mcuMinorVersion, mcuBuildVersion;
    unsigned driverMajorVersion, driverMinorVersion, driverBuildVersion;
} cndevVersionInfo_t;

typedef struct cndevPCIeInfo {
    int version;
    unsigned subsystemId, deviceId;
    uint16_t vendor, subsystemVendor;
    unsigned domain, bus, device, function;
    const char *physicalSlot;
    int slotID;
} cndevPCIeInfo_t;

/* cndevNameEnum_t */
#define CNDEV_DEVICE_TYPE_MLU370 23
#define CNDEV_DEVICE_TYPE_MLU590 26
typedef struct cndevCardName {
    int version;
    int id;
} cndevCardName_t;

/* --- cnnl ----------------------------------------------------------------------------
 */

typedef enum cnnlStatus {
    CNNL_STATUS_SUCCESS = 0,
    CNNL_STATUS_NOT_INITIALIZED = 1,
    CNNL_STATUS_ALLOC_FAILED = 2,
    CNNL_STATUS_BAD_PARAM = 3,
    CNNL_STATUS_INTERNAL_ERROR = 4,
    CNNL_STATUS_ARCH_MISMATCH = 5,
    CNNL_STATUS_EXECUTION_FAILED = 6,
    CNNL_STATUS_NOT_SUPPORTED = 7,
    CNNL_STATUS_NUMERICAL_OVERFLOW = 8
} cnnlStatus_t;

typedef enum cnnlTensorLayout {
    CNNL_LAYOUT_NCHW = 0,
    CNNL_LAYOUT_NHWC = 1,
    CNNL_LAYOUT_ARRAY = 4
} cnnlTensorLayout_t;

typedef enum cnnlDataType {
    CNNL_DTYPE_INVALID = 0,
    CNNL_DTYPE_HALF = 1,
    CNNL_DTYPE_FLOAT = 2,
    CNNL_DTYPE_INT8 = 3,
    CNNL_DTYPE_INT16 = 4,
    CNNL_DTYPE_INT31 = 5,
    CNNL_DTYPE_INT32 = 6,
    CNNL_DTYPE_UINT8 = 7,
    CNNL_DTYPE_BOOL = 8,
    CNNL_DTYPE_INT64 = 9,    /* mlu_op.h */
    CNNL_DTYPE_UINT32 = 11,  /* mlu_op.h */
    CNNL_DTYPE_UINT64 = 12,  /* mlu_op.h */
    CNNL_DTYPE_UINT16 = 13,  /* mlu_op.h */
    CNNL_DTYPE_DOUBLE = 14,  /* mlu_op.h */
    CNNL_DTYPE_BFLOAT16 = 17 /* mlu_op.h */
} cnnlDataType_t;

#define CNNL_DIM_MAX 8

typedef struct cnnlContext *cnnlHandle_t;
typedef struct cnnlTensorStruct *cnnlTensorDescriptor_t;

#endif
