/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_OPENCL_SUPPORT_H
#define YOKE_TESTS_OPENCL_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "yoke/device.h"

/* Point OpenCL to a folder of our own; false: no runtime to test with (said why). */
bool support_prepare(void);
void support_clean(void);

/* Name of the device of PoCL (or of YOKE_TEST_ICD) and of Oclgrind ("opencl:1"), NULL
 * when it is not there. */
const char *support_pocl(void);
const char *support_oclgrind(void);
/* All devices, NULL-terminated. */
const char *const *support_devices(void);

/* assert_int_equal(call, YOKE_OK) that shows the message. */
#define ok(call) support_ok((call), #call, __FILE__, __LINE__)
void support_ok(yoke_status_t status, const char *call, const char *file, int line);

void *support_bytes(size_t size, unsigned seed);

#endif
