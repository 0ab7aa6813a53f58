/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of HIP against the installed hip_runtime_api.h; compiling is the test.
 */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include "backends/hip/hip.h"

#define SAME(ours, theirs)                                                               \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

SAME(YOKE_HIP_SUCCESS, hipSuccess);
SAME(YOKE_HIP_ERROR_INSUFFICIENT_DRIVER, hipErrorInsufficientDriver);
SAME(YOKE_HIP_ERROR_NO_DEVICE, hipErrorNoDevice);
SAME(YOKE_HIP_ERROR_INVALID_DEVICE, hipErrorInvalidDevice);
SAME(sizeof(yoke_hip_uuid_t), sizeof(hipUUID));
SAME(sizeof(int), sizeof(hipError_t));
SAME(sizeof(int), sizeof(hipDevice_t));

int header_check_hip(void);
int header_check_hip(void)
{
    hipError_t (*count)(int *) = hipGetDeviceCount;
    hipError_t (*version)(int *) = hipRuntimeGetVersion;
    hipError_t (*name)(char *, int, hipDevice_t) = hipDeviceGetName;
    hipError_t (*uuid)(hipUUID *, hipDevice_t) = hipDeviceGetUuid;
    hipError_t (*memory)(size_t *, hipDevice_t) = hipDeviceTotalMem;
    hipError_t (*pci)(char *, int, int) = hipDeviceGetPCIBusId;
    return count && version && name && uuid && memory && pci;
}
