# SPDX-License-Identifier: Apache-2.0
"""Collect the tests of several build folders into one CTestTestfile.cmake, so that one run of
ctest, with one closing line, covers them all.

usage: collect-tests.py OUT_FOLDER SOURCE PREFIX=BUILD_FOLDER[,EXCLUDED_LABEL|+ONLY_LABEL]...
"""
import json
import os
import subprocess
import sys

# Properties that name other tests, or things that tests of two builds must not share.
REFERENCES = {"DEPENDS", "FIXTURES_SETUP", "FIXTURES_REQUIRED", "FIXTURES_CLEANUP"}


def quote(text):
    return "[==[" + str(text) + "]==]"


def value_of(name, value, prefix):
    if name == "ENVIRONMENT" or isinstance(value, list):
        items = [prefix + item if name in REFERENCES else str(item) for item in value]
        return ";".join(item.replace(";", "\\;") for item in items)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return value


def tests_of(prefix, folder, excluded):
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=folder, check=True,
                           capture_output=True, text=True).stdout
    for test in json.loads(shown)["tests"]:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        if excluded.startswith("+") and excluded[1:] not in labels or excluded in labels:
            continue
        if "command" not in test:
            raise SystemExit(f"{folder}: test {test['name']} has no program; is it built?")
        yield test, properties


def main():
    out, source, builds = sys.argv[1], sys.argv[2], sys.argv[3:]
    lines, counts = [], {}
    for build in builds:
        prefix, folder = build.split("=", 1)
        folder, _, excluded = folder.partition(",")
        counts[prefix] = 0
        for test, properties in tests_of(prefix, folder, excluded):
            name = prefix + test["name"]
            lines.append(f"add_test({quote(name)} {' '.join(map(quote, test['command']))})")
            for key, value in sorted(properties.items()):
                lines.append(f"set_tests_properties({quote(name)} PROPERTIES {key} "
                             f"{quote(value_of(key, value, prefix))})")
            counts[prefix] += 1
    command = quote(os.path.join(source, ".ci", "format-check"))
    lines.append(f"add_test(format bash {command})")
    lines.append("set_tests_properties(format PROPERTIES SKIP_RETURN_CODE 77)")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("Tests: " + ", ".join(f"{count} {prefix or 'release'}".replace(":", "")
                                for prefix, count in counts.items()) + ", and the layout.")


main()
