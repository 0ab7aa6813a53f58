/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_VENDOR_LIBRARY_H
#define YOKE_COMM_VENDOR_LIBRARY_H

/*
 * What vendor/ shares: a kind is one vendor's library (numbers, names, sizes), a family
 * is a way of calling (NCCL's, HCCL's, CNCL's, BKCL's), a vendor is a loaded library.
 */

#include "hal/loader.h"
#include "ucx_comm/vendor/vendor.h"

/* A result of the library. The first of a table is success; another YOKE_OK is "in
 * progress", which is no error where it is asynchronous. What is not listed is an unknown
 * code and an error. */
typedef struct yoke_vendor_code {
    int64_t code;
    const char *name;
    yoke_status_t status;
} yoke_vendor_code_t;

typedef struct yoke_vendor_operation {
    yoke_collective_t collective;
    const void *send;
    void *recv;
    uint64_t count;
    int element, reduction; /* the library's numbers */
    int peer;
    bool sends; /* of SEND_RECV */
    void *stream;
} yoke_vendor_operation_t;

/* Functions return the library's code, and the name of what they called by out_call. */
typedef struct yoke_vendor_family {
    /* NULL, or a required function that is missing. */
    const char *(*resolve)(yoke_vendor_t *vendor);
    /* Fills vendor->version and number; false: it does not tell. */
    bool (*version)(yoke_vendor_t *vendor, int64_t *out_code);
    int64_t (*make_id)(const yoke_vendor_t *vendor, void *id, const char **out_call);
    int64_t (*join)(const yoke_vendor_t *vendor, int size, int rank, const void *id,
                    int ordinal, void **out_comm, const char **out_call);
    int64_t (*leave)(const yoke_vendor_t *vendor, void *comm, const char **out_call);
    int64_t (*stop)(const yoke_vendor_t *vendor, void *comm, const char **out_call);
    int64_t (*asynchronous)(const yoke_vendor_t *vendor, void *comm, int64_t *out_code,
                            const char **out_call);
    int64_t (*call)(const yoke_vendor_t *vendor, void *comm,
                    const yoke_vendor_operation_t *operation, const char **out_call);
    int64_t (*group)(const yoke_vendor_t *vendor, bool begin, const char **out_call);
    /* Several sends and receives at once, where that is not made of a group; else NULL */
    int64_t (*batch)(const yoke_vendor_t *vendor, void *comm,
                     const yoke_vendor_operation_t *items, size_t count, void *stream,
                     const char **out_call);
    /* The function that a collective needs, when the library lacks it. */
    const char *(*missing)(const yoke_vendor_t *vendor, yoke_collective_t collective);
    bool (*can_stop)(const yoke_vendor_t *vendor);
    /* The library's own words; NULL or "": none */
    const char *(*words)(const yoke_vendor_t *vendor, void *comm, int64_t code);
    /* Which of its own elements and reductions do not go together; NULL: all do. */
    bool (*reduces)(yoke_element_t element, yoke_reduction_t reduction);
} yoke_vendor_family_t;

#define YOKE_VENDOR_HOST (1u << 0)  /* host memory; a call waits; no stream */
#define YOKE_VENDOR_SELF (1u << 1)  /* a rank may send to itself */
#define YOKE_VENDOR_FIXED (1u << 2) /* broadcasts in place only */
#define YOKE_VENDOR_PLAIN (1u << 3) /* scatters few types: always as bytes */

typedef struct yoke_vendor_kind {
    const char *name;
    const char *runtime; /* backend of the HAL */
    const char *key;     /* of YOKE_LIB_<key> */
    const char *const *files;
    const char *stem;    /* of the file's name, when the process has it already */
    const char *prefix;  /* of NCCL's functions */
    const char *marker;  /* a function that only this library has */
    const char *foreign; /* one that tells another library of the same name... */
    const char *foreign_name;
    const yoke_vendor_family_t *family;
    size_t id_size;
    uint32_t flags;
    int elements[YOKE_ELEMENT_COUNT];     /* -1: none */
    uint32_t since[YOKE_ELEMENT_COUNT];   /* number of the first version that has it */
    int reductions[YOKE_REDUCTION_COUNT]; /* -1: none */
    uint32_t average_since;
    int bytes; /* its number for what moves as bytes */
    const yoke_vendor_code_t *codes;
    size_t code_count;
    const char *hint; /* appended when a communicator cannot be made; NULL */
} yoke_vendor_kind_t;

/* CNCL's codes are a class and an index; all numbers fit. */
#define YOKE_VENDOR_CODES 40

struct yoke_vendor {
    const yoke_vendor_kind_t *kind;
    yoke_library_t library;
    char version[40];
    uint32_t number; /* 2.18.6: 21806; 0: not told */
    /* of the kind, or read from a header */
    size_t id_size;
    int elements[YOKE_ELEMENT_COUNT];
    int reductions[YOKE_REDUCTION_COUNT];
    int bytes;
    yoke_vendor_code_t codes[YOKE_VENDOR_CODES];
    size_t code_count;
    void *functions; /* the family's, from malloc() */
};

struct yoke_vendor_comm {
    const yoke_vendor_t *vendor;
    yoke_device_t *device;
    void *comm; /* the library's; NULL: gone */
    int size, rank;
    bool failed, grouped;
    yoke_vendor_operation_t *held; /* of a group, for a batch */
    size_t held_count, held_room;
};

extern const yoke_vendor_kind_t yoke_vendor_kinds[];
extern const size_t yoke_vendor_kind_count;
extern const yoke_vendor_family_t yoke_vendor_nccl, yoke_vendor_hccl, yoke_vendor_cncl,
    yoke_vendor_bkcl;

/* A kind from one file, or NULL: as yoke_vendor_load() looks for it. Not shared. */
yoke_status_t yoke_vendor_open(const yoke_vendor_kind_t *kind, const char *path,
                               yoke_vendor_t **out_vendor);
/* Frees ours; the library stays. */
void yoke_vendor_close(yoke_vendor_t *vendor);
/* NULL: no kind of that name. */
const yoke_vendor_kind_t *yoke_vendor_kind(const char *name);

/* NULL: not listed, which is an error. */
const yoke_vendor_code_t *yoke_vendor_code(const yoke_vendor_t *vendor, int64_t code);
bool yoke_vendor_good(const yoke_vendor_t *vendor, int64_t code); /* success */
/* Records "<call>: <name> (<code>): ..." and returns its status. `comm`: the library's,
 * or NULL. */
yoke_status_t yoke_vendor_fail(const yoke_vendor_t *vendor, void *comm, const char *call,
                               int64_t code);
/* A call that failed: with it the communicator has. */
yoke_status_t yoke_vendor_comm_fail(yoke_vendor_comm_t *comm, const char *call,
                                    int64_t code);

/* BKCL: numbers of the header beside the library. false: `why` gets the reason. */
bool yoke_vendor_read_header(yoke_vendor_t *vendor, char why[256]);
/* Value of an enumerator or a macro in C text; false: it has none that is plain. */
bool yoke_vendor_header_number(const char *text, const char *name, int64_t *out_value);

#endif
