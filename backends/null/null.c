/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend to clone for a new runtime: this file probes, null_live.c runs. It has one
 * device that does nothing, and is probed only when it is named (--backend null,
 * YOKE_BACKENDS=null).
 */
#include "backends/backend.h"

#include "base/text.h"

static void probe(yoke_probe_run_t *run)
{
    yoke_record_t record;
    yoke_run_record_init(run, NULL, &record);
    record.ordinal = 0;
    record.name = yoke_strdup("Null device");
    record.vendor = yoke_strdup("Yoke");
    record.kind = YOKE_DEVICE_OTHER;
    record.kind_known = true;
    record.emulator = true; /* never counted, never scheduled */
    yoke_run_bytes(&record.memory_total, (uint64_t)1 << 30, "null backend");
    yoke_run_put(run, &record);
}

static const char *error_name(int64_t code)
{
    return code == 0 ? "NULL_SUCCESS" : NULL;
}

extern const yoke_backend_ops_t yoke_null_ops __attribute__((visibility("hidden")));

static const char *const no_libraries[] = {NULL};

extern const yoke_backend_t yoke_backend_null;
const yoke_backend_t yoke_backend_null = {
    .name = "null",
    .libraries = no_libraries,
    .on_request = true,
    .probe = probe,
    .error_name = error_name,
    .live = &yoke_null_ops,
};
