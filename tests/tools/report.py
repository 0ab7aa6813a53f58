# SPDX-License-Identifier: Apache-2.0
"""yoke report: one page that is valid, complete, accessible and safe.

The page is read by an HTML5 parser that takes nothing amiss; what a device, a note or a
command is called is shown as text and never run; where a browser is installed, it reads the
page as well.
"""
import base64
import copy
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser

from command import expect, finish, run

EVIL = "<script>document.title='owned'</script>"
ATTRIBUTE = "\"'><img src=x onerror=\"document.title='owned'\">"
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Elements with their attributes, text and parents."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.stack, self.text = [], [], []
        self.feed(text)
        self.close()
        expect(not self.stack, f"not closed: {self.stack}")

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        expect(len(names) == len(set(names)), f"<{tag}> has an attribute twice")
        self.elements.append((tag, dict(attrs), [*self.stack]))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        expect(self.stack and self.stack[-1] == tag, f"</{tag}> inside {self.stack[-3:]}")
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()

    def handle_data(self, data):
        if not self.stack or self.stack[-1] not in ("style", "script"):
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]


def check_parser(what, text):
    try:
        import html5lib
    except ImportError:
        print("note: python3-html5lib is not installed; the page was read by Python's parser alone")
        return
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(text)
    expect(not parser.errors, f"{what}: {parser.errors[:3]}")


def check_self_contained(what, page, text):
    for tag, attributes, _ in page.elements:
        expect(tag not in ("img", "link", "iframe", "object", "embed", "base", "form"),
               f"{what}: <{tag}>")
        for name in attributes:
            expect(not name.startswith("on"), f"{what}: <{tag} {name}=...>")
            expect(name not in ("src", "srcset", "data", "action"), f"{what}: <{tag} {name}=...>")
        href = attributes.get("href", "#")
        expect(href.startswith("#"), f"{what}: a link to {href}")
    expect("url(" not in text and "@import" not in text, f"{what}: the style loads something")
    expect(len(page.all("script")) == 1, f"{what}: {len(page.all('script'))} scripts")
    script = re.search(r"<script>(.*?)</script>", text, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = [item["content"] for item in page.all("meta") if "http-equiv" in item]
    expect(len(policy) == 1 and f"'sha256-{digest}'" in policy[0] and
           policy[0].startswith("default-src 'none'"), f"{what}: policy {policy}")


def check_accessible(what, page, text):
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    expect(len(ids) == len(set(ids)), f"{what}: an id is there twice")
    for tag, attributes, _ in page.elements:
        for name in ("aria-labelledby", "href"):
            if name in attributes:
                expect(attributes[name].lstrip("#") in ids, f"{what}: {name}={attributes[name]}")
        if attributes.get("role") == "region":
            expect(attributes.get("tabindex") == "0" and "aria-labelledby" in attributes,
                   f"{what}: a part that scrolls is out of reach of the keyboard")
    expect(page.all("html")[0].get("lang") == "en", f"{what}: no language")
    for landmark in ("header", "nav", "main", "footer"):
        expect(len(page.all(landmark)) == 1, f"{what}: {len(page.all(landmark))} <{landmark}>")
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    expect(levels[0] == 1 and levels.count(1) == 1, f"{what}: headings {levels}")
    expect(all(after <= before + 1 for before, after in zip(levels, levels[1:])),
           f"{what}: a level of headings is left out: {levels}")
    tables = len(page.all("table"))
    expect(tables >= 5 and tables == len(page.all("caption")), f"{what}: tables and captions")
    expect(all(item.get("scope") in ("col", "row") for item in page.all("th")), f"{what}: <th>")
    expect(len(page.all("figure")) == len(page.all("figcaption")) == 3, f"{what}: figures")
    for rule in ("prefers-color-scheme:dark", ":focus-visible", "forced-colors"):
        expect(rule in text, f"{what}: no {rule} in the style")


def luminance(colour):
    if len(colour) == 3:
        colour = "".join(2 * digit for digit in colour)
    parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
             for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def check_contrast(text):
    """WCAG 2.2: text 4.5 to 1 on every ground that it stands on; lines 3 to 1."""
    themes = re.findall(r"(?<=:root\{)[^}]*", text)
    expect(len(themes) == 2, f"{len(themes)} themes")
    for theme in themes:
        colours = dict(re.findall(r"--([a-z]+):#([0-9a-f]+)", theme))
        grounds = ["paper", "panel"]
        pairs = [(ink, ground, 4.5) for ink in ("ink", "soft", "link") for ground in grounds]
        pairs += [("mark", ground, 4.5) for ground in "abcdefgh"]
        pairs += [("line", ground, 3) for ground in grounds]
        for ink, ground, wanted in pairs:
            light, dark = sorted((luminance(colours[ink]), luminance(colours[ground])),
                                 reverse=True)
            ratio = (light + 0.05) / (dark + 0.05)
            expect(ratio >= wanted, f"{ink} on {ground}: {ratio:.2f} to 1")


def check_page(what, text):
    page = Page(text)
    check_parser(what, text)
    check_self_contained(what, page, text)
    check_accessible(what, page, text)
    return " ".join("".join(page.text).split())


def check_content(plan, shown):
    for device_type in {device["type"] for pipeline in plan["pipelines"]
                        for stage in pipeline["stages"] for replica in stage["replicas"]
                        for device in replica["devices"]}:
        expect(device_type in shown, f"{device_type} is not on the page")
        for factor in (90, 50):
            expect(f"every {device_type} at {factor}% of its speed" in shown,
                   f"no what-if of {device_type} at {factor}%")
    for item in plan["alternatives"]:
        expect(" ".join(item["why"].split()) in shown, f"alternative: {item}")


def check_injection(folder, plan, inputs):
    """Names that would be markup are text."""
    evil = copy.deepcopy(plan)
    evil["notes"] = [EVIL, ATTRIBUTE, "\u202eright to left", "a & b"]
    evil["alternatives"][0]["why"] = EVIL
    evil["alternatives"][0]["kind"] = ATTRIBUTE
    evil["made_by"]["version"] = "</style></script>" + EVIL
    evil["unused"] = [{"device": "x/" + EVIL, "reason": ATTRIBUTE}]
    path = os.path.join(folder, "evil.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(evil, file)
    result = run("report", path, *inputs)
    expect(result.returncode == 0, "report of a plan with odd names", result.stderr)
    shown = check_page("odd names", result.stdout)
    expect(EVIL in shown and ATTRIBUTE in shown, "names are not shown as they are")
    expect("\u202e" not in result.stdout, "a mark that turns the text around is on the page")
    return result.stdout


def check_injection_inventory(folder, source):
    """The same from the cluster: device ids and types."""
    with open(os.path.join(source, "data", "clusters", "h100-a100.json"), encoding="utf-8") as file:
        cluster = json.load(file)
    for node in cluster["nodes"]:
        for device in node["devices"]:
            device["id"] = device["id"] + EVIL
        for nic in node.get("nics", []):
            nic["near"] = [name + EVIL for name in nic.get("near", [])]
    path = os.path.join(folder, "cluster.json")
    plan = os.path.join(folder, "plan-evil.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(cluster, file)
    made = run("plan", "-m", "llama-3.1-8b", "-c", path, "-o", plan)
    if made.returncode != 0:
        expect(made.returncode == 3, "such ids are neither planned on nor refused", made.stderr)
        return None
    result = run("report", plan, "-m", "llama-3.1-8b", "-c", path)
    expect(result.returncode == 0, "report", result.stderr)
    shown = check_page("odd device ids", result.stdout)
    expect(EVIL in shown, "ids are not shown as they are")
    return result.stdout


def check_browser(folder, pages):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("note: no browser; the page was not opened in one")
        return
    for number, text in enumerate(pages):
        path = os.path.join(folder, f"page{number}.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        result = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
             f"--user-data-dir={folder}/profile", "--dump-dom", path], capture_output=True,
            text=True, timeout=120, check=False)
        expect(result.returncode == 0 and "<main" in result.stdout, "browser", result.stderr[-500:])
        title = re.search("<title>(.*?)</title>", result.stdout)
        expect(title is not None and "owned" not in title.group(1), "a name was run as a script")
        expect('type="range"' in result.stdout, "our own script was not run")


def main():
    source = os.environ["YOKE_SOURCE_DIR"]
    inputs = ("-m", "llama-3.1-8b", "-c", "h100-a100")
    with tempfile.TemporaryDirectory() as folder:
        path, page = os.path.join(folder, "plan.json"), os.path.join(folder, "plan.html")
        expect(run("plan", *inputs, "-o", path).returncode == 0, "no plan")
        result = run("report", path, "--out", page)
        expect(result.returncode == 0 and result.stdout == "", "report --out", result.stderr)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        expect(run("report", path, *inputs).stdout == text, "standard output has another page")
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
        check_content(plan, check_page("report", text))
        check_contrast(text)
        pages = [check_injection(folder, plan, inputs), check_injection_inventory(folder, source)]
        # Many micro-batches: the timeline is drawn by columns.
        many = os.path.join(folder, "many.json")
        run("plan", "-m", "qwen3-8b", "-c", "2x(4xH100-SXM5-80GB + 4xA100-SXM4-80GB); nic=400Gb",
            "--global-batch", "8192", "--micro-batch", "1", "-o", many)
        big = run("report", many)
        expect(big.returncode == 0 and len(big.stdout) < 1 << 20, "report of many micro-batches",
               len(big.stdout))
        check_page("many micro-batches", big.stdout)
        expect(run("report").returncode == 2, "without a plan")
        expect(run("report", "none.json").returncode == 3, "no such plan")
        lost = run("report", path, "--out", os.path.join(folder, "none", "x.html"))
        expect(lost.returncode == 4 and "none" in lost.stderr, "no such folder", lost.stderr)
        check_browser(folder, [item for item in pages if item is not None])
    finish()


main()
