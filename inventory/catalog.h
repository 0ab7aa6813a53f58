/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_CATALOG_H
#define YOKE_INVENTORY_CATALOG_H

/*
 * Published figures of accelerators and links (yoke-catalog/1), with a source for every
 * number. A catalog is read once and not changed afterwards: any thread may look things
 * up.
 */

#include "base/json.h"
#include "base/text.h"
#include "yoke/inventory.h"

typedef struct yoke_catalog_device {
    char *vendor, *name;
    yoke_strings_t aliases; /* names that tools print; `name` is not repeated */
    yoke_device_kind_t kind;
    uint16_t pci_vendor; /* 0: unknown */
    uint16_t *pci_devices;
    size_t pci_device_count;
    yoke_strings_t shared; /* "740c Instinct MI250": another product with the same id */
    char *architecture;
    unsigned year;  /* 0: unknown */
    unsigned parts; /* devices that the runtime shows for one package; figures are the
                       package's */
    yoke_quantity_t memory, bandwidth, power;
    yoke_quantity_t compute[YOKE_DTYPE_COUNT];
    yoke_quantity_t achieved[YOKE_DTYPE_COUNT]; /* fraction of peak */
    yoke_quantity_t bandwidth_achieved;
    char *link_name;
    char *link;                /* name in the table of links, or NULL */
    yoke_quantity_t link_rate; /* per direction, all links of the device */
    char *link_topology;       /* "switched" "mesh" "pair" "islands" or NULL: unknown */
    bool link_mesh;            /* topology is "mesh" */
    unsigned link_group;       /* devices in one of its islands; 0: unknown */
    unsigned pcie_generation, pcie_lanes; /* 0: unknown */
    char *pcie_source;
    unsigned pcie_marks;
    char *runtime, *collectives;
    char *source; /* the row's sources as they were written */
    char *file;   /* catalog file that it came from */
    bool user;    /* from a user's file */
} yoke_catalog_device_t;

typedef struct yoke_catalog_link {
    char *name;
    char *kind;               /* "intra" "switch" "host" "inter" "package" */
    char *topology;           /* "switched" "mesh" "pair" "islands" or NULL: unknown */
    yoke_quantity_t rate;     /* per direction, bytes/s */
    yoke_quantity_t fraction; /* typically achieved */
    yoke_quantity_t latency;  /* seconds */
    char *source;
    char *file;
    bool user;
} yoke_catalog_link_t;

typedef struct yoke_catalog {
    yoke_catalog_device_t *devices;
    size_t device_count;
    yoke_catalog_link_t *links;
    size_t link_count;
    void *index; /* by normalised alias (opaque) */
} yoke_catalog_t;

/**
 * Bundled files of the data folder, then those of $YOKE_CATALOG (separated by ':'), then
 * `files` (NULL-terminated, may be NULL). A later row of the same name replaces an
 * earlier one; an alias that belongs to two rows of one file is an error.
 */
yoke_status_t yoke_catalog_load(const char *const *files, yoke_catalog_t **out_catalog);
/** Read one document from memory into a new catalog; for tests and fuzzing. */
yoke_status_t yoke_catalog_parse(const char *name, const char *data, size_t size,
                                 yoke_catalog_t **out_catalog);
void yoke_catalog_free(yoke_catalog_t *catalog);

/**
 * The process's catalog: loaded on first use, and kept. Threads: any.
 * yoke_catalog_use() sets the extra files (--catalog) before the first use.
 */
yoke_status_t yoke_catalog_default(const yoke_catalog_t **out_catalog);
yoke_status_t yoke_catalog_use(const char *const *files);

/** Device by exact normalised name or alias; NULL: none. `vendor` may be NULL; where it
 * is known, a row of another vendor never matches. */
const yoke_catalog_device_t *yoke_catalog_find(const yoke_catalog_t *catalog,
                                               const char *vendor, const char *name);
/**
 * Rows that share a PCI id, narrowed by memory (bytes; 0: unknown). At most `capacity`
 * are stored; returns how many there are. 1 is a match; more is an ambiguity to be shown.
 */
size_t yoke_catalog_find_pci(const yoke_catalog_t *catalog, uint16_t vendor_id,
                             uint16_t device_id, double memory,
                             const yoke_catalog_device_t **out_rows, size_t capacity);
/** Product outside of the catalog that has the row's PCI id too, or NULL. */
const char *yoke_catalog_sharing(const yoke_catalog_device_t *row, uint16_t device_id);
const yoke_catalog_link_t *yoke_catalog_find_link(const yoke_catalog_t *catalog,
                                                  const char *name);
/**
 * NIC rate and kind to a row of the link table ("InfiniBand HDR 4x", "RoCE 100G",
 * "TCP 25G"); NULL: none of that class.
 */
const yoke_catalog_link_t *yoke_catalog_nic_link(const yoke_catalog_t *catalog,
                                                 const char *kind, double rate);
/** Names nearest to a wrong one, as "A, B, C"; caller frees; NULL: none is near. */
char *yoke_catalog_nearest(const yoke_catalog_t *catalog, const char *name);

/** A row as it stands in a catalog document (a new reference). */
json_t *yoke_catalog_device_to_json(const yoke_catalog_device_t *device);
json_t *yoke_catalog_link_to_json(const yoke_catalog_link_t *link);

/** Lower case, vendor prefix and blanks, '-', '_', "(R)" dropped: into a new string. */
char *yoke_catalog_normalise(const char *name);

/**
 * Match a device (type given, else name, else names of its views, else PCI id) and fill
 * in what it does not know. Measured, runtime, sysfs, imported and user values stay.
 * Memory of a matched device is never taken from the catalog where the runtime gave one;
 * a difference above 10 % is noted in `reason` and halved packages ("parts") are
 * recognised. An ambiguous PCI id sets no type; the candidates are named in `reason`.
 */
yoke_status_t yoke_catalog_join(const yoke_catalog_t *catalog,
                                yoke_inventory_device_t *device);
/** The same for every device of every node. */
yoke_status_t yoke_catalog_join_inventory(const yoke_catalog_t *catalog,
                                          yoke_inventory_t *inventory);

#endif
