# SPDX-License-Identifier: Apache-2.0
"""Print the tests that were skipped, with the reason that each gave.

usage: skipped.py RESULTS.xml (as ctest --output-junit writes it)
"""
import sys
import xml.etree.ElementTree as tree


def reason(case):
    """The line that says so, else the last line of the output."""
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines()]
    lines = [line for line in lines if line]
    said = [line for line in lines if "skip" in line.lower()]
    return (said or lines or ["no reason given"])[-1]


def main():
    cases = tree.parse(sys.argv[1]).getroot().iter("testcase")
    skipped = [case for case in cases if case.get("status") in ("notrun", "disabled")]
    print(f"\nSkipped: {len(skipped)}")
    for case in skipped:
        print(f"  {case.get('name')}: {reason(case)}")


main()
