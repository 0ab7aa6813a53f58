/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_BACKEND_H
#define YOKE_BACKENDS_BACKEND_H

/*
 * The table that a backend fills. A backend knows this file, hal/loader.h and its own
 * vendor, nothing else. Its functions run in a helper process that probes one library and
 * ends: they may leak, be killed at any time, and need no locks.
 */

#include "hal/loader.h"
#include "inventory/record.h"
#include "yoke/backend.h"

typedef struct yoke_backend yoke_backend_t;

/* What one probe was asked, and where its answers go. */
typedef struct yoke_probe_run {
    const yoke_backend_t *backend;
    const char *probe;   /* name in records and findings: "hip", "opencl:pocl.icd" */
    const char *library; /* library to take instead of the backend's own names, or NULL */
    bool unmasked;       /* visibility variables were removed: indexes are native ones */
    /* Each call hands one line to the parent at once, so that what was said before a
     * crash is kept. The record and the finding stay the caller's. */
    void (*put_record)(struct yoke_probe_run *run, const yoke_record_t *record);
    void (*put_finding)(struct yoke_probe_run *run, const yoke_finding_t *finding);
    size_t record_count;
    bool has_finding;
} yoke_probe_run_t;

struct yoke_backend {
    const char *name;             /* also the runtime's name in views */
    const char *library_key;      /* $YOKE_LIB_<KEY> overrides the library; NULL: none */
    const char *const *libraries; /* sonames, tried in this order; NULL-terminated */
    const char
        *hidden_as; /* runtime name for the rules of inventory/visibility.h, or NULL */
    /* Variables that may hide devices; removed for the second, complete enumeration.
     * NULL: those of hidden_as, if any. */
    const char *const *masks;
    bool on_request;                         /* probed only when named */
    bool vendor_files;                       /* one probe per OpenCL vendor file */
    void (*probe)(yoke_probe_run_t *run);    /* NULL: nothing to load (the host) */
    const char *(*error_name)(int64_t code); /* NULL for an unknown code */
    const char *missing;                     /* what it means when no library is there */
    const yoke_backend_ops_t *live;          /* devices, queues and so on; NULL: none */
};

/* All backends, NULL-terminated, in order of rank; backends/backends.c. */
extern const yoke_backend_t *const yoke_backends[];
const yoke_backend_t *yoke_backend_find(const char *name);

/* --- answers (backends/report.c) ---------------------------------------------------- */

/* A record with probe, runtime, library and kind-neutral defaults filled in. */
void yoke_run_record_init(const yoke_probe_run_t *run, const char *library,
                          yoke_record_t *out_record);
/* Hand a record over and free what it owns. */
void yoke_run_put(yoke_probe_run_t *run, yoke_record_t *record);
/* Text as a vendor's library gives it: blanks around it dropped, control characters and
 * bytes that are no UTF-8 replaced by '?'. NULL when nothing is left; caller frees. */
char *yoke_run_text(const char *raw, size_t size);
/* Set a quantity that a vendor's library said; 0 means that it said nothing. */
void yoke_run_bytes(yoke_quantity_t *quantity, uint64_t bytes, const char *detail);
/* Memory that a runtime offers: what its driver reserves is already taken off, so the
 * total is also what can be used. */
void yoke_run_memory(yoke_record_t *record, uint64_t bytes, const char *detail);

/* One device does not answer: it costs one device, never the vendor. Sets the record's
 * health, "lost" or "faulty", and makes the finding. */
void yoke_run_unhealthy(yoke_probe_run_t *run, yoke_record_t *record, const char *library,
                        const char *call, int64_t code, bool lost);
/* Whether a library may be believed that it has so many devices (the caller has room for
 * `most`); false after a finding: nothing that it says next would mean anything. */
bool yoke_run_believable(yoke_probe_run_t *run, const char *library, const char *call,
                         int64_t count, int64_t most);

/* A vendor's call failed: names library, call, code and the code's name. */
void yoke_run_code(yoke_probe_run_t *run, const char *verdict, const char *library,
                   const char *call, int64_t code, bool fault, const char *text);
/* Any other answer; library, call may be NULL. */
void yoke_run_say(yoke_probe_run_t *run, const char *verdict, const char *library,
                  const char *call, bool fault, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/*
 * Open the backend's library and resolve its symbols. On failure the finding (library not
 * found, symbol missing) was already made.
 */
bool yoke_run_open(yoke_probe_run_t *run, const yoke_symbol_t *symbols, size_t count,
                   yoke_library_t *out_library);

#endif
