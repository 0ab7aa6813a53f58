# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=file.inc -DOUTPUT=file.c -DNAME=symbol -P embed.cmake: a text file as
# `const char symbol[]` and `const size_t symbol_size` (without the NUL).
file(READ "${INPUT}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE "${OUTPUT}.new"
"/* SPDX-License-Identifier: Apache-2.0 */
/* Made by embed.cmake. */
#include <stddef.h>
extern const char ${NAME}[];
extern const size_t ${NAME}_size;
const char ${NAME}[] =
\"${text}\";
const size_t ${NAME}_size = sizeof ${NAME} - 1;
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
