#!/usr/bin/env python3
"""What synccheck reports on the programs of HeCBench and cuda-samples.

    scripts/gpu_trees.py --list HECBENCH SAMPLES > programs.json   which programs hold a barrier, how each is built and run, most barriers first
    scripts/gpu_trees.py --collect programs.json --root FOLDER --out ROWS.json [--build-only | --run-only]
    scripts/gpu_trees.py --table ROWS.json                          the rows of docs/gpu-trees.md

FOLDER holds the two trees as HeCBench and cuda-samples. Programs are built with the settings of their Makefile (samples: with nvcc, as
their CMake file does), ARCH=sm_90 and -lineinfo apart, and run once, with few repeats, for at most --limit seconds under synccheck.
"""
import argparse, concurrent.futures, json, os, pathlib, re, shlex, threading, time

from gpu_table import NVCC, PROBE, SYNCCHECK, gpu_answers, machine, reports, run_limited

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


def collect(arguments):
    programs, root, out = json.loads(pathlib.Path(arguments.collect).read_text()), pathlib.Path(arguments.root), pathlib.Path(arguments.out)
    started, lock = time.time(), threading.Lock()
    state = {"machine": machine(), "rows": json.loads(out.read_text())["rows"] if out.is_file() else []}
    rows = {row["name"]: row for row in state["rows"]}

    def save(row, **news):
        with lock:
            row.update(news)
            rows[row["name"]] = row
            state["rows"] = list(rows.values())
            out.write_text(json.dumps(state, indent=1))

    def build(program):
        if time.time() - started > arguments.budget:
            return
        code, text = run_limited(program["build"], 150, cwd=root / program["name"])
        save(dict(program), built=code, build_text="" if code == 0 else "\n".join(l for l in text.splitlines() if "error" in l)[:600] or text[-600:])

    def run(program):
        row = rows[program["name"]]
        if time.time() - started > arguments.budget or "exit" in row:
            return
        folder, begin = root / program["name"], time.time()
        names = {p.name for p in folder.rglob("*") if p.suffix in CODE}
        code, text = run_limited([*SYNCCHECK, *row["run"]], arguments.limit, cwd=folder)
        save(row, exit=code, seconds=round(time.time() - begin, 1), reports=reports(text, names), text=text[:1500] + "\n...\n" + text[-1500:])
        if isinstance(code, str):
            gpu_answers(root / "probe") or print(f"{program['name']}: the GPU answers no more", flush=True)

    if not arguments.run_only:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs or os.cpu_count()) as pool:
            list(pool.map(build, [p for p in programs if p["name"] not in rows]))
        print(f"{time.time() - started:.0f} s: {sum(r['built'] == 0 for r in rows.values())} of {len(rows)} built", flush=True)
    if not arguments.build_only:
        (root / "probe.cu").write_text(PROBE)
        run_limited([*NVCC.split(), "probe.cu", "-o", "probe"], 60, cwd=root)
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            list(pool.map(run, [p for p in programs if rows.get(p["name"], {}).get("built") == 0]))
        print(f"{time.time() - started:.0f} s: {sum('exit' in r for r in rows.values())} run, {sum(bool(r.get('reports')) for r in rows.values())} with reports", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", nargs=2, type=pathlib.Path, metavar=("HECBENCH", "SAMPLES"))
    parser.add_argument("--collect", metavar="PROGRAMS")
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
