#!/usr/bin/env python3
"""Times synclint on generated inputs of doubling size and prints a Markdown table: seconds, peak memory, exponents.

    cargo build --release
    scripts/growth.py [--binary target/release/synclint] [--steps 4] [--limit 60] [NAME...]

The exponent is that of the last doubling, of time and of memory: 1 is linear. `incomplete` counts the functions that
synclint said it did not follow whole: there a bound holds (docs/speed.md). Seconds are those of CPU. Not part of CI.
"""
import argparse, math, os, pathlib, subprocess, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNEL = "__global__ void k(int *v, int n) {\n%s\n}\n"


def one(text):
    return {"a.cu": text}


def chain(count):
    calls = "".join(f"__device__ void f{i}(int *v) {{ f{i + 1}(v); }}\n" for i in reversed(range(count)))
    return f"__device__ void f{count}(int *v) {{ __syncthreads(); }}\n{calls}" + KERNEL % "if (n) f0(v);"


def fan(count):
    calls = "".join(f"__device__ void f{i}(int *v) {{ v[{i}] = 1; __syncthreads(); }}\n" for i in range(count))
    return calls + KERNEL % "\n".join(f"f{i}(v);" for i in range(count))


def doubling(depth):
    calls = "".join(f"__device__ void f{i}(int *v) {{ f{i - 1}(v); f{i - 1}(v); }}\n" for i in range(1, depth))
    return f"__device__ void f0(int *v) {{ __syncthreads(); }}\n{calls}" + KERNEL % f"f{depth - 1}(v);"


def macros(depth):
    steps = "".join(f"#define M{i}(x) M{i - 1}(x)\n" for i in range(1, depth))
    return f"#define M0(x) if (x) __syncthreads();\n{steps}" + KERNEL % f"M{depth - 1}(n)"


def bomb(depth):
    steps = "".join(f"#define M{i} M{i - 1} M{i - 1}\n" for i in range(1, depth))
    return f"#define M0 n += 1;\n{steps}" + KERNEL % f"M{depth - 1} __syncthreads();"


def headers(count):
    files = {f"h{i}.cuh": f"#pragma once\n#include \"h{i + 1}.cuh\"\n__device__ inline int g{i}(int x) {{ return x + {i}; }}\n" for i in range(count)}
    return files | {f"h{count}.cuh": "#pragma once\n", "a.cu": '#include "h0.cuh"\n' + KERNEL % "if (g0(n)) __syncthreads();"}


def web(count):
    """Every file includes twenty others."""
    return {
        f"h{i}.cuh": "#pragma once\n" + "".join(f'#include "h{(i * 7 + j * 13) % count}.cuh"\n' for j in range(20))
        + KERNEL.replace("k(", f"k{i}(") % "if (n) __syncthreads();"
        for i in range(count)
    }


def mixed(count):
    """Barriers behind all kinds of forks."""
    forms = ["if (n > %d) __syncthreads();\n", "if (x > %d) { __syncthreads(); }\n", "for (int i = 0; i < n; ++i) { v[i] = %d; __syncthreads(); }\n", "__syncthreads(); v[0] = %d;\n"]
    return KERNEL % ("int x = threadIdx.x;\n" + "".join(forms[i % 4] % i for i in range(count)))


def gotos(count):
    return KERNEL % ("int x = threadIdx.x;\n" + "".join(f"L{i}: v[{i}] = x;\nif (v[x + {i}] > {i}) goto L{(i * 37 + 11) % count};\n__syncthreads();\n" for i in range(count)))


# name -> (the first size, what is made of it)
INPUTS = {
    "functions with a barrier each": (2500, lambda n: one("".join(KERNEL.replace("k(", f"k{i}(") % "v[0] = n; __syncthreads();" for i in range(n)))),
    "barriers under mixed control": (3750, lambda n: one(mixed(n))),
    "a ladder of subtractions": (5, lambda n: one(KERNEL % ("int x = threadIdx.x;\n" + "".join(f"if (x > {i * 7 + 3}) {{ x -= {i * 7 + 3}; __syncthreads(); }}\n" for i in range(n))))),
    "jumps of each thread's own": (32, lambda n: one(gotos(n))),
    "an else-if chain of each thread's own": (1250, lambda n: one(KERNEL % ("int x = threadIdx.x;\n" + "".join(f"if (x == {i}) __syncthreads();\nelse " for i in range(n)) + "v[0] = 0;"))),
    "findings in one file": (2500, lambda n: one("".join(KERNEL.replace("k(", f"k{i}(") % "if (threadIdx.x > n) __syncthreads();" for i in range(n)))),
    "files": (250, lambda n: {f"d{i % 17}/f{i}.cu": KERNEL % "for (int i = 0; i < n; ++i) { v[i] = 1; __syncthreads(); }" for i in range(n)}),
    "included headers, a chain": (250, headers),
    "included headers, a web": (250, web),
    "barriers in one function": (6250, lambda n: one(KERNEL % ("__syncthreads();\n" * n))),
    "divergent barriers in one function": (250, lambda n: one(KERNEL % ("if (threadIdx.x > n) __syncthreads();\n" * n))),
    "branches, one behind the other": (1000, lambda n: one(KERNEL % ("".join(f"if (n > {i}) v[{i}] = 1;\n" for i in range(n)) + "__syncthreads();"))),
    "nested branches": (1000, lambda n: one(KERNEL % ("if (n) {\n" * n + "__syncthreads();" + "}" * n))),
    "nested braces": (25000, lambda n: one(KERNEL % ("{" * n + "__syncthreads();" + "}" * n))),
    "nested parentheses": (25000, lambda n: one(KERNEL % ("if (" + "(" * n + "n" + ")" * n + ") __syncthreads();"))),
    "nested loops": (50, lambda n: one(KERNEL % ("for (int i = 0; i < n; ++i) {\n" * n + "__syncthreads();" + "}" * n))),
    "an else-if chain": (2500, lambda n: one(KERNEL % ("".join(f"if (n == {i}) v[0] = {i};\nelse " for i in range(n)) + "v[0] = 0;\n__syncthreads();"))),
    "an else-if chain with barriers": (1250, lambda n: one(KERNEL % ("".join(f"if (n == {i}) __syncthreads();\nelse " for i in range(n)) + "v[0] = 0;"))),
    "a switch": (2500, lambda n: one(KERNEL % ("switch (n) {\n" + "".join(f"case {i}: v[{i}] = 1; break;\n" for i in range(n)) + "}\n__syncthreads();"))),
    "variables in one function": (2500, lambda n: one(KERNEL % ("".join(f"int a{i} = {'n' if i == 0 else f'a{i - 1} + v[{i}]'};\n" for i in range(n)) + f"if (a{n - 1}) __syncthreads();"))),
    "statements in one line": (12500, lambda n: one(KERNEL.replace("\n", " ") % ("v[n] = n + 1; " * n + "__syncthreads();"))),
    "one expression": (2500, lambda n: one(KERNEL % ("if (" + " + ".join(["n"] * n) + ") __syncthreads();"))),
    "a chain of calls": (5000, lambda n: one(chain(n))),
    "calls side by side": (250, lambda n: one(fan(n))),
    "calls, each two of the next": (5, lambda n: one(doubling(n))),
    "macros in a chain": (1000, lambda n: one(macros(n))),
    "macros, each two of the next": (5, lambda n: one(bomb(n))),
    "#if, nested": (1000, lambda n: one("#if 1\n" * n + KERNEL % "if (n) __syncthreads();" + "#endif\n" * n)),
    "#if, one behind the other": (2500, lambda n: one(KERNEL % ("".join(f"#if A{i}\nv[0] = {i};\n#else\nv[1] = 2;\n#endif\n" for i in range(n)) + "__syncthreads();"))),
    "definitions of macros": (5000, lambda n: one("".join(f"#define A{i} {i}\n" for i in range(n)) + KERNEL % f"v[A{n - 1}] = A1; __syncthreads();")),
    "redefinitions of one macro": (2500, lambda n: one("".join(f"#undef A\n#define A {i}\n" for i in range(n)) + KERNEL % "v[A] = A; __syncthreads();")),
    "launches of one kernel": (500, lambda n: one(KERNEL % "if (threadIdx.x > n) __syncthreads();" + "void go(int *v) {\n" + "".join(f"k<<<1, {i % 1024 + 1}>>>(v, {i});\n" for i in range(n)) + "}\n")),
    "overloads of one function": (250, lambda n: one("".join(f"struct T{i} {{}};\n__device__ void f(T{i}, int *v) {{ __syncthreads(); }}\n" for i in range(n)) + KERNEL % "\n".join(f"f(T{i}{{}}, v);" for i in range(n)))),
    "methods of one class": (500, lambda n: one("struct S {\n" + "".join(f"__device__ void m{i}() {{ {'__syncthreads();' if i == 0 else f'm{i - 1}();'} }}\n" for i in range(n)) + "};\n" + KERNEL % f"S s; s.m{min(n, 40) - 1}();")),
    "nested templates": (100, lambda n: one("template <class T> struct W { T t; };\n" + KERNEL % ("W<" * n + "int" + " >" * n + " w; __syncthreads();"))),
    "tokens of a comment": (2_500_000, lambda n: one("/* " + "x " * (n // 2) + "*/\n" + KERNEL % "__syncthreads();")),
    "bytes of a string": (1_250_000, lambda n: one(KERNEL % ('const char *s = "' + "x" * n + '"; __syncthreads();'))),
    "elements of a table": (125_000, lambda n: one("__constant__ int t[] = {" + "1," * n + "};\n" + KERNEL % "v[0] = t[n]; __syncthreads();")),
}


def used(pid):
    """Seconds of CPU: the clock says little on a busy machine."""
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(binary, folder, limit):
    """Seconds, peak MiB, incomplete functions, exit code; `None` for one that was stopped."""
    with tempfile.TemporaryFile() as out:
        command = [binary, "check", "--isolated", "--exit-zero", "--format", "json", "-q", "-j", "1", folder]
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if used(child.pid) > limit:
                child.kill()
                os.wait4(child.pid, 0)
                return None
            time.sleep(0.005)
        seconds = usage.ru_utime + usage.ru_stime
        out.seek(0)
        # Line by line: what this process has taken counts as the peak of those it starts.
        counts = (line.split(b":")[1].strip(b" ,\n").decode() for line in out if b'"incomplete": ' in line)
        incomplete = next(counts, "?") if status == 0 else f"exit {status >> 8 or status}"
        return seconds, usage.ru_maxrss / 1024, incomplete


def exponent(last, before):
    return f"{math.log2(last / before):.1f}" if before > 0 and last > 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of inputs; all, if none is given")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--limit", type=float, default=60, help="seconds of CPU after which a run is stopped")
    parser.add_argument("--binary", default=ROOT / "target/release/synclint")
    arguments = parser.parse_args()
    print("| input | size | seconds | peak MiB | time ^ | memory ^ | incomplete |\n|---|---:|---:|---:|---:|---:|---:|")
    for name, (size, make) in INPUTS.items():
        if arguments.names and not any(part in name for part in arguments.names):
            continue
        runs = []
        for step in range(arguments.steps):
            with tempfile.TemporaryDirectory() as folder:
                for path, text in make(size << step).items():
                    path = pathlib.Path(folder) / path
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(text)
                run = measured(arguments.binary, folder, arguments.limit)
            if run is None:
                runs.append((f"more than {arguments.limit:.0f}", None, None))
                break
            runs.append(run)
        # The first and the last size, and the exponent of the last doubling.
        last = runs[-1]
        if last[1] is None:
            print(f"| {name} | {size << len(runs) - 1:,} | {last[0]} | | | | |", flush=True)
            continue
        seconds, peak, incomplete = last
        time_exponent = exponent(seconds, runs[-2][0]) if len(runs) > 1 and seconds > 0.05 else ""
        memory_exponent = exponent(peak, runs[-2][1]) if len(runs) > 1 and peak > 40 else ""
        print(f"| {name} | {size << len(runs) - 1:,} | {seconds:.2f} | {peak:.0f} | {time_exponent} | {memory_exponent} | {incomplete} |", flush=True)


if __name__ == "__main__":
    main()
