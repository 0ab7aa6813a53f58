/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_CONFIG_H
#define YOKE_BASE_CONFIG_H

/*
 * Settings. One table gives the environment variable, the key in the configuration
 * file, the lines of `yoke help configuration` and the rows of docs/configuration.md.
 *
 * The libraries read the environment only: a library that reads files in its host's home
 * folder is a bad guest. The command reads the files and puts what they say into its own
 * environment, under what is already there, so that helper programs see it as well.
 */

#include <stddef.h>
#include "base/text.h"
#include "yoke/status.h"

typedef enum yoke_setting_kind {
    YOKE_SETTING_TEXT,    /* anything but empty */
    YOKE_SETTING_CHOICE,  /* one of the words of `argument`, separated by '|' */
    YOKE_SETTING_SECONDS, /* decimal number above 0, at most a day */
} yoke_setting_kind_t;

typedef struct yoke_setting {
    const char *key; /* "probe-timeout"; a final '*' stands for any name: "lib-*" */
    const char *argument;
    const char *initial; /* what holds when it is not set, in words */
    const char *help;    /* one or two sentences */
    yoke_setting_kind_t kind;
} yoke_setting_t;

/** All settings; ends with key NULL. */
extern const yoke_setting_t yoke_settings[];

/** "probe-timeout" -> "YOKE_PROBE_TIMEOUT"; "lib-*" -> "YOKE_LIB_*". Returns `out`. */
char *yoke_setting_variable(const char *key, char out[64]);
/** The setting that a key (or a name under its pattern) belongs to, or NULL. */
const yoke_setting_t *yoke_setting_find(const char *key);
/** NULL when `value` suits, else what would be right, in `buffer`. */
const char *yoke_setting_check(const yoke_setting_t *setting, const char *value,
                               char buffer[128]);

/** Receives one good line; a status other than YOKE_OK ends the reading. */
typedef yoke_status_t (*yoke_config_visit_t)(void *context, const char *key,
                                             const char *value, size_t line);
/**
 * Read "key = value" lines; '#' starts a comment line. Unknown keys, bad values and keys
 * given twice fail with FILE:LINE.
 */
yoke_status_t yoke_config_parse(const char *name, const char *data, size_t size,
                                yoke_config_visit_t visit, void *context);

/**
 * The configuration files in the order in which they are asked: only $YOKE_CONFIG when it
 * is set, else $XDG_CONFIG_HOME/yoke/config (~/.config) and /etc/yoke/config.
 */
yoke_status_t yoke_config_paths(yoke_strings_t *out_paths);

/**
 * Check the YOKE_* variables that are set, read the configuration files, and set the
 * variables that they name where the environment does not.
 * Threads: none other may run: it changes the environment.
 */
yoke_status_t yoke_config_load(void);

#endif
