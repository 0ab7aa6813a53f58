/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory limits of control groups. The group's path comes from /proc/self/cgroup, the
 * place of the hierarchy from /proc/self/mountinfo; a container may see only a part of
 * the hierarchy, mounted at its root.
 */
#include "hal/probe/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hierarchy {
    bool v2;
    char *mount; /* mount point */
    char *root;  /* folder of the hierarchy that is mounted there */
} hierarchy_t;

/* One limit file and its use; the smallest limit of the way up wins. */
static void consider(const char *root, const char *folder, bool v2,
                     yoke_host_memory_t *memory)
{
    const char *limit_file = v2 ? "memory.max" : "memory.limit_in_bytes";
    const char *used_file = v2 ? "memory.current" : "memory.usage_in_bytes";
    /* "max" is no number: no limit. v1 says "none" by a huge number. */
    int64_t limit = yoke_sysfs_number(0, root, "%s/%s", folder, limit_file);
    if (limit <= 0 || limit >= (int64_t)1 << 60)
        return;
    if (memory->cgroup_limit != 0 && (uint64_t)limit >= memory->cgroup_limit)
        return;
    int64_t used = yoke_sysfs_number(0, root, "%s/%s", folder, used_file);
    memory->cgroup_limit = (uint64_t)limit;
    memory->cgroup_used = used > 0 ? (uint64_t)used : 0;
    snprintf(memory->cgroup_file, sizeof memory->cgroup_file, "%.200s/%s", folder,
             limit_file);
}

static void walk_up(const char *root, const hierarchy_t *hierarchy, const char *group,
                    yoke_host_memory_t *memory)
{
    size_t prefix = strlen(hierarchy->root);
    if (prefix > 1 && strncmp(group, hierarchy->root, prefix) == 0)
        group += prefix; /* only a part is mounted: the path starts there */
    char *folder = yoke_format("%s%s", hierarchy->mount, group);
    size_t top = strlen(hierarchy->mount);
    while (folder != NULL && strlen(folder) >= top) {
        consider(root, folder, hierarchy->v2, memory);
        char *slash = strrchr(folder, '/');
        if (strlen(folder) == top || slash == NULL)
            break;
        *slash = '\0';
    }
    free(folder);
}

/* Path of this process's group: "0::/path" in v2, "4:memory:/path" in v1. */
static char *group_of(const char *groups, bool v2)
{
    for (const char *line = groups; line != NULL && *line != '\0';) {
        const char *first = strchr(line, ':');
        const char *second = first != NULL ? strchr(first + 1, ':') : NULL;
        size_t length = strcspn(line, "\n");
        if (second != NULL && second < line + length) {
            char *names = yoke_format(",%.*s,", (int)(second - first - 1), first + 1);
            bool match = names != NULL && (v2 ? strcmp(names, ",,") == 0
                                              : strstr(names, ",memory,") != NULL);
            free(names);
            if (match)
                return yoke_strndup(second + 1, (size_t)(line + length - second - 1));
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    return NULL;
}

/* Fields of mountinfo: id parent major:minor root mount options ... - type source super.
 */
static bool parse_mount(const char *line, size_t length, hierarchy_t *out_hierarchy)
{
    char *copy = yoke_strndup(line, length);
    char *dash = copy != NULL ? strstr(copy, " - ") : NULL;
    char type[32] = "", super[512] = "", root[1024] = "", mount[1024] = "";
    bool wanted = false;
    if (dash != NULL && sscanf(dash, " - %31s %*s %511s", type, super) >= 1 &&
        sscanf(copy, "%*s %*s %*s %1023s %1023s", root, mount) == 2) {
        char *options = yoke_format(",%s,", super);
        out_hierarchy->v2 = strcmp(type, "cgroup2") == 0;
        wanted = out_hierarchy->v2 || (strcmp(type, "cgroup") == 0 && options != NULL &&
                                       strstr(options, ",memory,") != NULL);
        free(options);
    }
    if (wanted) {
        out_hierarchy->root = yoke_strdup(root);
        out_hierarchy->mount = yoke_strdup(mount);
        wanted = out_hierarchy->root != NULL && out_hierarchy->mount != NULL;
    }
    free(copy);
    return wanted;
}

void yoke_sysfs_cgroup(const char *root, yoke_host_memory_t *memory)
{
    char *groups = yoke_sysfs_text(root, "/proc/self/cgroup");
    char *mounts = yoke_sysfs_text(root, "/proc/self/mountinfo");
    for (const char *line = mounts; groups != NULL && line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        hierarchy_t hierarchy = {0};
        if (parse_mount(line, length, &hierarchy)) {
            char *group = group_of(groups, hierarchy.v2);
            if (group != NULL)
                walk_up(root, &hierarchy, group, memory);
            free(group);
        }
        free(hierarchy.root);
        free(hierarchy.mount);
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    free(groups);
    free(mounts);
}
