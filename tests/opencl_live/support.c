/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/opencl_live/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POCL "libpocl.so.2"
#define OCLGRIND "/usr/lib/oclgrind/liboclgrind-rt-icd.so"

static char folder[] = "/tmp/yoke-opencl-XXXXXX";
static char names[8][16];
static const char *list[9];
static const char *pocl, *oclgrind;

static void vendor(const char *file, const char *library)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        exit(4);
    fprintf(stream, "%s\n", library);
    fclose(stream);
}

static void set_environment(void)
{
    char path[128];
    const char *given = getenv("YOKE_TEST_ICD");
    if (mkdtemp(folder) == NULL)
        exit(4);
    vendor("pocl.icd", POCL);
    vendor("oclgrind.icd", OCLGRIND);
    snprintf(path, sizeof path, "%s/cache", folder);
    mkdir(path, 0700);
    setenv("POCL_CACHE_DIR", path, 1);
    setenv("YOKE_CACHE_DIR", "off", 1);
    setenv("OCL_ICD_VENDORS", given != NULL ? given : folder, 1);
    unsetenv("OPENCL_VENDOR_PATH");
}

bool support_prepare(void)
{
    uint32_t count = 0;
    set_environment();
    yoke_status_t status = yoke_device_count("opencl", &count);
    if (status != YOKE_OK || count == 0) {
        printf("skipped: no OpenCL runtime (PoCL, Oclgrind) is installed: %s\n",
               status == YOKE_OK ? "no device" : yoke_last_error());
        return false;
    }
    for (uint32_t i = 0; i < count && i < 8; i++) {
        yoke_device_t *device = NULL;
        yoke_device_info_t info = {.struct_size = sizeof info};
        snprintf(names[i], sizeof names[i], "opencl:%u", i);
        list[i] = names[i];
        if (yoke_device_open(names[i], NULL, &device) != YOKE_OK) {
            printf("%s: %s\n", names[i], yoke_last_error());
            exit(1);
        }
        yoke_device_info(device, &info);
        printf("%s: %s; %s\n", names[i], info.name, info.version);
        if (strncmp(info.version, "Portable Computing", 18) == 0 ||
            getenv("YOKE_TEST_ICD") != NULL)
            pocl = names[i];
        if (strncmp(info.version, "Oclgrind", 8) == 0)
            oclgrind = names[i];
        yoke_device_close(device);
    }
    return true;
}

static void remove_tree(const char *path)
{
    DIR *stream = opendir(path);
    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char below[4096];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            remove_tree(below);
        else
            unlink(below);
    }
    if (stream != NULL)
        closedir(stream);
    rmdir(path);
}

void support_clean(void)
{
    remove_tree(folder);
}

const char *support_pocl(void)
{
    return pocl;
}

const char *support_oclgrind(void)
{
    return oclgrind;
}

const char *const *support_devices(void)
{
    return list;
}

void support_ok(yoke_status_t status, const char *call, const char *file, int line)
{
    if (status != YOKE_OK) {
        print_error("%s: %s: %s\n", call, yoke_status_name(status), yoke_last_error());
        _fail(file, line);
    }
}

void *support_bytes(size_t size, unsigned seed)
{
    unsigned char *bytes = malloc(size);
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    if (bytes == NULL)
        exit(4);
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(state >> 56);
    }
    return bytes;
}
