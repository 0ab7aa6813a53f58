# SPDX-License-Identifier: Apache-2.0
"""Usage errors: exit 2, one line on standard error that says where help is, no output."""
from command import commands, expect, finish, run


def expect_usage(needle, *arguments):
    result = run(*arguments)
    line = "yoke " + " ".join(arguments)
    expect(result.returncode == 2, f"{line}: exit {result.returncode}, not 2")
    expect(result.stdout == "", f"{line}: wrote to standard output")
    expect(result.stderr.count("\n") == 1, f"{line}: not one line: {result.stderr}")
    expect(needle in result.stderr, f"{line}: no '{needle}' in {result.stderr}")
    expect("--help" in result.stderr, f"{line}: does not say where help is: {result.stderr}")


def misspelt(word):
    """Two letters exchanged."""
    return word[0] + word[2] + word[1] + word[3:] if len(word) > 3 else None


def main():
    table = commands()
    everywhere = {command["name"] for command in table}
    expect_usage("unknown command 'zzzzzzzz'", "zzzzzzzz")
    expect_usage("unknown option --zzz before the command", "--zzz", "plan")
    expect_usage("help takes one command", "help", "a", "b")
    for command in table:
        name = command["name"]
        wrong = misspelt(name)
        if wrong not in everywhere:
            expect_usage(f"did you mean '{name}'?", wrong)
            expect_usage(f"did you mean '{name}'?", "help", wrong)
        expect_usage("unknown option --zzzzzzzzzzzz", name, "--zzzzzzzzzzzz")
        names = {option["name"] for option in command["options"]}
        for option in command["options"]:
            wrong = misspelt(option["name"])
            if wrong and wrong not in names:
                expect_usage("did you mean --", name, f"--{wrong}")
            if option["argument"]:
                expect_usage("needs a value", name, f"--{option['name']}")
            else:
                expect_usage("takes no value", name, f"--{option['name']}=x")
    finish()


main()
