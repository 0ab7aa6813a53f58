/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: who is in one, and that it is the same memory. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/ucx_comm/transport/fixture.h"

#define SIZE (1u << 20)

static int open_arena(int rank, int size, yoke_control_t **out_control,
                      yoke_arena_t **out_arena)
{
    RANK_CHECK(yoke_control_create(size, rank, yoke_test_all_gather, NULL, NULL,
                                   out_control) == YOKE_OK);
    RANK_CHECK(yoke_arena_create(*out_control, SIZE, out_arena) == YOKE_OK);
    return 0;
}

static int write_and_read(int rank, int size, void *context)
{
    (void)context;
    yoke_control_t *control;
    yoke_arena_t *arena;
    if (open_arena(rank, size, &control, &arena) != 0)
        return 1;
    RANK_CHECK(yoke_arena_is_whole(arena));
    RANK_CHECK(yoke_arena_ranks(arena) == size && yoke_arena_index(arena) == rank);
    RANK_CHECK(yoke_arena_rank(arena, size - 1) == size - 1);
    RANK_CHECK(yoke_arena_size(arena) == SIZE);
    char *base = yoke_arena_base(arena);
    for (size_t i = 0; i < SIZE; i++)
        RANK_CHECK(rank != 0 || base[i] == 0);
    yoke_test_meet();
    memset(base + rank * 4096, rank + 1, 4096);
    yoke_test_meet();
    for (int other = 0; other < size; other++)
        RANK_CHECK(base[other * 4096 + 4095] == other + 1);
    yoke_test_meet();
    /* What others do after one has left stays theirs. */
    if (rank != 0)
        yoke_arena_destroy(arena);
    yoke_test_meet();
    if (rank == 0) {
        RANK_CHECK(base[4096 * (size - 1)] == size);
        yoke_arena_destroy(arena);
    }
    yoke_control_destroy(control);
    return 0;
}

static void all_see_one_memory(void **unused)
{
    (void)unused;
    for (int size = 1; size <= 5; size++)
        assert_int_equal(yoke_test_ranks(size, write_and_read, NULL), 0);
}

static int read_of_others(int rank, int size, void *context)
{
    (void)context;
    yoke_control_t *control;
    yoke_arena_t *arena;
    if (open_arena(rank, size, &control, &arena) != 0)
        return 1;
    RANK_CHECK(yoke_arena_single_copy(arena));
    uint64_t mine[64];
    for (int i = 0; i < 64; i++)
        mine[i] = (uint64_t)(rank * 1000 + i);
    uint64_t *addresses = yoke_arena_base(arena);
    addresses[rank] = (uint64_t)(uintptr_t)mine;
    yoke_test_meet();
    for (int other = 0; other < size; other++) {
        uint64_t got[64] = {0};
        RANK_CHECK(yoke_arena_read(arena, other, got, addresses[other], sizeof got));
        for (int i = 0; i < 64; i++)
            RANK_CHECK(got[i] == (uint64_t)(other * 1000 + i));
        RANK_CHECK(!yoke_arena_read(arena, other, got, 4096, sizeof got));
    }
    yoke_test_meet();
    yoke_arena_destroy(arena);
    yoke_control_destroy(control);
    return 0;
}

static void members_read_each_other(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(3, read_of_others, NULL), 0);
}

/* --- who shares with whom
 * -------------------------------------------------------------------- */

static int four_on_two_hosts(int rank, int size, void *context)
{
    (void)context;
    yoke_control_t *control;
    yoke_arena_t *arena;
    yoke_arena_pretended_hosts = 2;
    if (open_arena(rank, size, &control, &arena) != 0)
        return 1;
    RANK_CHECK(!yoke_arena_is_whole(arena) && yoke_arena_ranks(arena) == 2);
    RANK_CHECK(yoke_arena_index(arena) == rank / 2);
    RANK_CHECK(yoke_arena_rank(arena, 0) == rank % 2);
    RANK_CHECK(yoke_arena_rank(arena, 1) == rank % 2 + 2);
    int *base = yoke_arena_base(arena);
    base[yoke_arena_index(arena)] = rank + 1;
    yoke_test_meet();
    RANK_CHECK(base[0] == rank % 2 + 1 && base[1] == rank % 2 + 3);
    yoke_arena_destroy(arena);
    yoke_control_destroy(control);
    return 0;
}

static void hosts_share_apart(void **unused)
{
    (void)unused;
    assert_int_equal(yoke_test_ranks(4, four_on_two_hosts, NULL), 0);
}

/* LeakSanitizer cannot look into a process that has changed its PID namespace or its
 * user; the other ranks run the same code and are looked into. */
static _Noreturn void leave_unchecked(int code)
{
    fflush(NULL);
    _exit(code);
}

/* Rank 1 goes on as the first process of a new PID namespace: its files are not to be
 * found in /proc, and are sent. */
static int in_a_container(int rank, int size, void *context)
{
    if (rank != 1)
        return write_and_read(rank, size, context);
    if (unshare(CLONE_NEWPID) != 0)
        return 77;
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_and_read(rank, size, context));
    int status = 1;
    waitpid(pid, &status, 0);
    leave_unchecked(status == 0 ? 0 : 1);
}

/* Another user's files cannot be opened in /proc either. */
static int as_another_user(int rank, int size, void *context)
{
    if (rank != 1)
        return write_and_read(rank, size, context);
    if (setresuid(65534, 65534, 65534) != 0)
        return 77;
    leave_unchecked(write_and_read(rank, size, context));
}

static void files_are_sent_where_proc_does_not_show_them(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    assert_int_equal(yoke_test_ranks(3, in_a_container, NULL), 0);
    assert_int_equal(yoke_test_ranks(3, as_another_user, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_see_one_memory),
        cmocka_unit_test(members_read_each_other),
        cmocka_unit_test(hosts_share_apart),
        cmocka_unit_test(files_are_sent_where_proc_does_not_show_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
