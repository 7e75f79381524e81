#!/usr/bin/env python3
"""What docs/evaluation.md counts, from its own table of verdicts and a run of synclint on the trees.

    scripts/evaluation.py BINARY FOLDER [TREE...]

FOLDER holds the trees under their repository's name (FOLDER/cudf for rapidsai/cudf). Each row of the page is a
finding that was read, and its class. Printed are the rows that the binary still reports, by class, for errors,
for errors and warnings, and for those left under `--exited-threads may-exit`; the rows that are gone; with trees of up
to 60 findings, what is reported and has no row yet; and the page's table of findings per tree and rule."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

KIND = re.compile(r"^\| ([\w.-]+/[\w.-]+) \| ([^|]+) \| [\d,]+ \| [\d,]+ \|")
RULES = ["divergent-branch", "divergent-loop", "divergent-exit", "warp-mask", "racy-broadcast"]
ROW = re.compile(r"^\| ([\w.-]+/[\w.-]+) \| (\S+?):(\d+) \| ([\w-]+)( \(warning\))? \| (true|policy|false|undecided) \|")


def verdicts(page):
    rows = {}
    for line in page.read_text().splitlines():
        if match := ROW.match(line):
            repository, file, number, rule, _, verdict = match.groups()
            rows[repository, file, int(number), rule] = verdict
    return rows


def findings(binary, folder, *options):
    command = [binary, "check", "--format", "json", "--exit-zero", "--root", folder, folder, *options]
    report = json.loads(subprocess.run(command, cwd="/", capture_output=True, text=True, check=True).stdout)
    found, rules = {}, collections.Counter()
    for finding in report["findings"]:
        if finding["severity"] in ("error", "warning"):
            file = os.path.relpath(os.path.join(folder, finding["file"]), folder)
            found[file, finding["line"], finding["rule"]] = finding["severity"]
            rules[finding["rule"]] += 1
    return found, report["summary"], rules


def row(title, classes, right=("true", "policy")):
    decided = sum(classes[name] for name in ("true", "policy", "false"))
    precision = sum(classes[name] for name in right) / decided if decided else 1.0
    counts = " | ".join(str(classes[name]) for name in ("true", "policy", "false", "undecided"))
    print(f"| {title} | {counts} | {precision:.2f} |")


def main():
    binary, folder, *names = sys.argv[1:]
    binary = os.path.abspath(binary)
    page = pathlib.Path(__file__).resolve().parent.parent / "docs/evaluation.md"
    rows = verdicts(page)
    kinds = dict(match.groups() for match in map(KIND.match, page.read_text().splitlines()) if match)
    per_tree = []
    errors, both, may_exit = collections.Counter(), collections.Counter(), collections.Counter()
    for repository in dict.fromkeys(key[0] for key in rows):
        name = repository.split("/")[1]
        tree = os.path.abspath(os.path.join(folder, name))
        if (names and name not in names) or not os.path.isdir(tree):
            continue
        found, summary, rules = findings(binary, tree)
        left, _, _ = findings(binary, tree, "--exited-threads", "may-exit")
        columns = [f"{rules[rule] or ''}" for rule in RULES]
        sizes = f"{summary['kernels']:,} | {summary['barriers']:,}"
        per_tree.append(f"| {repository} | {kinds.get(repository, '')} | {sizes} | {' | '.join(columns)} | {sum(rules.values())} |")
        of_tree = collections.Counter()
        read = {key[1:]: verdict for key, verdict in rows.items() if key[0] == repository}
        for place, verdict in read.items():
            if place in found:
                of_tree[verdict] += 1
                errors[verdict] += found[place] == "error"
                may_exit[verdict] += place in left
            else:
                print(f"gone: {name}/{place[0]}:{place[1]} {place[2]} ({verdict})")
        if len(found) <= 60:
            for place in sorted(found.keys() - read.keys()):
                print(f"no verdict: {name}/{place[0]}:{place[1]} {place[2]} ({found[place]})")
        both += of_tree
        row(f"{repository} ({len(found)} reported)", of_tree)
    row("errors", errors)
    row("errors and warnings", both)
    row("errors and warnings under `may-exit`, true only", may_exit, right=("true",))
    print("\n".join(per_tree))


if __name__ == "__main__":
    main()
