/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing what two ranks say of one call, and saying in words what differs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ucx_comm/transport/core.h"

static const char *const collectives[YOKE_COLLECTIVE_COUNT] = {
    [YOKE_COLLECTIVE_NONE] = "a message",
    [YOKE_COLLECTIVE_BARRIER] = "barrier",
    [YOKE_COLLECTIVE_BROADCAST] = "broadcast",
    [YOKE_COLLECTIVE_REDUCE] = "reduce",
    [YOKE_COLLECTIVE_ALL_REDUCE] = "all-reduce",
    [YOKE_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [YOKE_COLLECTIVE_ALL_GATHER] = "all-gather",
    [YOKE_COLLECTIVE_GATHER] = "gather",
    [YOKE_COLLECTIVE_SCATTER] = "scatter",
    [YOKE_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [YOKE_COLLECTIVE_SEND_RECV] = "send or receive",
};

typedef struct yoke_words {
    char *text;
    size_t size, capacity;
} yoke_words_t;

static void say(yoke_words_t *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(yoke_words_t *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(words->text + words->size, words->capacity - words->size, format, args);
    va_end(args);
    if (n > 0)
        words->size += (size_t)n;
    if (words->size >= words->capacity)
        words->size = words->capacity - 1;
}

/* "rank 2 (host b): all-reduce 7 of 1000 f32 sum, 4000 bytes" */
static void say_side(yoke_words_t *words, const yoke_control_t *control, int rank,
                     const yoke_signature_t *signature, uint64_t size)
{
    const char *name = signature->collective < YOKE_COLLECTIVE_COUNT
                           ? collectives[signature->collective]
                           : "an unknown call";
    const char *element = yoke_element_name((yoke_element_t)signature->element);
    const char *reduction = yoke_reduction_name((yoke_reduction_t)signature->reduction);
    say(words, "rank %d (host %.24s): %s %llu", rank,
        yoke_control_peer(control, rank)->host, name,
        (unsigned long long)signature->sequence);
    if (element != NULL)
        say(words, " of %llu %s", (unsigned long long)signature->count, element);
    if (reduction != NULL)
        say(words, " %s", reduction);
    if (signature->root >= 0)
        say(words, " root %d", signature->root);
    say(words, ", %llu bytes", (unsigned long long)size);
}

static void say_difference(yoke_words_t *words, const yoke_signature_t *a,
                           const yoke_signature_t *b, bool sizes)
{
    const char *comma = "";
    struct {
        bool differs;
        const char *name;
    } parts[] = {
        {a->collective != b->collective, "collective"},
        {a->element != b->element, "type"},
        {a->reduction != b->reduction, "operation"},
        {a->count != b->count, "count"},
        {a->root != b->root, "root"},
        {a->algorithm != b->algorithm, "algorithm"},
        {a->sequence != b->sequence, "number of the call"},
        {sizes, "size of the message"},
    };
    say(words, "calls disagree in ");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].differs) {
            say(words, "%s%s", comma, parts[i].name);
            comma = ", ";
        }
    say(words, ": ");
}

static bool equal(const yoke_signature_t *a, const yoke_signature_t *b)
{
    return a->sequence == b->sequence && a->count == b->count && a->root == b->root &&
           a->collective == b->collective && a->element == b->element &&
           a->reduction == b->reduction && a->algorithm == b->algorithm;
}

bool yoke_signature_check(const yoke_control_t *control, int rank,
                          const yoke_message_t *mine, const yoke_packet_t *theirs,
                          char *text, size_t capacity)
{
    if (equal(&mine->signature, &theirs->signature) && mine->size == theirs->size)
        return true;
    yoke_words_t words = {text, 0, capacity};
    /* The first words matter most: the control plane tells a text of bounded length. */
    say_difference(&words, &mine->signature, &theirs->signature,
                   mine->size != theirs->size);
    say_side(&words, control, yoke_control_rank(control), &mine->signature, mine->size);
    say(&words, "; ");
    say_side(&words, control, rank, &theirs->signature, theirs->size);
    return false;
}
