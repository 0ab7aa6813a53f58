/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of the CUDA driver API against the installed cuda.h; compiling is the
 * test. */
#include <cuda.h>
#include "backends/cuda/cu.h"

#define SAME(ours, theirs)                                                               \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

SAME(YOKE_CU_SUCCESS, CUDA_SUCCESS);
SAME(YOKE_CU_ERROR_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME(YOKE_CU_ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(YOKE_CU_ERROR_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
SAME(YOKE_CU_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(YOKE_CU_ERROR_COMPAT_NOT_SUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(YOKE_CU_ATTRIBUTE_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME(YOKE_CU_ATTRIBUTE_PCI_BUS, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
SAME(YOKE_CU_ATTRIBUTE_PCI_DEVICE, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
SAME(YOKE_CU_ATTRIBUTE_PCI_DOMAIN, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
SAME(sizeof(yoke_cu_uuid_t), sizeof(CUuuid));
SAME(sizeof(yoke_cu_device_t), sizeof(CUdevice));
SAME(sizeof(int), sizeof(CUresult));
SAME(sizeof(int), sizeof(CUdevice_attribute));

int header_check_cuda(void);
int header_check_cuda(void)
{
    CUresult (*init)(unsigned) = cuInit;
    CUresult (*version)(int *) = cuDriverGetVersion;
    CUresult (*count)(int *) = cuDeviceGetCount;
    CUresult (*get)(yoke_cu_device_t *, int) = cuDeviceGet;
    CUresult (*name)(char *, int, yoke_cu_device_t) = cuDeviceGetName;
    CUresult (*uuid)(CUuuid *, yoke_cu_device_t) = cuDeviceGetUuid;
    CUresult (*memory)(size_t *, yoke_cu_device_t) = cuDeviceTotalMem;
    CUresult (*attribute)(int *, CUdevice_attribute, yoke_cu_device_t) =
        cuDeviceGetAttribute;
    CUresult (*pci)(char *, int, yoke_cu_device_t) = cuDeviceGetPCIBusId;
    return init && version && count && get && name && uuid && memory && attribute && pci;
}
