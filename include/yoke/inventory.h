/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_H
#define YOKE_INVENTORY_H

/**
 * The inventory document (yoke-inventory/1): nodes, physical devices, the runtimes that
 * see them, memories, NICs and links. Data only: reading one opens no device and loads no
 * vendor library.
 *
 * Units: bytes, bytes per second, operations per second, seconds.
 * Ownership: a yoke_inventory_t owns everything that hangs below it; all strings are
 * NUL-terminated UTF-8 from malloc(), NULL where unknown. yoke_inventory_free() frees
 * all. Threads: different inventories are independent; one inventory is not locked.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Data types that a device computes with. */
typedef enum yoke_dtype {
    YOKE_FP64 = 0,
    YOKE_FP32,
    YOKE_TF32,
    YOKE_FP16,
    YOKE_BF16,
    YOKE_FP8,
    YOKE_INT8,
    YOKE_DTYPE_COUNT
} yoke_dtype_t;

/** "fp64" "fp32" "tf32" "fp16" "bf16" "fp8" "int8" */
const char *yoke_dtype_name(yoke_dtype_t dtype);
bool yoke_dtype_parse(const char *name, yoke_dtype_t *out_dtype);
/** Bytes of one element (tf32: 4). */
unsigned yoke_dtype_size(yoke_dtype_t dtype);

/** Where a value comes from. YOKE_SOURCE_UNKNOWN means that there is no value. */
typedef enum yoke_source {
    YOKE_SOURCE_UNKNOWN = 0,
    YOKE_SOURCE_MEASURED, /**< timed on this device by us */
    YOKE_SOURCE_RUNTIME,  /**< said by a vendor's library */
    YOKE_SOURCE_SYSFS,    /**< read from the kernel */
    YOKE_SOURCE_IMPORTED, /**< from the text output of another tool */
    YOKE_SOURCE_CATALOG,  /**< published figure */
    YOKE_SOURCE_USER      /**< given by the user (--assume, a user catalog) */
} yoke_source_t;

/** "unknown" "measured" "runtime" "sysfs" "imported" "catalog" "user" */
const char *yoke_source_name(yoke_source_t source);
bool yoke_source_parse(const char *name, yoke_source_t *out_source);

/** Doubts about a value. */
enum {
    YOKE_MARK_NOT_REREAD = 1 << 0, /**< [R]: quoted from memory of the named document */
    YOKE_MARK_DISPUTED = 1 << 1,   /**< public sources disagree */
    YOKE_MARK_LOWER_BOUND =
        1 << 2,                /**< portable kernel: the device can do at least this */
    YOKE_MARK_DEFAULT = 1 << 3 /**< a generic constant, not of this device */
};

typedef struct yoke_quantity {
    double value; /**< meaningless when source is YOKE_SOURCE_UNKNOWN */
    yoke_source_t source;
    unsigned marks; /**< YOKE_MARK_* */
    char *detail;   /**< the document, library or file that says so; may be NULL */
} yoke_quantity_t;

static inline bool yoke_known(const yoke_quantity_t *quantity)
{
    return quantity->source != YOKE_SOURCE_UNKNOWN;
}

typedef enum yoke_device_kind {
    YOKE_DEVICE_GPU = 0,
    YOKE_DEVICE_NPU,
    YOKE_DEVICE_CPU,
    YOKE_DEVICE_EMULATOR, /**< Oclgrind and its like: never counted, never scheduled */
    YOKE_DEVICE_OTHER
} yoke_device_kind_t;

/** "gpu" "npu" "cpu" "emulator" "other" */
const char *yoke_device_kind_name(yoke_device_kind_t kind);

typedef struct yoke_pci {
    bool valid;
    uint32_t domain;
    uint8_t bus, device, function;
    uint16_t vendor_id, device_id; /**< 0: unknown */
} yoke_pci_t;

/** One runtime that sees the device. */
typedef struct yoke_view {
    char *runtime; /**< "cuda" "hip" "level_zero" "opencl" "host" ... */
    int64_t
        ordinal; /**< the runtime's own index among visible devices; -1 unknown/hidden */
    int64_t native; /**< index with no visibility variable set; -1 unknown */
    char *library;  /**< library file that answered */
    char *version;  /**< runtime version */
    char *driver;   /**< driver version */
    char *name;     /**< name that this runtime gives the device */
    char *platform; /**< OpenCL platform, Level Zero driver; NULL otherwise */
    yoke_quantity_t memory_total; /**< what this runtime says */
} yoke_view_t;

typedef struct yoke_memory {
    yoke_quantity_t total;
    yoke_quantity_t free;
    yoke_quantity_t usable; /**< after reserves and cgroup limits; what a plan may take */
    bool unified;           /**< one pool with the host's memory: count it once */
} yoke_memory_t;

typedef struct yoke_inventory_device {
    char *id; /**< unique in the node: PCI address, "host", "PCI/partition", or given */
    yoke_device_kind_t kind;
    char *vendor;
    char *name; /**< as the best-ranked runtime says, else the catalog's */
    char *type; /**< catalog name after matching or --as; NULL: not in the catalog */
    yoke_pci_t pci;
    bool has_uuid;
    uint8_t uuid[16];
    char *uuid_text; /**< as the runtime prints it (may not be 16 bytes: "MIG-a0") */
    char *partition; /**< MIG slice, compute partition, SR-IOV function */
    char *parent;    /**< id of the whole card when this is a part of it */
    bool schedulable;
    char *reason;    /**< why not schedulable, or a warning about it */
    char *hidden_by; /**< name of the environment variable that hides it */
    char *health;    /**< "ok" "faulty" "lost" or NULL for unknown */
    int numa;        /**< NUMA node; -1 unknown */
    yoke_memory_t memory;
    yoke_quantity_t compute[YOKE_DTYPE_COUNT]; /**< peak dense rate; measured: achieved */
    yoke_quantity_t
        achieved[YOKE_DTYPE_COUNT];     /**< fraction of peak that large GEMMs reach */
    yoke_quantity_t bandwidth;          /**< memory bandwidth, peak; measured: achieved */
    yoke_quantity_t bandwidth_achieved; /**< fraction of peak bandwidth */
    yoke_quantity_t copy_to, copy_from; /**< host-to-device, device-to-host rate */
    yoke_quantity_t launch; /**< seconds from one launch to the next of an empty kernel */
    char *link_name;        /**< "NVLink3", NULL: none known */
    yoke_quantity_t link_rate; /**< to its peers in the node, per direction, all links */
    bool link_mesh; /**< true: a pair gets link_rate/(peers) only (xGMI, HCCS); false:
                       switched */
    unsigned
        link_group; /**< the link joins at most so many devices (2: a bridge); 0: all */
    unsigned pcie_generation, pcie_lanes;         /**< current; 0 unknown */
    unsigned pcie_generation_max, pcie_lanes_max; /**< 0 unknown */
    yoke_view_t *views;
    size_t view_count;
} yoke_inventory_device_t;

typedef struct yoke_nic {
    char *id;   /**< "mlx5_0", "eth0" */
    char *kind; /**< "infiniband" "roce" "ethernet" NULL unknown */
    yoke_pci_t pci;
    int numa;
    yoke_quantity_t rate; /**< per direction */
    char *owner; /**< id of the device that alone can use it (an NPU's own NIC) */
    char **near; /**< ids of the closest devices */
    size_t near_count;
} yoke_nic_t;

/** Why something was not found or cannot be used: one line of `--why`. */
typedef struct yoke_finding {
    char *probe;   /**< "opencl:10-missing.icd", "cuda", "sysfs" */
    char *verdict; /**< "ok" "absent" "library not found" "symbol missing" "driver
                      mismatch" "no device" "hidden" "denied" "timed out" "crashed" */
    char *library; /**< file tried */
    char *call;    /**< function that answered */
    bool has_code;
    int64_t code;
    char *code_name; /**< "hipErrorNoDevice" */
    char *text;      /**< one sentence for people */
    bool fault;      /**< true: counts as a partial result (exit code 5) */
} yoke_finding_t;

typedef struct yoke_node {
    char *hosts; /**< host list: "gpu01", or "npu-[01-04]" for equal nodes */
    char *os, *kernel;
    double gathered_at; /**< seconds since 1970 by the node's clock; 0 unknown */
    yoke_inventory_device_t *devices;
    size_t device_count;
    yoke_nic_t *nics;
    size_t nic_count;
    yoke_finding_t *findings;
    size_t finding_count;
    char **warnings; /**< e.g. memory figures that disagree */
    size_t warning_count;
} yoke_node_t;

typedef struct yoke_link {
    char *between[2]; /**< selectors */
    char *kind;       /**< "NVLink3" "PCIe4 x16" "InfiniBand HDR 4x" "RoCE 100G" ... */
    yoke_quantity_t rate;    /**< per direction */
    yoke_quantity_t latency; /**< seconds */
    double fraction;         /**< typical achieved fraction; 0 unknown */
} yoke_link_t;

typedef struct yoke_inventory {
    char *name; /**< file or one-line text it was read from; NULL for a live probe */
    yoke_node_t *nodes;
    size_t node_count;
    yoke_link_t *links;
    size_t link_count;
    void *extra; /**< kept "x-*" members (opaque) */
} yoke_inventory_t;

/**
 * Read a document. Refuses unknown members except "x-*". Catalog figures are not joined:
 * yoke_cluster_load() does that.
 *
 * @param path           file; "-": standard input
 * @param out_inventory  the caller frees it with yoke_inventory_free()
 * @retval YOKE_OK
 * @retval YOKE_ERR_BAD_INPUT  message has file:line:column or file and JSON pointer
 * @retval YOKE_ERR_NOT_FOUND  no such file
 * @retval YOKE_ERR_SYSTEM     it is there but cannot be read
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_inventory_read(const char *path, yoke_inventory_t **out_inventory);
/**
 * The same from memory: `size` bytes, which need not end with a NUL and are not kept.
 * `name` is used in messages and becomes the inventory's name (a copy).
 */
yoke_status_t yoke_inventory_parse(const char *name, const char *data, size_t size,
                                   yoke_inventory_t **out_inventory);
/**
 * Document text with a final newline; the caller frees it with free().
 * @retval YOKE_OK  @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_inventory_text(const yoke_inventory_t *inventory, char **out_text);
/** Free it and all that hangs below; NULL is allowed. */
void yoke_inventory_free(yoke_inventory_t *inventory);

/**
 * Cluster from a file (inventory document; "-": standard input), by the name of a bundled
 * one ("a100-v100"; a file of that name in the working folder goes first), or from one
 * line: "2x8xA100-SXM4-80GB + 4x8xAscend910B3; nic=100Gb" Each term is NODESxDEVICESxTYPE
 * (a type is matched in the catalog by exact normalised alias); "A+B" inside parentheses
 * mixes types in a node: "2x(4xH100-SXM5-80GB+4xA100-SXM4-80GB)". Options after ';':
 * nic=RATE (per node, per direction), link=RATE (within a node). Catalog figures are
 * joined in all three cases where the document has none.
 *
 * The inventory's name is the path, the bundled name, or the line. The caller frees the
 * inventory with yoke_inventory_free().
 * @retval YOKE_OK
 * @retval YOKE_ERR_BAD_INPUT  no such file and no bundled cluster (the message lists
 * them), a malformed document or line, a type that is not in the catalog
 * @retval YOKE_ERR_SYSTEM     a file cannot be read
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_cluster_load(const char *cluster, yoke_inventory_t **out_inventory);

/**
 * Apply "SELECTOR:key=value[,key=value...]" (--assume), e.g.
 * "type:BW1000:bf16=300T,hbm=1.6T,memory=64GiB".
 * Keys: fp64 fp32 tf32 fp16 bf16 fp8 int8 (rates), hbm (bandwidth), memory (bytes),
 * link, nic. Sets the source to YOKE_SOURCE_USER. `text` is not kept. A node entry of
 * which the selector takes only some hosts is divided, so pointers into the inventory are
 * not valid afterwards. After a failure it may be changed in part: free it.
 * @retval YOKE_OK
 * @retval YOKE_ERR_USAGE, YOKE_ERR_BAD_INPUT  malformed text, or nothing fits the
 * selector
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_inventory_assume(yoke_inventory_t *inventory, const char *text);

/**
 * Does device `device` of host `host` match a selector?
 * Grammar: [HOSTPATTERN/]DEVICEPATTERN | type:NAME | vendor:NAME | host:PATTERN |
 * kind:NAME; host patterns are host lists and may hold '*'. A malformed selector: out is
 * false and YOKE_ERR_BAD_INPUT.
 */
yoke_status_t yoke_selector_match(const char *selector, const char *host,
                                  const yoke_inventory_device_t *device, bool *out_match);

#ifdef __cplusplus
}
#endif
#endif
