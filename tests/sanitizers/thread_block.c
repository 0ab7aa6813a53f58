/* SPDX-License-Identifier: Apache-2.0 */
/* A library with thread-local storage, which glibc allocates when a thread first asks.
 * With the allocator's header a block takes 64 bytes: every 64th begins 16 bytes into a
 * page. */

static _Thread_local char block[40];

/* Loaded by name. */
char *thread_block(void);
char *thread_block(void)
{
    return block;
}
