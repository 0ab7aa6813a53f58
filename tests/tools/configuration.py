# SPDX-License-Identifier: Apache-2.0
"""One table of settings: the environment, the file, the help and the page agree, and every
variable that the sources read is in it."""
import os
import re
import tempfile

from command import BUILD, SOURCE, commands, expect, finish, run

# Read by the programs, but no setting: where the settings are.
NOT_SETTINGS = {"YOKE_CONFIG"}
GOOD_VALUES = {"log": "warning", "probe-timeout": "3.5", "gather-timeout": "60", "validate": "1",
               "trace-calls": "1", "comm-timeout": "60", "comm-setup-timeout": "5",
               "comm-silence": "20", "comm-vendor": "never", "lib-*": "/nowhere/lib.so"}


def settings_of_help():
    text = run("help", "configuration").stdout
    return {key: (variable, argument) for key, argument, variable in
            re.findall(r"^  ([a-z*-]+) = (\S+)\n  (YOKE_\S+)$", text, re.M)}


def settings_of_page():
    with open(os.path.join(SOURCE, "docs", "configuration.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (.*?) \| ", file.read(), re.M)
    return {key: (variable, argument.replace("\\|", "|")) for key, variable, argument in rows}


def settings_of_manual(page):
    with open(os.path.join(BUILD, "reference", page), encoding="utf-8") as file:
        text = file.read().replace("\\-", "-")
    variables = set(re.findall(r"^\\fB(YOKE_[A-Z_*]+)\\fR$", text, re.M)) - NOT_SETTINGS
    keys = re.findall(r"^\\fB([a-z*-]+)\\fR = \\fI(\S+)\\fR\nThe same as (\S+)\.$", text, re.M)
    expect(variables == {variable for _, _, variable in keys},
           f"{page}: ENVIRONMENT and FILES name different settings")
    return {key: (variable, argument) for key, argument, variable in keys}


def variables_of_sources():
    """Names in getenv() calls, outside the tests."""
    found = {}
    for folder, folders, files in os.walk(SOURCE):
        folders[:] = [name for name in folders
                      if not name.startswith((".", "build")) and name not in ("tests", "bench")]
        for name in files:
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                for variable in re.findall(r'getenv\("(YOKE_[A-Z_0-9]+)"\)', file.read()):
                    found.setdefault(variable, os.path.relpath(path, SOURCE))
    return found


def check_file(settings, command):
    """Every key is accepted in a file, and its variable in the environment."""
    ours = NOT_SETTINGS | {variable for variable, _ in settings.values()}
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")

        def with_file(text, **variables):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return run(command, "--help", env={**environment, "YOKE_CONFIG": path, **variables})

        lines = []
        for key in settings:
            lines.append(f"{key.replace('*', 'cuda')} = {GOOD_VALUES.get(key, '/nowhere')}\n")
            result = with_file(lines[-1])
            expect(result.returncode == 0, f"{lines[-1].strip()}: {result.stderr}")
            result = with_file(f"{lines[-1]}x{key} = 1\n")
            expect(result.returncode == 3 and f"{path}:2: unknown key" in result.stderr,
                   f"x{key} is accepted: {result.stderr}")
        # What the file says reaches the environment; what is there already stays.
        result = with_file("".join(lines), YOKE_LOG="debug", YOKE_CATALOG="/mine")
        for key, (variable, _) in settings.items():
            told = f"{variable.replace('*', 'CUDA')}=" in result.stderr
            expect(told == (variable not in ("YOKE_LOG", "YOKE_CATALOG")),
                   f"{key}: environment and file are in the wrong order: {result.stderr}")
        undone = with_file("catalog = /nowhere\n", YOKE_LOG="debug", YOKE_CATALOG="")
        expect(undone.returncode == 0 and "YOKE_CATALOG=" not in undone.stderr,
               "an empty variable does not undo the file's line", undone.stderr)
        bad = with_file("", YOKE_LOG="loud")
        expect(bad.returncode == 3 and "YOKE_LOG: expected one of" in bad.stderr, bad.stderr)
        gone = run(command, "--help", env={**environment, "YOKE_CONFIG": path + ".none"})
        expect(gone.returncode == 3 and path + ".none" in gone.stderr,
               "a YOKE_CONFIG that is not there", gone)
        check_user_file(folder, command, environment)


def check_user_file(folder, command, environment):
    os.makedirs(os.path.join(folder, "yoke"))
    with open(os.path.join(folder, "yoke", "config"), "w", encoding="utf-8") as file:
        file.write("log = noise\n")
    for variables, path in (({"XDG_CONFIG_HOME": folder}, True),
                            ({"XDG_CONFIG_HOME": "relative"}, False)):
        result = run(command, "--help", cwd=folder, env={**environment, "HOME": "/nonexistent",
                                                         **variables})
        expect((result.returncode == 3) == path, f"{variables}: {result}")
    os.makedirs(os.path.join(folder, ".config"))
    os.rename(os.path.join(folder, "yoke"), os.path.join(folder, ".config", "yoke"))
    home = {key: value for key, value in environment.items() if key != "XDG_CONFIG_HOME"}
    result = run(command, "--help", env={**home, "HOME": folder})
    expect(result.returncode == 3 and f"{folder}/.config/yoke/config:1: log" in result.stderr,
           "~/.config/yoke/config is not read", result)


def main():
    settings = settings_of_help()
    expect(len(settings) >= 7, "yoke help configuration lists too little", settings)
    for key, (variable, _) in settings.items():
        expect(variable == "YOKE_" + key.upper().replace("-", "_"), f"{key} is {variable}")
    expect(settings_of_page() == settings, "docs/configuration.md differs from the help")
    with open(os.path.join(BUILD, "reference", "configuration.md"), encoding="utf-8") as made, \
            open(os.path.join(SOURCE, "docs", "configuration.md"), encoding="utf-8") as kept:
        expect(made.read() == kept.read(), "docs/configuration.md is out of date: copy "
               "reference/configuration.md of the build folder over it")
    table = commands()
    for page in ["yoke.1"] + [f"yoke-{command['name']}.1" for command in table]:
        expect(settings_of_manual(page) == settings, f"{page} differs from the help")

    names = [variable for variable, _ in settings.values()]
    for variable, path in variables_of_sources().items():
        known = variable in NOT_SETTINGS or any(
            variable == name or (name.endswith("*") and variable.startswith(name[:-1]))
            for name in names)
        expect(known, f"{path} reads {variable}, which the table in base/config.c does not have")
    check_file(settings, table[0]["name"])
    finish()


main()
