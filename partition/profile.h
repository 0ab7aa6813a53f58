/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_PROFILE_H
#define YOKE_PARTITION_PROFILE_H

/*
 * Constants per device and framework (yoke-profiles/1): each profile changes a few of the
 * generic constants for runs that it matches. Later ones win.
 */

#include "base/text.h"
#include "costmodel/constants.h"
#include "inventory/catalog.h"

typedef struct yoke_profile {
    char *name, *source;
    char *framework, *device, *precision, *notes; /* parts of a run's words; NULL: any */
    struct yoke_profile_value {
        char *name;
        double value;
    } * values;
    size_t value_count;
    double network; /* bytes/s of a node where the run does not say; 0: none */
    double pipeline_micro_batch; /* the batch of a replica is cut into these in a
                                    pipeline; 0: as the run says */
    char *recompute,
        *type; /* of the framework, where the run does not say: "none", "fp16" */
} yoke_profile_t;

/* A device type as tables call it: like one of the catalog, but for some figures. */
typedef struct yoke_profile_device {
    char *name, *like, *source;
    double bandwidth, memory, link; /* 0: the catalog's */
    double compute[YOKE_DTYPE_COUNT];
    double peers; /* devices in a node, 0: not said */
} yoke_profile_device_t;

/* A published model by the name that tables use. */
typedef struct yoke_profile_model {
    char *name, *source;
    unsigned layers, hidden, heads, ffn, vocabulary;
    bool gated;
} yoke_profile_model_t;

typedef struct yoke_profiles {
    yoke_constants_t base;
    yoke_profile_t *profiles;
    size_t profile_count;
    yoke_profile_device_t *devices;
    size_t device_count;
    yoke_profile_model_t *models;
    size_t model_count;
} yoke_profiles_t;

/* `path` NULL: the bundled file. The base is yoke_constants_get()'s. A file of
 * yoke-constants/1 is taken too: as the base, with no profiles.
 * @retval YOKE_ERR_BAD_INPUT  the message has the file and the JSON pointer */
yoke_status_t yoke_profiles_read(const char *path, yoke_profiles_t *out_profiles);
void yoke_profiles_free(yoke_profiles_t *profiles);

typedef struct yoke_profile_effect {
    yoke_constants_t constants;
    double network, pipeline_micro_batch; /* 0: none says it */
    const char *recompute, *type;         /* NULL: none says it */
} yoke_profile_effect_t;

/* Constants for a run; `names` gets the profiles that apply, "A, B". */
void yoke_profiles_apply(const yoke_profiles_t *profiles, const char *framework,
                         const char *device, const char *precision, const char *notes,
                         yoke_profile_effect_t *out_effect, yoke_text_t *names);

/* Figures of a device type by the name a table gives it. False: not known; the text
 * before a blank with a bracket, "x" and a count at the end, and "vendor:" in front are
 * tried without. The strings in `out_device` belong to the catalog. */
bool yoke_profiles_device(const yoke_profiles_t *profiles, const char *name,
                          yoke_inventory_device_t *out_device);
/* Devices in a node of that type; 0: not said. */
unsigned yoke_profiles_peers(const yoke_profiles_t *profiles, const char *name);
/* NULL: no model of that name. */
const yoke_profile_model_t *yoke_profiles_model(const yoke_profiles_t *profiles,
                                                const char *name);

#endif
