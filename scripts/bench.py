#!/usr/bin/env python3
"""Times synclint beside other tools on the same trees, in one run, and prints a Markdown table.

    cargo build --release
    apt-get install ripgrep cppcheck; pip install ast-grep-cli
    scripts/bench.py [--jobs 1] [--repeat 3] TREE...

The machines differ, so read the ratios: each tool's best time over synclint's. `ripgrep` counts the lines with a barrier,
`ast-grep` looks for one shape (`__syncthreads()` inside an `if`), `cppcheck` reads the C++ files, one configuration each. A tool that is not
installed is left out; one that takes longer than --limit is stopped and said to. Not part of CI.
"""
import argparse, os, pathlib, shutil, subprocess, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULE = """id: barrier-in-if
language: Cpp
severity: warning
message: a barrier in a branch
rule:
  pattern: __syncthreads()
  inside: { kind: if_statement, stopBy: end }
"""
CONFIG = 'ruleDirs: []\nlanguageGlobs:\n  cpp: ["*.cu", "*.cuh", "*.h", "*.hip"]\n'
SOURCES = ("cu", "cuh", "h", "hpp", "hip", "cpp", "cc", "inl")


def measured(command, limit):
    """Seconds, and the peak of memory in MiB; `None` for one that was stopped."""
    before = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    while True:
        done, _, usage = os.wait4(child.pid, os.WNOHANG)
        if done:
            return time.monotonic() - before, usage.ru_maxrss / 1024
        if time.monotonic() - before > limit:
            child.kill()
            os.wait4(child.pid, 0)
            return None
        time.sleep(0.01)


def tools(folder, jobs, binary):
    (folder / "rule.yml").write_text(RULE)
    (folder / "sgconfig.yml").write_text(CONFIG)
    globs = [part for name in SOURCES for part in ("-g", f"*.{name}")]
    return {
        "synclint": lambda tree: [binary, "check", "--isolated", "--exit-zero", "--format", "json", "-j", str(jobs), tree],
        "ripgrep": lambda tree: ["rg", "-c", "-j", str(jobs), *globs, "__syncthreads|__syncwarp|bar\\.sync", tree],
        "ast-grep": lambda tree: ["ast-grep", "scan", "-c", folder / "sgconfig.yml", "-r", folder / "rule.yml", "-j", str(jobs), tree],
        "cppcheck": lambda tree: ["cppcheck", "-q", "-j", str(jobs), "--max-configs=1", tree],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each tool; the best counts")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a tool is stopped")
    parser.add_argument("--binary", default=ROOT / "target/release/synclint")
    arguments = parser.parse_args()
    print("| tree | tool | seconds | MB/s | peak MiB | x synclint |\n|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as temporary:
        commands = tools(pathlib.Path(temporary), arguments.jobs, arguments.binary)
        commands = {name: command for name, command in commands.items() if shutil.which(str(command("")[0]))}
        for tree in arguments.trees:
            files = (path for path in pathlib.Path(tree).rglob("*") if path.suffix[1:] in SOURCES and path.is_file())
            size = sum(path.stat().st_size for path in files)
            best, stopped = {}, set()
            for _ in range(arguments.repeat):
                # In turns, so that a noisy minute falls on all of them.
                for name, command in commands.items():
                    run = None if name in stopped else measured(command(tree), arguments.limit)
                    if run is None:
                        stopped.add(name)
                    elif name not in best or run[0] < best[name][0]:
                        best[name] = run
            for name in commands:
                label = f"| {pathlib.Path(tree).name} | {name} "
                if name in stopped:
                    print(f"{label}| more than {arguments.limit:.0f} | | | |")
                    continue
                seconds, peak = best[name]
                ratio = seconds / best["synclint"][0] if "synclint" in best else float("nan")
                print(f"{label}| {seconds:.2f} | {size / 1e6 / seconds:.1f} | {peak:.0f} | {ratio:.2f} |", flush=True)


main()
