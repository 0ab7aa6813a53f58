/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_FUZZ_FUZZ_H
#define YOKE_FUZZ_FUZZ_H

/*
 * What every fuzzer checks besides the sanitizers: a failure has a message and leaves the
 * output alone; a document that was read can be written, and what was written reads back
 * to the same text.
 */

#include <stddef.h>
#include <stdint.h>
#include "yoke/status.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Ends the program, so that libFuzzer keeps the input, when `condition` is false. */
void fuzz_require(int condition, const char *what);
/** A failed call: it said why, and did not touch its output. */
void fuzz_require_failure(yoke_status_t status, const void *out);
/** Copy of the input with a final zero, for readers that take a string; caller frees. */
char *fuzz_string(const uint8_t *data, size_t size);

#endif
