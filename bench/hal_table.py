#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-hal.md.

    hal_table.py times YOKE [RUNS] [DEVICE]    `yoke bench hal`, several times: median of
                                               the runs' figures, least and greatest ratio
    hal_table.py tax PROGRAM FAKES STUB        hal_tax.py on the fakes of a build tree

Both print Markdown.
"""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def show_time(seconds):
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def show_size(size):
    return "" if size is None else f" {size >> 20} MiB" if size >= 1 << 20 else \
        f" {size >> 10} KiB"


def times(command, runs, device):
    rows, name = {}, ""
    for _ in range(runs):
        out = run(command, "bench", "hal", device, "--json", "-",
                  stdout=subprocess.PIPE).stdout
        found = json.loads(out)["devices"][0]
        name = f"{found['name']}; {found['version']}"
        for row in found["times"]:
            rows.setdefault((row["enqueue"], row.get("bytes")), []).append(row)
    print(f"{name}; {runs} runs\n")
    print("| enqueue | Yoke | raw OpenCL | ratio | of the runs |\n|---|--:|--:|--:|---|")
    for (kind, size), found in rows.items():
        own = statistics.median(row["seconds"] for row in found)
        if "ratio" not in found[0]:
            print(f"| {kind}{show_size(size)} | {show_time(own)} | | | |")
            continue
        raw = statistics.median(row["opencl_seconds"] for row in found)
        ratios = [row["ratio"] for row in found]
        print(f"| {kind}{show_size(size)} | {show_time(own)} | {show_time(raw)} | "
              f"{statistics.median(ratios):.3f} | {min(ratios):.3f} - {max(ratios):.3f} |")


def tax(program, fakes, stub):
    pairs = [("nvidia", "cuda"), ("amd", "hip"), ("musa", "musa"), ("maca", "maca"),
             ("ascend", "ascend"), ("cambricon", "cambricon"),
             ("level_zero", "level_zero"), (None, "opencl")]
    print("| device | enqueue | raw calls | calls | calls, another current | "
          "raw instructions | instructions | more |\n|---|---|--:|--:|--:|--:|--:|--:|")
    for folder, device in pairs:
        library = stub if folder is None else os.path.join(fakes, folder)
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"tax-{os.getpid()}.json")
        if not os.path.exists(library):
            sys.exit(f"hal_table.py: {library}: no such file or folder; build the tests first")
        run(sys.executable, os.path.join(HERE, "hal_tax.py"), "--json", path, program, device,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "LD_LIBRARY_PATH": library, "YOKE_CACHE_DIR": "off"})
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        os.unlink(path)
        other = {row["operation"]: row["calls"] for row in rows if row["other_current"]}
        for row in rows:
            if row["other_current"]:
                continue
            kind = row["operation"]
            print(f"| {device} | {kind} | {row['raw_calls']:.3g} | {row['calls']:.3g} | "
                  f"{other[kind]:.3g} | " if kind in other else
                  f"| {device} | {kind} | {row['raw_calls']:.3g} | {row['calls']:.3g} | | ",
                  end="")
            print(f"{row['raw_instructions']:.0f} | {row['instructions']:.0f} | "
                  f"{row['more_instructions']:.0f} |")


def run(*words, **options):
    try:
        return subprocess.run(words, text=True, check=True, **options)
    except OSError as problem:
        sys.exit(f"hal_table.py: {words[0]}: {problem.strerror}")
    except subprocess.CalledProcessError as problem:
        sys.exit(f"hal_table.py: {' '.join(words)}: exit code {problem.returncode}")


def main(words):
    if len(words) >= 2 and words[0] == "times":
        if len(words) > 2 and not (words[2].isdigit() and int(words[2]) > 0):
            sys.exit(f"hal_table.py: '{words[2]}' is no number of runs")
        times(words[1], int(words[2]) if len(words) > 2 else 5,
              words[3] if len(words) > 3 else "opencl")
    elif len(words) == 4 and words[0] == "tax":
        tax(*words[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
