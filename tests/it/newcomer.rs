//! What somebody who tries the program for the first time asks of it.

use crate::program::Folder;

/// What was not understood counts whether or not a line of its own is wanted for it.
#[test]
fn what_was_not_understood_is_counted_whatever_rules_run() {
    let folder = Folder::new("newcomer-incomplete");
    folder.write("a.cu", "__global__ void k(int *p) {\n    if (p[0]) { int x = ; ) }\n    __syncthreads();\n}\n");
    let plain = folder.run(&["a.cu", "--isolated"]).stderr;
    assert!(plain.contains("; 1 function not understood"), "{plain}");
    for rules in [["--select", "divergent-branch"], ["--ignore", "incomplete"]] {
        let ran = folder.run(&["a.cu", "--isolated", rules[0], rules[1], "--statistics"]);
        assert!(ran.stderr.contains("; 1 function not understood"), "{}", ran.stderr);
        assert!(ran.stderr.contains("not understood: a.cu:"), "{}", ran.stderr);
        assert!(!ran.stdout.contains("[incomplete]"), "{}", ran.stdout);
    }
}

#[test]
fn why_names_a_condition_that_the_block_decides() {
    let folder = Folder::new("newcomer-decided");
    folder.write(
        "a.cu",
        "__global__ void k() {\n    if (threadIdx.x < 64) {\n        __syncthreads();\n    }\n}\nvoid run() { k<<<1, 64>>>(); }\n__global__ void free() {\n    __syncthreads();\n}\n",
    );
    let why = folder.run(&["why", "a.cu:3", "--isolated"]).stdout;
    assert!(why.contains("goes one way for all threads: a block is (64, 1, 1), as a launch"), "{why}");
    assert!(!why.contains("nothing guards it"), "{why}");
    let free = folder.run(&["why", "a.cu:8", "--isolated"]).stdout;
    assert!(free.contains("nothing guards it") && !free.contains("one way"), "{free}");
}

#[test]
fn why_says_that_the_ended_count_as_arrived() {
    let folder = Folder::new("newcomer-ended");
    folder.write("a.cu", "__global__ void k(int n) {\n    if (threadIdx.x >= n) return;\n    __syncthreads();\n}\n");
    let why = folder.run(&["why", "a.cu:3", "--isolated", "--exited-threads", "may-exit"]).stdout;
    assert!(why.contains("every thread of the block that has not ended comes to it"), "{why}");
    assert!(why.contains("those who go another way end, and so count as arrived"), "{why}");
    let strict = folder.run(&["why", "a.cu:3", "--isolated"]).stdout;
    assert!(strict.contains("differs from thread to thread") && !strict.contains("count as arrived"), "{strict}");
}

#[test]
fn a_kernel_of_the_settings_may_be_named_with_its_namespace() {
    let folder = Folder::new("newcomer-namespace");
    let body = "{ if (threadIdx.x < 64) __syncthreads(); }";
    folder.write(
        "a.cu",
        format!("namespace a {{ __global__ void r() {body} }}\nnamespace b {{ __global__ void r() {body} }}\n"),
    );
    let found = |settings: &str| {
        folder.write("synclint.toml", settings);
        let ran = folder.run(&["a.cu", "--format", "json"]);
        assert!(!ran.stderr.contains("speak of a kernel"), "{}", ran.stderr);
        ran.json()["summary"]["findings"].as_u64()
    };
    assert_eq!(found(""), Some(2));
    assert_eq!(found("[kernel.\"b::r\"]\nblock = [64, 1, 1]\n"), Some(1));
    assert_eq!(found("[kernel.r]\nblock = [64, 1, 1]\n"), Some(0));
}

#[test]
fn settings_that_fit_nothing_are_told() {
    let folder = Folder::new("newcomer-unfit");
    folder.write("a.cu", "__global__ void k() { __syncthreads(); }\n");
    folder.write("synclint.toml", "[kernel.reduce]\nblock = [64, 1, 1]\n[per-file.\"gone/*.cu\"]\nincomplete = \"off\"\n[per-file.\"a.cu\"]\nincomplete = \"off\"\n");
    let quiet = folder.run(&["-q"]).stderr;
    assert!(quiet.contains("speak of a kernel `reduce`") && quiet.lines().count() == 2, "{quiet}");
    assert!(
        quiet.contains("the path `gone/*.cu` of `per-file` in the settings fits nothing that is read\n"),
        "{quiet}"
    );
    assert!(!quiet.contains("`a.cu` of"), "{quiet}");
}

#[test]
fn the_message_of_a_call_that_a_race_decides_is_a_sentence() {
    let folder = Folder::new("newcomer-sentence");
    folder.write(
        "a.cu",
        "__device__ void wait() { __syncthreads(); }\n__global__ void k(int *v) {\n    __shared__ int flag;\n    if (threadIdx.x == 3) flag = v[3];\n    if (flag > 0) wait();\n}\n",
    );
    let ran = folder.run(&["a.cu", "--isolated", "--format", "concise"]);
    let message = "`__syncthreads`; whether it is reached depends on a value that another thread may be writing";
    assert!(ran.stdout.contains(&format!("this call leads to {message}")), "{}", ran.stdout);
}

#[test]
fn every_page_that_the_manual_names_can_be_had() {
    let folder = Folder::new("newcomer-man");
    for verb in ["check", "why", "graph", "explain", "rules", "baseline", "config", "lsp", "completions", "man", "help"]
    {
        let page = folder.run(&["man", verb]);
        assert_eq!(page.code, 0, "{}", page.stderr);
        assert!(page.stdout.contains(&format!(".TH synclint-{verb} ")), "{}", page.stdout);
    }
    let none = folder.run(&["man", "nothing"]);
    assert_eq!(
        (none.code, none.stderr.as_str()),
        (2, "error: there is no verb `nothing`; `synclint help` lists them\n")
    );
}

/// The places of a change would be those of the text that was read, and that is not what is in the file.
#[test]
fn nothing_is_changed_in_utf_16() {
    let folder = Folder::new("newcomer-utf16");
    let text = "__global__ void k(int *v) {\n    if (threadIdx.x < 3) {\n        v[0] = 1;\n        __syncthreads();\n    }\n}\n";
    let bytes: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    folder.write("a.cu", &bytes);
    let told = "synclint: a.cu is UTF-16: no change is made in it\n";
    let made = folder.run(&["a.cu", "--isolated", "--fix"]);
    assert!(made.stderr.starts_with(told) && !made.stderr.contains("--fix makes"), "{}", made.stderr);
    let shown = folder.run(&["a.cu", "--isolated", "--diff"]);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("", told));
    assert_eq!(std::fs::read(folder.path().join("a.cu")).ok(), Some(bytes));
}

#[test]
fn small_slips_are_met() {
    let folder = Folder::new("newcomer-slips");
    folder.write("a.cu", "__global__ void k() { __syncthreads(); }\n");
    assert_eq!(folder.run(&["explain"]).stdout, folder.run(&["rules"]).stdout);
    let jobs = folder.run(&["a.cu", "-j", "abc"]);
    assert!(jobs.code == 2 && jobs.stderr.contains("write a number from 1 to 65535"), "{}", jobs.stderr);
}
