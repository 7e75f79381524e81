//! Changes that are offered: `tests/fixes/NAME.cu` and what `--diff` says of it, in `NAME.diff`; of `left-NAME.cu` nothing.

use crate::program::Folder;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixes");
    let entries = std::fs::read_dir(folder).expect("the cases are there").flatten().map(|entry| entry.path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "cu")).collect();
    cases.sort();
    assert!(cases.len() > 20);
    cases
}

#[test]
fn changes_are_as_stored_and_leave_nothing_to_change() {
    for case in cases() {
        let name = case.file_stem().and_then(|name| name.to_str()).expect("it is UTF-8");
        let folder = Folder::new(&format!("fix-{name}"));
        let before = std::fs::read(&case).expect("it can be read");
        folder.write("a.cu", &before);
        let shown = folder.run(&["a.cu", "--isolated", "--diff"]);
        assert_eq!(std::fs::read(folder.path().join("a.cu")).ok().as_ref(), Some(&before), "{name}: only shown");
        if name.starts_with("left-") {
            assert_eq!((shown.code, shown.stdout.as_str()), (1, ""), "{name}: found, and left alone");
        } else {
            assert!(!shown.stdout.is_empty(), "{name}: a change is offered\n{}", shown.stderr);
            crate::assert_generated(&format!("tests/fixes/{name}.diff"), &shown.stdout);
        }
        let findings = |folder: &Folder| {
            folder.run(&["a.cu", "--isolated", "--format", "json"]).json()["summary"]["findings"].as_u64()
        };
        let found = findings(&folder);
        let made = folder.run(&["a.cu", "--isolated", "--fix"]);
        if name.starts_with("left-") {
            assert_eq!(findings(&folder), found, "{name}");
            let told = "synclint: nothing changed: for what was found no change is proven to be safe\n";
            assert!(made.stderr.starts_with(told), "{name}: {}", made.stderr);
            continue;
        }
        // All that the cases hold can be mended.
        assert_eq!((made.code, findings(&folder)), (0, Some(0)), "{name}\n{}{}", made.stdout, made.stderr);
        let whole = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
        assert_eq!(whole["summary"]["incomplete"], 0, "{name}: what came out can be read whole");
        let after = folder.read("a.cu");
        let again = folder.run(&["a.cu", "--isolated", "--fix"]);
        assert_eq!(folder.read("a.cu"), after, "{name}: the second time nothing changes");
        assert!(again.stderr.starts_with("synclint: nothing to change\n"), "{name}: {}", again.stderr);
        // Nothing but barriers, guards round nothing, and blanks has gone or come.
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|word| !word.is_empty());
            let mut words: Vec<String> = words.map(str::to_string).collect();
            words.sort();
            words.dedup();
            words
        };
        if !["only-statement", "unused-suppression"].contains(&name) {
            assert_eq!(words(&String::from_utf8_lossy(&before)), words(&after), "{name}");
        }
    }
}

/// What an editor reads.
#[test]
fn findings_carry_their_changes() {
    let folder = Folder::new("fix-json");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixes/both-arms.cu"));
    let text = text.expect("it can be read");
    folder.write("a.cu", &text);
    let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 2);
    for finding in findings {
        let fix = &finding["fixes"][0];
        assert_eq!(fix["title"], "put one barrier behind the branch instead of one into each arm");
        let mut changed = text.clone();
        for edit in fix["edits"].as_array().expect("edits").iter().rev() {
            assert_eq!(edit["file"], "a.cu");
            let place = |key: &str| edit[key].as_u64().expect("a byte") as usize;
            changed.replace_range(place("start")..place("end"), edit["text"].as_str().expect("text"));
        }
        assert_eq!(changed.matches("__syncthreads();  // all of s is there").count(), 1, "{changed}");
        assert_eq!(changed.matches("__syncthreads").count(), 1, "{changed}");
    }
    let sarif = folder.run(&["a.cu", "--isolated", "--format", "sarif"]).json();
    let fix = &sarif["runs"][0]["results"][0]["fixes"][0];
    assert_eq!(fix["artifactChanges"][0]["replacements"].as_array().map(Vec::len), Some(3), "{fix}");
    let human = folder.run(&["a.cu", "--isolated"]);
    assert!(human.stderr.contains("; --fix makes 1 change\n"), "{}", human.stderr);
}

/// A change in a helper is proven in all kernels that call it; one that spoils another kernel is not offered.
#[test]
fn a_helper_is_changed_only_if_all_its_callers_gain() {
    let folder = Folder::new("fix-helper");
    let helper = "__device__ inline void publish(int *s, int t, int n) {\n    if (t < n) {\n        s[t] = t;\n        __syncthreads();\n    }\n}\n";
    folder.write("publish.cuh", helper);
    folder.write(
        "a.cu",
        "#include \"publish.cuh\"\n__global__ void a(int *s, int n) {\n    publish(s, threadIdx.x, n);\n}\n",
    );
    let alone = folder.run(&[".", "--isolated", "--diff"]);
    assert!(alone.stdout.contains("--- publish.cuh\n"), "{}{}", alone.stdout, alone.stderr);
    // Here only the guard of the helper is uniform: without it the barrier stands under a divergent one.
    folder.write(
        "b.cu",
        "#include \"publish.cuh\"\n__global__ void b(int *s) {\n    if (threadIdx.x < 3) publish(s, 5, 4);\n}\n",
    );
    let both = folder.run(&[".", "--isolated", "--diff"]);
    assert_eq!(both.stdout, "", "{}", both.stderr);
}

/// The text that an editor holds is what is changed.
#[test]
fn standard_input_has_its_changes_shown() {
    let folder = Folder::new("fix-stdin");
    let text = "__global__ void k(int *v) {\n    if (threadIdx.x < 3) {\n        v[0] = 1;\n        __syncthreads();\n    }\n}\n";
    let ran = folder.run_with(&["-", "--isolated", "--stdin-filename", "x.cu", "--diff"], &[], text.as_bytes());
    let made = folder.run_with(&["-", "--isolated", "--fix"], &[], text.as_bytes());
    assert_eq!((made.code, made.stdout.lines().nth(3)), (0, Some("    }")), "{}", made.stderr);
    assert!(ran.stdout.starts_with("--- x.cu\n+++ x.cu\n@@ -1,6 +1,6 @@\n"), "{}{}", ran.stdout, ran.stderr);
}

/// A comment that hides something is about its place: it neither goes along with a barrier nor stays without one.
#[test]
fn a_barrier_with_a_suppression_stays_where_it_is() {
    let folder = Folder::new("fix-suppression");
    let kernel = |above: &str, behind: &str| {
        format!(
            "__global__ void k(int *v) {{\n    if (threadIdx.x < 3) {{\n        v[0] = 1;\n{above}        __syncthreads();{behind}\n    }}\n}}\n"
        )
    };
    for (above, behind) in [
        ("", "  // synclint: ignore[divergent-exit] once needed"),
        ("        // synclint: ignore[divergent-exit] once needed\n", ""),
        ("        // NOLINTNEXTLINE(bugprone-something)\n        // more\n", ""),
        ("", "  /* NOLINT */"),
    ] {
        folder.write("a.cu", kernel(above, behind));
        let ran = folder.run(&["a.cu", "--isolated", "--ignore", "unused-suppression", "--diff"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{above}{behind}");
    }
    folder.write("a.cu", kernel("        // all of v\n", "  // is there"));
    let ran = folder.run(&["a.cu", "--isolated", "--fix"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let moved = "    }\n    // all of v\n    __syncthreads();  // is there\n}\n";
    assert!(folder.read("a.cu").ends_with(moved), "{}", folder.read("a.cu"));
}

/// What is announced is what is made: of two findings that one change mends, one.
#[test]
fn as_many_changes_are_made_as_announced() {
    let folder = Folder::new("fix-count");
    let both = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixes/both-arms.cu"));
    folder.write("a.cu", both.expect("it can be read"));
    folder.write(
        "b.cu",
        "__global__ void k(int *v) {\n    if (threadIdx.x < 3) {\n        v[0] = 1;\n        __syncthreads();\n    }\n}\n",
    );
    let announced = folder.run(&[".", "--isolated"]);
    assert!(announced.stderr.ends_with(": 3 errors; --fix makes 2 changes\n"), "{}", announced.stderr);
    let made = folder.run(&[".", "--isolated", "--fix"]);
    assert!(made.stderr.starts_with("synclint: 2 changes made in 2 files\n"), "{}", made.stderr);
    assert!(made.code == 0 && !made.stderr.contains("--fix"), "{}", made.stderr);
}

/// A suppression that hides nothing goes alone: no words run together, line ends stay, and so does what else is said.
#[test]
fn what_stands_round_an_unused_suppression_stays() {
    let folder = Folder::new("fix-unused");
    let idle = "synclint: ignore[warp-mask]";
    for (before, after) in [
        (format!("int/* {idle} */x = 3;\n"), "int x = 3;\n".to_string()),
        (format!("#define A(a, b) a -/* {idle} */-b\n"), "#define A(a, b) a - -b\n".to_string()),
        (format!("int x;  // {idle} why\r\n// {idle}\r\nint y;\r\n"), "int x;\r\nint y;\r\n".to_string()),
        (format!("int x; // {idle} // NOLINT(bugprone-foo)\n"), format!("int x; // {idle} // NOLINT(bugprone-foo)\n")),
        (format!("int x; // keep me; {idle}\n"), format!("int x; // keep me; {idle}\n")),
    ] {
        let rest = "__global__ void k(int *v) { __syncthreads(); }\n";
        folder.write("a.cu", format!("{before}{rest}"));
        folder.run(&["a.cu", "--isolated", "--fix"]);
        assert_eq!(folder.read("a.cu"), format!("{after}{rest}"), "{before}");
    }
}
