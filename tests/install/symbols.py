# SPDX-License-Identifier: Apache-2.0
"""The libraries export what the public headers declare, and nothing else.

usage: symbols.py C_COMPILER command libyoke libyoke_plan [libyoke_comm]

Names of the private node are what the other libraries and the command use besides; each of
them is used, so that the list cannot grow old. Where libyoke_comm is not built, its headers
and what it would use are left out."""
import glob
import os
import re
import subprocess
import sys
import tempfile

compiler, command, core, *others = sys.argv[1:]
include = os.path.join(os.environ["YOKE_SOURCE_DIR"], "include")
# The sanitizers have run-time parts in what they instrument.
INSTRUMENTED = re.compile(r"^(__(asan|ubsan|sanitizer|sancov|odr|start___|stop___)|_?__sancov)")
failures = 0


def complain(what, names):
    global failures
    if names:
        failures += 1
        print(f"FAILED: {what}: {' '.join(sorted(names))}")


def output(*arguments, **options):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True,
                          **options).stdout


def declared():
    """Functions of the headers that a compiler sees as external: a program that takes the
    address of every name that is followed by a parenthesis tells which need a library."""
    text = "".join(f"#include <yoke/{os.path.basename(header)}>\n"
                   for header in sorted(glob.glob(os.path.join(include, "yoke", "*.h"))))
    seen = output(compiler, "-std=c17", "-E", "-P", f"-I{include}", "-x", "c", "-", input=text)
    names = sorted(set(re.findall(r"\b(yoke_\w+)\s*\(", seen)) -
                   set(re.findall(r"\b(yoke_\w+_t)\b", seen)))
    text += "#include <stdint.h>\nvoid *const yoke_all[] = {" + ",".join(
        f"(void *)(intptr_t){name}" for name in names) + "};\n"
    with tempfile.TemporaryDirectory() as folder:
        thing = os.path.join(folder, "all.o")
        subprocess.run([compiler, "-std=c17", "-fPIC", "-c", f"-I{include}", "-x", "c", "-",
                        "-o", thing], input=text, text=True, check=True)
        return set(re.findall(r" U (yoke_\w+)", output("nm", "-u", thing)))


def exported(library):
    """{name: version node}"""
    names = {}
    for line in output("nm", "-D", "--defined-only", library).splitlines():
        name, _, version = line.split()[-1].partition("@")
        if not re.match(r"YOKE_(PRIVATE_)?[0-9.]+$", name) and not INSTRUMENTED.match(name):
            names[name] = version.lstrip("@")
    return names


def used(binary):
    return {line.split()[-1].partition("@")[0]
            for line in output("nm", "-D", "--undefined-only", binary).splitlines()
            if " yoke_" in line}


names = declared()
if len(names) < 100:
    complain("fewer functions than there are", names)
both = {}
for library in (core, *others):
    found = exported(library)
    complain("two libraries export", set(both) & set(found))
    both.update(found)
    dynamic = output("readelf", "-d", library)
    if not re.search(r"SONAME.*\[libyoke(_plan|_comm)?\.so\.0\]", dynamic):
        complain(f"{library} has no soname of its version", {"libyoke*.so.0"})
private = {name for name, version in both.items() if version.startswith("YOKE_PRIVATE_")}
public = set(both) - private
with_comm = len(others) > 1
if not with_comm:
    names = {name for name in names if not re.match(r"yoke_(comm|compress)", name)}
complain("declared and not exported", names - public)
complain("exported and not declared", public - names)
complain("declared and of the private node", private & names)
if with_comm:
    complain("of the private node and used by nobody",
             private - used(command) - set().union(*map(used, others)))
print(f"{len(public)} public names, {len(private)} private ones")
sys.exit(1 if failures else 0)
