/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries and vendor files are asked, and how. */
#include "hal/probe/units.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/probe/icd.h"
#include "inventory/document.h"

static yoke_status_t add_unit(yoke_units_t *units, const char *probe,
                              const yoke_backend_t *backend, const char *library,
                              yoke_unit_t **out_unit)
{
    yoke_unit_t *items = realloc(units->items, (units->count + 1) * sizeof *items);
    if (items == NULL)
        return yoke_fail_memory();
    units->items = items;
    yoke_unit_t *unit = &items[units->count++];
    memset(unit, 0, sizeof *unit);
    unit->probe = yoke_strdup(probe);
    unit->backend = backend;
    unit->library = library != NULL ? yoke_strdup(library) : NULL;
    *out_unit = unit;
    return unit->probe != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t add_words(yoke_strings_t *list, const char *const *words,
                               size_t count)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < count && status == YOKE_OK; i++)
        status = yoke_strings_add(list, words[i]);
    return status;
}

static yoke_status_t plan_run(yoke_units_t *units, const yoke_backend_t *backend,
                              const char *probe, const char *library, bool unmasked)
{
    yoke_unit_t *unit = NULL;
    yoke_status_t status = add_unit(units, probe, backend, library, &unit);
    const char *const words[] = {"backend", backend->name, probe};
    const char *const choice[] = {"--library", library};
    if (status == YOKE_OK)
        status = add_words(&unit->arguments, words, 3);
    if (status == YOKE_OK && library != NULL)
        status = add_words(&unit->arguments, choice, 2);
    if (status == YOKE_OK && unmasked) {
        const char *const *names = yoke_masks_of(backend);
        unit->unmasked = true;
        for (size_t i = 0; names[i] != NULL && status == YOKE_OK; i++)
            status = yoke_strings_add(&unit->environment, names[i]); /* removes it */
        if (status == YOKE_OK)
            status = yoke_strings_add(&unit->arguments, "--unmasked");
    }
    return status;
}

/* One run, and a second one where a variable may hide devices. */
static yoke_status_t plan_backend(yoke_units_t *units, const yoke_backend_t *backend,
                                  const char *probe, const char *library)
{
    yoke_status_t status = plan_run(units, backend, probe, library, false);
    if (status == YOKE_OK && yoke_mask_set(backend) != NULL)
        status = plan_run(units, backend, probe, library, true);
    return status;
}

static yoke_status_t tell(yoke_node_t *node, const char *probe, const char *verdict,
                          const char *text, bool fault)
{
    return yoke_node_add_finding(node, probe, verdict, text, fault) != NULL
               ? YOKE_OK
               : yoke_fail_memory();
}

static yoke_status_t plan_icd(yoke_units_t *units, const yoke_backend_t *backend,
                              const yoke_icd_t *icd, bool live, yoke_node_t *node)
{
    char *probe = yoke_format("%s:%s", backend->name, icd->name);
    yoke_status_t status;
    if (probe == NULL)
        return yoke_fail_memory();
    if (icd->library == NULL) {
        status = tell(node, probe, icd->fault ? "library not found" : "ok", icd->problem,
                      icd->fault && live);
    } else if (!live) {
        char *text = yoke_format("names %s; not asked below a sysroot", icd->library);
        status = tell(node, probe, "absent", text, false);
        free(text);
    } else {
        status = plan_backend(units, backend, probe, icd->library);
    }
    free(probe);
    return status;
}

static yoke_status_t plan_vendor_files(yoke_units_t *units, const yoke_backend_t *backend,
                                       const char *sysroot, yoke_node_t *node)
{
    yoke_icds_t icds;
    yoke_status_t status = yoke_icds_list(sysroot, &icds);
    if (status != YOKE_OK)
        return status;
    if (icds.count == 0) {
        char *text = yoke_format("no OpenCL vendor file in %s", icds.where);
        status = tell(node, backend->name, "absent", text, false);
        free(text);
    }
    for (size_t i = 0; i < icds.count && status == YOKE_OK; i++)
        status = plan_icd(units, backend, &icds.items[i],
                          sysroot == NULL || sysroot[0] == '\0', node);
    yoke_icds_free(&icds);
    return status;
}

static yoke_status_t plan_topology(yoke_units_t *units, const char *sysroot)
{
    yoke_unit_t *unit = NULL;
    yoke_status_t status = add_unit(units, "hwloc", NULL, NULL, &unit);
    const char *const words[] = {"topology", "--sysroot", sysroot != NULL ? sysroot : ""};
    return status == YOKE_OK ? add_words(&unit->arguments, words, 3) : status;
}

/* Is `name` one of the comma-separated `list`? */
static bool in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static yoke_status_t check_names(const char *list)
{
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ",");
        char *name = yoke_strndup(at, length);
        bool known = name != NULL && (length == 0 || strcmp(name, "none") == 0 ||
                                      yoke_backend_find(name) != NULL);
        yoke_text_t all = {0};
        for (size_t i = 0; yoke_backends[i] != NULL && !known; i++)
            yoke_text_printf(&all, "%s%s", i > 0 ? ", " : "", yoke_backends[i]->name);
        yoke_status_t status =
            known ? YOKE_OK
                  : yoke_fail(YOKE_ERR_USAGE, "no backend is called '%s'; there are %s",
                              name != NULL ? name : "", yoke_text_get(&all));
        yoke_text_free(&all);
        free(name);
        if (status != YOKE_OK)
            return status;
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return YOKE_OK;
}

yoke_status_t yoke_units_plan(const char *sysroot, const char *backends,
                              yoke_node_t *node, yoke_units_t *out_units)
{
    bool live = sysroot == NULL || sysroot[0] == '\0';
    yoke_units_t units = {0};
    yoke_status_t status = check_names(backends);
    /* "none" is the kernel's word alone, without any process. */
    if (status == YOKE_OK && (backends == NULL || strcmp(backends, "none") != 0))
        status = plan_topology(&units, sysroot);
    for (size_t i = 0; yoke_backends[i] != NULL && status == YOKE_OK; i++) {
        const yoke_backend_t *backend = yoke_backends[i];
        bool wanted =
            backends != NULL ? in_list(backends, backend->name) : !backend->on_request;
        if (!wanted || backend->probe == NULL)
            continue;
        if (backend->vendor_files)
            status = plan_vendor_files(&units, backend, sysroot, node);
        else if (live)
            status = plan_backend(&units, backend, backend->name, NULL);
    }
    if (status != YOKE_OK)
        yoke_units_free(&units);
    else
        *out_units = units;
    return status;
}

void yoke_units_free(yoke_units_t *units)
{
    for (size_t i = 0; i < units->count; i++) {
        yoke_unit_t *unit = &units->items[i];
        free(unit->probe);
        free(unit->library);
        yoke_strings_free(&unit->arguments);
        yoke_strings_free(&unit->environment);
        free(unit->argument_list);
        free(unit->environment_list);
        yoke_child_clear(&unit->child);
        yoke_records_free(&unit->records);
        for (size_t j = 0; j < unit->finding_count; j++)
            yoke_finding_clear(&unit->findings[j]);
        free(unit->findings);
        json_decref(unit->topology);
    }
    free(units->items);
    memset(units, 0, sizeof *units);
}
