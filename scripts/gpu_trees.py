#!/usr/bin/env python3
"""What synccheck reports on the programs of HeCBench and cuda-samples.

    scripts/gpu_trees.py --list HECBENCH SAMPLES > programs.json   which programs hold a barrier, how each is built and run, most barriers first
    scripts/gpu_trees.py --collect programs.json --root FOLDER --out ROWS.json [--build-only | --run-only]
    scripts/gpu_trees.py --table ROWS.json BINARY FOLDER            the tables of docs/gpu-trees.md, with synclint's answer

FOLDER holds the two trees as HeCBench and cuda-samples. Programs are built with the settings of their Makefile (samples: with nvcc, as
their CMake file does), ARCH=sm_90 and -lineinfo apart, and run once, with few repeats, for at most --limit seconds under synccheck.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, re, shlex, subprocess, sys, threading, time

from gpu_table import NVCC, PROBE, SYNCCHECK, gpu_answers, machine, reports, run_limited, short

BARRIER = re.compile(r"__sync(?:threads|warp)\w*|\bsync\s*\(|__(?:shfl|ballot|any|all|match|reduce)\w*_sync|\bbar(?:rier)?\.\w+|Block(?:Reduce|Scan|RadixSort)\b")
CODE = {".cu", ".cuh", ".h", ".hpp", ".inl", ".cpp", ".cc", ".c"}
REPEAT = re.compile(r"\b\w*(?:repeat|iter|reps?|time|num_runs|nruns)\w*\s*=\s*(?:\w+::)?ato\w+\s*\(\s*argv\s*\[\s*(\d)\s*\]", re.I)


def text_of(folder):
    return "\n".join(p.read_text(errors="replace") for p in sorted(folder.rglob("*")) if p.suffix in CODE and p.is_file())


def hecbench(tree):
    for folder in sorted((tree / "src").glob("*-cuda")):
        makefile = folder / "Makefile"
        if not makefile.is_file():
            continue
        rules = makefile.read_text(errors="replace")
        run = re.search(r"^run:.*\n(?:\t.*\n?)*?\t(?!#)(?:@?\$\(LAUNCHER\))?\s*(\./.*)", rules, re.M)
        program = re.search(r"^program\s*=\s*(\S+)", rules, re.M)
        if not run:
            continue
        words = shlex.split(run.group(1).replace("$(program)", program.group(1) if program else "main").split("\\")[0], comments=True)
        if any(("." in w[2:] or "/" in w[2:]) and re.search(r"[a-zA-Z]", w) and not (folder / w).exists() for w in words[1:]) or "$" in run.group(1).replace("$(program)", ""):
            continue  # its input is not part of the tree
        text = text_of(folder)
        for place in {int(p) for p in REPEAT.findall(text)}:
            if place < len(words) and words[place].isdigit():
                words[place] = "2"
        yield {"name": f"HeCBench/src/{folder.name}", "barriers": len(BARRIER.findall(text)), "build": ["make", "ARCH=sm_90", "EXTRA_CFLAGS=-lineinfo"], "run": words}


def samples(tree):
    for folder in sorted(p.parent for p in (tree / "Samples").glob("*/*/CMakeLists.txt")):
        sources = sorted(str(p.relative_to(folder)) for f in (folder, folder / "src") if f.is_dir() for p in f.iterdir() if p.suffix in (".cu", ".cpp", ".c"))
        text = text_of(folder)
        if not any(s.endswith(".cu") for s in sources) or re.search(r"\bGL/|helper_gl|EGL/|vulkan|mpi\.h|nvrtc|NvSci|d3d|npp\.h|MultiDevice|_IPC", text):
            continue
        libraries = [f"-l{name}" for name in ("cublas", "cusparse", "cufft", "curand", "cusolver") if name in text]
        build = ["nvcc", "-std=c++17", "-arch=sm_90", "-lineinfo", "-rdc=true", "--extended-lambda", "-w", "-I../../../Common", "-Iinc", *sources, "-lcuda", *libraries, "-o", "program"]
        yield {"name": f"cuda-samples/{folder.relative_to(tree)}", "barriers": len(BARRIER.findall(text)), "build": build, "run": ["./program"]}


def key(row):
    return " ".join([row["name"], *row["run"][1:]])


def collect(arguments):
    programs, root, out = json.loads(pathlib.Path(arguments.collect).read_text()), pathlib.Path(arguments.root), pathlib.Path(arguments.out)
    started, lock = time.time(), threading.Lock()
    state = {"machine": machine(), "rows": json.loads(out.read_text())["rows"] if out.is_file() else []}
    rows = {key(row): row for row in state["rows"]}
    folders = collections.defaultdict(threading.Lock)

    def save(row, **news):
        with lock:
            row.update(news)
            rows[key(row)] = row
            state["rows"] = list(rows.values())
            out.write_text(json.dumps(state, indent=1))

    def build(program):
        with folders[program["name"]]:
            if time.time() - started > arguments.budget:
                return
            code, text = run_limited(program["build"], 150, cwd=root / program["name"])
        errors = "\n".join(line for line in text.splitlines() if "error" in line) or text
        save(dict(program), built=code, build_text="" if code == 0 else errors[-200:])

    def run(program):
        row = rows[key(program)]
        if time.time() - started > arguments.budget or "exit" in row:
            return
        folder = root / program["name"]
        names = {p.name for p in folder.rglob("*") if p.suffix in CODE}
        code, text = run_limited([*SYNCCHECK, *row["run"]], arguments.limit, cwd=folder)
        save(row, exit=code, reports=reports(text, names), text="" if code == 0 else text[-300:])
        if isinstance(code, str):
            save(row, plain=run_limited(row["run"], 20, cwd=folder)[0])
            gpu_answers(root / "probe") or print(f"{program['name']}: the GPU answers no more", flush=True)

    if not arguments.run_only:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs or os.cpu_count()) as pool:
            list(pool.map(build, [p for p in programs if key(p) not in rows]))
        print(f"{time.time() - started:.0f} s: {sum(r['built'] == 0 for r in rows.values())} of {len(rows)} built", flush=True)
    if not arguments.build_only:
        (root / "probe.cu").write_text(PROBE)
        run_limited([*NVCC.split(), "probe.cu", "-o", "probe"], 60, cwd=root)
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            list(pool.map(run, [p for p in programs if rows.get(key(p), {}).get("built") == 0]))
        print(f"{time.time() - started:.0f} s: {sum('exit' in r for r in rows.values())} run, {sum(bool(r.get('reports')) for r in rows.values())} with reports", flush=True)


# ---- table ----

def lint(binary, folder):
    """synclint's warnings and errors on a folder, or why there are none."""
    try:
        run = subprocess.run([binary, "check", "--format", "json", "."], cwd=folder, capture_output=True, timeout=120)
        return [f for f in json.loads(run.stdout)["findings"] if f["severity"] in ("warning", "error")], ""
    except subprocess.TimeoutExpired:
        return None, "no answer in 120 s"
    except ValueError:
        return None, f"no answer, exit {run.returncode}"


def table(rows_file, binary, root):
    """Prints the tables; the number of places synccheck reports that synclint does not flag at the same line."""
    rows = json.loads(pathlib.Path(rows_file).read_text())["rows"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        names = sorted({r["name"] for r in rows})
        answers = dict(zip(names, pool.map(lambda name: lint(binary, pathlib.Path(root) / name), names)))
    missed, reported, lines, count = [], [], [], collections.Counter()
    for row in rows:
        found, why = answers[row["name"]]
        flagged = {(pathlib.Path(f["file"]).name, f["line"]): f["rule"] for f in found or []}
        for report in row.get("reports", []):
            rule = flagged.get((report["file"], report["line"]), "missed")
            reported.append(f"| {row['name']} | {report['file']}:{report['line']} | {short(report['message'])} | {rule} |")
            if rule == "missed":
                missed.append(reported[-1])
        ended = ("not built" if row["built"] != 0 else "not run" if "exit" not in row else "reports" if row["reports"] else "not done in time" if row["exit"] == "hang" else "silent" if row["exit"] == 0 else "ended early")
        count[ended] += 1
        rules = collections.Counter(f["severity"] + " " + f["rule"] for f in found or [])
        answer = why or ", ".join(f"{n} {rule}" for rule, n in sorted(rules.items())) or "clean"
        if answer != "clean" or ended != "silent":
            lines.append(f"| {row['name'].removesuffix('-cuda')} | `{' '.join(row['run'][1:])}` | {ended} | {answer} |")
    print(f"Runs: {len(rows)}; " + ", ".join(f"{n} {name}" for name, n in count.most_common()) + ".\n")
    print("| program | place | synccheck | synclint, same line |\n|---|---|---|---|\n" + "\n".join(reported) + "\n")
    print("| program | arguments | synccheck | synclint, whole folder |\n|---|---|---|---|\n" + "\n".join(lines))
    return len(missed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", nargs=2, type=pathlib.Path, metavar=("HECBENCH", "SAMPLES"))
    parser.add_argument("--collect", metavar="PROGRAMS")
    parser.add_argument("--table", nargs=3, metavar=("ROWS", "BINARY", "FOLDER"))
    parser.add_argument("--root", type=lambda name: str(pathlib.Path(name).resolve()), default=os.getcwd())
    parser.add_argument("--out", default="trees.json")
    parser.add_argument("--jobs", type=int, default=0, help="builds at one time (default: one per core)")
    parser.add_argument("--at-once", type=int, default=1, help="programs on the GPU at one time")
    parser.add_argument("--budget", type=float, default=3600, help="seconds after which nothing further is started")
    parser.add_argument("--limit", type=float, default=25, help="seconds for one program")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--run-only", action="store_true")
    parsed = parser.parse_args()
    if parsed.list:
        found = [p for p in [*hecbench(parsed.list[0]), *samples(parsed.list[1])] if p["barriers"]]
        print(json.dumps(sorted(found, key=lambda p: -p["barriers"]), indent=1))
    elif parsed.collect:
        collect(parsed)
    elif parsed.table:
        sys.exit(table(*parsed.table) > 0)
    else:
        parser.error("--list, --collect or --table")
