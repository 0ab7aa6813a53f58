# SPDX-License-Identifier: Apache-2.0
"""The interface of the libraries against the recorded one (abi/), by abidiff.

usage: abi.py C_COMPILER VERSION_SCRIPT libyoke libyoke_plan [libyoke_comm] [--record]

A record is the interface of a stand-in: a library with an empty body for every function that
the headers declare. The libraries themselves and a fresh stand-in are compared with it; then
stand-ins of changed headers show that the comparison can fail, and that additions pass."""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

record = "--record" in sys.argv
compiler, script, *libraries = [argument for argument in sys.argv[1:] if argument != "--record"]
SOURCE = os.environ.get("YOKE_SOURCE_DIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(SOURCE, "include")
NAMES = ("libyoke", "libyoke_plan", "libyoke_comm")
RECORDS = [os.path.join(SOURCE, "abi", name + ".abi") for name in NAMES]
BREAKS = 4 | 8 | 1 | 2  # exit codes of abidiff: change, incompatible, error, usage
failures = []


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def output(*arguments, **options):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True,
                          **options).stdout


def exported(library):
    return set(re.findall(r" T (yoke_\w+)@@YOKE_[0-9]", output("nm", "-D", library)))


def headers_text(include, *flags):
    text = "".join(f"#include <yoke/{os.path.basename(h)}>\n"
                   for h in sorted(glob.glob(os.path.join(include, "yoke", "*.h"))))
    return output(compiler, "-std=c17", "-E", *flags, f"-I{include}", "-x", "c", "-",
                  input=text)


def stand_in(folder, include, names, which):
    """A library of empty functions, from the headers of `include`."""
    text = headers_text(include)  # with its line marks: types are placed in the headers
    depth, begin, out = 0, 0, []
    for i, c in enumerate(text):  # declarations at file scope
        depth += (c == "{") - (c == "}")
        if c not in ";}" or depth != 0:
            continue
        piece, begin = text[begin:i + 1], i + 1
        name = re.search(r"\b(yoke_\w+)\s*\(", piece)
        if c == ";" and name and "typedef" not in piece and "{" not in piece:
            if name.group(1) not in names:
                continue
            piece = re.sub(r"__attribute__\s*\(\(.*\)\)", "", piece[:-1], flags=re.S)
            piece += " { __builtin_trap(); }\n"
        out.append(piece)
    path = os.path.join(folder, f"{NAMES[which]}.so")
    # Parameters without a name are of C23; structs of functions that are left out stay.
    subprocess.run([compiler, "-std=c2x", "-g", "-O0", "-w", "-shared", "-fPIC",
                    "-fno-eliminate-unused-debug-types", "-x", "c", "-", "-o", path,
                    f"-Wl,--version-script={script}", "-Wl,--undefined-version",
                    f"-Wl,-soname,{NAMES[which]}.so.0"],
                   input="".join(out), text=True, check=True)
    return path


def write_record(library, path):
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                    "--no-elf-needed", "--no-parameter-names",
                    "--type-id-style", "hash", "--out-file", path, library], check=True)
    with open(path) as file:
        lines = [line for line in file if "YOKE_PRIVATE" not in line]
    with open(path, "w") as file:
        file.writelines(lines)


def members(record, struct):
    """[(name, offset, type)] of a struct in a record; [] where it is not."""
    found = re.search(rf"<class-decl name='{struct}'[^>]*[^/]>(.*?)</class-decl>", record, re.S)
    return re.findall(r"layout-offset-in-bits='(\d+)'[^>]*>\s*<var-decl name='(\w+)' "
                      r"type-id='(\w+)'", found.group(1)) if found else []


def grown(which, include, fresh, folder):
    """Structs that begin with struct_size and have more at their end than the record: the one
    change that may be. abidiff's own rule for it also lets members change places."""
    now_path = os.path.join(folder, "now.abi")
    write_record(fresh, now_path)
    with open(RECORDS[which]) as old_file, open(now_path) as now_file:
        old, now = old_file.read(), now_file.read()
    for name in set(re.findall(r"typedef struct (yoke_\w+)\s*\{\s*size_t struct_size;",
                               headers_text(include, "-P"))):
        before, after = members(old, name), members(now, name)
        if before and len(after) > len(before) and after[:len(before)] == before:
            yield name


def write_rules(which, include, fresh, folder):
    with open(os.path.join(folder, "rules.ini"), "w") as file:
        for name in grown(which, include, fresh, folder):
            print(f"[suppress_type]\n  type_kind = struct\n  name = {name}\n"
                  "  has_data_member_inserted_at = end\n  has_size_change = yes\n", file=file)
        for kind in ("function", "variable"):
            print(f"[suppress_{kind}]\n  symbol_version_regexp = ^YOKE_PRIVATE_.*\n"
                  "  drop = yes\n", file=file)


def compare(which, library, folder):
    done = subprocess.run(["abidiff", "--suppressions", os.path.join(folder, "rules.ini"),
                           "--no-added-syms", RECORDS[which], library],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def changed(folder, pattern, replacement, count=1):
    """A copy of the headers with one change in the first header that it fits."""
    include = os.path.join(folder, "include")
    shutil.rmtree(include, ignore_errors=True)
    shutil.copytree(INCLUDE, include)
    for path in sorted(glob.glob(os.path.join(include, "yoke", "*.h"))):
        with open(path) as file:
            text = file.read()
        new = re.sub(pattern, replacement, text, count=count, flags=re.S)
        if new != text:
            # Offsets that the header pins would stop the compiler before abidiff sees it.
            with open(path, "w") as file:
                file.write(re.sub(r"_Static_assert\s*\([^;]*;", "", new, flags=re.S))
            return include
    failures.append(pattern)
    print(f"FAILED: no header has {pattern}: the change below is not made")
    return include


# What must be found, and what must pass: name, library, pattern, replacement, breaks.
SLOT = r"(typedef struct yoke_backend_ops \{.*?)(    yoke_status_t \(\*buffer_create\).*?;\n)"
CHANGES = [
    ("a slot of the backend's table moves", 0, SLOT + r"(.*?;\n)", r"\1\3\2", True),
    ("a slot of the backend's table goes", 0, SLOT, r"\1", True),
    ("a field of a public struct changes its type", 0,
     r"(typedef struct yoke_span \{.*?)uint64_t offset", r"\1uint32_t offset", True),
    ("a struct that is passed by value grows", 0,
     r"(typedef struct yoke_span \{.*?)\n\} yoke_span_t", r"\1\n    int more;\n} yoke_span_t",
     True),
    ("fields of a struct change places", 1,
     r"(typedef struct yoke_plan_options \{.*?\n)(    [a-z][^;]*;[^\n]*\n)"
     r"(    [a-z][^;]*;[^\n]*\n)(    [a-z][^;]*;[^\n]*\n)", r"\1\2\4\3", True),
    ("a function goes", 0, r"yoke_status_t yoke_queue_sync\(yoke_queue_t \*queue\);", "",
     True),
    ("a function takes another type", 0, r"(yoke_status_t yoke_queue_sync\()yoke_queue_t",
     r"\1yoke_event_t", True),
    ("a status gets another number", 0, r"YOKE_OK = 0", "YOKE_OK = -1", True),
    ("the backend's table grows at its end", 0,
     r"\n\} yoke_backend_ops_t;", r"\n    int (*added)(int);\n} yoke_backend_ops_t;", False),
    ("a struct with struct_size grows at its end", 0,
     r"\n\} yoke_device_info_t;", r"\n    uint64_t added;\n} yoke_device_info_t;", False),
    ("fields of a call of communication change places", 2,
     r"(typedef struct yoke_comm_call \{.*?\n)(    [a-z][^;]*;[^\n]*\n)"
     r"(    [a-z][^;]*;[^\n]*\n)(    [a-z][^;]*;[^\n]*\n)", r"\1\2\4\3", True),
    ("a function of communication takes another type", 2,
     r"(yoke_status_t yoke_comm_barrier\()yoke_comm_t \*comm", r"\1yoke_device_t *comm",
     True),
    ("options of a communicator grow at their end", 2,
     r"\n\} yoke_comm_options_t;", r"\n    uint64_t added;\n} yoke_comm_options_t;", False),
    ("options of the planner grow at their end", 1,
     r"\n\} yoke_plan_options_t;", r"\n    uint64_t added;\n} yoke_plan_options_t;", False),
]

if not shutil.which("abidiff") or not shutil.which("abidw"):
    skip("abidiff is not installed (Debian: abigail-tools)")
if platform.machine() != "x86_64":
    skip("the record is of x86-64")
with tempfile.TemporaryDirectory(prefix="yoke-abi-") as folder:
    own = [exported(library) for library in libraries]
    for which, names in enumerate(own):
        fresh = stand_in(folder, INCLUDE, names, which)
        if record:
            write_record(fresh, RECORDS[which])
            print("wrote", RECORDS[which])
            continue
        with_types = b".debug_info" in subprocess.run(
            ["readelf", "-SW", libraries[which]], stdout=subprocess.PIPE, check=True).stdout
        if not with_types:
            print(f"not compared: {libraries[which]} has no debugging information")
        write_rules(which, INCLUDE, fresh, folder)
        for library in [fresh] + [libraries[which]] * with_types:
            code, text = compare(which, library, folder)
            print(f"{library}: {'as recorded' if code == 0 else 'CHANGED'}")
            if code & BREAKS:
                failures.append(library)
                print(text)
    if record:
        sys.exit(0)
    for title, which, pattern, replacement, breaks in CHANGES:
        if which >= len(libraries):
            continue
        include = changed(folder, pattern, replacement)
        names = own[which]
        library = stand_in(folder, include, names, which)
        write_rules(which, include, library, folder)
        code, text = compare(which, library, folder)
        if bool(code & BREAKS) != breaks or code & 3:
            failures.append(title)
            print(f"FAILED: {title}: abidiff answers {code}\n{text}")
        else:
            print(f"ok: {title}: {'found' if breaks else 'passes'}")
if failures:
    print("\nWhat was released must stay as it is: see abi/README.md")
sys.exit(1 if failures else 0)
