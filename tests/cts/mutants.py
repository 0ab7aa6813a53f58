# SPDX-License-Identifier: Apache-2.0
"""The suite can fail: a backend with one fault at a time (mutant.c), and for each fault the
cases that must find it. Without a fault all of those pass."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

test, plugin = sys.argv[1:3]

# By number of the mutation in mutant.c.
EXPECTED = {
    1: ["queue/copy-17", "queue/copy-1m-and-1", "queue/copy-offset-5-3", "queue/copy-chain",
        "order/random-300-a", "event/orders-two-queues"],
    2: ["queue/copy-offset-0-1", "queue/copy-offset-127-129", "order/random-300-a"],
    3: ["queue/write-offset-1", "queue/write-offset-4095", "order/random-300-a"],
    4: ["queue/read-offset-1", "queue/read-offset-13"],
    5: ["queue/fill-2-three", "queue/fill-4-1001", "queue/fill-8-one", "queue/fill-16-three",
        "order/random-300-a"],
    6: ["queue/fill-1-offset-1", "queue/fill-4-offset-37", "order/two-queues-one-buffer"],
    7: ["event/sync-means-done", "event/query-means-done", "queue/query-tells-the-truth"],
    8: ["gate/holds-the-queue", "gate/and-events"],
    9: ["gate/and-events"],
    10: ["gate/holds-the-queue"],
    11: ["queue/empty", "event/on-empty-queue", "device/open-twice"],
    12: ["device/nothing-left-behind"],
    13: ["host-call/once", "host-call/in-order"],
    14: ["launch/span-offset-1", "launch/span-offset-9"],
    15: ["launch/shape-2d", "launch/shape-3d-groups"],
    16: ["program/option-define", "program/options-several"],
    17: ["event/elapsed", "event/elapsed-zero"],
    18: ["program/binary-round-trip"],
    19: ["gate/holds-a-copy"],
    20: ["prepared/set-value", "prepared/set-span", "prepared/threads"],
    21: ["prepared/set-geometry", "prepared/local-argument"],
    22: ["prepared/repeated", "prepared/on-two-queues", "prepared/outlives-its-kernel"],
}


def run(mutation, names):
    """Names of the cases that failed, and the last line."""
    # What is left behind is counted after others have run: event/many makes handles.
    command = [test, "--load", plugin, "--filter", ",".join(sorted({*names, "event/many"}))]
    # A fault of the compiler's call must not hide behind what was compiled without it.
    cache = "off" if mutation in (16, 18) else os.path.join(folder, "cache")
    environment = dict(os.environ, YOKE_CTS_MUTATION=str(mutation), YOKE_CTS_MUTANT=plugin,
                       YOKE_CACHE_DIR=cache)
    answer = subprocess.run([*command, "mutant"], capture_output=True, text=True,
                            env=environment, timeout=60)
    lines = answer.stdout.splitlines()
    if answer.returncode not in (0, 1) or not lines or " cases: " not in lines[-1]:
        sys.exit(f"mutation {mutation}: exit code {answer.returncode}\n"
                 f"{answer.stdout}{answer.stderr}")
    return set(re.findall(r"^FAILED: (\S+): ", answer.stdout, re.M)), lines[-1]


wrong = 0
folder = tempfile.mkdtemp()
try:
    # Only the caller may write a plug-in, whatever the umask of the build was.
    os.chmod(folder, 0o700)
    plugin = shutil.copy(plugin, folder)
    os.chmod(plugin, 0o700)
    everything = {name for names in EXPECTED.values() for name in names}
    failed, line = run(0, everything)
    if failed or "watched" not in line:
        print(f"without a fault: {sorted(failed)}: {line}")
        wrong += 1
    for mutation, names in EXPECTED.items():
        failed, line = run(mutation, names)
        if not set(names) <= failed:
            print(f"mutation {mutation} is not found by {sorted(set(names) - failed)}: {line}")
            wrong += 1
finally:
    shutil.rmtree(folder)
print(f"{len(EXPECTED)} mutations, {wrong} wrong answers")
sys.exit(wrong != 0)
