/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    int card; /* -1: all */
    char *key, *value;
} line_t;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static line_t *lines;
static int line_count;
static fake_card_t cards[FAKE_MAX_CARDS];
static int card_count;
static int unmasked[FAKE_MAX_CARDS];
static int visible[FAKE_MAX_CARDS];
static int visible_count;

/* ---- the file ---------------------------------------------------------------------- */

static void keep_line(char *text)
{
    size_t length = strlen(fake_defaults.vendor);
    text += strspn(text, " \t");
    text[strcspn(text, "\r\n")] = '\0';
    if (strncmp(text, fake_defaults.vendor, length) != 0)
        return;
    text += length;
    int card = -1;
    if (*text == ':') {
        card = text[1] == '*' ? -1 : (int)strtol(text + 1, NULL, 10);
        text += strcspn(text, " \t");
    } else if (*text != ' ' && *text != '\t') {
        return; /* a longer name */
    }
    text += strspn(text, " \t");
    size_t key = strcspn(text, " \t");
    if (key == 0)
        return;
    line_t *more = realloc(lines, (size_t)(line_count + 1) * sizeof *lines);
    if (more == NULL)
        return;
    lines = more;
    const char *value = text + key + strspn(text + key, " \t");
    lines[line_count].card = card;
    lines[line_count].key = strndup(text, key);
    lines[line_count].value = strdup(value);
    line_count++;
}

static void read_file(void)
{
    const char *path = getenv("YOKE_FAKES");
    FILE *file = path != NULL && *path != '\0' ? fopen(path, "r") : NULL;
    char text[1024];
    if (file == NULL) {
        if (path != NULL && *path != '\0')
            fprintf(stderr, "fake %s: cannot read %s\n", fake_defaults.vendor, path);
        return;
    }
    while (fgets(text, sizeof text, file) != NULL)
        keep_line(text);
    fclose(file);
}

static const char *find_text(int card, const char *key, const char *fallback)
{
    const char *all = fallback;
    const char *own = NULL;
    for (int i = 0; i < line_count; i++) {
        if (strcmp(lines[i].key, key) != 0)
            continue;
        if (lines[i].card < 0)
            all = lines[i].value;
        else if (lines[i].card == card)
            own = lines[i].value;
    }
    return own != NULL ? own : all;
}

static int64_t number_of(const char *text, int64_t fallback)
{
    if (text == NULL || *text == '\0')
        return fallback;
    char *end;
    int64_t value = (int64_t)strtoull(text, &end, 0);
    if (*text == '-')
        value = strtoll(text, &end, 0);
    switch (toupper((unsigned char)*end)) {
    case 'G':
        value *= 1024;
        /* fall through */
    case 'M':
        value *= 1024;
        /* fall through */
    case 'K':
        value *= 1024;
    }
    return value;
}

static int64_t find_number(int card, const char *key, int64_t fallback)
{
    return number_of(find_text(card, key, NULL), fallback);
}

/* ---- cards ------------------------------------------------------------------------- */

static int hex_digits(const char *text, uint8_t *bytes, int count)
{
    int digits = 0;
    for (; *text != '\0' && digits < 2 * count; text++) {
        if (!isxdigit((unsigned char)*text))
            continue;
        char one[2] = {*text, '\0'};
        uint8_t value = (uint8_t)strtoul(one, NULL, 16);
        bytes[digits / 2] =
            (uint8_t)(digits % 2 == 0 ? value << 4 : bytes[digits / 2] | value);
        digits++;
    }
    return digits;
}

static void make_uuid(fake_card_t *card)
{
    /* Differs by vendor, so that two fakes never seem to be one card. */
    memset(card->uuid, 0x11, sizeof card->uuid);
    for (size_t i = 0; fake_defaults.vendor[i] != '\0' && i < 8; i++)
        card->uuid[i] = (uint8_t)fake_defaults.vendor[i];
    card->uuid[15] = (uint8_t)card->index;
    const char *text = find_text(card->index, "uuid", NULL);
    if (text != NULL)
        hex_digits(text, card->uuid, 16);
}

static void make_pci(fake_card_t *card)
{
    card->domain = 0;
    card->bus = fake_defaults.first_bus + (uint32_t)card->index;
    card->device = 0;
    card->function = 0;
    const char *text = find_text(card->index, "pci", NULL);
    if (text != NULL && sscanf(text, "%x:%x:%x.%x", &card->domain, &card->bus,
                               &card->device, &card->function) != 4)
        fprintf(stderr, "fake %s: pci %s: no PCI address\n", fake_defaults.vendor, text);
}

static void make_card(int index)
{
    fake_card_t *card = &cards[index];
    card->index = index;
    snprintf(card->name, sizeof card->name, "%s",
             find_text(index, "name", fake_defaults.name));
    snprintf(card->arch, sizeof card->arch, "%s",
             find_text(index, "arch", fake_defaults.arch));
    card->memory = (uint64_t)find_number(index, "memory", (int64_t)fake_defaults.memory);
    card->unified = find_number(index, "unified", 0) != 0;
    card->peer = find_number(index, "peer", 1) != 0;
    card->mig = (int)find_number(index, "mig", 0);
    card->tiles = (int)find_number(index, "tiles", 0);
    card->broken = find_number(index, "broken", 0);
    card->slow = (uint32_t)find_number(index, "slow", 0);
    card->latency = (uint32_t)find_number(index, "latency", 2000);
    atomic_init(&card->lost, find_number(index, "lost", 0) != 0);
    make_pci(card);
    make_uuid(card);
}

/* ---- orders and masks -------------------------------------------------------------- */

static void make_order(void)
{
    const char *text = find_text(-1, "order", "");
    bool reverse = strcmp(text, "reverse") == 0;
    for (int i = 0; i < card_count; i++)
        unmasked[i] = reverse ? card_count - 1 - i : i;
    for (int i = 0; !reverse && i < card_count && *text != '\0'; i++) {
        char *end;
        long card = strtol(text, &end, 10);
        if (end == text)
            break;
        if (card >= 0 && card < card_count)
            unmasked[i] = (int)card;
        text = end + strspn(end, " ,");
    }
}

/* The card that one entry of a mask means, -1 for none. */
static int masked_card(const char *entry)
{
    const char *prefix = fake_defaults.uuid_prefix;
    if (prefix != NULL && strncmp(entry, prefix, strlen(prefix)) == 0) {
        char want[40], have[40];
        snprintf(want, sizeof want, "%.36s", entry + strlen(prefix));
        for (int i = 0; i < card_count; i++) {
            fake_uuid_text(&cards[i], have, sizeof have);
            if (strncasecmp(want, have, strlen(want)) == 0)
                return i;
        }
        return -1;
    }
    char *end;
    long index = strtol(entry, &end, 10);
    end += strspn(end, " ");
    if (end == entry || *end != '\0' || index < 0 || index >= card_count)
        return -1;
    return unmasked[index];
}

static void make_mask(void)
{
    const char *variable = find_text(-1, "mask", fake_defaults.mask);
    const char *mask = variable != NULL ? getenv(variable) : NULL;
    if (mask == NULL) {
        memcpy(visible, unmasked, sizeof visible);
        visible_count = card_count;
        return;
    }
    char *text = strdup(mask);
    char *rest = text;
    for (char *entry; text != NULL && (entry = strsep(&rest, ",")) != NULL;) {
        bool digits = entry[strspn(entry, "0123456789")] == '\0';
        int card = fake_defaults.rule == FAKE_MASK_DIGITS && !digits
                       ? -1
                       : masked_card(entry + strspn(entry, " "));
        if (card >= 0 && visible_count < FAKE_MAX_CARDS)
            visible[visible_count++] = card;
        else if (fake_defaults.rule != FAKE_MASK_DROP)
            break;
    }
    free(text);
}

static void load(void)
{
    read_file();
    card_count = (int)find_number(-1, "count", 2);
    if (card_count < 0 || card_count > FAKE_MAX_CARDS)
        card_count = FAKE_MAX_CARDS;
    for (int i = 0; i < card_count; i++)
        make_card(i);
    make_order();
    make_mask();
}

/* ---- answers ----------------------------------------------------------------------- */

const char *fake_config_text(int card, const char *key, const char *fallback)
{
    pthread_once(&once, load);
    return find_text(card, key, fallback);
}

int64_t fake_config_number(int card, const char *key, int64_t fallback)
{
    pthread_once(&once, load);
    return find_number(card, key, fallback);
}

void fake_config_each(const char *key, void (*use)(int card, const char *value))
{
    pthread_once(&once, load);
    for (int i = 0; i < line_count; i++)
        if (strcmp(lines[i].key, key) == 0)
            use(lines[i].card, lines[i].value);
}

int fake_card_count(void)
{
    pthread_once(&once, load);
    return card_count;
}

fake_card_t *fake_card(int index)
{
    pthread_once(&once, load);
    return index >= 0 && index < card_count ? &cards[index] : NULL;
}

fake_card_t *fake_unmasked(int i)
{
    pthread_once(&once, load);
    return i >= 0 && i < card_count ? &cards[unmasked[i]] : NULL;
}

fake_card_t *fake_visible(int ordinal)
{
    pthread_once(&once, load);
    return ordinal >= 0 && ordinal < visible_count ? &cards[visible[ordinal]] : NULL;
}

int fake_visible_count(void)
{
    pthread_once(&once, load);
    return visible_count;
}

int fake_ordinal_of(const fake_card_t *card)
{
    for (int i = 0; i < fake_visible_count(); i++)
        if (&cards[visible[i]] == card)
            return i;
    return -1;
}

void fake_pci_text(const fake_card_t *card, char *text, size_t size)
{
    snprintf(text, size, "%04x:%02x:%02x.%x", card->domain, card->bus, card->device,
             card->function);
}

void fake_uuid_text(const fake_card_t *card, char *text, size_t size)
{
    const uint8_t *u = card->uuid;
    snprintf(text, size,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
             u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
             u[13], u[14], u[15]);
}

const char *fake_library_folder(void)
{
    static char folder[4096];
    Dl_info info;
    if (folder[0] == '\0' && dladdr((void *)(uintptr_t)fake_library_folder, &info) != 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s", info.dli_fname);
        char *slash = strrchr(path, '/');
        if (slash != NULL)
            *slash = '\0';
        snprintf(folder, sizeof folder, "%s", slash != NULL ? path : ".");
    }
    return folder;
}
