/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_COMPILE_H
#define YOKE_TESTS_FAKES_COMMON_COMPILE_H

/*
 * The run-time compiler of the CUDA-shaped fakes: CUDA C++ or HIP C++ in, an image out
 * that holds a shared object for the host. $YOKE_FAKES_CACHE, a folder, keeps the objects
 * by content; $YOKE_FAKES_CXX names the compiler (else c++, g++, clang++). Threads: any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_IMAGE_MAGIC "YOKEFAKE"

/* Head of an image; the object follows. */
typedef struct fake_image {
    char magic[8];
    char vendor[16];
    char arch[31];
    char form;     /* 'p': portable (PTX); 'b': for one architecture */
    uint64_t size; /* of the object */
    uint64_t hash; /* of the object */
} fake_image_t;

typedef struct fake_compile {
    const char *source;
    const char *name;           /* in messages */
    const char *language;       /* "FAKE_CUDA" or "FAKE_HIP": defined for the prologue */
    const char *const *defines; /* "N=4", "X"; from options and by the language */
    size_t define_count;
    const char *const *folders; /* of #include */
    size_t folder_count;
    bool contract; /* a*b+c may be one operation */
    const char *vendor, *arch;
    char form;
} fake_compile_t;

/* False: it does not compile. The image and the log are the caller's to free(); the log
 * is never NULL. */
bool fake_compile(const fake_compile_t *what, fake_image_t **out_image, char **out_log);

/* The image at `data`, NULL when it is none or damaged. `size` 0: not known. */
const fake_image_t *fake_image_check(const void *data, size_t size);
uint64_t fake_hash(const void *data, size_t size, uint64_t seed);

#endif
