/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/control/settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "base/error.h"

#define CALL_TIMEOUT_MS 60000
#define SETUP_TIMEOUT_MS 60000
#define SILENCE_MS 20000

int64_t yoke_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static yoke_status_t read_seconds(const char *variable, uint32_t initial_ms,
                                  uint32_t *out_ms)
{
    static const yoke_setting_t seconds = {.kind = YOKE_SETTING_SECONDS};
    char hint[128];
    double value = 0;
    const char *text = getenv(variable);
    *out_ms = initial_ms;
    if (text == NULL || text[0] == '\0')
        return YOKE_OK;
    const char *wrong = yoke_setting_check(&seconds, text, hint);
    if (wrong != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: %s, found '%s'", variable, wrong, text);
    yoke_status_t status = yoke_parse_quantity(text, &value);
    if (status != YOKE_OK)
        return status;
    *out_ms = value < 0.001 ? 1 : (uint32_t)(value * 1000);
    return YOKE_OK;
}

/* Options of a caller that was built with an older, shorter struct: absent fields are 0.
 */
static yoke_status_t take_options(const yoke_comm_options_t *options,
                                  yoke_comm_options_t *out_options)
{
    memset(out_options, 0, sizeof *out_options);
    if (options == NULL)
        return YOKE_OK;
    if (options->struct_size < offsetof(yoke_comm_options_t, reserved))
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_comm_options_t: struct_size is %zu; set it to "
                         "sizeof(yoke_comm_options_t)",
                         options->struct_size);
    size_t size =
        options->struct_size < sizeof *options ? options->struct_size : sizeof *options;
    memcpy(out_options, options, size);
    return YOKE_OK;
}

static yoke_status_t take_interface(const char *option, char out_interface[64])
{
    const char *name = option != NULL ? option : getenv("YOKE_COMM_INTERFACE");
    out_interface[0] = '\0';
    if (name == NULL)
        return YOKE_OK;
    if (strlen(name) >= 64)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "YOKE_COMM_INTERFACE: '%.20s...' is too long for the name of a "
                         "network interface",
                         name);
    strcpy(out_interface, name);
    return YOKE_OK;
}

yoke_status_t yoke_control_settings_read(const yoke_comm_options_t *options,
                                         yoke_control_settings_t *out_settings)
{
    yoke_comm_options_t given;
    yoke_control_settings_t settings;
    yoke_status_t status = take_options(options, &given);
    if (status == YOKE_OK)
        status = read_seconds("YOKE_COMM_TIMEOUT", CALL_TIMEOUT_MS, &settings.timeout_ms);
    if (status == YOKE_OK)
        status = read_seconds("YOKE_COMM_SETUP_TIMEOUT", SETUP_TIMEOUT_MS,
                              &settings.setup_timeout_ms);
    if (status == YOKE_OK)
        status = read_seconds("YOKE_COMM_SILENCE", SILENCE_MS, &settings.silence_ms);
    if (status == YOKE_OK)
        status = take_interface(given.interface, settings.interface);
    if (status != YOKE_OK)
        return status;
    if (given.timeout_ms != 0)
        settings.timeout_ms = given.timeout_ms;
    if (given.setup_timeout_ms != 0)
        settings.setup_timeout_ms = given.setup_timeout_ms;
    *out_settings = settings;
    return YOKE_OK;
}
