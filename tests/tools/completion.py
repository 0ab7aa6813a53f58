# SPDX-License-Identifier: Apache-2.0
"""The completion offers every command and option, and the words of an option's value."""
import os
import subprocess

from command import BUILD, SOURCE, commands, expect, finish

SCRIPT = os.path.join(BUILD, "reference", "yoke.bash")


BUNDLED = {"MODEL": "models", "CLUSTER": "clusters"}


def bundled(folder):
    path = os.path.join(SOURCE, "data", folder)
    return [name[:-5] for name in os.listdir(path) if name.endswith(".json")]


def complete(*words):
    program = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _yoke; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "--norc", "-c", program, "bash", SCRIPT, "yoke", *words],
                            text=True, capture_output=True, timeout=60, check=False, cwd=SOURCE)
    expect(result.returncode == 0 and result.stderr == "", f"{words}: {result}")
    return result.stdout.split()


def main():
    table = commands()
    names = [command["name"] for command in table]
    expect(set(complete("")) == {*names, "help", "--help", "--version"}, complete(""))
    expect(set(complete("help", "")) == {*names, "help", "configuration"}, "yoke help")
    for command in table:
        name = command["name"]
        expect(name in complete(name[:2]), f"yoke {name[:2]} does not offer {name}")
        offered = complete(name, "-")
        for option in command["options"]:
            long = f"--{option['name']}"
            expect(long in offered, f"yoke {name} - does not offer {long}")
            expect(long in complete(name, long[:-1]), f"{long[:-1]} does not offer {long}")
            argument = option["argument"] or ""
            words = argument.split("|")
            if len(words) > 1 and argument.islower():
                expect(complete(name, long, "") == words, f"{long}: {complete(name, long, '')}")
                expect(complete(name, long, "=", "") == words, f"{long}= offers no words")
                expect(complete(name, long, "=") == words, f"{long}= offers no words")
            elif argument in BUNDLED:
                letter = f"-{option['letter']}"
                for given in ((long, ""), (long, "="), (letter, "")):
                    found = complete(name, *given)
                    expect(set(bundled(BUNDLED[argument])) <= set(found), f"{given}: {found}")
                    expect("README.md" in found, f"{given}: files are left out: {found}")
                expect("gpt2" in complete(name, letter, "gp") or argument != "MODEL", "-m gp")
            elif option["argument"]:
                expect(complete(name, long, "") == [], f"{long}: leave file names to bash")
    finish()


main()
