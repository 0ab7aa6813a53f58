/* SPDX-License-Identifier: Apache-2.0 */
/* The object, one call's course, and waiting. */
#include "ucx_comm/collectives/shared/shared.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/collectives/shared/parts.h"

#define PAGE 4096

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* All channels of a rank together take about this much, so that they stay in a cache. */
#define CHANNEL_BYTES (512u << 10)
#define CHUNK_MOST (64u << 10)
#define CHUNK_LEAST (8u << 10)

layout_t yoke_shared_layout(int ranks)
{
    const uint64_t n = (uint64_t)ranks;
    layout_t l = {0};
    l.chunk = CHANNEL_BYTES / n / CHUNKS / LINE * LINE;
    l.chunk = l.chunk > CHUNK_MOST ? CHUNK_MOST : l.chunk;
    l.chunk = l.chunk < CHUNK_LEAST ? CHUNK_LEAST : l.chunk;
    const uint64_t chunks = CHUNKS * (CHUNK_INFO + l.chunk);
    l.channel = round_up(2 * LINE + chunks, PAGE);
    l.ring = round_up((1 + n) * LINE + chunks, PAGE);
    l.bells = LINE; /* after the word of the sleepers */
    l.seats = l.bells + n * LINE;
    l.pulled = l.seats + n * LINE;
    l.outboxes = round_up(l.pulled + n * LINE, PAGE);
    l.channels = round_up(l.outboxes + n * SLOTS * sizeof(slot_t), PAGE);
    l.rings = l.channels + n * n * l.channel;
    l.size = l.rings + n * l.ring;
    return l;
}

uint64_t yoke_shared_size(int ranks)
{
    return ranks > 0 && ranks <= YOKE_SHARED_RANKS ? yoke_shared_layout(ranks).size : 0;
}

/* --- object ------------------------------------------------------------------------- */

/* From where on the ranks' buffers do not stay in the cache that they share. */
static uint64_t large_size(int ranks)
{
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const uint64_t size = cache > 0 ? (uint64_t)cache : 32u << 20;
    return size / 2 / (uint64_t)ranks;
}

yoke_status_t yoke_shared_create(const yoke_shared_place_t *place,
                                 yoke_shared_t **out_shared)
{
    if (yoke_shared_size(place->ranks) == 0)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%d ranks on one piece of shared memory; at most %d",
                         place->ranks, YOKE_SHARED_RANKS);
    yoke_shared_t *s = calloc(1, sizeof *s);
    if (s == NULL)
        return yoke_fail_memory();
    s->layout = yoke_shared_layout(place->ranks);
    s->bounce = aligned_alloc(LINE, s->layout.chunk);
    if (s->bounce == NULL) {
        free(s);
        return yoke_fail_memory();
    }
    s->base = place->base;
    s->ranks = place->ranks;
    s->me = place->index;
    s->state = place->state;
    s->sleepers = (_Atomic uint64_t *)place->base;
    s->stream_from = large_size(place->ranks);
    s->can_pull = place->pids != NULL;
    for (int r = 0; r < s->ranks && s->can_pull; r++)
        s->pids[r] = place->pids[r];
    for (int r = 0; r < s->ranks; r++)
        s->numbers[r] = place->numbers != NULL ? place->numbers[r] : r;
    s->cpu = -1;
    *out_shared = s;
    return YOKE_OK;
}

void yoke_shared_destroy(yoke_shared_t *shared)
{
    if (shared == NULL)
        return;
    free(shared->bounce);
    free(shared);
}

/* --- signatures --------------------------------------------------------------------- */

static uint64_t hash(uint64_t so_far, uint64_t value)
{
    so_far = (so_far ^ value) * 0x9e3779b97f4a7c15u;
    return so_far ^ so_far >> 29;
}

static uint64_t hash_counts(const uint64_t *counts, int ranks)
{
    uint64_t all = 1;
    for (int r = 0; r < ranks; r++)
        all = hash(all, counts[r]);
    return all | (uint64_t)1 << 63; /* no plain count */
}

static bool has_root(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_BROADCAST ||
           collective == YOKE_COLLECTIVE_REDUCE || collective == YOKE_COLLECTIVE_GATHER ||
           collective == YOKE_COLLECTIVE_SCATTER;
}

static bool reduces(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

#define NONE ((uint64_t)0xff) /* no element, no reduction */

/* What all ranks must agree in. */
static void sign(yoke_shared_t *s)
{
    const yoke_shared_call_t *c = &s->call;
    const uint64_t *counts =
        c->collective == YOKE_COLLECTIVE_SCATTER ? c->send_counts : c->recv_counts;
    const bool barrier = c->collective == YOKE_COLLECTIVE_BARRIER;
    s->count = counts != NULL ? hash_counts(counts, s->ranks) : c->count;
    if (c->collective == YOKE_COLLECTIVE_ALL_TO_ALL && counts != NULL)
        s->count = (uint64_t)1 << 63; /* each has counts of its own */
    s->count = barrier ? 0 : s->count;
    s->what = (uint64_t)(has_root(c->collective) ? (uint32_t)c->root : UINT32_MAX) << 32 |
              (uint64_t)c->collective << 16 |
              (barrier ? NONE : (uint64_t)c->element) << 8 |
              (reduces(c->collective) ? (uint64_t)c->reduction : NONE);
}

static const char *collective_words(uint64_t what)
{
    static const char *const names[YOKE_COLLECTIVE_COUNT] = {
        "nothing",    "barrier",        "broadcast",   "reduce",
        "all-reduce", "reduce-scatter", "all-gather",  "gather",
        "scatter",    "all-to-all",     "send-receive"};
    const uint64_t collective = what >> 16 & 0xff;
    return collective < YOKE_COLLECTIVE_COUNT ? names[collective] : "unknown";
}

static void describe(uint64_t count, uint64_t what, char text[128])
{
    const yoke_collective_t collective = (yoke_collective_t)(what >> 16 & 0xff);
    const char *element = yoke_element_name((yoke_element_t)(what >> 8 & 0xff));
    const char *reduction = yoke_reduction_name((yoke_reduction_t)(what & 0xff));
    char numbers[40] = "counts of its own", root[24] = "";
    if (count >> 63 == 0)
        yoke_snprintf(numbers, sizeof numbers, "count %llu", (unsigned long long)count);
    if (has_root(collective))
        yoke_snprintf(root, sizeof root, ", root %d", (int)(what >> 32));
    if (element == NULL)
        yoke_snprintf(text, 128, "a %s", collective_words(what));
    else
        yoke_snprintf(text, 128, "%s %s (%s, %s%s%s%s)",
                      collective == YOKE_COLLECTIVE_ALL_REDUCE ? "an" : "a",
                      collective_words(what), element, numbers,
                      reduction != NULL ? ", " : "", reduction != NULL ? reduction : "",
                      root);
}

static yoke_status_t disagree(const yoke_shared_t *s, int rank, const slot_t *slot)
{
    char mine[128], other[128];
    describe(s->count, s->what, mine);
    describe(slot->count, slot->what, other);
    return yoke_fail(YOKE_ERR_MISMATCH,
                     "call %llu: rank %d made %s, rank %d made %s; every rank makes the "
                     "same calls in the same order",
                     (unsigned long long)s->sequence, s->numbers[s->me], mine,
                     s->numbers[rank], other);
}

static yoke_status_t disagree_in_size(const yoke_shared_t *s, int rank)
{
    return yoke_fail(YOKE_ERR_MISMATCH,
                     "call %llu: rank %d sends rank %d another number of bytes than the "
                     "%llu that it expects",
                     (unsigned long long)s->sequence, s->numbers[rank], s->numbers[s->me],
                     (unsigned long long)s->in[rank].size);
}

yoke_status_t yoke_shared_meet(yoke_shared_t *s, int rank)
{
    const uint64_t bit = (uint64_t)1 << rank;
    if ((s->met & bit) != 0)
        return YOKE_OK;
    slot_t *slot = slot_of(s, rank, s->sequence);
    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != s->sequence)
        return YOKE_ERR_NOT_READY;
    if (slot->count != s->count || slot->what != s->what)
        return disagree(s, rank, slot);
    if (!s->inlined && s->offers && !yoke_shared_offer_fits(s, rank))
        return disagree_in_size(s, rank);
    s->met |= bit;
    s->started[rank] = s->sequence;
    return YOKE_OK;
}

#define SPREAD_MS 20

/* --- where the ranks run ------------------------------------------------------------ */

static seat_t *seat_of(const yoke_shared_t *s, int rank)
{
    return (seat_t *)(void *)(s->base + s->layout.seats) + rank;
}

static void take_seat(yoke_shared_t *s)
{
    const int cpu = sched_getcpu();
    if (cpu == s->cpu)
        return;
    s->cpu = cpu;
    atomic_store_explicit(&seat_of(s, s->me)->cpu, cpu + 1, memory_order_relaxed);
}

/* How many ranks sit on `cpu`, this one aside. */
static int others_on(const yoke_shared_t *s, int cpu)
{
    int count = 0;
    for (int r = 0; r < s->ranks; r++)
        count += r != s->me && atomic_load_explicit(&seat_of(s, r)->cpu,
                                                    memory_order_relaxed) == cpu + 1;
    return count;
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int least_crowded(const yoke_shared_t *s, const cpu_set_t *allowed)
{
    int best = s->cpu, crowd = others_on(s, s->cpu);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, allowed) && others_on(s, cpu) < crowd) {
            best = cpu;
            crowd = others_on(s, cpu);
        }
    return best;
}

/*
 * Ranks that wait for each other look idle, so the kernel sees no reason to part those
 * which it once put on one core. Go to the emptiest, and leave it to the kernel again.
 */
static void spread(yoke_shared_t *s)
{
    cpu_set_t allowed, one;
    const uint64_t now = milliseconds();
    if (now < s->spread_again)
        return;
    s->spread_again = now + SPREAD_MS;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    const int cpu = least_crowded(s, &allowed);
    if (others_on(s, cpu) >= others_on(s, s->cpu))
        return;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        (void)sched_setaffinity(0, sizeof allowed, &allowed);
    take_seat(s);
}

/* While this rank runs there, another cannot. */
static bool shares_its_cpu(yoke_shared_t *s)
{
    take_seat(s);
    if (others_on(s, s->cpu) == 0)
        return false;
    spread(s);
    return others_on(s, s->cpu) > 0;
}

/* --- a call ------------------------------------------------------------------------- */

/* May the slot of this call be written? All others must have started the call after the
 * one that it was last used for. */
static bool has_slot(yoke_shared_t *s)
{
    const uint64_t need = s->sequence > SLOTS ? s->sequence - SLOTS + 1 : 0;
    if (s->slowest >= need)
        return true;
    uint64_t slowest = s->sequence;
    for (int r = 0; r < s->ranks; r++) {
        if (r == s->me)
            continue;
        if (s->started[r] < need) {
            const uint64_t seen = atomic_load_explicit(&slot_of(s, r, need)->sequence,
                                                       memory_order_acquire);
            if (seen < need)
                return false;
            s->started[r] = seen;
        }
        slowest = s->started[r] < slowest ? s->started[r] : slowest;
    }
    s->slowest = slowest;
    return true;
}

static void enter(yoke_shared_t *s)
{
    take_seat(s);
    slot_t *slot = slot_of(s, s->me, s->sequence);
    slot->count = s->count;
    slot->what = s->what;
    if (s->inlined)
        yoke_shared_inline_write(s, slot);
    else if (s->offers)
        yoke_shared_offer(s, slot);
    atomic_store_explicit(&slot->sequence, s->sequence, memory_order_release);
    wake(s, -1);
}

static yoke_status_t advance_inline(yoke_shared_t *s)
{
    while (s->needed != 0) {
        const int rank = __builtin_ctzll(s->needed);
        const yoke_status_t status = yoke_shared_meet(s, rank);
        if (status != YOKE_OK)
            return status;
        s->needed &= s->needed - 1;
    }
    yoke_shared_inline_read(s);
    return YOKE_OK;
}

static yoke_status_t leave(yoke_shared_t *s, yoke_status_t status)
{
    if (status == YOKE_ERR_NOT_READY)
        return status;
    s->phase = PHASE_NONE;
    s->failed = status != YOKE_OK;
    yoke_shared_moved(s);
    return status;
}

yoke_status_t yoke_shared_advance(yoke_shared_t *s)
{
    if (s->state != NULL && atomic_load_explicit(s->state, memory_order_relaxed) != 0)
        return leave(s, YOKE_ERR_REVOKED);
    if (s->phase == PHASE_ROOM) {
        if (!has_slot(s))
            return YOKE_ERR_NOT_READY;
        enter(s);
        s->phase = s->inlined ? PHASE_INLINE : PHASE_STREAM;
    }
    return leave(s, s->phase == PHASE_INLINE ? advance_inline(s) : yoke_shared_stream(s));
}

yoke_status_t yoke_shared_start(yoke_shared_t *s, const yoke_shared_call_t *call)
{
    if (s->failed)
        return YOKE_ERR_REVOKED;
    s->call = *call;
    s->size = yoke_element_size(call->element);
    s->sequence++;
    s->met = 0;
    sign(s);
    s->inlined = yoke_shared_fits_inline(s);
    if (s->inlined)
        s->needed = yoke_shared_inline_needs(s);
    else
        yoke_shared_plan(s);
    s->phase = PHASE_ROOM;
    return yoke_shared_advance(s);
}

/* Is it `rank` that this one's streams wait for? */
static bool stream_waits_for(const yoke_shared_t *s, int rank)
{
    const uint64_t sent =
        atomic_load_explicit(&channel_of(s, rank, s->me)->value, memory_order_relaxed);
    const bool to_fold = s->fold.chunks > 0 && sent == s->taken[rank];
    const uint64_t taken = atomic_load_explicit(&(ring_of(s, s->me) + 1 + rank)->value,
                                                memory_order_relaxed);
    const bool to_cast =
        (s->cast_out.chunks > 0 || s->fold.share) && s->cast_sent - taken >= CHUNKS;
    return (s->met >> rank & 1) == 0 || to_cast || (s->pullers >> rank & 1) != 0 ||
           to_fold || s->in[rank].chunks > 0 || s->out[rank].chunks > 0 ||
           s->cast_in[rank].chunks > 0;
}

int yoke_shared_waits_for(const yoke_shared_t *s)
{
    const uint64_t before = s->sequence > SLOTS ? s->sequence - SLOTS + 1 : 0;
    for (int r = 0; r < s->ranks && s->phase != PHASE_NONE; r++)
        if (r != s->me && (s->phase == PHASE_ROOM     ? s->started[r] < before
                           : s->phase == PHASE_INLINE ? (s->needed >> r & 1) != 0
                                                      : stream_waits_for(s, r)))
            return s->numbers[r];
    return -1;
}

/* --- waiting ------------------------------------------------------------------------ */

static bell_t *bell_of(const yoke_shared_t *s, int rank)
{
    return (bell_t *)(void *)(s->base + s->layout.bells) + rank;
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value,
                  const struct timespec *timeout)
{
    syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/*
 * There is no fence between what was published and this look at the sleepers: it would
 * cost each call more than it saves. One who falls asleep in the nanoseconds between
 * sleeps its whole millisecond.
 */
void yoke_shared_ring_bell(yoke_shared_t *s, int rank)
{
    uint64_t who = atomic_load_explicit(s->sleepers, memory_order_relaxed);
    who &= rank >= 0 ? (uint64_t)1 << rank : ~((uint64_t)1 << s->me);
    for (; who != 0; who &= who - 1) {
        bell_t *bell = bell_of(s, __builtin_ctzll(who));
        atomic_fetch_add_explicit(&bell->rung, 1, memory_order_release);
        futex(&bell->rung, FUTEX_WAKE, INT_MAX, NULL);
    }
}

static void sleep_a_little(yoke_shared_t *s)
{
    static const struct timespec most = {0, 1000000};
    bell_t *bell = bell_of(s, s->me);
    if (!s->announced) {
        atomic_fetch_or(s->sleepers, (uint64_t)1 << s->me);
        s->announced = true;
        s->heard = atomic_load_explicit(&bell->rung, memory_order_acquire);
        return; /* look once more, now that others know */
    }
    futex(&bell->rung, FUTEX_WAIT, s->heard, &most);
    s->heard = atomic_load_explicit(&bell->rung, memory_order_acquire);
}

void yoke_shared_moved(yoke_shared_t *s)
{
    s->waited = 0;
    if (!s->announced)
        return;
    atomic_fetch_and(s->sleepers, ~((uint64_t)1 << s->me));
    s->announced = false;
}

/*
 * Rounds of pause(). The first few are for a rank that is about to answer. Then, with a
 * core for each rank, spinning on is best, and bounded in case that another program has
 * the other rank's core; where two ranks share a core, one must let go of it.
 */
#define LOOK_ROUNDS 50u
#define SPIN_ROUNDS 8000u
#define YIELD_ROUNDS 50u

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

void yoke_shared_pause(yoke_shared_t *s)
{
    const unsigned round = s->waited;
    s->waited += s->waited < UINT_MAX;
    if (round == LOOK_ROUNDS)
        s->shares = shares_its_cpu(s);
    if (round < LOOK_ROUNDS || (!s->shares && round < SPIN_ROUNDS))
        relax();
    else if (s->shares && round < LOOK_ROUNDS + YIELD_ROUNDS)
        sched_yield();
    else
        sleep_a_little(s);
}

yoke_status_t yoke_shared_run(yoke_shared_t *s, const yoke_shared_call_t *call,
                              uint32_t deadline_ms)
{
    yoke_status_t status = yoke_shared_start(s, call);
    uint64_t end = 0;
    while (status == YOKE_ERR_NOT_READY) {
        yoke_shared_pause(s);
        status = yoke_shared_advance(s);
        /* the clock only when patience is at its end */
        if (status != YOKE_ERR_NOT_READY || deadline_ms == 0 || !s->announced)
            continue;
        end = end == 0 ? milliseconds() + deadline_ms : end;
        if (milliseconds() < end)
            continue;
        (void)yoke_fail(YOKE_ERR_TIMEOUT,
                        "call %llu of rank %d: rank %d did not come "
                        "for %u ms",
                        (unsigned long long)s->sequence, s->numbers[s->me],
                        yoke_shared_waits_for(s), (unsigned)deadline_ms);
        status = leave(s, YOKE_ERR_TIMEOUT);
    }
    return status;
}
