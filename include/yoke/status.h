/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

/**
 * Status codes, the text of the last error, and the log sink.
 *
 * Every function that can fail returns yoke_status_t and sets its outputs only
 * on success. The function that detects a failure records one message (what
 * happened, where, what to do); those above it only pass the status on.
 */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yoke_status {
    YOKE_OK = 0,
    YOKE_ERR_NO = 1, /**< the answer is "no": no feasible plan, a requirement not met */
    YOKE_ERR_USAGE = 2,     /**< the caller asked for something that cannot be asked */
    YOKE_ERR_BAD_INPUT = 3, /**< a file, document or value is malformed */
    YOKE_ERR_SYSTEM = 4,    /**< the operating system, a device or the network failed */
    YOKE_ERR_PARTIAL = 5,   /**< done, but something asked for could not be reached */
    YOKE_ERR_NO_MEMORY = 6, /**< out of host memory */
    YOKE_ERR_NOT_FOUND = 7, /**< the named thing does not exist */
    YOKE_ERR_UNSUPPORTED =
        8, /**< an input that this version cannot treat: an architecture
                that the importer does not know, too many device classes */
    YOKE_ERR_UNKNOWN_RATE = 9,  /**< a rate or size that the answer needs is unknown */
    YOKE_ERR_OUT_OF_RANGE = 10, /**< an offset, index or size passes an end */
    YOKE_ERR_UNREACHABLE =
        11, /**< one device or rank cannot reach another, or its memory */
    YOKE_ERR_DEVICE_LOST = 12,   /**< the device is gone, or its context is ruined */
    YOKE_ERR_DEVICE_MEMORY = 13, /**< out of device memory */
    YOKE_ERR_NOT_READY =
        14, /**< not yet: no failure; leaves no message and is not logged */
    YOKE_ERR_TIMEOUT = 15,     /**< it took longer than was allowed */
    YOKE_ERR_REVOKED = 16,     /**< the communicator is revoked: see yoke/comm.h */
    YOKE_ERR_PEER_FAILED = 17, /**< another rank has ended, or no longer answers */
    YOKE_ERR_MISMATCH = 18,    /**< ranks made calls that disagree */
    YOKE_ERR_REFUSED = 19      /**< wrong secret, size or version of a rank that came */
} yoke_status_t;

/** Name of a status, e.g. "YOKE_ERR_BAD_INPUT"; never NULL; static storage. */
const char *yoke_status_name(yoke_status_t status);

/**
 * Exit code of the command for a status: the codes 0..5 of the manual page
 * (0 done, 1 "no", 2 usage, 3 bad input, 4 system failure, 5 partial result).
 * NOT_FOUND, UNSUPPORTED and OUT_OF_RANGE count as bad input, UNKNOWN_RATE as "no", the
 * others as system failures.
 */
int yoke_status_exit_code(yoke_status_t status);

/**
 * Message of the last failure on the calling thread, without a trailing newline;
 * "" when there was none. Valid until the next failing call on this thread.
 */
const char *yoke_last_error(void);

typedef enum yoke_log_level {
    YOKE_LOG_ERROR = 0,
    YOKE_LOG_WARNING = 1,
    YOKE_LOG_INFO = 2,
    YOKE_LOG_DEBUG = 3
} yoke_log_level_t;

/** Receives one complete line without newline. Must not call back into Yoke. */
typedef void (*yoke_log_sink_t)(void *context, yoke_log_level_t level, const char *line);

/**
 * Send log lines to `sink`; NULL restores the default (stderr).
 * Threads: call before other threads use Yoke; the sink may be called from any thread.
 */
void yoke_log_set_sink(yoke_log_sink_t sink, void *context);

/** Lines above `level` are dropped. Default: YOKE_LOG_WARNING, or $YOKE_LOG. */
void yoke_log_set_level(yoke_log_level_t level);

/** Version of the library, e.g. "0.1.0". */
const char *yoke_version(void);

#ifdef __cplusplus
}
#endif
#endif
