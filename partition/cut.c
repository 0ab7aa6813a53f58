/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts of one sequence of stages: parametric search, local moves, exact enumeration. */
#include "partition/cut.h"

#include <string.h>

#include "partition/layer_times.h"

#define BISECTIONS 32
#define PAIR_MOVES_UP_TO 24

bool yoke_chain_init(yoke_chain_t *chain, yoke_sheet_t *sheet, const uint8_t *classes,
                     unsigned stages, unsigned micro_batches, unsigned data_ranks,
                     bool sharded)
{
    chain->sheet = sheet;
    chain->stages = stages;
    chain->micro_batches = micro_batches;
    chain->overhead = sheet->problem->constants->step_overhead;
    memcpy(chain->classes, classes, stages);
    memset(chain->send, 0, sizeof chain->send);
    memset(chain->more_forward, 0, sizeof chain->more_forward);
    memset(chain->more_backward, 0, sizeof chain->more_backward);
    for (unsigned s = 0; s < stages; s++) {
        unsigned in_flight = micro_batches < stages - s ? micro_batches : stages - s;
        bool alone = stages == 1 && data_ranks == 1 && sheet->tp[classes[s]] == 1;
        chain->cap[s] = yoke_sheet_memory_cap(sheet, classes[s], in_flight, data_ranks,
                                              sharded, alone);
        if (chain->cap[s] == NULL)
            return false;
    }
    return true;
}

static double forward_of(const yoke_chain_t *chain, unsigned stage, unsigned first,
                         unsigned last)
{
    const double *prefix = chain->sheet->table[chain->classes[stage]]->forward;
    return prefix[last + 1] - prefix[first] + chain->more_forward[stage];
}

static double backward_of(const yoke_chain_t *chain, unsigned stage, unsigned first,
                          unsigned last)
{
    const double *prefix = chain->sheet->table[chain->classes[stage]]->backward;
    return prefix[last + 1] - prefix[first] + chain->more_backward[stage];
}

void yoke_chain_block(yoke_chain_t *chain)
{
    if (!yoke_layer_times_blocking(chain->sheet->problem->measured))
        return;
    for (unsigned s = 0; s + 1 < chain->stages; s++) {
        chain->more_forward[s] = chain->send[s];
        chain->more_backward[s + 1] = chain->send[s];
        chain->send[s] = 0;
    }
}

static double total_of(const yoke_chain_t *chain, unsigned stage, unsigned first,
                       unsigned last)
{
    return forward_of(chain, stage, first, last) + backward_of(chain, stage, first, last);
}

double yoke_chain_bound(const yoke_chain_t *chain, const uint16_t *last)
{
    double forward[YOKE_MAX_STAGES], backward[YOKE_MAX_STAGES];
    unsigned first = 0;
    for (unsigned s = 0; s < chain->stages; s++) {
        forward[s] = forward_of(chain, s, first, last[s]);
        backward[s] = backward_of(chain, s, first, last[s]);
        first = last[s] + 1u;
    }
    return chain->overhead + yoke_bound_stages(chain->stages, chain->micro_batches,
                                               forward, backward, chain->send);
}

/* Fill every stage up to `limit` seconds; true when all layers found a place. */
static bool fill(const yoke_chain_t *chain, double limit, uint16_t *last)
{
    const int layers = (int)chain->sheet->problem->model->layer_count;
    int first = 0;
    for (unsigned s = 0; s < chain->stages; s++) {
        int most = layers - 1 - (int)(chain->stages - 1 - s);
        if (chain->cap[s][first] < most)
            most = chain->cap[s][first];
        int low = first - 1; /* the last layer that is known to fit in time */
        int high = most;
        while (low < high) {
            int middle = low + (high - low + 1) / 2;
            if (total_of(chain, s, (unsigned)first, (unsigned)middle) <= limit)
                low = middle;
            else
                high = middle - 1;
        }
        if (low < first)
            return false;
        last[s] = (uint16_t)low;
        first = low + 1;
    }
    return first == layers;
}

bool yoke_chain_move(const yoke_chain_t *chain, const uint16_t *last, unsigned from,
                     unsigned to, uint16_t *out)
{
    memcpy(out, last, chain->stages * sizeof *out);
    if (from < to)
        for (unsigned s = from; s < to; s++)
            out[s]--;
    else
        for (unsigned s = to; s < from; s++)
            out[s]++;
    int first = 0;
    for (unsigned s = 0; s < chain->stages; s++) {
        if ((int)out[s] < first || (int)out[s] > chain->cap[s][first] ||
            out[s] == UINT16_MAX)
            return false;
        first = out[s] + 1;
    }
    return true;
}

/*
 * When one layer goes from one stage to another, the stages between pass one on: all of
 * them shift by a layer, down (from an earlier to a later stage) or up. Changes of each
 * stage's total in its three parts, so that a move is judged without walking its stages.
 */
typedef struct shift {
    double from[YOKE_MAX_STAGES], to[YOKE_MAX_STAGES];
    double passed[YOKE_MAX_STAGES + 1]; /* prefix sums */
} shift_t;

typedef struct moves {
    double total[YOKE_MAX_STAGES];
    double through;      /* one micro-batch through all stages and back */
    unsigned binding[2]; /* stages with the largest in-flight bounds */
    shift_t down, up;
} moves_t;

/* The in-flight bound of a stage, without the time of one pass through all stages. */
static double limited(const yoke_chain_t *chain, unsigned stage, double forward,
                      double total)
{
    unsigned behind = chain->stages - stage;
    unsigned in_flight = chain->micro_batches < behind ? chain->micro_batches : behind;
    return (chain->micro_batches - 1.0) * total - (in_flight - 1.0) * forward;
}

static unsigned first_of(const uint16_t *last, unsigned stage)
{
    return stage > 0 ? last[stage - 1] + 1u : 0;
}

static void list_moves(const yoke_chain_t *chain, const uint16_t *last, moves_t *out)
{
    double most = -1, next = -1;
    out->through = 0;
    out->binding[0] = out->binding[1] = 0;
    out->down.passed[0] = out->up.passed[0] = 0;
    for (unsigned s = 0; s < chain->stages; s++) {
        unsigned a = first_of(last, s), b = last[s];
        double total = total_of(chain, s, a, b);
        double bound = limited(chain, s, forward_of(chain, s, a, b), total);
        if (bound > most) {
            next = most;
            out->binding[1] = out->binding[0];
            most = bound;
            out->binding[0] = s;
        } else if (bound > next) {
            next = bound;
            out->binding[1] = s;
        }
        out->total[s] = total;
        out->through += total + (s + 1 < chain->stages ? 2.0 * chain->send[s] : 0.0);
        bool before = s > 0, after = s + 1 < chain->stages;
        out->down.from[s] = a < b ? total_of(chain, s, a, b - 1) - total : 0;
        out->down.to[s] = before ? total_of(chain, s, a - 1, b) - total : 0;
        out->down.passed[s + 1] = out->down.passed[s];
        out->up.from[s] = a < b ? total_of(chain, s, a + 1, b) - total : 0;
        out->up.to[s] = after ? total_of(chain, s, a, b + 1) - total : 0;
        out->up.passed[s + 1] = out->up.passed[s];
        if (before)
            out->down.passed[s + 1] += total_of(chain, s, a - 1, b - 1) - total;
        if (after)
            out->up.passed[s + 1] += total_of(chain, s, a + 1, b + 1) - total;
    }
}

/* What stage `s` still needs after the move, beside one pass through all stages. */
static double limited_after(const yoke_chain_t *chain, const uint16_t *last, unsigned s,
                            unsigned from, unsigned to)
{
    unsigned low = from < to ? from : to, high = from < to ? to : from;
    unsigned a = first_of(last, s), b = last[s];
    if (from < to) {
        a -= s > low && s <= high;
        b -= s >= low && s < high;
    } else {
        a += s > low && s <= high;
        b += s >= low && s < high;
    }
    return limited(chain, s, forward_of(chain, s, a, b), total_of(chain, s, a, b));
}

/* At most the closed form after the move. */
static double glance(const yoke_chain_t *chain, const uint16_t *last,
                     const moves_t *moves, unsigned from, unsigned to)
{
    const shift_t *shift = from < to ? &moves->down : &moves->up;
    unsigned low = from < to ? from : to, high = from < to ? to : from;
    double through = moves->through + shift->from[from] + shift->to[to] +
                     (shift->passed[high] - shift->passed[low + 1]);
    double first = limited_after(chain, last, moves->binding[0], from, to);
    double second = limited_after(chain, last, moves->binding[1], from, to);
    return chain->overhead + through + (first > second ? first : second);
}

static bool improve_once(const yoke_chain_t *chain, uint16_t *last, double *time)
{
    uint16_t trial[YOKE_MAX_STAGES], best[YOKE_MAX_STAGES];
    double best_time = *time;
    bool pairs = chain->stages <= PAIR_MOVES_UP_TO;
    moves_t moves;
    list_moves(chain, last, &moves);
    for (unsigned from = 0; from < chain->stages; from++) {
        unsigned low = pairs || from == 0 ? 0 : from - 1;
        unsigned high = pairs ? chain->stages - 1 : from + 1;
        if (first_of(last, from) == last[from])
            continue; /* its only layer */
        for (unsigned to = low; to <= high && to < chain->stages; to++) {
            if (to == from ||
                glance(chain, last, &moves, from, to) * (1.0 - 1e-12) >= best_time ||
                !yoke_chain_move(chain, last, from, to, trial))
                continue;
            double changed = yoke_chain_bound(chain, trial);
            if (changed < best_time) {
                best_time = changed;
                memcpy(best, trial, chain->stages * sizeof *best);
            }
        }
    }
    if (!(best_time < *time))
        return false;
    memcpy(last, best, chain->stages * sizeof *last);
    *time = best_time;
    return true;
}

bool yoke_chain_cut_bottleneck(const yoke_chain_t *chain, uint16_t *out_last)
{
    const unsigned layers = (unsigned)chain->sheet->problem->model->layer_count;
    uint16_t last[YOKE_MAX_STAGES];
    if (chain->stages > layers)
        return false;
    double high = 0, rate = 0;
    for (unsigned s = 0; s < chain->stages; s++) {
        double all = total_of(chain, s, 0, layers - 1);
        high = all > high ? all : high;
        rate += chain->sheet->speed[chain->classes[s]];
    }
    double low = chain->sheet->weight / rate;
    if (!fill(chain, high, out_last))
        return false;
    for (int i = 0; i < BISECTIONS && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (fill(chain, middle, last)) {
            high = middle;
            memcpy(out_last, last, chain->stages * sizeof *last);
        } else {
            low = middle;
        }
    }
    return true;
}

bool yoke_chain_improve(const yoke_chain_t *chain, uint16_t *last)
{
    const unsigned layers = (unsigned)chain->sheet->problem->model->layer_count;
    double time = yoke_chain_bound(chain, last);
    unsigned moves = 0;
    while (moves < 4 * layers && improve_once(chain, last, &time))
        moves++;
    return moves > 0;
}

bool yoke_chain_cut(const yoke_chain_t *chain, uint16_t *out_last)
{
    if (!yoke_chain_cut_bottleneck(chain, out_last))
        return false;
    yoke_chain_improve(chain, out_last);
    return true;
}

typedef struct walk {
    const yoke_chain_t *chain;
    const double *threshold;
    uint64_t *effort;
    yoke_cut_visit_t visit;
    void *context;
    uint16_t last[YOKE_MAX_STAGES];
    double rate_after[YOKE_MAX_STAGES + 1];  /* sum of speeds of the stages from s on */
    double speed_after[YOKE_MAX_STAGES + 1]; /* the largest of them */
    double sends_after[YOKE_MAX_STAGES + 1]; /* both directions, boundaries from s on */
} walk_t;

/* Cannot the layers after `last` pass through the stages after `stage` in time? */
static bool too_much_left(const walk_t *walk, unsigned stage, unsigned last,
                          double before)
{
    const yoke_sheet_t *sheet = walk->chain->sheet;
    double left = sheet->weight - sheet->prefix[last + 1];
    double each =
        (*walk->threshold - walk->chain->overhead - before) / walk->chain->micro_batches;
    return left * (1.0 - 1e-9) > walk->rate_after[stage + 1] * each;
}

static bool walk_stage(walk_t *walk, unsigned stage, unsigned first, double before)
{
    const yoke_chain_t *chain = walk->chain;
    const unsigned layers = (unsigned)chain->sheet->problem->model->layer_count;
    const unsigned after = chain->stages - 1 - stage;
    const double steps = chain->micro_batches;
    const unsigned in_flight =
        chain->micro_batches < after + 1 ? chain->micro_batches : after + 1;
    int most = chain->cap[stage][first];
    if (most > (int)(layers - 1 - after))
        most = (int)(layers - 1 - after);
    for (int last = after == 0 ? (int)layers - 1 : (int)first; last <= most; last++) {
        if (*walk->effort == 0)
            return false;
        --*walk->effort;
        double forward = forward_of(chain, stage, first, (unsigned)last);
        double total = forward + backward_of(chain, stage, first, (unsigned)last);
        if (before + steps * total + chain->overhead >= *walk->threshold)
            break;
        double next = before + total + (after > 0 ? 2.0 * chain->send[stage] : 0.0);
        double rest = walk->sends_after[stage + 1];
        if (after > 0)
            rest += (chain->sheet->weight - chain->sheet->prefix[last + 1]) /
                    walk->speed_after[stage + 1];
        if ((next + rest + (steps - 1.0) * total - (in_flight - 1.0) * forward) *
                    (1.0 - 1e-9) +
                chain->overhead >=
            *walk->threshold)
            continue;
        walk->last[stage] = (uint16_t)last;
        if (after == 0) {
            if (yoke_chain_bound(chain, walk->last) < *walk->threshold)
                walk->visit(walk->context, walk->last);
        } else if (!too_much_left(walk, stage, (unsigned)last, next) &&
                   !walk_stage(walk, stage + 1, (unsigned)last + 1, next)) {
            return false;
        }
    }
    return true;
}

bool yoke_chain_enumerate(const yoke_chain_t *chain, const double *threshold,
                          uint64_t *effort, yoke_cut_visit_t visit, void *context)
{
    if (chain->stages > chain->sheet->problem->model->layer_count)
        return true;
    walk_t walk = {.chain = chain,
                   .threshold = threshold,
                   .effort = effort,
                   .visit = visit,
                   .context = context};
    for (unsigned s = chain->stages; s-- > 0;) {
        double speed = chain->sheet->speed[chain->classes[s]];
        walk.rate_after[s] = walk.rate_after[s + 1] + speed;
        walk.speed_after[s] =
            speed > walk.speed_after[s + 1] ? speed : walk.speed_after[s + 1];
        walk.sends_after[s] = walk.sends_after[s + 1] +
                              (s + 1 < chain->stages ? 2.0 * chain->send[s] : 0.0);
    }
    return walk_stage(&walk, 0, 0, 0.0);
}

static unsigned count_decoders(const yoke_model_t *model)
{
    unsigned count = 0;
    for (size_t l = 0; l < model->layer_count; l++)
        count += model->layers[l].kind == YOKE_LAYER_DECODER;
    return count;
}

void yoke_cut_from_split(const yoke_model_t *model, const uint64_t *split,
                         unsigned stages, uint16_t *out_last)
{
    size_t layer = 0;
    for (unsigned s = 0; s < stages; s++) {
        uint64_t wanted = split[s];
        while (layer < model->layer_count) {
            bool decoder = model->layers[layer].kind == YOKE_LAYER_DECODER;
            if (decoder && wanted == 0)
                break;
            wanted -= decoder;
            layer++;
            if (wanted == 0 && s + 1 < stages)
                break;
        }
        out_last[s] = (uint16_t)(layer - 1);
    }
    out_last[stages - 1] = (uint16_t)(model->layer_count - 1);
}

bool yoke_cut_even(const yoke_model_t *model, unsigned stages, uint16_t *out_last)
{
    uint64_t split[YOKE_MAX_STAGES];
    unsigned decoders = count_decoders(model);
    if (stages == 0 || stages > YOKE_MAX_STAGES || decoders < stages)
        return false;
    for (unsigned s = 0; s < stages; s++)
        split[s] = decoders / stages + (s < decoders % stages ? 1 : 0);
    yoke_cut_from_split(model, split, stages, out_last);
    return true;
}
