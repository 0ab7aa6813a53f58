/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work-items as coroutines. Compiled without sanitizers, like the kernels: the stacks are
 * switched behind their backs. The driver's one worker runs one launch at a time.
 */
#include "runner.h"
#include <stdbool.h>

typedef struct item {
    void *stack;
    uint32_t local[3];
    bool done;
} item_t;

static const yoke_fake_grid_t *running;
static uint32_t group[3];
static item_t items[1024];
static item_t *current;
static void *scheduler;

void yoke_fake_switch(void **save, void *to);
uint64_t yoke_fake_item_query(uint32_t what, uint32_t dimension);
void yoke_fake_item_barrier(void);

#if defined __x86_64__
__asm__(".text\n.hidden yoke_fake_switch\n.globl yoke_fake_switch\n"
        ".type yoke_fake_switch,@function\nyoke_fake_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
        ".size yoke_fake_switch,.-yoke_fake_switch\n");
#define SAVED_WORDS 6 /* below the address to return to */
#else
#error "the fake driver's kernels need yoke_fake_switch for this processor"
#endif

/* Entered once per item, on its own stack; never returns. */
static void item_main(void)
{
    running->body(running->arguments);
    current->done = true;
    yoke_fake_switch(&current->stack, scheduler);
}

void yoke_fake_item_barrier(void)
{
    yoke_fake_switch(&current->stack, scheduler);
}

uint64_t yoke_fake_item_query(uint32_t what, uint32_t d)
{
    if (d > 2)
        return what >= 3 && what <= 5 ? 1 : 0; /* OpenCL 1.2, 6.12.1 */
    switch (what) {
    case 0:
        return (uint64_t)group[d] * running->items[d] + current->local[d];
    case 1:
        return current->local[d];
    case 2:
        return group[d];
    case 3:
        return (uint64_t)running->groups[d] * running->items[d];
    case 4:
        return running->items[d];
    case 5:
        return running->groups[d];
    default:
        return 0;
    }
}

static void prepare(item_t *item, uint32_t index)
{
    const uint32_t *n = running->items;
    char *top = running->stacks + (size_t)(index + 1) * running->stack_size - 64;
    void **stack = (void **)(void *)top;
    *--stack = NULL; /* where item_main() would return to; also its alignment */
    *--stack = (void *)(uintptr_t)item_main;
    for (int i = 0; i < SAVED_WORDS; i++)
        *--stack = NULL;
    item->stack = stack;
    item->done = false;
    item->local[0] = index % n[0];
    item->local[1] = index / n[0] % n[1];
    item->local[2] = index / n[0] / n[1];
}

static void run_group(void)
{
    uint32_t count = running->items[0] * running->items[1] * running->items[2];
    uint32_t left = count;
    for (uint32_t i = 0; i < count; i++)
        prepare(&items[i], i);
    while (left > 0)
        for (uint32_t i = 0; i < count; i++) {
            if (items[i].done)
                continue;
            current = &items[i];
            yoke_fake_switch(&scheduler, current->stack);
            left -= current->done;
        }
}

void yoke_fake_run(const yoke_fake_grid_t *grid)
{
    running = grid;
    for (group[2] = 0; group[2] < grid->groups[2]; group[2]++)
        for (group[1] = 0; group[1] < grid->groups[1]; group[1]++)
            for (group[0] = 0; group[0] < grid->groups[0]; group[0]++)
                run_group();
}
