/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of names: mcError_t as a public Cython binding of mcr/maca.h has it. */
{0, "mcSuccess"}, {1, "mcErrorInvalidValue"}, {2, "mcErrorMemoryAllocation"},
    {3, "mcErrorInitializationError"}, {21, "mcErrorInvalidMemcpyDirection"},
    {100, "mcErrorNoDevice"}, {101, "mcErrorInvalidDevice"},
    {200, "mcErrorInvalidKernelImage"}, {209, "mcErrorNoKernelImageForDevice"},
    {214, "mcErrorECCUncorrectable"}, {217, "mcErrorPeerAccessUnsupported"},
    {400, "mcErrorInvalidResourceHandle"}, {500, "mcErrorSymbolNotFound"},
    {600, "mcErrorNotReady"}, {700, "mcErrorIllegalAddress"},
    {701, "mcErrorLaunchOutOfResources"}, {702, "mcErrorLaunchTimeout"},
    {704, "mcErrorPeerAccessAlreadyEnabled"}, {705, "mcErrorPeerAccessNotEnabled"},
    {712, "mcErrorHostMemoryAlreadyRegistered"}, {713, "mcErrorHostMemoryNotRegistered"},
    {719, "mcErrorLaunchFailure"}, {801, "mcErrorNotSupported"}, {999, "mcErrorUnknown"},
