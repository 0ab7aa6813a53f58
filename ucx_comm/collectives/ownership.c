/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives by ownership on a tree of ranks and groups.
 *
 * A range of the vector (an item: one chunk, or one chunk of a block) is divided among
 * the children of each group by their weights, from the leaves up, so that every byte of
 * it has one holder in each group: the rank that collects the group's sum of it, and
 * later hands the result on. Between the children of a group, only the holders of the
 * same byte talk: reduce-scatter sends each part to the child that owns it, all-gather
 * sends it back. What crosses the border of a child of weight w, of C children, is
 * M (1 + (C - 2) w) bytes each way; with the weights of yoke_cost_weights() the borders
 * are busy equally long, and all ranks of an island use its way out, each for its slice.
 *
 * Where a block has an owner (reduce-scatter, all-gather), it holds it in all its groups.
 * Items are a pipeline: their steps depend on each other only through a window, so that
 * levels of different items overlap. Sums are made in the order of ranks within an
 * island, then of islands, at one rank for each element: equal bits everywhere.
 */

#include "base/error.h"
#include "ucx_comm/collectives/tree.h"

#define ROWS 6 /* items of one column under way */
#define SEGMENT ((uint64_t)512 << 10)
#define LINE 64
#define LARGE 4096 /* bytes of a part whose borders are at cache lines */

/* Part of an item as its children deal with it. */
typedef struct part {
    uint64_t begin, end;
    int owner;        /* child */
    uint32_t holders; /* of each child: job->ranks[holders ...] */
    yoke_step_t sent; /* this rank gave its sum of it away */
} part_t;

/* Part of an item that has one holder in a group. */
typedef struct piece {
    uint64_t begin, end;
    int holder;
    yoke_range_t at;  /* the holder only: where the group's sum is */
    yoke_step_t step; /* and after which step */
} piece_t;

/* A range and the step that it must wait for. */
typedef struct mark {
    uint64_t begin, end;
    yoke_step_t step;
} mark_t;

typedef struct list {
    void *items;
    uint32_t count, capacity;
} list_t;

typedef struct job {
    const yoke_shape_t *shape;
    yoke_schedule_t *schedule;
    const yoke_tree_t *tree;
    int me, n;
    bool reduces, spreads;
    bool measuring;         /* no steps are made: how much scratch does an item need? */
    list_t *pieces, *parts; /* of each node */
    list_t ranks;           /* int */
    list_t arrivals, sends; /* mark_t, of this item */
    uint32_t channel;
    /* the item */
    uint64_t begin, end;
    int owner; /* rank, -1: none */
    yoke_step_t gate;
    uint32_t first_step;
    uint64_t sums, slots; /* scratch: of partial sums; of what comes */
    double *weights;      /* of one node's children */
} job_t;

/* --- small things ------------------------------------------------------------------- */

static void *append(job_t *job, list_t *list, size_t size)
{
    static part_t nowhere; /* large enough for all kinds of items */
    if (list->count == list->capacity) {
        uint32_t capacity = 2 * list->capacity + 8;
        void *grown = realloc(list->items, capacity * size);
        if (grown == NULL) {
            job->schedule->status = yoke_fail_memory();
            return &nowhere;
        }
        list->items = grown;
        list->capacity = capacity;
    }
    return (char *)list->items + size * list->count++;
}

static part_t *parts_of(const job_t *job, int node)
{
    return job->parts[node].items;
}

static piece_t *pieces_of(const job_t *job, int node)
{
    return job->pieces[node].items;
}

static int holder(const job_t *job, const part_t *part, int child)
{
    return ((const int *)job->ranks.items)[part->holders + (uint32_t)child];
}

static bool holds(const job_t *job, int node, int rank)
{
    return rank >= 0 && job->tree->holds[node * job->n + rank];
}

static int child_with(const job_t *job, int node, int rank)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    int child = 0;
    while (!holds(job, parent->first + child, rank))
        child++;
    return child;
}

static void mark(job_t *job, list_t *list, uint64_t begin, uint64_t end, yoke_step_t step)
{
    if (job->measuring)
        return;
    mark_t *entry = append(job, list, sizeof *entry);
    *entry = (mark_t){begin, end, step};
}

/* true where there was something to wait for */
static bool after_marks(job_t *job, const list_t *list, yoke_step_t step, uint64_t begin,
                        uint64_t end)
{
    const mark_t *marks = list->items;
    bool any = false;
    for (uint32_t i = 0; i < list->count; i++)
        if (begin == end || (marks[i].begin < end && marks[i].end > begin)) {
            yoke_schedule_after(job->schedule, step, marks[i].step);
            any = true;
        }
    return any;
}

static yoke_step_t send(job_t *job, int peer, uint32_t channel, yoke_range_t from,
                        uint64_t size)
{
    if (job->measuring)
        return -1;
    return yoke_schedule_send(job->schedule, peer, channel, from, size);
}

static yoke_step_t receive(job_t *job, int peer, uint32_t channel, yoke_range_t to,
                           uint64_t size)
{
    if (job->measuring)
        return -1;
    yoke_step_t step = yoke_schedule_receive(job->schedule, peer, channel, to, size);
    yoke_schedule_after(job->schedule, step, job->gate);
    return step;
}

/* --- who holds what, and sums on the way up ------------------------------------------
 */

/* The root of a broadcast or reduce gives and gets the vector once, and owns nothing. */
static bool is_rooted(const job_t *job)
{
    return job->shape->collective == YOKE_COLLECTIVE_BROADCAST ||
           job->shape->collective == YOKE_COLLECTIVE_REDUCE;
}

static void weigh(job_t *job, int node)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    int skipped = -1;
    if (is_rooted(job) && holds(job, node, job->shape->root))
        skipped = child_with(job, node, job->shape->root);
    double sum = 0;
    for (int c = 0; c < parent->children; c++)
        if (c != skipped)
            sum += job->tree->nodes[parent->first + c].weight;
    for (int c = 0; c < parent->children; c++) {
        double weight = job->tree->nodes[parent->first + c].weight;
        job->weights[c] = sum > 0 ? weight / sum : 1.0 / (parent->children - 1);
        if (c == skipped)
            job->weights[c] = 0;
    }
}

/* Where the group's sum of a part is kept; `final`: it is the result. */
static yoke_range_t place_of_sum(const job_t *job, uint64_t begin, bool final)
{
    const yoke_shape_t *shape = job->shape;
    if (shape->collective == YOKE_COLLECTIVE_ALL_REDUCE)
        return IN_RECV(begin);
    if (final && shape->collective == YOKE_COLLECTIVE_REDUCE_SCATTER)
        return IN_RECV(begin - yoke_block_offset(shape, job->owner));
    return IN_SCRATCH(job->sums + begin - job->begin);
}

/* The holder of a part collects what the other children have. */
static void collect(job_t *job, int node, const part_t *part, piece_t *own)
{
    int children = job->tree->nodes[node].children;
    uint64_t size = part->end - part->begin;
    yoke_range_t *from = calloc((size_t)children, sizeof *from);
    yoke_step_t *came = yoke_steps_new(job->schedule, (uint64_t)children);
    if (from == NULL || came == NULL) {
        job->schedule->status = yoke_fail_memory();
        goto out;
    }
    for (int c = 0; c < children; c++) {
        if (c == part->owner) {
            from[c] = own->at;
            came[c] = own->step;
            continue;
        }
        from[c] = IN_SCRATCH(job->slots);
        job->slots += yoke_round_line(size);
        came[c] =
            receive(job, holder(job, part, c), job->channel + (uint32_t)c, from[c], size);
    }
    own->at = place_of_sum(job, part->begin, node == 0);
    own->step = -1;
    if (!job->measuring)
        own->step = (node == 0 ? yoke_schedule_reduce_many : yoke_schedule_reduce_some)(
            job->schedule, own->at, from, (unsigned)children, size);
    for (int c = 0; c < children; c++)
        yoke_schedule_after(job->schedule, own->step, came[c]);
    if (node == 0)
        mark(job, &job->arrivals, part->begin, part->end, own->step);
out:
    free(came);
    free(from);
}

/* One part of a node: cursors[c] is the piece of child c that it lies in. */
static void add_part(job_t *job, int node, uint64_t begin, uint64_t end, int owner,
                     const uint32_t *cursors)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    part_t part = {begin, end, owner, job->ranks.count, -1};
    piece_t mine = {begin, end, -1, IN_SEND(0), -1};
    int my_child = -1;
    for (int c = 0; c < parent->children; c++) {
        const piece_t *piece = &pieces_of(job, parent->first + c)[cursors[c]];
        *(int *)append(job, &job->ranks, sizeof(int)) = piece->holder;
        if (piece->holder != job->me)
            continue;
        my_child = c;
        mine.at = yoke_range(piece->at.region, piece->at.offset + begin - piece->begin);
        mine.step = piece->step;
    }
    if (job->schedule->status != YOKE_OK)
        return;
    int to = holder(job, &part, owner);
    if (job->reduces && to == job->me)
        collect(job, node, &part, &mine);
    else if (job->reduces && my_child >= 0) {
        part.sent =
            send(job, to, job->channel + (uint32_t)my_child, mine.at, end - begin);
        yoke_schedule_after(job->schedule, part.sent,
                            mine.step >= 0 ? mine.step : job->gate);
        mark(job, &job->sends, begin, end, part.sent);
    }
    job->channel += (uint32_t)parent->children;
    mine.holder = to;
    /* What the root gives to another island goes out through the ranks of its own. */
    if (job->shape->collective == YOKE_COLLECTIVE_BROADCAST &&
        holds(job, node, job->shape->root)) {
        int child = child_with(job, node, job->shape->root);
        if (job->tree->nodes[parent->first + child].rank < 0)
            mine.holder = holder(job, &part, child);
    }
    *(piece_t *)append(job, &job->pieces[node], sizeof mine) = mine;
    *(part_t *)append(job, &job->parts[node], sizeof part) = part;
}

/* The border at `share` of begin ... end: at an element, or a cache line. */
static uint64_t border(const job_t *job, uint64_t begin, uint64_t end, double share,
                       int children)
{
    uint64_t size = end - begin;
    uint64_t unit = yoke_element_size(job->shape->element);
    if (share >= 1)
        return end;
    uint64_t at = begin + (uint64_t)(share * (double)size);
    if (size / (uint64_t)children >= LARGE)
        unit = LINE;
    at -= (at - job->begin) % unit;
    return at < begin ? begin : at > end ? end : at;
}

/* All children hold begin ... end as a whole: divide it among them. */
static void divide(job_t *job, int node, uint64_t begin, uint64_t end,
                   const uint32_t *cursors)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    if (holds(job, node, job->owner) || begin == end) {
        int owner = holds(job, node, job->owner) ? child_with(job, node, job->owner) : 0;
        add_part(job, node, begin, end, owner, cursors);
        return;
    }
    weigh(job, node);
    int last = 0;
    for (int c = 0; c < parent->children; c++)
        last = job->weights[c] > 0 ? c : last;
    double share = 0;
    uint64_t at = begin;
    for (int c = 0; c <= last; c++) {
        share += job->weights[c];
        uint64_t next =
            c == last ? end : border(job, begin, end, share, parent->children);
        if (next > at)
            add_part(job, node, at, next, c, cursors);
        at = next > at ? next : at;
    }
}

static void lay(job_t *job, int node)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    job->pieces[node].count = job->parts[node].count = 0;
    if (parent->rank >= 0) {
        piece_t whole = {job->begin, job->end, parent->rank, IN_SEND(job->begin), -1};
        *(piece_t *)append(job, &job->pieces[node], sizeof whole) = whole;
        return;
    }
    for (int c = 0; c < parent->children; c++)
        lay(job, parent->first + c);
    uint32_t *cursors = calloc((size_t)parent->children, sizeof *cursors);
    if (cursors == NULL)
        job->schedule->status = yoke_fail_memory();
    uint64_t at = job->begin;
    do {
        uint64_t end = job->end;
        if (job->schedule->status != YOKE_OK)
            break;
        for (int c = 0; c < parent->children; c++) {
            uint64_t last = pieces_of(job, parent->first + c)[cursors[c]].end;
            end = last < end ? last : end;
        }
        divide(job, node, at, end, cursors);
        for (int c = 0; c < parent->children; c++)
            cursors[c] += pieces_of(job, parent->first + c)[cursors[c]].end == end;
        at = end;
    } while (at < job->end);
    free(cursors);
}

/* --- results on the way down ----------------------------------------------------------
 */

/* One message of the result, begin ... end, from holder to holder. */
static void hand_on(job_t *job, int from, int to, const part_t *part)
{
    uint64_t size = part->end - part->begin;
    uint32_t channel = job->channel++;
    if (from == job->me) {
        yoke_range_t at = IN_RECV(part->begin);
        if (job->shape->collective == YOKE_COLLECTIVE_ALL_GATHER && job->owner == job->me)
            at = IN_SEND(part->begin - yoke_block_offset(job->shape, job->me));
        yoke_step_t step = send(job, to, channel, at, size);
        if (!after_marks(job, &job->arrivals, step, part->begin, part->end))
            yoke_schedule_after(job->schedule, step, job->gate);
    } else if (to == job->me) {
        yoke_step_t step = receive(job, from, channel, IN_RECV(part->begin), size);
        yoke_schedule_after(job->schedule, step, part->sent);
        mark(job, &job->arrivals, part->begin, part->end, step);
    }
}

static void spread(job_t *job, int node)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    for (uint32_t i = 0; i < job->parts[node].count; i++) {
        const part_t *part = &parts_of(job, node)[i];
        for (int c = 0; c < parent->children; c++)
            if (c != part->owner)
                hand_on(job, holder(job, part, part->owner), holder(job, part, c), part);
    }
    for (int c = 0; c < parent->children; c++)
        if (job->tree->nodes[parent->first + c].rank < 0)
            spread(job, parent->first + c);
}

/* Groups with the root of a broadcast, from it upwards: the ranks that have a part give
 * it to its owner, and the owner to the rest. */
static void spread_from_root(job_t *job, int node)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    if (parent->rank >= 0)
        return;
    int source = child_with(job, node, job->shape->root);
    spread_from_root(job, parent->first + source);
    for (uint32_t i = 0; i < job->parts[node].count; i++) {
        const part_t *part = &parts_of(job, node)[i];
        if (part->owner != source)
            hand_on(job, holder(job, part, source), holder(job, part, part->owner), part);
        for (int c = 0; c < parent->children; c++)
            if (c != part->owner && c != source)
                hand_on(job, holder(job, part, part->owner), holder(job, part, c), part);
    }
}

static void spread_beside_root(job_t *job, int node)
{
    const yoke_tree_node_t *parent = &job->tree->nodes[node];
    for (int c = 0; c < parent->children; c++) {
        int child = parent->first + c;
        if (job->tree->nodes[child].rank >= 0)
            continue;
        if (holds(job, child, job->shape->root))
            spread_beside_root(job, child);
        else
            spread(job, child);
    }
}

/* The holders of a reduce's result give it to the root. */
static void give_to_root(job_t *job)
{
    int root = job->shape->root;
    const piece_t *pieces = pieces_of(job, 0);
    for (uint32_t i = 0; i < job->pieces[0].count; i++) {
        const piece_t *piece = &pieces[i];
        uint32_t channel = job->channel++;
        uint64_t size = piece->end - piece->begin;
        if (piece->holder == root) {
            if (job->me == root && !job->measuring)
                yoke_schedule_after(job->schedule,
                                    yoke_schedule_copy(job->schedule,
                                                       IN_RECV(piece->begin), piece->at,
                                                       size),
                                    piece->step);
        } else if (job->me == piece->holder)
            yoke_schedule_after(job->schedule, send(job, root, channel, piece->at, size),
                                piece->step);
        else if (job->me == root) {
            yoke_step_t step =
                receive(job, piece->holder, channel, IN_RECV(piece->begin), size);
            after_marks(job, &job->sends, step, piece->begin, piece->end);
        }
    }
}

/* --- items ----------------------------------------------------------------------------
 */

static void run_item(job_t *job)
{
    job->arrivals.count = job->sends.count = job->ranks.count = 0;
    job->first_step = job->schedule->count;
    lay(job, 0);
    if (job->schedule->status != YOKE_OK)
        return;
    switch (job->shape->collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        spread_from_root(job, 0);
        spread_beside_root(job, 0);
        break;
    case YOKE_COLLECTIVE_REDUCE:
        give_to_root(job);
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        break;
    default:
        spread(job, 0);
        break;
    }
}

/* A step that ends when all of the item's have; -1: it has none here. */
static yoke_step_t join_item(job_t *job)
{
    uint32_t end = job->schedule->count;
    if (end == job->first_step || job->schedule->status != YOKE_OK)
        return -1;
    yoke_step_t all = yoke_schedule_copy(job->schedule, IN_SCRATCH(0), IN_SCRATCH(0), 0);
    for (uint32_t i = job->first_step; i < end; i++)
        yoke_schedule_after(job->schedule, all, (yoke_step_t)i);
    return all;
}

/* Items stand in columns, one a block (vectors: one in all), and rows of chunks. */
typedef struct table {
    int columns;
    uint32_t rows;
    uint64_t *scratch; /* each column: where it begins; after the last: all */
    yoke_step_t *done; /* [column * ROWS + row % ROWS] */
} table_t;

static bool has_blocks(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE_SCATTER ||
           collective == YOKE_COLLECTIVE_ALL_GATHER;
}

/* false: nothing of the block falls into this row */
static bool set_item(job_t *job, const table_t *table, int column, uint32_t row)
{
    const yoke_shape_t *shape = job->shape;
    bool blocks = has_blocks(shape->collective);
    uint64_t size = blocks ? yoke_block_size(shape, column) : yoke_shape_bytes(shape);
    uint64_t start = blocks ? yoke_block_offset(shape, column) : 0;
    job->begin = start + yoke_segment_offset(shape, size, table->rows, row);
    job->end = start + yoke_segment_offset(shape, size, table->rows, row + 1);
    job->owner = blocks ? column : -1;
    return job->end > job->begin || row == 0;
}

/* How much scratch the largest item of a column needs here. */
static void measure(job_t *job, const table_t *table)
{
    job->measuring = true;
    uint64_t total = 0;
    bool sums = job->shape->collective != YOKE_COLLECTIVE_ALL_REDUCE;
    for (int column = 0; column < table->columns; column++) {
        uint64_t most = 0;
        for (uint32_t row = 0; row < table->rows; row++) {
            if (!set_item(job, table, column, row))
                continue;
            job->sums = 0;
            job->slots = sums ? yoke_round_line(job->end - job->begin) : 0;
            run_item(job);
            most = job->slots > most ? job->slots : most;
        }
        table->scratch[column] = total;
        total += most * ROWS;
    }
    table->scratch[table->columns] = total;
    job->measuring = false;
    job->channel = 0;
}

static void run_items(job_t *job, const table_t *table)
{
    bool sums = job->shape->collective != YOKE_COLLECTIVE_ALL_REDUCE;
    if (job->reduces) {
        measure(job, table);
        yoke_schedule_scratch(job->schedule, table->scratch[table->columns]);
    }
    for (uint32_t row = 0; row < table->rows; row++)
        for (int column = 0; column < table->columns; column++) {
            if (!set_item(job, table, column, row) || job->schedule->status != YOKE_OK)
                continue;
            yoke_step_t *done = &table->done[(uint32_t)column * ROWS + row % ROWS];
            uint64_t each = (table->scratch[column + 1] - table->scratch[column]) / ROWS;
            job->gate = *done;
            job->sums = table->scratch[column] + each * (row % ROWS);
            job->slots = job->sums + (sums ? yoke_round_line(job->end - job->begin) : 0);
            run_item(job);
            *done = join_item(job);
        }
}

/* --- the whole
 * -------------------------------------------------------------------------- */

static void build_alone(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    bool blocks = has_blocks(shape->collective);
    uint64_t size = blocks ? yoke_block_size(shape, 0) : yoke_shape_bytes(shape);
    uint64_t at = blocks ? yoke_block_offset(shape, 0) : 0;
    if (shape->collective == YOKE_COLLECTIVE_BROADCAST || shape->in_place)
        return;
    if (shape->collective == YOKE_COLLECTIVE_ALL_GATHER)
        yoke_schedule_copy(schedule, IN_RECV(at), IN_SEND(0), size);
    else
        yoke_schedule_copy(schedule, IN_RECV(0), IN_SEND(at), size);
}

static uint64_t usual_chunk(const yoke_shape_t *shape, uint64_t size)
{
    /* Enough items to fill the window a few times, each still worth its messages. */
    uint64_t chunk = size / (4 * ROWS);
    uint64_t least = (uint64_t)16384 * (uint64_t)shape->size;
    chunk = chunk < least ? least : chunk;
    return chunk > 4 * SEGMENT ? 4 * SEGMENT : chunk;
}

static void free_job(job_t *job)
{
    for (int i = 0; job->pieces != NULL && i < job->tree->count; i++)
        free(job->pieces[i].items);
    for (int i = 0; job->parts != NULL && i < job->tree->count; i++)
        free(job->parts[i].items);
    free(job->pieces);
    free(job->parts);
    free(job->ranks.items);
    free(job->arrivals.items);
    free(job->sends.items);
    free(job->weights);
}

static void build_on(const yoke_tree_t *tree, const yoke_shape_t *shape,
                     yoke_schedule_t *schedule)
{
    bool blocks = has_blocks(shape->collective);
    size_t nodes = (size_t)tree->count, n = (size_t)shape->size;
    job_t job = {.shape = shape, .schedule = schedule, .tree = tree};
    job.me = shape->rank;
    job.n = shape->size;
    job.reduces = shape->collective != YOKE_COLLECTIVE_ALL_GATHER &&
                  shape->collective != YOKE_COLLECTIVE_BROADCAST;
    job.gate = -1;
    job.pieces = calloc(nodes, sizeof *job.pieces);
    job.parts = calloc(nodes, sizeof *job.parts);
    job.weights = calloc(n, sizeof *job.weights);
    table_t table = {.columns = blocks ? shape->size : 1};
    table.scratch = calloc((size_t)table.columns + 1, sizeof *table.scratch);
    table.done = yoke_steps_new(schedule, (uint64_t)table.columns * ROWS);
    uint64_t largest = yoke_shape_bytes(shape);
    for (int i = 0; blocks && i < shape->size; i++) {
        uint64_t size = yoke_block_size(shape, i);
        largest = i == 0 || size > largest ? size : largest;
    }
    table.rows = yoke_segments(shape, largest, usual_chunk(shape, largest));
    if (job.pieces == NULL || job.parts == NULL || job.weights == NULL ||
        table.scratch == NULL || table.done == NULL)
        schedule->status = yoke_fail_memory();
    else
        run_items(&job, &table);
    free(table.scratch);
    free(table.done);
    free_job(&job);
}

void yoke_tree_build(const yoke_shape_t *shape, bool flat, yoke_schedule_t *schedule)
{
    yoke_tree_t *tree = NULL;
    if (shape->size == 1) {
        build_alone(shape, schedule);
        return;
    }
    schedule->status = yoke_tree_create(shape, flat, &tree);
    if (schedule->status == YOKE_OK && shape->collective == YOKE_COLLECTIVE_ALL_GATHER &&
        !shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, shape->rank)),
                           IN_SEND(0), yoke_block_size(shape, shape->rank));
    if (schedule->status == YOKE_OK)
        build_on(tree, shape, schedule);
    yoke_tree_free(tree);
}
