//! Hostile input and surroundings, as far as it is quick; scripts/hostile.py has the rest.
//!
//! Beside each lies a file with one finding, which must not be lost.

use crate::program::{Folder, Ran};
use crate::proofs::analyse::with_session;
use synclint::analysis::{self, Session};
use synclint::rules;

const GOOD: &str = "__global__ void good(int *v) {\n    if (threadIdx.x < 5) __syncthreads();\n}\n";

fn kernel(body: &str) -> String {
    format!("__global__ void k(int *v, int n) {{\n{body}\n}}\n")
}

/// Runs on the folder; the finding in `good.cu` is there. What it counts as incomplete, and the run.
#[track_caller]
fn check(folder: &Folder) -> (u64, Ran) {
    folder.write("good.cu", GOOD);
    let ran = folder.run(&[".", "--format", "json", "-j", "2"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let report = ran.json();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    assert!(findings.iter().any(|finding| finding["file"] == "good.cu"), "{report}");
    (report["summary"]["incomplete"].as_u64().unwrap_or_default(), ran)
}

#[track_caller]
fn check_text(name: &str, text: impl AsRef<[u8]>) -> u64 {
    let folder = Folder::new(&format!("hostile-{name}"));
    folder.write("hostile.cu", text);
    check(&folder).0
}

#[test]
fn nesting_without_end() {
    let n = 20_000;
    assert_eq!(check_text("braces", kernel(&format!("{}__syncthreads();{}", "{".repeat(n), "}".repeat(n)))), 1);
    assert_eq!(
        check_text("branches", kernel(&format!("{}__syncthreads();{}", "if (n) {".repeat(n), "}".repeat(n)))),
        1
    );
    assert_eq!(check_text("open", kernel(&format!("{}__syncthreads();", "{".repeat(n)))), 1);
    assert_eq!(check_text("close", format!("{}{}", "}".repeat(n), kernel("__syncthreads();"))), 0);
    assert_eq!(check_text("less", kernel(&format!("{}__syncthreads();", "a<".repeat(n / 4)))), 1);
}

#[test]
fn chains_without_end() {
    let chain: String = (0..5_000).map(|i| format!("if (n == {i}) v[0] = {i}; else ")).collect();
    assert_eq!(check_text("else-if", kernel(&format!("{chain}v[0] = 1; __syncthreads();"))), 0);
    let calls: String =
        (0..2_000).rev().map(|i| format!("__device__ void f{i}(int *v) {{ f{}(v); }}\n", i + 1)).collect();
    let end = "__device__ void f2000(int *v) { __syncthreads(); }\n";
    assert_eq!(check_text("calls", format!("{end}{calls}{}", kernel("f0(v);"))), 1);
    let twice: String =
        (1..40).map(|i| format!("__device__ void f{i}(int *v) {{ f{0}(v); f{0}(v); }}\n", i - 1)).collect();
    let end = "__device__ void f0(int *v) { __syncthreads(); }\n";
    assert_eq!(check_text("twice", format!("{end}{twice}{}", kernel("f39(v);"))), 1);
    let template = "template <int N> __device__ void f(int n) { f<N + 1>(n); f<N + 2>(n); __syncthreads(); }\n";
    assert_eq!(check_text("template", format!("{template}{}", kernel("f<0>(n);"))), 1);
}

/// Each class has another base, of the same template, and a member that hides that base's.
#[test]
fn bases_without_end() {
    let text = "template <int N> struct chain : chain<N + 1> { int h; };\n__global__ void k(int n) {\n    chain<0> c;\n    \
                c.h = n;\n    if (c.h) __syncthreads();\n}\n";
    assert_eq!(check_text("bases", text), 1);
}

#[test]
fn macros_that_grow_without_end() {
    let steps: String = (1..30).map(|i| format!("#define M{i} {}\n", format!("M{} ", i - 1).repeat(10))).collect();
    let bomb = format!("#define M0 1 +\n{steps}");
    assert_eq!(check_text("bomb", format!("{bomb}{}", kernel("v[0] = M29 0; __syncthreads();"))), 1);
    assert_eq!(check_text("bomb-outside", format!("{bomb}M29\n{}", kernel("__syncthreads();"))), 0);
    assert_eq!(check_text("bomb-if", format!("{bomb}#if M29 0\nint x;\n#endif\n{}", kernel("__syncthreads();"))), 0);
    let circle = "#define A B\n#define B C A\n#define C A B\n";
    assert_eq!(check_text("macro-circle", format!("{circle}{}", kernel("A; __syncthreads();"))), 0);
}

#[test]
fn includes_in_a_circle() {
    let folder = Folder::new("hostile-includes");
    for i in 0..20 {
        folder.write(&format!("c{i}.cuh"), format!("#include \"c{}.cuh\"\n#include \"c{i}.cuh\"\n", (i + 1) % 20));
    }
    folder.write("a.cu", format!("#include \"c0.cuh\"\n{}", kernel("__syncthreads();")));
    assert_eq!(check(&folder).0, 0);
}

#[test]
fn many_barriers_in_one_function() {
    assert_eq!(check_text("many", kernel(&"__syncthreads();\n".repeat(10_000))), 0);
    assert_eq!(check_text("many-divergent", kernel(&"if (threadIdx.x > n) __syncthreads();\n".repeat(2_000))), 0);
}

#[test]
fn many_overloads_and_launches() {
    let n = 300;
    let overloads: String =
        (0..n).map(|i| format!("struct T{i} {{}};\n__device__ void f(T{i}) {{ __syncthreads(); }}\n")).collect();
    let calls: String = (0..2 * n).map(|i| format!("f(T{}{{}});\n", i % n)).collect();
    // Beyond the limit no call is followed: that is told.
    assert_eq!(check_text("overloads", format!("{overloads}{}", kernel(&calls))), 1);
    let launches: String = (0..2_000).map(|i| format!("k<<<1, {}>>>(v, {i});\n", i % 1024 + 1)).collect();
    let host = format!("void go(int *v) {{\n{launches}}}\n");
    assert_eq!(check_text("launches", format!("{}{host}", kernel("if (threadIdx.x > n) __syncthreads();"))), 0);
}

#[test]
fn bytes_that_are_no_text() {
    let folder = Folder::new("hostile-bytes");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    folder.write("le.cu", [&[0xff, 0xfe][..], &utf16(&GOOD.replace("good", "le"))].concat());
    folder.write("cut.cu", [&[0xff, 0xfe][..], &utf16(GOOD)[..21]].concat());
    folder
        .write("latin.cu", [GOOD.replace("good", "latin").as_bytes(), b"// \xe4\xf6 \xc0\x80 \xed\xa0\x80\n"].concat());
    folder.write("binary.cu", [0u8, 1, 2, 3].repeat(100));
    folder.write("large.cu", vec![b'x'; (16 << 20) + 1]);
    let (_, ran) = check(&folder);
    assert_eq!(ran.json()["summary"]["findings"], 3, "{}", ran.stdout);
    assert!(ran.stderr.contains("not read: binary.cu: binary data"), "{}", ran.stderr);
    assert!(ran.stderr.contains("not read: large.cu: larger than 16 MiB"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn links_and_pipes() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("hostile-links");
    folder.write("deep/er/x.txt", "");
    let link = |to: &str, name: &str| symlink(to, folder.path().join(name)).expect("a link");
    link("../..", "deep/er/up");
    link("self", "self");
    link("b.cu", "a.cu");
    link("a.cu", "b.cu");
    link("nowhere.cu", "gone.cu");
    link("good.cu", "again.cu");
    link("/dev/null", "null.cu");
    let pipe = folder.path().join("pipe.cu");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|made| made.success()), "a pipe");
    let (_, ran) = check(&folder);
    assert_eq!(ran.json()["summary"]["findings"], 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("6 files not read"), "{}", ran.stderr);
    let skipped = ran.json()["skipped"].to_string();
    assert!(skipped.contains("pipe.cu") && skipped.contains("null.cu"), "{skipped}");
}

/// A report is written whole or not at all: a full disk, as well as one who stops the run, leaves the old one.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_no_half_report() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    let folder = Folder::new("hostile-interrupt");
    folder.write("out.json", "old\n");
    // It waits for its input, so this comes in the middle, however slow the machine. (Interrupts may be ignored here: a shell
    // has its background jobs do that.)
    let child = crate::program::synclint()
        .args(["-", "--output", "json=out.json"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("synclint starts");
    let told = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.is_ok_and(|told| told.success()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.signal(), Some(15));
    assert_eq!(folder.read("out.json"), "old\n");

    folder.write("a.cu", GOOD);
    assert_eq!(folder.run(&["a.cu", "--output", "json=out.json"]).code, 1);
    assert!(folder.read("out.json").starts_with('{'));
    std::fs::remove_file(folder.path().join("out.json")).expect("it is there");
    std::fs::create_dir(folder.path().join("out.json")).expect("a folder in its way");
    assert_eq!(folder.run(&["a.cu", "--output", "json=out.json"]).code, 2);
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).expect("it is there").flatten().map(|it| it.file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left lying: {left:?}");
}

#[test]
fn a_report_keeps_the_link_and_the_permissions_of_its_file() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("hostile-report");
        folder.write("a.cu", GOOD);
        let real = folder.write("reports/real.json", "old\n");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).expect("they can be set");
        symlink("reports/real.json", folder.path().join("out.json")).expect("a link");
        assert_eq!(folder.run(&["a.cu", "--output", "json=out.json"]).code, 1);
        assert!(folder.read("reports/real.json").starts_with('{'));
        assert_eq!(std::fs::metadata(&real).expect("it is there").permissions().mode() & 0o777, 0o600);
        let link = std::fs::symlink_metadata(folder.path().join("out.json")).expect("it is there");
        assert!(link.file_type().is_symlink());
    }
}

/// What a user says of launches is asked in the middle of an analysis, so a panic can be put there.
#[test]
fn a_panic_costs_its_function_and_is_told() {
    let file = |name: &str| (format!("{name}.cu"), GOOD.replace("good", name));
    with_session(&[file("bad"), file("fine")], |session, roots, _| {
        let breaks = |name: &str| match name {
            "bad" => panic!("on purpose"),
            _ => None,
        };
        let session = Session {
            tree: session.tree,
            program: session.program,
            words: session.words,
            launches: session.launches,
            policy: session.policy,
            known_blocks: &breaks,
        };
        let answers: Vec<_> = roots.roots().map(|root| analysis::root(&session, root)).collect();
        let found =
            |index: usize| -> Vec<&str> { answers[index].findings.iter().map(|finding| finding.rule.name).collect() };
        assert_eq!(found(0), [rules::INCOMPLETE.name]);
        assert!(answers[0].findings[0].message.contains("`bad` could not be analysed whole: an internal error"));
        assert_eq!(found(1), [rules::DIVERGENT_BRANCH.name]);
    });
}

#[test]
fn one_literal_of_assembly() {
    let assembly = |n: usize| {
        kernel(&format!("if (threadIdx.x < 5) asm volatile(\"{}bar.sync 0;\");", "mov.u32 a, b; ".repeat(n)))
    };
    let folder = Folder::new("hostile-assembly");
    folder.write("long.cu", assembly(8_000));
    let (incomplete, ran) = check(&folder);
    assert_eq!((incomplete, ran.json()["summary"]["findings"].as_u64()), (0, Some(2)));
    assert_eq!(check_text("assembly-beyond", assembly(80_000)), 1);
}
