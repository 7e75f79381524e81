#!/usr/bin/env python3
"""Compares macro expansion with gcc's, token by token, on a sample of real files.

    cargo build --release --example expand
    scripts/expand_vs_gcc.py [--count 1000] [--keep FOLDER] TREE...

The example writes what we make of each sampled file, and a copy of all files it sees in which every #include names the
file that we resolve it to (what we do not find is left out). gcc -E then gets the same predefined macros, and only the
tokens of the file itself are compared, as both sides spell them. Not part of CI: it takes minutes and wants whole trees.
Last figures stand at the end of this file.
"""
import argparse, collections, concurrent.futures, pathlib, re, subprocess, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREDEFINED = ROOT / "grammar-queries/predefined.h"
TOKEN = re.compile(
    rb'''(?:u8|u|U|L)?R"([^ ()\\\t\n]{0,16})\(.*?\)\1"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'
    |\.?[0-9](?:'?[0-9a-zA-Z_.]|[eEpP][+-])*|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\S''', re.S | re.X)


def tokens(text):
    return [match.group() for match in TOKEN.finditer(text)]


def own_lines(preprocessed, copy):
    """The lines of gcc's output that come from the file itself, without pragmas."""
    out, own = [], False
    for line in preprocessed.split(b"\n"):
        marker = re.match(rb'# \d+ "((?:[^"\\]|\\.)*)"', line)
        if marker:
            own = marker.group(1) == copy.encode()
        elif own and not line.lstrip().startswith(b"#pragma"):
            out.append(line)
    return b"\n".join(out)


def compare(line, out):
    path, copy, ours = line.split("\t")
    command = ["gcc", "-E", "-undef", "-nostdinc", "-x", "c++", "-std=gnu++20", "-w", "-I", str(out / "stubs"), "-imacros", str(out / "predefined.h"),
               "-imacros", str(out / "opaque.h"), copy]
    try:
        run = subprocess.run(command, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return path, None, "gcc took too long"
    if b"bailing out" in run.stderr or b"fatal error" in run.stderr:
        return path, None, "gcc gave up: " + run.stderr[-300:].decode(errors="replace")
    theirs = tokens(own_lines(run.stdout, copy))
    mine = [token for token in tokens(pathlib.Path(ours).read_bytes())]
    mine, theirs = strip_pragmas(mine), strip_pragmas(theirs)
    if mine == theirs:
        return path, True, ""
    at = next((i for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), min(len(mine), len(theirs)))
    around = lambda words: b" ".join(words[max(0, at - 3):at + 8]).decode(errors="replace")
    return path, False, f"token {at} of {len(mine)} and {len(theirs)}\n    ours: {around(mine)}\n    gcc:  {around(theirs)}\n    {run.stderr[:200].decode(errors='replace')}"


def strip_pragmas(words):
    """Without _Pragma("..."), which gcc turns into a line of its own."""
    out, at = [], 0
    while at < len(words):
        if words[at] in (b"_Pragma", b"__pragma"):
            depth, at = 0, at + 1
            while at < len(words):
                depth += (words[at] == b"(") - (words[at] == b")")
                at += 1
                if depth <= 0:
                    break
        else:
            out.append(words[at])
            at += 1
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--keep", help="a folder for inputs and outputs")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--binary", help="the example, where it is not a release build")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(arguments.keep or temporary).resolve()
        binary = arguments.binary or ROOT / "target/release/examples/expand"
        subprocess.run([binary, "differential", out, str(arguments.count), *arguments.trees], check=True)
        # What gcc defines itself whatever the flags cannot be defined again without a difference in spelling.
        kept = [line for line in PREDEFINED.read_text().splitlines() if not re.match(r"#define __(cplusplus|STDC__|STDC_HOSTED__)\b", line)]
        (out / "predefined.h").write_text("\n".join(kept) + "\n")
        lines = (out / "list.txt").read_text().splitlines()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda line: compare(line, out), lines))
    equal = sum(1 for _, same, _ in results if same)
    shown = 0
    for path, same, why in results:
        if not same and shown < arguments.show:
            shown += 1
            print(f"{path}: {why}")
    print(f"{equal} of {len(results)} files token-identical")


if __name__ == "__main__":
    main()

# 994 of 1000 files token-identical, sampled from HeCBench, cuda-samples, CUTLASS, CCCL and faiss.
