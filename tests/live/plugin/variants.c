/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are not as they should be, or of an earlier time. */
#define YOKE_NULL_NAME "earlier"
#include "own.c"

const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major);
const yoke_backend_ops_t *yoke_backend_entry(uint32_t abi_major)
{
    static yoke_backend_ops_t table;
    (void)abi_major;
    table = yoke_null_ops;
#ifdef MAJOR
    table.abi_major = MAJOR;
#endif
#ifdef INCOMPLETE
    table.buffer_create = NULL;
#endif
#ifdef EARLIER
    /* A minor that ended before the gates; what follows in memory is no part of it. */
    table.struct_size = offsetof(yoke_backend_ops_t, gate_create);
    memset((char *)&table + table.struct_size, 0x55, sizeof table - table.struct_size);
#endif
#ifdef NO_TABLE
    return NULL;
#else
    return &table;
#endif
}
