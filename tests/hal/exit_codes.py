# SPDX-License-Identifier: Apache-2.0
"""Exit codes, clean standard output, and callers of an unusual kind."""
import json
import os
import shutil
import signal
import stat
import subprocess

import common
from common import POCL, build, check, equal, findings, inventory, run
from trees import Tree

with common.temporary() as folder:
    tree = Tree(os.path.join(folder, "tree"))
    tree.pci("0000:01:00.0", "10de", "2330", "030200")
    root = tree.root
    for arguments, code, words in (
            (["--sysroot", root], 0, ""),
            (["--sysroot", root, "--require", "gpu:1"], 1, "gpu"),
            (["--sysroot", root, "--require", "gpu:x"], 2, ""),
            (["--sysroot", os.path.join(folder, "absent")], 4, "no such folder"),
            (["--backend", "cudda"], 2, "no backend is called 'cudda'"),
            (["--timeout", "0"], 2, "seconds above 0"),
            (["--timeout", "soon"], 2, "seconds above 0"),
            (["--format", "jason"], 2, "did you mean 'json'"),
            (["--sysroot", root, "--merge", "x"], 2, "exclude each other"),
            (["--sysroot", root, "--measure"], 2, "--measure needs the running machine"),
            (["--diff", "one"], 2, "two documents"),
            (["--merge"], 2, "needs documents"),
            (["--merge", os.path.join(folder, "absent.json")], 3, "absent.json"),
            (["--sysroot", root, "stray"], 2, "stray"),
            (["--sysroot", root, "--why", "nonsense"], 2, "no probe is called 'nonsense'"),
            (["--sysroot", root, "--why", "sysfs"], 0, ""),
            (["--gather"], 2, "started by no launcher")):
        done = run("inventory", *arguments)
        equal(done.returncode, code, f"exit code of {arguments}: {done.stderr}")
        check(words in done.stderr, f"{arguments} says {words!r}: {done.stderr}")
        check(code in (0, 1) or done.stdout == "", f"{arguments}: nothing on stdout")

    # A file: complete or not there, and nothing on standard output.
    target = os.path.join(folder, "out.json")
    done = run("inventory", "--sysroot", root, "--json", target)
    equal((done.returncode, done.stdout), (0, ""), "--json FILE")
    with open(target) as file:
        equal(json.load(file)["schema"], "yoke-inventory/1", "the file")
    done = run("inventory", "--sysroot", root, "--json", os.path.join(folder, "no", "x"))
    equal(done.returncode, 4, "a file that cannot be written")
    equal(os.listdir(folder).count("no"), 0, "nothing half-written")

    # The helper is missing, is a folder, is something else.
    other = os.path.join(folder, "other-helper")
    with open(other, "w") as file:
        file.write("#!/bin/sh\necho nonsense\necho garbage >&3\n")
    os.chmod(other, os.stat(other).st_mode | stat.S_IXUSR)
    for helper, verdict in (("/nowhere/yoke-probe", "absent"), (folder, "denied"),
                            (other, "crashed")):
        env = common.environment(YOKE_PROBE_HELPER=helper)
        why = findings(inventory("--backend", "hip", env=env, expect=5))
        equal(why["hip"]["verdict"], verdict, f"helper {helper}")
        check(why["hip"]["text"], "with a reason")

    # A backend that is only there when it is named.
    document = inventory("--backend", "null")
    null = [d for d in document["nodes"][0]["devices"] if d["name"] == "Null device"]
    equal([d["schedulable"] for d in null], [False], "the null backend")
    check("null" not in findings(inventory("--backend", "none")), "not asked unless named")
    document = inventory(env=common.environment(YOKE_BACKENDS="null"))
    check("null" in findings(document) and "hip" not in findings(document), "YOKE_BACKENDS")

    # The caller ignores SIGCHLD, blocks signals, has descriptors open and little else.
    def odd_caller():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))

    crash = build(folder, "libcrash.so",
                  "#include <stdlib.h>\n__attribute__((constructor)) static void f(void)"
                  "{ abort(); }")
    env = common.environment(YOKE_LIB_HIP=crash)
    finding = findings(inventory("--backend", "hip", env=env, expect=5,
                                 preexec_fn=odd_caller))["hip"]
    equal((finding["verdict"], finding["code_name"]), ("crashed", "SIGABRT"),
          "the signal is known although SIGCHLD is ignored")
    done = subprocess.run([common.COMMAND, "inventory", "--backend", "hip"], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, close_fds=True,
                          text=True, preexec_fn=lambda: os.close(2), timeout=60)
    equal(done.returncode, 5, "standard error is closed")
    check("fault hip: the probe of this library died" in done.stdout, "a caller without standard error")

    # Not as root, without a home.
    if os.geteuid() == 0 and shutil.which("setpriv"):
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                               common.COMMAND, "inventory", "--json", "-"],
                              env=common.environment(HOME="/nonexistent"), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if done.returncode in (126, 127):
            print("not checked as nobody:", done.stderr.strip())
        else:
            equal(done.returncode, 0, f"as nobody: {done.stderr}")
common.finish()
