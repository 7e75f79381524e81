#!/usr/bin/env python3
"""Runs synclint on hostile input and in hostile surroundings and prints a Markdown table; ends with 1 if a run misbehaves.

    cargo build --release
    scripts/hostile.py [--binary target/release/synclint] [NAME...]

Beside each hostile file lies `good.cu`, which has one finding: it has to be found whatever else is there. A run misbehaves
if it panics, takes more than --limit seconds or --memory MiB, ends with another exit code, or loses that finding.
Not part of CI: what of it is quick is in tests/it/hostile.rs.
"""
import argparse, json, os, pathlib, random, signal, subprocess, sys, tempfile, threading, time

from growth import used

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOOD = "__global__ void good(int *v) {\n    if (threadIdx.x < 5) __syncthreads();\n}\n"
KERNEL = "__global__ void k(int *v, int n) {\n%s\n}\n"
MIB = 1 << 20


def text(name, content):
    def make(folder):
        data = content() if callable(content) else content
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return make


def several(files):
    def make(folder):
        for name, content in files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    return make


def links(folder):
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/up").symlink_to("../..")
    (folder / "self").symlink_to("self")
    (folder / "a.cu").symlink_to("b.cu")
    (folder / "b.cu").symlink_to("a.cu")
    (folder / "gone.cu").symlink_to("nowhere.cu")
    (folder / "again.cu").symlink_to("good.cu")


def pipes(folder):
    os.mkfifo(folder / "pipe.cu")
    (folder / "null.cu").symlink_to("/dev/null")
    (folder / "zero.cu").symlink_to("/dev/zero")


def unreadable(folder):
    (folder / "secret.cu").write_text(GOOD)
    (folder / "secret.cu").chmod(0)
    (folder / "closed").mkdir()
    (folder / "closed").chmod(0)


def chain(count):
    calls = "".join(f"__device__ void f{i}(int *v) {{ f{i + 1}(v); }}\n" for i in reversed(range(count)))
    return f"__device__ void f{count}(int *v) {{ __syncthreads(); }}\n{calls}" + KERNEL % "if (n) f0(v);"


def bomb(width, depth, tail="v[0] = M{0};"):
    steps = "".join(f"#define M{i} {' '.join([f'M{i - 1}'] * width)}\n" for i in range(1, depth + 1))
    return "#define M0 1 +\n" + steps + KERNEL % (tail.format(depth) + " __syncthreads();")


def argument_bomb(depth):
    steps = "".join(f"#define A{i}(x) A{i - 1}(x x)\n" for i in range(1, depth))
    return f"#define A0(x) x\n{steps}" + KERNEL % f"A{depth - 1}(n++;) __syncthreads();"


def noise(kind):
    def make(folder):
        chance = random.Random(kind)
        for at in range(200):
            data = bytearray((KERNEL % "for (int i = 0; i < n; i++) { v[i] = i; if (n > 3) __syncthreads(); }").encode())
            for _ in range(at):
                spot = chance.randrange(len(data))
                if kind == "bytes":
                    data[spot] = chance.randrange(256)
                elif kind == "cut":
                    del data[spot:spot + chance.randrange(8)]
                    data = data or bytearray(b" ")
                else:
                    other = chance.randrange(len(data))
                    data[spot:spot] = data[other:other + chance.randrange(20)]
            (folder / f"noise{at}.cu").write_bytes(bytes(data))
    return make


# name -> what is made of a folder
INPUTS = {
    "links in a circle, to nowhere, to a file twice": links,
    "a FIFO, /dev/null and /dev/zero by links": pipes,
    "a file and a folder without permission": unreadable,
    "NULs in a source": text("nul.cu", b"__global__ void k(int n) {\0\n if (n) __syncthreads(); }\n" + b"// text\n" * 50),
    "binary data": text("binary.cu", lambda: random.Random(1).randbytes(MIB)),
    "UTF-16, both ways, and cut": lambda folder: [
        (folder / "le.cu").write_bytes(b"\xff\xfe" + GOOD.replace("good", "le").encode("utf-16-le")),
        (folder / "be.cu").write_bytes(b"\xfe\xff" + GOOD.replace("good", "be").encode("utf-16-be")),
        (folder / "cut.cu").write_bytes(b"\xff\xfe" + GOOD.replace("good", "be").encode("utf-16-le")[:-1]),
    ],
    "invalid UTF-8": text("latin.cu", GOOD.replace("good", "latin").encode() + b"// \xe4\xf6\xfc \xff\xfe \xc0\x80 \xed\xa0\x80\n"),
    "a line of 50 MB": text("line.cu", lambda: KERNEL.replace("\n", " ") % ("v[n] = n + 1; " * (50 * MIB // 14))),
    "a line of 15 MB, one kernel": text("line.cu", lambda: KERNEL.replace("\n", " ") % ("v[n] = n + 1; " * (15 * MIB // 14) + "__syncthreads();")),
    "a comment of 20 MB": text("comment.cu", lambda: "/*" + "x" * (20 * MIB) + "*/" + KERNEL % "__syncthreads();"),
    "a comment of 15 MB": text("comment.cu", lambda: "/*" + "x" * (15 * MIB) + "*/" + KERNEL % "__syncthreads();"),
    "a comment without end": text("comment.cu", KERNEL % "__syncthreads(); /* never"),
    "a string and a raw string without end": text("string.cu", KERNEL % "__syncthreads(); \" R\"x( never"),
    "a table of 15 MB": text("table.cu", lambda: "__constant__ int t[] = {" + "1," * (15 * MIB // 2) + "};\n" + KERNEL % "v[0] = t[n]; __syncthreads();"),
    "braces nested 200,000 deep": text("deep.cu", lambda: KERNEL % ("{" * 200_000 + "__syncthreads();" + "}" * 200_000)),
    "branches nested 200,000 deep": text("deep.cu", lambda: KERNEL % ("if (n) {" * 200_000 + "__syncthreads();" + "}" * 200_000)),
    "parentheses nested 200,000 deep": text("deep.cu", lambda: KERNEL % ("if (" + "(" * 200_000 + "n" + ")" * 200_000 + ") __syncthreads();")),
    "200,000 braces that open and never close": text("open.cu", lambda: KERNEL % ("{" * 200_000 + "__syncthreads();")),
    "200,000 braces that close and never open": text("close.cu", lambda: "}" * 200_000 + KERNEL % "__syncthreads();"),
    "200,000 templates that open": text("less.cu", lambda: KERNEL % ("a<" * 200_000 + "__syncthreads();")),
    "unary operators, 200,000": text("unary.cu", lambda: KERNEL % ("if (" + "!" * 200_000 + "n) __syncthreads();")),
    "lambdas nested 2,000 deep": text("lambda.cu", lambda: KERNEL % ("auto f = [&] { " * 2000 + "__syncthreads();" + " };" * 2000)),
    "an else-if chain of 20,000": text("chain.cu", lambda: KERNEL % ("".join(f"if (n == {i}) v[0] = {i}; else " for i in range(20_000)) + "v[0] = 1; __syncthreads();")),
    "50,000 barriers in one function": text("many.cu", lambda: KERNEL % ("__syncthreads();\n" * 50_000)),
    "50,000 divergent barriers in one function": text("many.cu", lambda: KERNEL % ("if (threadIdx.x > n) __syncthreads();\n" * 50_000)),
    "10,000 kernels with a finding each": text("many.cu", lambda: "".join(GOOD.replace("good", f"k{i}") for i in range(10_000))),
    "20,000 functions in a chain of calls": text("calls.cu", lambda: chain(20_000)),
    "functions that call each other without end": text("mutual.cu", "__device__ void b(int n);\n__device__ void a(int n) { b(n); __syncthreads(); b(n); }\n__device__ void b(int n) { a(n); a(n); }\n" + KERNEL % "a(n);"),
    "a template that instantiates itself": text("self.cu", "template <int N> __device__ void f(int n) { f<N + 1>(n); f<N + 2>(n); __syncthreads(); }\n" + KERNEL % "f<0>(n);"),
    "2,000 overloads, each called": text("overloads.cu", lambda: "".join(f"struct T{i} {{}};\n__device__ void f(T{i}, int *v) {{ __syncthreads(); }}\n" for i in range(2000)) + KERNEL % "\n".join(f"f(T{i}{{}}, v);" for i in range(2000))),
    "40 calls, each two of the next": text("double.cu", lambda: "__device__ void f0(int *v) { __syncthreads(); }\n" + "".join(f"__device__ void f{i}(int *v) {{ f{i - 1}(v); f{i - 1}(v); }}\n" for i in range(1, 41)) + KERNEL % "f40(v);"),
    "a macro bomb, 2 to the power of 40": text("bomb.cu", lambda: bomb(2, 40)),
    "a macro bomb, 10 to the power of 20": text("bomb.cu", lambda: bomb(10, 20)),
    "a macro bomb at namespace scope": text("bomb.cu", lambda: bomb(10, 20) + "\nM20\n"),
    "a macro bomb in an #if": text("bomb.cu", lambda: bomb(10, 20) + "\n#if M20 0\nint x;\n#endif\n"),
    "a macro bomb of arguments": text("bomb.cu", lambda: argument_bomb(40)),
    "macros that name each other": text("circle.cu", "#define A B\n#define B C A\n#define C A B\n" + KERNEL % "A; __syncthreads();"),
    "includes in a circle, and of itself": several(lambda: {f"c{i}.cuh": f'#include "c{(i + 1) % 50}.cuh"\n#include "c{i}.cuh"\n' for i in range(50)} | {"a.cu": '#include "c0.cuh"\n' + KERNEL % "__syncthreads();"}),
    "2,000 headers, each includes 20": several(lambda: {f"h{i}.cuh": "".join(f'#include "h{(i * 7 + j * 13) % 2000}.cuh"\n' for j in range(20)) + KERNEL.replace("k(", f"k{i}(") % "__syncthreads();" for i in range(2000)}),
    "#if nested 20,000 deep": text("if.cu", lambda: "#if 1\n" * 20_000 + KERNEL % "__syncthreads();" + "#endif\n" * 20_000),
    "#if that never ends, #endif without": text("if.cu", lambda: "#endif\n" * 9 + "#if 0\n" * 9 + KERNEL % "__syncthreads();"),
    "an #if of 100,000 operators": text("if.cu", lambda: "#if " + "(" * 50_000 + "1" + ")" * 50_000 + " + 1" * 100_000 + "\n" + KERNEL % "__syncthreads();" + "#endif\n"),
    "a folder 500 deep": several(lambda: {"/".join(["d"] * 500) + "/a.cu": KERNEL % "__syncthreads();"}),
    "file names with strange letters": several(lambda: {"a b'\"<&>.cu": KERNEL % "__syncthreads();", "line\nbreak.cu": KERNEL % "__syncthreads();", "-q.cu": KERNEL % "__syncthreads();", "ü\u202e.cu": KERNEL % "__syncthreads();"}),
    "200 files with random bytes": noise("bytes"),
    "200 files with parts cut out": noise("cut"),
    "200 files with parts moved": noise("moved"),
}


def start(binary, folder, *arguments, stdout=subprocess.PIPE):
    command = [binary, "check", "--isolated", "-j", "2", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def finish(child, limit):
    """stdout, stderr, exit code, seconds of CPU, peak MiB; stopped after the limit."""
    out, err = bytearray(), bytearray()
    readers = [threading.Thread(target=lambda f=f, to=to: to.extend(f.read())) for f, to in ((child.stdout, out), (child.stderr, err)) if f]
    [reader.start() for reader in readers]
    ends = time.monotonic() + 10 * limit
    done = 0
    while not done and used(child.pid) < limit and time.monotonic() < ends:
        done, status, usage = os.wait4(child.pid, os.WNOHANG)
        time.sleep(0.005)
    if not done:
        child.kill()
        _, status, usage = os.wait4(child.pid, 0)
    [reader.join() for reader in readers]
    child.returncode = os.waitstatus_to_exitcode(status)
    code = child.returncode if done else "stopped"
    return bytes(out), err.decode(errors="replace"), code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def said(report, err):
    parts = []
    if report:
        summary = report["summary"]
        parts = [f"{summary[key]} {key}" for key in ("findings", "incomplete") if summary.get(key)]
    parts += [line.removeprefix("synclint: ") for line in err.splitlines() if "not read: " in line][:2]
    return "; ".join(parts).replace("|", "/").replace("<", "&lt;")[:110]


def hostile_input(binary, name, make, arguments):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "good.cu").write_text(GOOD)
        make(folder)
        out, err, code, seconds, peak = finish(start(binary, folder, ".", "--format", "json"), arguments.limit)
        subprocess.run(["chmod", "-R", "u+rwX", folder], stderr=subprocess.DEVNULL)
        faults = []
        try:
            report = json.loads(out)
            if not any(finding["file"].endswith("good.cu") for finding in report["findings"]):
                faults.append("the finding in good.cu is lost")
        except ValueError:
            report = None
            faults.append("no report")
        if code != 1:
            faults.append(f"exit {code}")
        if "panicked" in err or "internal error" in out.decode(errors="replace"):
            faults.append("a panic")
        if peak > arguments.memory:
            faults.append("memory")
        return code, seconds, peak, said(report, err), faults


# ---------------------------------------------------------------- surroundings

def vanishing(binary, folder, limit):
    """Files that come and go, and change their length, while they are read."""
    many = {folder / f"f{at}.cu": GOOD.replace("good", f"f{at}") * 20 for at in range(400)}
    stop = threading.Event()

    def churn():
        chance = random.Random(7)
        while not stop.is_set():
            for path in chance.sample(list(many), 40):
                path.unlink(missing_ok=True)
                path.write_text(many[path][:chance.randrange(len(many[path]))])

    for path, content in many.items():
        path.write_text(content)
    thread = threading.Thread(target=churn)
    thread.start()
    try:
        return finish(start(binary, folder, ".", "--format", "concise"), limit), 1, lambda out, err: b"good.cu" in out and "panicked" not in err
    finally:
        stop.set()
        thread.join()


def full_disk(binary, folder, limit):
    with open("/dev/full", "wb") as full:
        return finish(start(binary, folder, ".", stdout=full), limit), 2, lambda out, err: err.endswith("error: cannot write to standard output: no space left on the device\n")


def full_disk_file(binary, folder, limit):
    return finish(start(binary, folder, ".", "--output", "json=/dev/full"), limit), 2, lambda out, err: "cannot write /dev/full" in err


def closed_pipe(binary, folder, limit):
    child = start(binary, folder, ".")
    child.stdout.close()
    child.stdout = None
    return finish(child, limit), 1, lambda out, err: "error" not in err.split("synclint:")[0]


def interrupted(binary, folder, limit):
    (folder / "out.json").write_text("old\n")
    (folder / "many.cu").write_text("".join(GOOD.replace("good", f"k{i}") for i in range(20_000)))
    child = start(binary, folder, ".", "--output", "json=out.json")
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    result = finish(child, limit)
    left = sorted(path.name for path in folder.iterdir())
    whole = (folder / "out.json").read_text() == "old\n" and left == ["good.cu", "many.cu", "out.json"]
    return result, -signal.SIGINT, lambda out, err: whole


def read_only(binary, folder, limit):
    return finish(start(binary, folder, ".", "--output", "json=/proc/out.json"), limit), 2, lambda out, err: "cannot write /proc/out.json" in err


def little_memory(binary, folder, limit):
    command = f"ulimit -v 4000000; exec '{binary}' check --isolated -j 2 --format concise ."
    child = subprocess.Popen(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return finish(child, limit), 1, lambda out, err: b"good.cu" in out


SURROUNDINGS = {
    "files that come, go and change meanwhile": vanishing,
    "a full disk, standard output": full_disk,
    "a full disk, --output": full_disk_file,
    "a folder that cannot be written to": read_only,
    "a pipe that is closed at once": closed_pipe,
    "Ctrl-C: ended by SIGINT (a shell says 130), the old report left whole": interrupted,
    "4 GB of address space": little_memory,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names; all, if none is given")
    parser.add_argument("--limit", type=float, default=60, help="seconds of CPU, and a tenth of those by the clock")
    parser.add_argument("--memory", type=float, default=1500, help="MiB")
    parser.add_argument("--binary", default=ROOT / "target/release/synclint")
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.binary).resolve()
    wanted = lambda name: not arguments.names or any(part in name for part in arguments.names)
    bad = 0
    print("| what | exit | seconds | peak MiB | what it says |\n|---|---:|---:|---:|---|")
    for name, make in INPUTS.items():
        if wanted(name):
            code, seconds, peak, words, faults = hostile_input(binary, name, make, arguments)
            bad += bool(faults)
            print(f"| {name} | {code} | {seconds:.2f} | {peak:.0f} | {words}{' **' + ', '.join(faults) + '**' if faults else ''} |", flush=True)
    for name, run in SURROUNDINGS.items():
        if wanted(name):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "good.cu").write_text(GOOD)
                (out, err, code, seconds, peak), expected, is_well = run(binary, folder, arguments.limit)
            fault = "" if code == expected and is_well(out, err) else " **misbehaves**"
            bad += bool(fault)
            last = (err.strip().splitlines() or [""])[-1][:110]
            print(f"| {name} | {code} | {seconds:.2f} | {peak:.0f} | {last}{fault} |", flush=True)
    sys.exit(1 if bad else 0)


main()
