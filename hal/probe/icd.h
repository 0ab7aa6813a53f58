/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_ICD_H
#define YOKE_HAL_ICD_H

/* OpenCL vendor files: which there are, and which library each names. */

#include <stdbool.h>
#include <stddef.h>
#include "yoke/status.h"

typedef struct yoke_icd {
    char *name;    /* "pocl.icd", or the library's own name when it was given directly */
    char *library; /* as written, blanks and line ends trimmed; NULL: see problem */
    char *problem; /* "no library named", "names the same library as pocl.icd" ... */
    bool fault;    /* the problem makes the result partial */
} yoke_icd_t;

typedef struct yoke_icds {
    yoke_icd_t *items;
    size_t count;
    char *where; /* folder or file that was read */
} yoke_icds_t;

/* $OCL_ICD_VENDORS, $OPENCL_VENDOR_PATH (a folder, a .icd file or a library), else
 * /etc/OpenCL/vendors; below a sysroot only its /etc. Sorted by name. */
yoke_status_t yoke_icds_list(const char *sysroot, yoke_icds_t *out_icds);
void yoke_icds_free(yoke_icds_t *icds);

#endif
