#!/usr/bin/env python3
"""Compares the control flow of functions that bear on a barrier with what another reader makes of them.

    cargo build --release --example expand
    scripts/skeletons_vs_gcc.py [--count 4000] [--keep FOLDER] TREE...

The other reader is exact preprocessing by gcc -E (as in expand_vs_gcc.py), then a parser of statements by their tokens,
below, that shares nothing with the program. Both write a function as a line of letters (examples/expand/skeletons.rs).
Functions that gcc leaves out by `#if` are counted apart. Not part of CI. Last figures stand at the end of this file.
"""
import argparse, collections, concurrent.futures, pathlib, re, subprocess, tempfile

from expand_vs_gcc import PREDEFINED, ROOT, TOKEN

BARRIERS = {b"__syncthreads", b"__syncwarp", b"__syncthreads_count", b"__syncthreads_and", b"__syncthreads_or", b"sync"}
CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
NAME = re.compile(rb"[A-Za-z_$\x80-\xff]")
UNEVALUATED = {b"sizeof", b"alignof", b"decltype", b"noexcept", b"static_assert", b"_Static_assert", b"asm", b"__asm__", b"__asm", b"requires", b"alignas", b"__attribute__", b"_Pragma", b"__pragma"}


class Lost(Exception):
    pass


class Reader:
    """Statements by their tokens alone."""

    def __init__(self, tokens):
        self.tokens, self.at, self.out = tokens, 0, []
        self.partner, stack = {}, []
        for at, token in enumerate(tokens):
            if token in CLOSING:
                stack.append(at)
            elif token in (b")", b"]", b"}"):
                if not stack or CLOSING[tokens[stack[-1]]] != token:
                    raise Lost("brackets")
                self.partner[stack.pop()] = at

    def token(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else b""

    def inside(self, letter, read):
        self.out.append(letter + "{")
        read()
        self.out.append("}")

    def block(self, end):
        while self.at < end:
            self.statement(end)

    def braces(self):
        end = self.partner[self.at]
        self.at += 1
        self.block(end)
        self.at = end + 1

    def parentheses(self):
        """The header of a statement: declarations and expressions."""
        if self.token() != b"(":
            raise Lost("a header")
        end = self.partner[self.at]
        self.at += 1
        self.expression(end)
        self.at = end + 1

    def statement(self, end):
        word = self.token()
        if word == b"[" and self.token(1) == b"[":
            self.at = self.partner[self.at] + 1
        elif word == b";":
            self.at += 1
        elif word == b"{":
            self.braces()
        elif word == b"if":
            self.at += 1
            self.at += self.token() == b"constexpr"
            self.parentheses()
            self.inside("I", lambda: self.statement(end))
            if self.token() == b"else" and self.at < end:
                self.at += 1
                self.inside("E", lambda: self.statement(end))
        elif word in (b"while", b"for"):
            self.at += 1
            self.parentheses()
            self.inside("L", lambda: self.statement(end))
        elif word == b"do":
            self.at += 1
            self.inside("L", lambda: self.statement(end))
            if self.token() != b"while":
                raise Lost("do without while")
            self.at += 1
            self.parentheses()
            self.at += self.token() == b";"
        elif word == b"switch":
            self.at += 1
            self.parentheses()
            self.inside("S", lambda: self.statement(end))
        elif word == b"try":
            self.at += 1
            self.inside("T", self.braces)
            while self.token() == b"catch":
                self.at = self.partner[self.at + 1] + 1
                self.inside("C", self.braces)
        elif word == b"case":
            while self.token() != b":":
                # `a::b` is three tokens, `c ? x : y` does not occur in labels.
                self.at = self.partner.get(self.at, self.at) + 1
                while self.token() == b":" and self.token(1) == b":":
                    self.at += 2
            self.at += 1
            self.out.append("c")
        elif word == b"default" and self.token(1) == b":":
            self.at += 2
            self.out.append("d")
        elif word in (b"break", b"continue", b"goto"):
            self.out.append({b"break": "b", b"continue": "k", b"goto": "g"}[word])
            self.to_semicolon(end, lambda at: None)
        elif word == b"return":
            self.at += 1
            self.to_semicolon(end, self.expression)
            self.out.append("r")
        elif NAME.match(word) and self.token(1) == b":" and self.token(2) != b":":
            self.at += 2
            self.out.append("l")
        elif word in (b"struct", b"class", b"union", b"enum"):
            self.local_class(end)
        else:
            self.to_semicolon(end, self.expression)

    def local_class(self, end):
        at = self.at
        while at < end and self.tokens[at] not in (b"{", b";", b"=", b"("):
            at += 1
        if at < end and self.tokens[at] == b"{":
            self.at = self.partner[at] + 1
        self.to_semicolon(end, self.expression)

    def to_semicolon(self, end, read):
        at = self.at
        while at < end and self.tokens[at] != b";":
            at = self.partner.get(at, at) + 1
        read(at)
        self.at = at + 1

    def expression(self, end):
        while self.at < end:
            word, before = self.token(), self.tokens[self.at - 1] if self.at else b""
            if word in UNEVALUATED:
                self.at += 1
                while self.token() in (b"volatile", b"...", b"__volatile__", b"goto"):
                    self.at += 1
                if self.token() == b"(":
                    self.at = self.partner[self.at] + 1
            elif word in BARRIERS and self.token(1) == b"(":
                self.out.append("B")
                self.at += 1
            elif word == b"{" and before == b"(":
                self.braces()
            elif word == b"[" and self.token(1) == b"[":
                self.at = self.partner[self.at] + 1
            elif word == b"[" and not (NAME.match(before) and before not in (b"return", b"co_return", b"co_yield") or before in (b")", b"]", b">") or before[:1].isdigit()) and self.is_lambda():
                self.lambda_(end)
            else:
                self.at += 1

    def is_lambda(self):
        behind = self.partner[self.at] + 1
        return behind < len(self.tokens) and self.tokens[behind] in (b"(", b"{", b"<", b"mutable", b"noexcept", b"__device__", b"__host__", b"->")

    def lambda_(self, end):
        close = self.partner[self.at]
        self.at += 1
        self.expression(close)
        self.at = close + 1
        while self.at < end and self.token() != b"{":
            self.at = self.partner.get(self.at, self.at) + 1
        self.inside("X", self.braces)


def tokens_of_file(preprocessed, copy):
    """The tokens that come from the file itself, each with its line."""
    words, lines, own, line = [], [], False, 0
    for text in preprocessed.split(b"\n"):
        marker = re.match(rb'# (\d+) "((?:[^"\\]|\\.)*)"', text)
        if marker:
            own, line = marker.group(2) == copy.encode(), int(marker.group(1))
            continue
        if own and not text.lstrip().startswith(b"#pragma"):
            found = [match.group() for match in TOKEN.finditer(text)]
            words += found
            lines += [line] * len(found)
        line += 1
    return words, lines


def skeleton(words, name, at):
    """Of the function whose name stands at a token; none where that is no definition."""
    at += 1
    if name.startswith(b"operator"):
        at = at if words[at:at + 1] == [b"("] and words[at + 1:at + 2] != [b")"] else at + 2 if words[at:at + 2] == [b"(", b")"] else at
    depth, begin = 0, None
    for position in range(at, min(at + 20000, len(words))):
        word = words[position]
        if depth == 0 and word in (b";", b"}", b"="):
            return None
        if depth == 0 and word == b"{" and words[position - 1] != b"=":
            # A member's initialiser in braces: `: value{1}`, with a comma or the body behind it.
            begin = position
            level = 0
            for close in range(position, len(words)):
                level += (words[close] == b"{") - (words[close] == b"}")
                if level == 0:
                    break
            if words[close + 1:close + 2] in ([b","], [b"{"]):
                depth = 0
                words = words[:position] + [b"0"] * (close + 1 - position) + words[close + 1:]
                continue
            reader = Reader(words[begin:close + 1])
            reader.braces()
            return "".join(reader.out)
        depth += (word in CLOSING) - (word in (b")", b"]", b"}"))
    return None


def compare(copy, functions, out):
    command = ["gcc", "-E", "-undef", "-nostdinc", "-x", "c++", "-std=gnu++20", "-w", "-I", str(out / "stubs"), "-imacros", str(out / "predefined.h"),
               "-imacros", str(out / "opaque.h"), copy]
    try:
        run = subprocess.run(command, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return [(function, "gcc took too long", None) for function in functions]
    words, lines = tokens_of_file(run.stdout, copy)
    at_line = collections.defaultdict(list)
    for at, line in enumerate(lines):
        at_line[line].append(at)
    results = []
    for function in functions:
        name, line, ours = function[2].encode(), int(function[3]), function[5]
        spelled = b"operator" if name.startswith(b"operator") else name.lstrip(b"~")
        theirs, lost = None, "left out by gcc"
        for at in [at for at in at_line[line] if words[at] == spelled]:
            try:
                theirs = skeleton(words, name, at)
            except (Lost, KeyError, IndexError) as error:
                lost = f"not read by tokens: {error}"
            if theirs is not None:
                lost = None
                break
        results.append((function, lost, theirs))
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--keep", help="a folder for inputs and outputs")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--binary", help="the example, where it is not a release build")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(arguments.keep or temporary).resolve()
        binary = arguments.binary or ROOT / "target/release/examples/expand"
        subprocess.run([binary, "skeletons", out, str(arguments.count), *arguments.trees], check=True)
        kept = [line for line in PREDEFINED.read_text().splitlines() if not re.match(r"#define __(cplusplus|STDC__|STDC_HOSTED__)\b", line)]
        (out / "predefined.h").write_text("\n".join(kept) + "\n")
        by_copy = collections.defaultdict(list)
        for line in (out / "skeletons.tsv").read_text().splitlines():
            function = line.split("\t")
            by_copy[function[1]].append(function)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = [each for found in pool.map(lambda pair: compare(*pair, out), by_copy.items()) for each in found]
    missing = collections.Counter(lost for _, lost, _ in results if lost)
    both = [(function, theirs) for function, lost, theirs in results if not lost]
    equal = sum(function[5] == theirs for function, theirs in both)
    for function, theirs in [each for each in both if each[0][5] != each[1]][:arguments.show]:
        print(f"{function[0]}:{function[3]}: {function[2]}\n    ours:  {function[5][:300]}\n    theirs: {theirs[:300]}")
    for why, count in missing.items():
        print(f"{count}: {why}")
    print(f"{equal} of {len(both)} functions with the same skeleton")


if __name__ == "__main__":
    main()
