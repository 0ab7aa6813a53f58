# SPDX-License-Identifier: Apache-2.0
"""Broken OpenCL vendor files beside good ones: the good are listed, the bad are named."""
import os
import time

import common
from common import OCLGRIND, POCL, build, by_id, check, equal, findings, inventory

ABORT = """#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void f(void)
{ puts("{\\"record\\": {}}"); fflush(stdout); fputs("giving up\\n", stderr); abort(); }"""
SEGV = "__attribute__((constructor)) static void f(void) { *(volatile int *)8 = 1; }"
SLEEP = """#include <unistd.h>
__attribute__((constructor)) static void f(void) { sleep(30); }"""
EXIT = """#include <stdlib.h>
__attribute__((constructor)) static void f(void) { exit(0); }"""
# Dies after it has been asked: the probe itself, not only the loading, is guarded.
LATE = """#include <stdlib.h>
#include <string.h>
int clIcdGetPlatformIDsKHR(unsigned n, void **p, unsigned *c) { abort(); }
int clGetPlatformInfo(void *p, unsigned w, size_t n, void *v, size_t *s) { abort(); }
void *clGetExtensionFunctionAddress(const char *name)
{ return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)clIcdGetPlatformIDsKHR : 0; }"""
CHATTY = """#include <stdio.h>
__attribute__((constructor)) static void f(void)
{ for (;;) puts("\\033[31mnoise noise noise noise noise noise noise noise noise noise"); }"""
# Leaves a process behind that holds every descriptor open.
DAEMON = """#include <unistd.h>
__attribute__((constructor)) static void f(void) { if (fork() == 0) { sleep(30); _exit(0); } }"""

if not common.library_there(POCL) or not os.path.exists(OCLGRIND):
    common.skip("PoCL and Oclgrind are not both installed")

with common.temporary() as folder:
    vendors = os.path.join(folder, "vendors")
    os.mkdir(vendors)

    def vendor(name, text):
        with open(os.path.join(vendors, name), "w") as file:
            file.write(text)

    for name, source in (("abort", ABORT), ("segv", SEGV), ("sleep", SLEEP), ("exit", EXIT),
                         ("late", LATE), ("chatty", CHATTY), ("daemon", DAEMON),
                         ("nothing", "int nothing;")):
        vendor(name + ".icd", build(folder, f"lib{name}.so", source) + "\n")
    os.mkdir(os.path.join(folder, "libfolder.so"))
    vendor("folder.icd", os.path.join(folder, "libfolder.so"))
    vendor("pocl.icd", POCL)
    vendor("oclgrind.icd", OCLGRIND + "\n")
    begin = time.monotonic()
    document = inventory("--timeout", "5", env=common.environment(OCL_ICD_VENDORS=vendors),
                         expect=5)
    print(f"took {time.monotonic() - begin:.2f} s with a deadline of 5 s")
    devices, why = by_id(document), findings(document)
    equal([v["runtime"] for v in devices["host"]["views"]], ["host", "opencl"],
          "PoCL is a view of the host")
    emulators = [d for d in devices.values() if d["kind"] == "emulator"]
    equal(len(emulators), 1, "Oclgrind is an emulator")
    equal([d["schedulable"] for d in emulators], [False], "which is not schedulable")
    equal([d["id"] for d in devices.values() if d["kind"] in ("gpu", "npu")], [],
          "no false GPU")
    for name, verdict in (("abort", "crashed"), ("segv", "crashed"), ("sleep", "timed out"),
                          ("exit", "crashed"), ("late", "crashed"), ("chatty", "timed out"),
                          ("nothing", "symbol missing"), ("daemon", "symbol missing"),
                          ("folder", "library not found"), ("pocl", "ok"),
                          ("oclgrind", "ok")):
        finding = why[f"opencl:{name}.icd"]
        equal(finding["verdict"], verdict, name)
        equal(finding["fault"], verdict != "ok", f"{name} is a fault")
        check(finding["text"] and finding["library"], f"{name} has a reason and a library")
    equal(why["opencl:abort.icd"]["code_name"], "SIGABRT", "the signal's name")
    check("giving up" in why["opencl:abort.icd"]["text"] or
          "record" in why["opencl:abort.icd"]["text"], "the last words are kept")
    equal(why["opencl:segv.icd"]["code_name"], "SIGSEGV", "the signal's name")
    check("\033" not in why["opencl:chatty.icd"]["text"], "no escape codes from a library")
    check("clGetExtensionFunctionAddress" in why["opencl:nothing.icd"]["text"],
          "the missing symbol is named")
    left = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/maps", errors="replace") as file:
                left += [process] if folder in file.read() else []
        except OSError:
            pass  # not ours, or gone meanwhile
    equal(left, [], "no process is left behind")
common.finish()
