/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PROBE_H
#define YOKE_PROBE_H

/**
 * The live half of the inventory: what this machine has, and how fast it is.
 *
 * A vendor library can abort, hang or print to stdout. None is ever loaded into the
 * calling process: sysfs is read directly, and every vendor library and every OpenCL
 * vendor file is asked by a helper process of its own, with a deadline. The helper is
 * started with posix_spawn(), so the caller may have threads, CUDA contexts or a SIGCHLD
 * handler of its own; signal dispositions and the environment of the caller are not
 * touched.
 *
 * Threads: different calls may run at once; the environment must not be changed
 * meanwhile.
 */

#include "yoke/inventory.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A NULL pointer in place of the options, and one zeroed but for struct_size, mean the
 *  same: the defaults below. */
typedef struct yoke_probe_options {
    size_t struct_size; /**< sizeof(yoke_probe_options_t); a smaller one: only so much of
                           it is read */
    /** Read sysfs, procfs and /etc below this folder instead of "/". Vendor libraries are
     *  not asked then, only listed. NULL or "": the running machine. */
    const char *sysroot;
    double timeout; /**< seconds for each library; 0: $YOKE_PROBE_TIMEOUT, else 5 */
    /** Comma-separated names of the backends to ask ("opencl,hip"), "none" for none;
     *  NULL: $YOKE_BACKENDS, else all. */
    const char *backends;
} yoke_probe_options_t;

/**
 * Probe the machine. The inventory has one node, without catalog figures. Findings with
 * `fault` set mean that the result is partial; that is not an error of this call.
 *
 * @param options        NULL: all defaults
 * @param out_inventory  the caller frees it with yoke_inventory_free()
 * @retval YOKE_OK
 * @retval YOKE_ERR_USAGE   an unknown backend, a timeout that is not a positive number
 * @retval YOKE_ERR_SYSTEM  the sysroot is no folder
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_probe(const yoke_probe_options_t *options,
                         yoke_inventory_t **out_inventory);

/** One measured figure, for people; the inventory holds the medians. */
typedef struct yoke_measurement {
    char *device;  /**< id of the device */
    char *what;    /**< "fp32 matrix product", "memory triad", "copy to device" ... */
    char *with;    /**< "OpenBLAS 0.3.21", "portable kernel" */
    double median; /**< per second: operations or bytes */
    double low, high;
    unsigned runs;
    unsigned marks; /**< YOKE_MARK_LOWER_BOUND */
    char *problem;  /**< why there is no figure; then the numbers are 0 */
    char *dtype;    /**< "fp32"; NULL for bytes and counts */
    char *unit;     /**< "FLOP/s", "B/s", "/s" */
    double nominal; /**< published figure, per second; 0: none */
    bool of_pair;   /**< between two devices: it is in the inventory's links too */
} yoke_measurement_t;

typedef struct yoke_measurements {
    yoke_measurement_t *items;
    size_t count, capacity;
} yoke_measurements_t;

/**
 * Time the host and every schedulable device of a probed inventory by each runtime that
 * sees it, one after the other, each in a helper process (at most about 10 s a device);
 * then the way between every two accelerators of a node. Results are checked before they
 * count: matrix products by Freivalds' check, everything else byte by byte. Fills compute
 * (by the vendor's matrix library, which is named), bandwidth, copy_to, copy_from and
 * launch, and adds links, with YOKE_SOURCE_MEASURED. A device that cannot be measured
 * becomes a finding.
 *
 * @param inventory         of yoke_probe() on this machine, changed in place
 * @param options           NULL: all defaults
 * @param out_measurements  the caller frees what hangs below with
 * yoke_measurements_free()
 * @retval YOKE_OK
 * @retval YOKE_ERR_USAGE      an unknown backend, a timeout that is not a positive number
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_measure(yoke_inventory_t *inventory,
                           const yoke_probe_options_t *options,
                           yoke_measurements_t *out_measurements);
/** Free what hangs below and zero it; an empty one is allowed. */
void yoke_measurements_free(yoke_measurements_t *measurements);

#ifdef __cplusplus
}
#endif
#endif
