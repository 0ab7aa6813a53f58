# SPDX-License-Identifier: Apache-2.0
"""Help: within 80 columns, complete, on standard output, without side effects."""
from command import commands, expect, finish, run


def check_layout(what, text):
    for number, line in enumerate(text.splitlines(), 1):
        expect(len(line) <= 80, f"{what}: line {number} has {len(line)} columns: {line}")
        expect(line == line.rstrip(), f"{what}: line {number} ends with a blank")
        expect("\t" not in line, f"{what}: line {number} has a tab")
    expect("\n\n\n" not in text, f"{what}: two empty lines in a row")


def main():
    overview = run("--help")
    expect(overview.returncode == 0 and overview.stderr == "", "yoke --help", overview)
    check_layout("yoke --help", overview.stdout)
    expect(run("help").stdout == overview.stdout, "yoke help is not yoke --help")
    expect(run("-h").stdout == overview.stdout, "yoke -h is not yoke --help")
    bare = run()
    expect(bare.returncode == 2 and bare.stdout == "" and bare.stderr == overview.stdout,
           "yoke without a command: exit 2 and the overview on standard error", bare)
    version = run("--version")
    expect(version.stdout.split()[0] == "yoke" and version.stdout.count("\n") == 1, version)

    configuration = run("help", "configuration")
    expect(configuration.returncode == 0, configuration)
    check_layout("yoke help configuration", configuration.stdout)

    for command in commands():
        name = command["name"]
        expect(f"\n  {name} " in overview.stdout, f"yoke --help does not list {name}")
        result = run(name, "--help")
        expect(result.returncode == 0 and result.stderr == "", f"yoke {name} --help", result)
        check_layout(f"yoke {name} --help", result.stdout)
        expect(run("help", name).stdout == result.stdout, f"yoke help {name}")
        expect(run(name, "-h").stdout == result.stdout, f"yoke {name} -h")
        expect(result.stdout.startswith(f"Usage: yoke {name}"), f"usage of {name}")
        expect("\nExamples:\n" in result.stdout, f"yoke {name} --help gives no example")
        expect(not command["summary"].endswith("."), f"{name}: summary ends with a full stop")
        for option in command["options"]:
            expect(f"--{option['name']}" in result.stdout, f"{name}: no --{option['name']}")
            expect(option["help"].endswith("."), f"{name} --{option['name']}: help is no sentence")
        names = [option["name"] for option in command["options"]]
        letters = [option["letter"] for option in command["options"] if option["letter"]]
        expect(len(names) == len(set(names)), f"{name}: an option is there twice")
        expect(len(letters) == len(set(letters)), f"{name}: a letter is there twice")
    finish()


main()
