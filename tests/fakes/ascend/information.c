/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake AscendCL tells of a device. */
#include "core.h"
#include <stdio.h>
#include <string.h>

/* One name for all devices; it does not ask which. */
FAKE_API const char *aclrtGetSocName(void)
{
    FAKE_CALL_OTHER(aclrtGetSocName, NULL);
    if (acl_check_ready() != ACL_SUCCESS || fake_visible(0) == NULL)
        return NULL;
    return fake_visible(0)->arch;
}

FAKE_API aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    FAKE_CALL(aclrtGetVersion, aclError);
    if (major == NULL || minor == NULL || patch == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "an output is NULL");
    /* acl_rt.h: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION */
    FAKE_OUT(*major, 1);
    FAKE_OUT(*minor, 16);
    FAKE_OUT(*patch, 0);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    FAKE_CALL(aclrtGetRunMode, aclError);
    aclError code = acl_check_ready();
    if (code != ACL_SUCCESS)
        return code;
    if (runMode == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "runMode is NULL");
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

static bool attribute_of(const fake_card_t *card, aclrtDevAttr attr, int64_t *out_value)
{
    switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *out_value = 6;
        return true;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *out_value = fake_config_number(card->index, "cores", 20);
        return true;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *out_value = 2 * fake_config_number(card->index, "cores", 20);
        return true;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *out_value = (int64_t)card->memory;
        return true;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *out_value = fake_config_number(card->index, "l2", 192 << 20);
        return true;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
        *out_value = card->index;
        return true;
    }
    return false;
}

FAKE_API aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value)
{
    FAKE_CALL(aclrtGetDeviceInfo, aclError);
    fake_card_t *card;
    int64_t found = 0;
    if (value == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "value is NULL");
    aclError code = acl_enter_device(deviceId, &card);
    if (code != ACL_SUCCESS)
        return code;
    if (!attribute_of(card, attr, &found))
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "no attribute %d", (int)attr);
    FAKE_OUT(*value, found);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid)
{
    FAKE_CALL(aclrtDeviceGetUuid, aclError);
    fake_card_t *card;
    if (uuid == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "uuid is NULL");
    aclError code = acl_enter_device(deviceId, &card);
    if (code != ACL_SUCCESS)
        return code;
    memcpy(uuid->bytes, card->uuid, sizeof uuid->bytes);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len)
{
    FAKE_CALL(aclrtDeviceGetPCIBusId, aclError);
    fake_card_t *card;
    char text[32];
    if (pciBusId == NULL || len <= 0)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "no room for the PCI address");
    aclError code = acl_enter_device(deviceId, &card);
    if (code != ACL_SUCCESS)
        return code;
    fake_pci_text(card, text, sizeof text);
    if (strlen(text) >= (size_t)len)
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "len %d is too small", len);
    strcpy(pciBusId, text);
    return ACL_SUCCESS;
}

/* Of the current device. A device has one kind of memory; asked for the other kind it
 * says 0 and succeeds. */
FAKE_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free_size, size_t *total)
{
    FAKE_CALL(aclrtGetMemInfo, aclError);
    context_t *context;
    if (free_size == NULL || total == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "an output is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    bool ddr = fake_config_number(context->card->index, "ddr", 0) != 0;
    bool asks_hbm =
        attr == ACL_HBM_MEM || attr == ACL_HBM_MEM_HUGE || attr == ACL_HBM_MEM_NORMAL;
    uint64_t left = 0, all = 0;
    if ((attr == ACL_DDR_MEM && ddr) || (asks_hbm && !ddr))
        fake_memory_info(context->card, &left, &all);
    else if (attr != ACL_DDR_MEM && !asks_hbm)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "no memory attribute %d", (int)attr);
    FAKE_OUT(*free_size, left);
    FAKE_OUT(*total, all);
    return ACL_SUCCESS;
}

FAKE_API aclError aclrtPointerGetAttributes(const void *ptr,
                                            aclrtPtrAttributes *attributes)
{
    FAKE_CALL(aclrtPointerGetAttributes, aclError);
    context_t *context;
    fake_block_t block;
    if (ptr == NULL || attributes == NULL)
        return acl_fail(ACL_ERROR_INVALID_PARAM, "an argument is NULL");
    aclError code = acl_enter(&context);
    if (code != ACL_SUCCESS)
        return code;
    memset(attributes, 0, sizeof *attributes);
    attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    if (fake_memory_find(ptr, 0, &block)) {
        attributes->location.type = block.kind == FAKE_MEMORY_DEVICE
                                        ? ACL_MEM_LOCATION_TYPE_DEVICE
                                        : ACL_MEM_LOCATION_TYPE_HOST;
        attributes->location.id = (uint32_t)fake_ordinal_of(block.card);
    }
    return ACL_SUCCESS;
}
