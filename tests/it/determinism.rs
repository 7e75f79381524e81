//! The same bytes in every format, whatever the number of threads, the order of the paths, and the working directory.
//!
//! Paths are reported as the user spells them. So what must not change anything is: where the tree stands, and from where
//! it is named by the same words; and what other machines know a finding by may not depend even on the words.

use crate::program::{Folder, synclint};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

const FORMATS: [&str; 10] =
    ["human", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson", "html"];

/// All there is to compare: standard output, standard error, and a file for each format.
fn reports(folder: &Path, arguments: &[&str]) -> Vec<(String, String)> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let out = Folder::new(&format!("determinism-out-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    let mut command = synclint();
    command.args(["check", "--isolated", "--statistics"]).args(arguments).current_dir(folder).stdin(Stdio::null());
    for format in FORMATS {
        command.arg("--output").arg(format!("{format}={}", out.path().join(format).display()));
    }
    let ran = crate::program::Ran::from(command.output().expect("synclint runs"));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let mut all: Vec<(String, String)> = FORMATS.iter().map(|name| (name.to_string(), out.read(name))).collect();
    all.push(("standard output".to_string(), ran.stdout));
    all.push(("standard error".to_string(), ran.stderr));
    all
}

#[track_caller]
fn assert_same(a: &[(String, String)], b: &[(String, String)], what: &str) {
    for ((name, a), (_, b)) in a.iter().zip(b) {
        let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        assert!(a == b, "{what}: {name} differs: {line:?}");
    }
}

fn fixtures() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn threads_change_nothing() {
    let one = reports(fixtures(), &["fixtures", "-j", "1"]);
    assert!(one[2].1.len() > 10_000, "there is something to compare");
    for jobs in ["2", "3", "8"] {
        assert_same(&one, &reports(fixtures(), &["fixtures", "-j", jobs]), jobs);
    }
}

#[test]
fn the_order_of_paths_changes_nothing() {
    let parts = ["fixtures/branch", "fixtures/calls", "fixtures/macros", "fixtures/loop"];
    let first = reports(fixtures(), &parts);
    for turn in 1..parts.len() {
        let mut turned = parts;
        turned.rotate_left(turn);
        assert_same(&first, &reports(fixtures(), &turned), &turned.join(" "));
    }
    let backwards: Vec<&str> = parts.iter().rev().copied().collect();
    assert_same(&first, &reports(fixtures(), &backwards), "backwards");
}

/// A part of the fixtures, written anew: in another order, so that the directory lists it in another one, too.
fn copy(to: &Folder, at: &str, backwards: bool) {
    let from = fixtures().join("fixtures/calls");
    let mut names: Vec<_> = std::fs::read_dir(from).expect("it is there").flatten().map(|it| it.path()).collect();
    names.sort();
    if backwards {
        names.reverse();
    }
    for path in names.into_iter().filter(|path| path.is_file()) {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        to.write(&format!("{at}/{name}"), std::fs::read(&path).expect("it can be read"));
    }
}

#[test]
fn the_place_of_the_tree_changes_nothing() {
    let (one, two) = (Folder::new("determinism-one"), Folder::new("determinism-two/deeper"));
    copy(&one, "src", false);
    copy(&two, "src", true);
    assert_same(&reports(one.path(), &["src"]), &reports(two.path(), &["src"]), "another folder");
    one.write("x/here.txt", "");
    one.write("y/here.txt", "");
    let up = reports(&one.path().join("x"), &["../src"]);
    assert_same(&up, &reports(&one.path().join("y"), &["../src"]), "another working directory");
    assert_same(
        &reports(&one.path().join("src"), &["."]),
        &reports(&two.path().join("src"), &["."]),
        "the folder itself",
    );
}

#[test]
fn what_a_finding_is_known_by_does_not_depend_on_the_working_directory() {
    let folder = Folder::new("determinism-names");
    copy(&folder, "src", false);
    folder.write(".git/HEAD", "ref: refs/heads/main\n");
    let absolute = folder.path().join("src");
    let known = |from: &Path, path: &str| -> Vec<(Value, Value)> {
        let reports = reports(from, &[path]);
        let gitlab: Value = serde_json::from_str(&reports[6].1).expect("it is JSON");
        let findings = gitlab.as_array().expect("a list");
        findings.iter().map(|it| (it["fingerprint"].clone(), it["location"]["path"].clone())).collect()
    };
    let first = known(folder.path(), "src");
    assert!(first.len() > 3 && first.iter().all(|(_, path)| path.as_str().is_some_and(|it| it.starts_with("src/"))));
    assert_eq!(first, known(&absolute, "."));
    assert_eq!(first, known(Path::new("/"), absolute.to_str().expect("it is UTF-8")));
}

/// Helpers that two kernels share: a question that only reads, alone and from a function that writes; two that call each
/// other, one of which writes.
const HELPERS: &str = "
__device__ inline bool odd(const int *in, int i) { return in[i] & 1; }
__device__ inline void fill(int *out, const int *in, int i) { if (odd(in, i)) out[i] = 1; }
__device__ inline int up(int *out, int n);
__device__ inline int down(int *out, int n) { return n > 0 ? up(out, n - 1) : n; }
__device__ inline int up(int *out, int n) { out[n] = n; return down(out, n); }
";

const WAITS: &str = "
#include \"helpers.cuh\"
__global__ void waits(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || odd(in, i)) return;
    if (down(out, i) > 3 && odd(in, out[i])) return;
    __syncthreads();
    out[i] = 1;
}
";

const FILLS: &str = "
#include \"helpers.cuh\"
__global__ void fills(const int *in, int *out, int n) {
    fill(out, in, threadIdx.x);
    if (up(out, n) > 2) __syncthreads();
    if (threadIdx.x < 7) __syncthreads();
}
";

#[test]
fn what_is_said_of_a_kernel_does_not_depend_on_those_analysed_before_it() {
    let said = |files: &[(&str, &str)], of: &str| -> Vec<Value> {
        let folder = Folder::new(&format!("determinism-roots-{of}-{}", files[0].0));
        folder.write("helpers.cuh", HELPERS);
        files.iter().for_each(|(name, text)| _ = folder.write(name, text));
        let report = folder.run(&["check", "--isolated", "--format", "json", "-j", "1"]).json();
        let mut findings = report["findings"].as_array().expect("a list").clone();
        findings.retain(|finding| finding["function"] == of);
        findings
    };
    for (of, text, other) in [("waits", WAITS, FILLS), ("fills", FILLS, WAITS)] {
        let alone = said(&[("m.cu", text)], of);
        assert!(!alone.is_empty(), "`{of}` has something to tell");
        for before_or_behind in ["a.cu", "z.cu"] {
            assert_eq!(alone, said(&[(before_or_behind, other), ("m.cu", text)], of), "{before_or_behind} beside {of}");
        }
    }
}
