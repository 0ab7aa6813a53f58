# SPDX-License-Identifier: Apache-2.0
"""Case hal-08: one bad vendor library must not hide the good ones."""
import os
import shutil

import common
from common import POCL, build, by_id, check, equal, findings, inventory

CRASH = """#include <stdlib.h>
int clGetPlatformInfo(void *p, unsigned w, unsigned long n, void *v, unsigned long *s)
{ return 0; }
int clIcdGetPlatformIDsKHR(unsigned n, void **p, unsigned *c) { abort(); }
void *clGetExtensionFunctionAddress(const char *name)
{ (void)name; return (void *)clIcdGetPlatformIDsKHR; }"""

source = os.path.join(common.SOURCE, "tests", "cases", "hal-08-broken-vendor-files", "vendors")
if not common.library_there(POCL):
    common.skip("PoCL is not installed")

with common.temporary() as folder:
    crash = build(folder, "libcrash.so", CRASH)
    vendors = os.path.join(folder, "vendors")
    os.mkdir(vendors)
    for name in os.listdir(source):
        with open(os.path.join(source, name), "rb") as file:
            text = file.read().replace(b"@GOOD@", POCL.encode())
        with open(os.path.join(vendors, name), "wb") as file:
            file.write(text.replace(b"@CRASH@", crash.encode()))
    env = common.environment(OCL_ICD_VENDORS=vendors)
    for with_crash in (True, False):
        if not with_crash:
            os.remove(os.path.join(vendors, "60-crash.icd"))
        document = inventory("--backend", "opencl", env=env, expect=5)
        views = [v for d in document["nodes"][0]["devices"] for v in d["views"]
                 if v["runtime"] == "opencl"]
        equal(len({v["platform"] for v in views}), 1, "platforms")
        equal(len(views), 1, "devices, each once")
        why = findings(document)
        equal(why["opencl:10-missing.icd"]["verdict"], "library not found", "10-missing")
        check("no library named" in why["opencl:40-empty.icd"]["text"], "40-empty")
        equal(why["opencl:20-crlf.icd"]["verdict"], "ok", "20-crlf loads")
        if with_crash:
            equal(why["opencl:60-crash.icd"]["verdict"], "crashed", "60-crash")
            check("probe of this library died" in why["opencl:60-crash.icd"]["text"],
                  "60-crash says that the probe died")
        else:
            check("opencl:60-crash.icd" not in why, "60-crash is gone")
    # The same library under two spellings is one, too.
    shutil.rmtree(vendors)
    os.mkdir(vendors)
    real = os.path.realpath("/usr/lib/x86_64-linux-gnu/" + POCL)
    if os.path.exists(real):
        for name, text in (("a.icd", POCL), ("b.icd", real)):
            with open(os.path.join(vendors, name), "w") as file:
                file.write(text)
        document = inventory("--backend", "opencl", env=env)
        equal([v["runtime"] for v in by_id(document)["host"]["views"]], ["host", "opencl"],
              "one library under two names")
common.finish()
