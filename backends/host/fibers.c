/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items of a group that wait for each other: a coroutine each, on a stack of its own with
 * a guard page below. A round runs every item to its next barrier or its end. Coroutines
 * stay for the next group and the next launch.
 *
 * swapcontext() makes two system calls, and sanitizers take it over: on x86-64 a few
 * lines of assembly change stacks instead, elsewhere it does. This file is never
 * instrumented (CMakeLists.txt).
 */
#include "backends/host/host.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define QUICK_SWITCH
#endif
#define STACK_SIZE ((size_t)64 * 1024)

typedef struct fiber {
    yoke_host_fibers_t *owner;
    yoke_host_self_t self;
    unsigned char *memory; /* guard page and stack */
    bool finished;
#ifdef QUICK_SWITCH
    void *place; /* stack pointer while another runs */
#else
    ucontext_t context;
#endif
} fiber_t;

struct yoke_host_fibers {
    fiber_t **items;
    uint32_t count, room;
    size_t guard;
#ifdef QUICK_SWITCH
    void *place; /* stack pointer while another runs */
#else
    ucontext_t context;
#endif
    yoke_host_run_t run;
    const void *const *arguments;
};

/* --- changing stacks ---------------------------------------------------------------- */

static void fiber_loop(fiber_t *fiber);

#ifdef QUICK_SWITCH
/* The registers that a function keeps for its caller are all that a change of stacks in a
 * call has to keep: System V ABI, AMD64 supplement, figure 3.4. A new coroutine begins in
 * yoke_host_begin, with itself in r12 and its function in r13. */
void yoke_host_switch(void **save, void *place);
void yoke_host_begin(void);
__asm__(".text\n"
        ".hidden yoke_host_switch\n"
        ".globl yoke_host_switch\n"
        ".type yoke_host_switch, @function\n"
        "yoke_host_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
        "ret\n"
        ".size yoke_host_switch, .-yoke_host_switch\n"
        ".hidden yoke_host_begin\n"
        ".globl yoke_host_begin\n"
        ".type yoke_host_begin, @function\n"
        "yoke_host_begin:\n"
        "movq %r12, %rdi\n"
        "call *%r13\n"
        "ud2\n"
        ".size yoke_host_begin, .-yoke_host_begin\n");

static void yield(fiber_t *fiber)
{
    yoke_host_switch(&fiber->place, fiber->owner->place);
}

static void resume(fiber_t *fiber)
{
    yoke_host_switch(&fiber->owner->place, fiber->place);
}

static bool begin(fiber_t *fiber)
{
    /* r15 r14 r13 r12 rbx rbp, where to return, and two words that align the stack. */
    uintptr_t *top =
        (uintptr_t *)(void *)(fiber->memory + fiber->owner->guard + STACK_SIZE) - 9;
    top[2] = (uintptr_t)fiber_loop;
    top[3] = (uintptr_t)fiber;
    top[6] = (uintptr_t)yoke_host_begin;
    fiber->place = top;
    return true;
}
#else
static void yield(fiber_t *fiber)
{
    swapcontext(&fiber->context, &fiber->owner->context);
}

static void resume(fiber_t *fiber)
{
    swapcontext(&fiber->owner->context, &fiber->context);
}

/* makecontext() passes numbers only. */
static void begin_here(unsigned high, unsigned low)
{
    fiber_loop((fiber_t *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low));
}

static bool begin(fiber_t *fiber)
{
    uintptr_t address = (uintptr_t)fiber;
    if (getcontext(&fiber->context) != 0)
        return false;
    fiber->context.uc_stack.ss_sp = fiber->memory + fiber->owner->guard;
    fiber->context.uc_stack.ss_size = STACK_SIZE;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, (void (*)(void))(void *)begin_here, 2,
                (unsigned)(address >> 16 >> 16), (unsigned)address);
    return true;
}
#endif

static void wait_for_others(void *context)
{
    yield(context);
}

static void fiber_loop(fiber_t *fiber)
{
    for (;;) {
        fiber->owner->run(fiber->owner->arguments, &fiber->self);
        fiber->finished = true;
        yield(fiber);
    }
}

/* --- making and ending -------------------------------------------------------------- */

static bool fiber_make(yoke_host_fibers_t *fibers)
{
    fiber_t *fiber = calloc(1, sizeof *fiber);
    if (fiber == NULL)
        return false;
    size_t size = fibers->guard + STACK_SIZE;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        free(fiber);
        return false;
    }
    fiber->memory = memory;
    fiber->owner = fibers;
    if (mprotect(memory, fibers->guard, PROT_NONE) != 0 || !begin(fiber)) {
        munmap(memory, size);
        free(fiber);
        return false;
    }
    fibers->items[fibers->count++] = fiber;
    return true;
}

bool yoke_host_fibers_reserve(yoke_host_fibers_t **fibers, uint32_t count)
{
    if (*fibers == NULL) {
        yoke_host_fibers_t *made = calloc(1, sizeof *made);
        if (made == NULL)
            return false;
        made->guard = (size_t)sysconf(_SC_PAGESIZE);
        *fibers = made;
    }
    if (count > (*fibers)->room) {
        fiber_t **items = realloc((*fibers)->items, count * sizeof *items);
        if (items == NULL)
            return false;
        (*fibers)->items = items;
        (*fibers)->room = count;
    }
    while ((*fibers)->count < count)
        if (!fiber_make(*fibers))
            return false;
    return true;
}

void yoke_host_fibers_destroy(yoke_host_fibers_t *fibers)
{
    if (fibers == NULL)
        return;
    for (uint32_t i = 0; i < fibers->count; i++) {
        munmap(fibers->items[i]->memory, fibers->guard + STACK_SIZE);
        free(fibers->items[i]);
    }
    free(fibers->items);
    free(fibers);
}

/* --- running ------------------------------------------------------------------------ */

static void prepare(yoke_host_fibers_t *fibers, const yoke_launch_t *shape,
                    uint32_t items)
{
    for (uint32_t i = 0; i < items; i++) {
        yoke_host_self_t *self = &fibers->items[i]->self;
        for (int d = 0; d < 3; d++) {
            self->groups[d] = shape->groups[d];
            self->items[d] = shape->local[d];
        }
        self->item[0] = i % shape->local[0];
        self->item[1] = i / shape->local[0] % shape->local[1];
        self->item[2] = i / shape->local[0] / shape->local[1];
        self->barrier = wait_for_others;
        self->context = fibers->items[i];
    }
}

static void run_group(yoke_host_fibers_t *fibers, uint32_t items, const uint32_t group[3])
{
    uint32_t left = items;
    for (uint32_t i = 0; i < items; i++) {
        for (int d = 0; d < 3; d++)
            fibers->items[i]->self.group[d] = group[d];
        fibers->items[i]->finished = false;
    }
    while (left > 0)
        for (uint32_t i = 0; i < items; i++) {
            if (fibers->items[i]->finished)
                continue;
            resume(fibers->items[i]);
            left -= fibers->items[i]->finished ? 1 : 0;
        }
}

bool yoke_host_fibers_run(yoke_host_fibers_t **fibers, yoke_host_run_t run,
                          const void *const *arguments, const yoke_launch_t *shape)
{
    uint32_t items = shape->local[0] * shape->local[1] * shape->local[2], group[3];
    if (!yoke_host_fibers_reserve(fibers, items))
        return false;
    (*fibers)->run = run;
    (*fibers)->arguments = arguments;
    prepare(*fibers, shape, items);
    for (group[2] = 0; group[2] < shape->groups[2]; group[2]++)
        for (group[1] = 0; group[1] < shape->groups[1]; group[1]++)
            for (group[0] = 0; group[0] < shape->groups[0]; group[0]++)
                run_group(*fibers, items, group);
    return true;
}
