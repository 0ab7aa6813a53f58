/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of this process, and their libraries. */
#include "hal/live/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "base/error.h"
#include "base/text.h"

/* Only ever grows: a name and a runtime, once there, never move. */
static yoke_runtime_t runtimes[YOKE_MAX_BACKENDS];
static const char *names[YOKE_MAX_BACKENDS];
static atomic_size_t runtime_count;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t filled = PTHREAD_ONCE_INIT;

/* --- the table of a backend ----------------------------------------------------------
 */

#define REQUIRED(slot)                                                                   \
    {                                                                                    \
#slot, offsetof(yoke_backend_ops_t, slot)                                        \
    }
static const struct {
    const char *name;
    size_t offset;
} required_slots[] = {
    REQUIRED(runtime_open),  REQUIRED(device_count),   REQUIRED(device_info),
    REQUIRED(device_open),   REQUIRED(device_close),   REQUIRED(error_name),
    REQUIRED(buffer_create), REQUIRED(buffer_destroy), REQUIRED(queue_create),
    REQUIRED(queue_destroy), REQUIRED(queue_sync),     REQUIRED(queue_query),
    REQUIRED(copy),          REQUIRED(write),          REQUIRED(read),
    REQUIRED(fill),          REQUIRED(event_create),   REQUIRED(event_destroy),
    REQUIRED(event_record),  REQUIRED(event_query),    REQUIRED(event_sync),
    REQUIRED(queue_wait),
};

static const char *missing_slot(const yoke_backend_ops_t *ops)
{
    for (size_t i = 0; i < sizeof required_slots / sizeof required_slots[0]; i++) {
        void (*slot)(void) = NULL;
        memcpy(&slot, (const char *)ops + required_slots[i].offset, sizeof slot);
        if (slot == NULL)
            return required_slots[i].name;
    }
    return NULL;
}

/* Slots past the table's own size count as NULL. */
static yoke_status_t take_table(const yoke_backend_ops_t *ops, const char *file,
                                yoke_backend_ops_t *out)
{
    if (ops->struct_size < offsetof(yoke_backend_ops_t, runtime_open) ||
        ops->abi_major != YOKE_BACKEND_ABI_MAJOR)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: its table is of ABI %u; this library takes %u: build it "
                         "against the headers of this version",
                         file, ops->abi_major, YOKE_BACKEND_ABI_MAJOR);
    memset(out, 0, sizeof *out);
    memcpy(out, ops, ops->struct_size < sizeof *out ? ops->struct_size : sizeof *out);
    out->struct_size = sizeof *out;
    if (out->prepared_create == NULL || out->prepared_destroy == NULL ||
        out->prepared_argument == NULL || out->prepared_geometry == NULL ||
        out->prepared_launch == NULL)
        out->prepared_create = NULL; /* all five or none */
    const char *missing = missing_slot(out);
    if (missing != NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: the slot '%s' of its table is NULL, but required", file,
                         missing);
    return YOKE_OK;
}

static yoke_status_t check_name(const char *name, const char *file)
{
    size_t size = name == NULL ? 0 : strlen(name);
    if (size == 0 || size >= sizeof runtimes[0].name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != size)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: the name of a backend is 1 to %zu small letters, digits "
                         "and '_', not '%.40s'",
                         file, sizeof runtimes[0].name - 1, name == NULL ? "" : name);
    return YOKE_OK;
}

static yoke_runtime_t *find(const char *name, size_t size)
{
    size_t count = atomic_load_explicit(&runtime_count, memory_order_acquire);
    for (size_t i = 0; i < count; i++)
        if (strncmp(runtimes[i].name, name, size) == 0 && runtimes[i].name[size] == '\0')
            return &runtimes[i];
    return NULL;
}

static yoke_status_t append(const yoke_backend_ops_t *table, const char *file,
                            yoke_runtime_t **out_runtime)
{
    size_t count = atomic_load_explicit(&runtime_count, memory_order_relaxed);
    if (find(table->name, strlen(table->name)) != NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: there is a backend '%s' already", file,
                         table->name);
    if (count == YOKE_MAX_BACKENDS)
        return yoke_fail(YOKE_ERR_USAGE, "%s: there are %zu backends already, the most",
                         file, count);
    yoke_runtime_t *runtime = &runtimes[count];
    pthread_mutex_init(&runtime->lock, NULL);
    snprintf(runtime->name, sizeof runtime->name, "%s", table->name);
    runtime->ops = *table;
    runtime->ops.name = runtime->name;
    names[count] = runtime->name;
    *out_runtime = runtime;
    atomic_store_explicit(&runtime_count, count + 1, memory_order_release);
    return YOKE_OK;
}

yoke_status_t yoke_registry_add(const yoke_backend_ops_t *ops, const char *file,
                                yoke_runtime_t **out_runtime)
{
    yoke_backend_ops_t table;
    yoke_runtime_t *runtime = NULL;
    yoke_status_t status = take_table(ops, file, &table);
    if (status == YOKE_OK)
        status = check_name(table.name, file);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&growing);
    status = append(&table, file, &runtime);
    pthread_mutex_unlock(&growing);
    if (status == YOKE_OK && out_runtime != NULL)
        *out_runtime = runtime;
    return status;
}

/* --- use -----------------------------------------------------------------------------
 */

static void fill_registry(void)
{
    for (size_t i = 0; yoke_backends[i] != NULL; i++)
        if (yoke_backends[i]->live != NULL)
            yoke_registry_add(yoke_backends[i]->live, yoke_backends[i]->name, NULL);
    yoke_plugin_load_folder();
}

void yoke_registry_fill(void)
{
    pthread_once(&filled, fill_registry);
}

yoke_status_t yoke_backends_list(const char *const **out_names, size_t *out_count)
{
    if (out_names == NULL || out_count == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_backends_list: an output is NULL");
    yoke_registry_fill();
    *out_count = atomic_load_explicit(&runtime_count, memory_order_acquire);
    *out_names = names;
    return YOKE_OK;
}

static yoke_status_t no_such_backend(const char *name, size_t size)
{
    yoke_text_t all = {0};
    size_t count = atomic_load_explicit(&runtime_count, memory_order_acquire);
    for (size_t i = 0; i < count; i++)
        yoke_text_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    yoke_fail(YOKE_ERR_NOT_FOUND, "no backend '%.*s'; there are: %s",
              (int)(size < 64 ? size : 64), name, yoke_text_get(&all));
    yoke_text_free(&all);
    return YOKE_ERR_NOT_FOUND;
}

/* $YOKE_BACKENDS: "cuda,host"; as good as not set when empty. */
static bool is_allowed(const char *name)
{
    const char *list = getenv("YOKE_BACKENDS");
    if (list == NULL || list[0] == '\0')
        return true;
    size_t size = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t item = strcspn(at, ",");
        if (item == size && strncmp(at, name, size) == 0)
            return true;
        at += item + (at[item] == ',');
    }
    return false;
}

yoke_status_t yoke_registry_open(const char *name, size_t size,
                                 yoke_runtime_t **out_runtime)
{
    yoke_registry_fill();
    yoke_runtime_t *runtime = find(name, size);
    if (runtime == NULL)
        return no_such_backend(name, size);
    if (!is_allowed(runtime->name))
        return yoke_fail(YOKE_ERR_NOT_FOUND,
                         "backend '%s' is not among those of YOKE_BACKENDS=%s",
                         runtime->name, getenv("YOKE_BACKENDS"));
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&runtime->lock);
    /* A failure is not kept: the library may be there, or the device free, the next time.
     */
    if (!runtime->open) {
        status = runtime->ops.runtime_open(&runtime->impl);
        runtime->open = status == YOKE_OK;
    }
    pthread_mutex_unlock(&runtime->lock);
    if (status == YOKE_OK)
        *out_runtime = runtime;
    return status;
}

bool yoke_registry_has_file(uint64_t file_device, uint64_t file_number)
{
    size_t count = atomic_load_explicit(&runtime_count, memory_order_acquire);
    for (size_t i = 0; i < count; i++)
        if (runtimes[i].plugin && runtimes[i].file_device == file_device &&
            runtimes[i].file_number == file_number)
            return true;
    return false;
}

/* --- memory of a physical device -----------------------------------------------------
 */

yoke_account_t *yoke_runtime_account(yoke_runtime_t *runtime, uint32_t ordinal)
{
    pthread_mutex_lock(&runtime->lock);
    yoke_account_t *account = runtime->accounts;
    while (account != NULL && account->ordinal != ordinal)
        account = account->next;
    if (account == NULL && (account = calloc(1, sizeof *account)) != NULL) {
        account->ordinal = ordinal;
        account->next = runtime->accounts;
        runtime->accounts = account;
    }
    pthread_mutex_unlock(&runtime->lock);
    if (account == NULL)
        yoke_fail_memory();
    return account;
}

uint64_t yoke_account_used(const yoke_device_t *device)
{
    return atomic_load(&device->account->used);
}

yoke_status_t yoke_account_take(yoke_device_t *device, uint64_t size)
{
    uint64_t limit = atomic_load(&device->limit);
    uint64_t used = atomic_load(&device->account->used);
    do {
        if (size > UINT64_MAX - used || (limit != 0 && size > limit - used) ||
            (limit != 0 && used > limit)) {
            char want[32], have[32], all[32];
            return yoke_fail(
                YOKE_ERR_DEVICE_MEMORY,
                "%s: %s asked for, %s of %s free: free some, or raise "
                "yoke_device_limit_memory()",
                device->label, yoke_show_bytes((double)size, want),
                yoke_show_bytes(limit > used ? (double)(limit - used) : 0, have),
                yoke_show_bytes((double)limit, all));
        }
    } while (!atomic_compare_exchange_weak(&device->account->used, &used, used + size));
    return YOKE_OK;
}

void yoke_account_give(yoke_device_t *device, uint64_t size)
{
    atomic_fetch_sub(&device->account->used, size);
}
