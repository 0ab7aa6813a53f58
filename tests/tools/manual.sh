#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every manual page is clean for mandoc and has its sections and options.
set -euo pipefail
if ! command -v mandoc >/dev/null; then
    echo "skipped: mandoc is not installed"
    exit 77
fi
status=0
pages=("$YOKE_BUILD_DIR"/reference/*.1)
told=$(mandoc -Tlint -Wstyle "${pages[@]}" 2>&1) || true
if [[ $told ]]; then
    echo "$told"
    status=1
fi
for page in "${pages[@]}"; do
    text=$(mandoc -Tutf8 -Owidth=78 "$page" | sed 's/.\x08//g')
    if long=$(grep -E '^.{81}' <<<"$text"); then
        echo "$page: lines of more than 80 columns: $long"
        status=1
    fi
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" ENVIRONMENT FILES EXAMPLES \
        "SEE ALSO"; do
        if ! grep -qx "$section" <<<"$text"; then
            echo "$page: no section $section"
            status=1
        fi
    done
done
/usr/bin/python3 - "$YOKE_BUILD_DIR/reference" <<'PYTHON' || status=1
import json, os, re, subprocess, sys
table = json.loads(subprocess.run([os.environ["YOKE_COMMAND"], "--dump-commands"], check=True,
                                  capture_output=True, text=True).stdout)
missing = 0
for command in table:
    path = f"{sys.argv[1]}/yoke-{command['name']}.1"
    page = subprocess.run(["mandoc", "-Tascii", path], check=True, capture_output=True,
                          text=True).stdout
    page = re.sub(".\b", "", page)
    for option in command["options"]:
        if not re.search(rf"^ +(-., )?--{re.escape(option['name'])}( |$)", page, re.M):
            print(f"{path}: no --{option['name']}")
            missing += 1
sys.exit(1 if missing else 0)
PYTHON
exit $status
