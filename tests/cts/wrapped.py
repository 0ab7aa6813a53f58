# SPDX-License-Identifier: Apache-2.0
"""hal/cts/wrapped.h wraps every public function of live devices."""
import os
import re
import sys

root = os.environ["YOKE_SOURCE_DIR"]
HEADERS = "device buffer queue kernel pool transfer adopt dlpack operators element".split()
declared = set()
for header in HEADERS:
    text = open(f"{root}/include/yoke/{header}.h", encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"static inline[^{]*\{.*?^\}", "", text, flags=re.S | re.M)
    declared |= set(re.findall(r"^[a-z][\w \*]*?[ \*](yoke_\w+)\(", text, flags=re.M))
wrapped = set(re.findall(r"^#define (yoke_\w+)\(\.\.\.\)",
                         open(f"{root}/hal/cts/wrapped.h", encoding="utf-8").read(), re.M))
if len(declared) < 90 or declared != wrapped:
    sys.exit(f"{len(declared)} functions; not wrapped: {sorted(declared - wrapped)}; "
             f"wrapped, but no function: {sorted(wrapped - declared)}")
