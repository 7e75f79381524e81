#!/usr/bin/env python3
"""Annotated cases on a real GPU: plainly, under compute-sanitizer's synccheck, and beside synclint's answer.

    scripts/gpu_table.py --collect CASES --out ROWS.json      on a machine with an NVIDIA GPU, nvcc and compute-sanitizer
    scripts/gpu_table.py --table ROWS.json BINARY CASES      anywhere: prints docs/gpu-table.md; exit 1 if synclint misses what synccheck reports

Every case that has a `main` is compiled (the line in its `case` file, else `nvcc -std=c++17 -arch=sm_90`), always with -lineinfo,
and once more with -G if it has an EXPECT, since the optimiser moves and joins barriers. Its `main` is called by a small one that
also prints the error the GPU ends with. A run that outlasts its limit is killed, and a probe kernel must still answer before the
next one starts. Rows are written after each step, so that a run cut short is worth what it got to. The rows the table in docs/
was made from are kept in scripts/gpu/rows.json, so the synclint column can be made again without a GPU.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, re, shlex, signal, subprocess, sys, tempfile, threading, time

EXPECT = re.compile(r"//\s*EXPECT:\s*([a-z-]+(?:\s*,\s*[a-z-]+)*)")
ALT = re.compile(r"//\s*ALT:")
MAIN = re.compile(r"\bmain\s*\(")
NVCC = "nvcc -std=c++17 -arch=sm_90"
SYNCCHECK = ["compute-sanitizer", "--tool", "synccheck", "--print-limit", "400", "--show-backtrace", "device"]
SOURCES = {".cu", ".cuh", ".h", ".hpp", ".inl"}
WRAPPER = """#include <cstdio>
int case_main();
int main() {
    int result = case_main();
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error != cudaSuccess) fprintf(stderr, "GPU error: %s: %s\\n", cudaGetErrorName(error), cudaGetErrorString(error));
    return result;
}
"""
PROBE = """__global__ void probe(int *v) { v[threadIdx.x] += 1; }
int main() { int *v; return cudaMalloc(&v, 128) || (probe<<<1, 32>>>(v), cudaDeviceSynchronize()) != cudaSuccess; }
"""


def cases(folder):
    """Each case that can run: its name and its files (a folder with a file `case` is one case)."""
    marked = {p.parent for p in folder.rglob("case") if p.is_file()}
    found = [(m, sorted(p for p in m.rglob("*") if p.suffix in SOURCES)) for m in marked]
    found += [(p, [p]) for p in folder.rglob("*.cu") if not any(parent in marked for parent in p.parents)]
    for path, files in sorted(found):
        if any(MAIN.search(p.read_text(errors="replace")) for p in files):
            yield path, files


def annotations(path, files):
    want, may = [], []
    for file in files:
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            found = EXPECT.search(line)
            where = {"file": file.name, "line": number}
            if found:
                want.append(where | {"rules": [r.strip() for r in found.group(1).split(",")]})
            elif ALT.search(line):
                may.append(where)
    return want, may


# ---- a run that may hang ----

def run_limited(command, limit, cwd=None):
    """(outcome or exit code, output). Kills the whole session of a run that outlasts its limit."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=cwd, start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            kill_session(process.pid)
            code = "hang"
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                code = "hang, could not be killed"
        out.seek(0)
        return code, out.read(400_000).decode(errors="replace")


def kill_session(leader):
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == leader:
                os.kill(int(entry.name), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def gpu_answers(probe):
    return any(run_limited([str(probe)], 30)[0] == 0 for _ in range(2))


# ---- what synccheck says ----

def reports(text, names):
    """The barrier errors in synccheck's output, as (message, function, file, line), each once with its count. The place is the
    innermost frame in one of the files named."""
    found, current = [], None
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        body = line[9:].strip()
        if body.startswith("Barrier error detected"):
            current = {"message": body, "function": "", "file": "", "line": 0, "frames": []}
            found.append(current)
        elif current is not None:
            frame = re.match(r"(?:at|Device Frame:|Device frame:)\s+(.*)", body)
            if frame:
                place = re.match(r"(.*?)(?:\+0x[0-9a-f]+)?(?:\s*\[0x[0-9a-f]+\])?\s+in\s+(.*?):(\d+)(?::0x[0-9a-f]+)?$", frame.group(1))
                if place:
                    current["frames"].append((place.group(1), pathlib.Path(place.group(2)).name, int(place.group(3))))
            elif body.startswith("Saved host") or body.startswith("Host Frame"):
                current = None
    counted = collections.Counter()
    for report in found:
        own = [f for f in report["frames"] if f[1] in names] or report["frames"] or [("", "", 0)]
        counted[(report["message"], *own[0])] += 1
    return [dict(zip(("message", "function", "file", "line"), key)) | {"count": n} for key, n in sorted(counted.items())]


# ---- collect ----

def compile_case(path, files, build, debug):
    target = build / (re.sub(r"\W+", "_", str(path)) + ("_G" if debug else ""))
    line = (path / "case").read_text().strip().splitlines()[0] if path.is_dir() else f"{NVCC} {path.name}"
    words = [str(path.parent / w) if w == path.name else str(path / w) if (path / w).is_file() else w for w in shlex.split(line)]
    words += [str(build / ("wrapper_G.o" if debug else "wrapper.o")), "-Dmain=case_main", "-G" if debug else "-lineinfo", "-w", "-o", str(target)]
    code, text = run_limited(words, 300)
    if code != 0:
        code, text = run_limited([*words, "-rdc=true"], 300)
    return target, {"command": line, "exit": code, "text": "" if code == 0 else text[-600:]}


def collect(arguments):
    folder, out = pathlib.Path(arguments.collect), pathlib.Path(arguments.out)
    build = pathlib.Path(tempfile.mkdtemp(prefix="gpu_table_"))
    (build / "wrapper.cu").write_text(WRAPPER)
    (build / "probe.cu").write_text(PROBE)
    for words in (["-c", "wrapper.cu", "-o", "wrapper.o"], ["-G", "-c", "wrapper.cu", "-o", "wrapper_G.o"], ["probe.cu", "-o", "probe"]):
        subprocess.run([*NVCC.split(), *words], cwd=build, check=True)
    rows, todo = [], []
    for path, files in cases(folder):
        want, may = annotations(path, files)
        row = {"case": str(path.relative_to(folder)), "files": [f.name for f in files], "expect": want, "alt": may}
        rows.append(row)
        todo.append((row, path, files))
    started, lock = time.time(), threading.Lock()

    def note(text):
        print(f"{time.time() - started:6.1f} s  {text}", flush=True)

    made_on = machine()

    def save():
        out.write_text("{\"machine\": %s,\n\"rows\": [\n%s]}\n" % (json.dumps(made_on), ",\n".join(map(json.dumps, rows))))

    targets = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {}
        for debug in (False, True):
            for row, path, files in todo:
                if not debug or row["expect"]:
                    jobs[pool.submit(compile_case, path, files, build, debug)] = (row, debug)
        for job in concurrent.futures.as_completed(jobs):
            row, debug = jobs[job]
            targets[row["case"], debug], result = job.result()
            row["compile_debug" if debug else "compile"] = result
            if result["exit"] != 0:
                note(f"does not compile: {row['case']}{' -G' if debug else ''}: {result['text'][-300:]}")
    save()
    note(f"{len(jobs)} compiled")
    dead = threading.Event()

    def one(kind, row, command, limit):
        if dead.is_set() or time.time() - started > arguments.budget:
            return
        code, text = run_limited(command, limit)
        result = {"exit": code}
        if kind != "plain":
            result["reports"] = reports(text, row["files"])
        result["text"] = "" if code == 0 or result.get("reports") else text[:500]
        if isinstance(code, str):
            note(f"{kind}: {row['case']}: {code}")
            if not gpu_answers(build / "probe"):
                dead.set()
                note("the GPU answers no more")
        with lock:
            row[kind] = result
            save()

    todo.sort(key=lambda t: not t[0]["expect"])
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        for kind, debug, limit, tool in (("plain", False, 10, []), ("synccheck", False, 20, SYNCCHECK), ("synccheck_debug", True, 20, SYNCCHECK)):
            for row, _, _ in todo:
                if (not debug or row["expect"]) and row["compile_debug" if debug else "compile"]["exit"] == 0:
                    pool.submit(one, kind, row, [*tool, str(targets[row["case"], debug])], limit)
    save()
    note(f"done: {sum('plain' in r for r in rows)} run, {sum('synccheck' in r for r in rows)} under synccheck, "
         f"{sum('synccheck_debug' in r for r in rows)} with -G")


def machine():
    def ask(*words):
        try:
            return subprocess.run(words, capture_output=True, text=True).stdout.strip()
        except OSError:
            return ""
    return {"gpu": ask("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"),
            "nvcc": ask("nvcc", "--version").splitlines()[-2:-1], "sanitizer": ask("compute-sanitizer", "--version").splitlines()[-2:]}


# ---- table ----

def findings(binary, case):
    """synclint's warnings and errors on a case as {(file name, line): rules}, or None if it does not answer."""
    try:
        run = subprocess.run([binary, "check", "--format", "json", str(case)], capture_output=True, timeout=30)
        found = json.loads(run.stdout)["findings"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    places = collections.defaultdict(set)
    for finding in found:
        if finding["severity"] in ("warning", "error") and finding["rule"] != "unused-suppression":
            places[pathlib.Path(finding["file"]).name, finding["line"]].add(finding["rule"])
    return places


def short(message):
    return re.sub(r"^(Barrier error detected\.|Error:)\s*", "", message).rstrip(".").lower()


def outcome(result, lone=True):
    if result is None:
        return "-"
    if isinstance(result["exit"], str):
        return "**hang**"
    if result.get("reports"):
        return "; ".join(f"{'line' if lone else r['file']} {r['line']}: {short(r['message'])}" for r in result["reports"])
    error = re.search(r"GPU error: (\w+)", result["text"])
    return "silent" if "reports" in result and result["exit"] == 0 else error.group(1) if error else "ok" if result["exit"] == 0 else f"exit {result['exit']}"


def table(arguments):
    """Prints the page; the number of cases that the GPU or synccheck shows to be wrong and synclint does not flag."""
    rows_file, binary, folder = arguments.table or arguments.rows
    data = json.loads(pathlib.Path(rows_file).read_text())
    count, missed, lines = collections.Counter(), [], []
    for row in data["rows"]:
        found = findings(binary, pathlib.Path(folder) / row["case"])
        runs = [row.get(kind) for kind in ("plain", "synccheck", "synccheck_debug")]
        reported = [r for run in runs[1:] if run for r in run["reports"]]
        hangs = any(run and isinstance(run["exit"], str) for run in runs)
        want = {(e["file"], e["line"]) for e in row["expect"]}
        at = set(found or ())
        kind = "faulty" if row["expect"] else "clean"
        count[kind] += 1
        for name, run in zip(("plain", "synccheck", "debug"), runs):
            if run:
                count[kind, name, "hang" if isinstance(run["exit"], str) else "reported" if run.get("reports") else "quiet"] += 1
        count[kind, "synclint", "flagged" if at else "quiet"] += 1
        if reported or hangs:
            count["shown"] += 1
            exact = reported and all((r["file"], r["line"]) in at for r in reported)
            count["same line" if exact else "expected line" if at & want else "elsewhere" if at else "missed"] += 1
            if not at & (want | {(r["file"], r["line"]) for r in reported}):
                missed.append(row["case"])
        lone = len(row["files"]) == 1
        spell = lambda place, rules: f"{'' if lone else place[0] + ' '}{place[1]} {' or '.join(sorted(rules))}"
        expected = "; ".join(spell((e["file"], e["line"]), e["rules"]) for e in row["expect"]) or "clean"
        answer = "no answer" if found is None else "; ".join(spell(p, r) for p, r in sorted(found.items())) or "clean"
        if row["compile"]["exit"] != 0:
            lines.append(f"| {row['case']} | {expected} | nvcc refuses it | - | - | {answer} |")
            continue
        lines.append(f"| {row['case']} | {expected} | {outcome(runs[0])} | {outcome(runs[1], lone)} | {outcome(runs[2], lone) if row['expect'] else ''} | {answer} |")
    print(page(data["machine"], count, missed, lines) if arguments.table else "\n".join([*HEAD, *lines]))
    return len(missed)


HEAD = ["| case | expected | plain run | synccheck | synccheck, -G | synclint |", "|---|---|---|---|---|---|"]


def page(made_on, count, missed, lines):
    def line(name, kind):
        of = lambda tool, how: count[kind, tool, how]
        return (f"| {name} | {count[kind]} | {of('plain', 'hang')} | {of('synccheck', 'reported')} | {of('synccheck', 'hang')} "
                f"| {of('debug', 'reported') if kind == 'faulty' else ''} | {of('synclint', 'flagged')} |")
    verdict = ("No case that synccheck reports or that hangs is missed by synclint." if not missed else
               "synclint misses these, which synccheck reports or which hang: " + ", ".join(missed) + ".")
    version = re.search(r"V[\d.]+", " ".join(made_on["nvcc"]))
    sanitizer = re.search(r"Version ([\d.]+)", " ".join(made_on["sanitizer"]))
    return "\n".join([
        "# The cases on a GPU", "",
        "Every annotated case that has a `main`, compiled with nvcc, run plainly (10 s at most), run under `compute-sanitizer --tool synccheck`",
        "(20 s at most; also built with `-G`, without optimisation), and linted by synclint, which sees the source alone.",
        f"Made with `scripts/gpu_table.py`; GPU and driver: {made_on['gpu']}; nvcc {version.group() if version else '?'}; compute-sanitizer {sanitizer.group(1) if sanitizer else '?'}.", "",
        "| cases | number | hang when run | synccheck reports | hang under synccheck | synccheck reports with -G | synclint flags |",
        "|---|---|---|---|---|---|---|", line("with a fault (EXPECT)", "faulty"), line("clean", "clean"), "",
        f"**{verdict}** Of the {count['shown']} cases that the GPU shows to be wrong, synclint flags {count['same line']} at the very line synccheck names, and "
        f"{count['expected line']} at the annotated line: the loop or the call that leads to the barrier, or the barrier of a run that hangs, where synccheck names none.", "",
        "A silent synccheck is no proof: on this GPU a barrier is passed as soon as every warp has arrived or ended, so that most faults do no harm with the sizes the",
        "cases use, and synccheck says nothing of threads that go on to exit. A case without a hang may still have computed the wrong values.", "",
        "Numbers are lines of the case. `silent`: synccheck ran to the end and reported nothing.", "",
        *HEAD, *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", metavar="CASES")
    parser.add_argument("--out", default="rows.json")
    parser.add_argument("--at-once", type=int, default=1, help="programs on the GPU at one time")
    parser.add_argument("--budget", type=float, default=3600, help="seconds after which no further program is started")
    parser.add_argument("--table", nargs=3, metavar=("ROWS", "BINARY", "CASES"))
    parser.add_argument("--rows", nargs=3, metavar=("ROWS", "BINARY", "CASES"), help="as --table, the rows alone")
    parsed = parser.parse_args()
    if parsed.collect:
        collect(parsed)
    elif parsed.table or parsed.rows:
        sys.exit(table(parsed) > 0)
    else:
        parser.error("--collect, --table or --rows")
