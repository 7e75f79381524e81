//! Arguments, exit codes, and where output goes.

use crate::program::Folder;

const DIVERGENT: &str = "__global__ void k(int *v) {
    if (threadIdx.x < 16) {
        __syncthreads();
    }
    v[threadIdx.x] = 1;
}
";
const CLEAN: &str = "__global__ void k(int *v) {
    __syncthreads();
    v[threadIdx.x] = 1;
}
";

#[test]
fn exit_codes() {
    let folder = Folder::new("exit-codes");
    folder.write("bad.cu", DIVERGENT);
    folder.write("good.cu", CLEAN);
    for (arguments, code) in [
        (vec!["bad.cu"], 1),
        (vec!["check", "bad.cu"], 1),
        (vec!["good.cu"], 0),
        (vec!["."], 1),
        (vec![], 1),
        (vec!["bad.cu", "--exit-zero"], 0),
        (vec!["bad.cu", "--fail-on", "never"], 0),
        (vec!["bad.cu", "--fail-on", "error"], 1),
        (vec!["bad.cu", "--ignore", "divergent-branch"], 0),
        (vec!["bad.cu", "--select", "warp-mask,racy-broadcast"], 0),
        (vec!["bad.cu", "--select", "divergent-branch"], 1),
        (vec!["bad.cu", "--format", "sarif"], 1),
        (vec!["bad.cu", "--format", "json"], 1),
        (vec!["missing.cu"], 2),
        (vec!["bad.cu", "missing"], 2),
        (vec!["--no-such-option"], 2),
        (vec!["bad.cu", "--select", "no-such-rule"], 2),
        (vec!["bad.cu", "--config", "missing.toml"], 2),
        (vec!["bad.cu", "--baseline", "missing.json"], 2),
        (vec!["bad.cu", "-p", "missing"], 2),
        (vec!["bad.cu", "--output", "sarif=no/such/folder/out.sarif"], 2),
        (vec!["bad.cu", "-j", "0"], 2),
        (vec!["@missing"], 2),
        (vec!["explain", "nothing"], 2),
        (vec!["--help"], 0),
        (vec!["--version"], 0),
    ] {
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, code, "{arguments:?}\n{}{}", ran.stdout, ran.stderr);
    }
}

/// One clear line, not a page.
#[test]
fn faults_of_use_are_one_line() {
    let folder = Folder::new("faults-of-use");
    folder.write("a.cu", CLEAN);
    folder.write("itself", "a.cu\n@itself\n");
    for (arguments, line) in [
        (vec!["missing.cu"], "error: missing.cu: no such file or directory\n"),
        (vec!["expalin"], "error: expalin: no such file or directory (did you mean the verb `explain`?)\n"),
        (vec!["--config", "missing.toml"], "error: missing.toml: cannot be read: no such file or directory\n"),
        (
            vec!["a.cu", "--baseline", "b.json"],
            "error: the baseline b.json cannot be read: no such file or directory\n",
        ),
        (
            vec!["a.cu", "--baseline", "a.cu"],
            "error: the baseline a.cu is no file that `synclint baseline` wrote: expected value at line 1 column 1\n",
        ),
        (vec!["@missing"], "error: the arguments in missing cannot be read: no such file or directory\n"),
        (
            vec!["@itself"],
            "error: the arguments in itself cannot be read: too many such files lead here; does it name itself?\n",
        ),
        (vec!["a.cu", "--output", "json=no/out"], "error: cannot write no/out: no such file or directory\n"),
        (
            vec!["missing", "nor-this"],
            "error: missing: no such file or directory\nerror: nor-this: no such file or directory\n",
        ),
        (
            vec!["a.cu", "-p", "build"],
            "error: build: no such file or directory; CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, other \
             builds with `bear -- make`\n",
        ),
    ] {
        assert_eq!(folder.run(&arguments).stderr, line);
    }
    let near = folder.run(&["explain", "divergent-brunch"]).stderr;
    assert!(near.contains("a similar value exists: 'divergent-branch'"), "{near}");
}

#[test]
fn arguments_come_from_a_file() {
    let folder = Folder::new("argument-file");
    folder.write("with blank.cu", CLEAN);
    folder.write("arguments", "with blank.cu\n--format\nconcise\n\n--quiet\n");
    let ran = folder.run(&["@arguments"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // Files in files, and switches that several of them set.
    folder.write("more", "@arguments\n--quiet\n");
    let ran = folder.run(&["@more", "@arguments", "--format", "human"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn several_reports_from_one_run() {
    let folder = Folder::new("several");
    folder.write("a.cu", CLEAN);
    let ran = folder.run(&["a.cu", "--format", "concise", "--output", "sarif=out.sarif", "--output", "html=out.html"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(folder.read("out.sarif").contains("\"version\": \"2.1.0\""));
    assert!(folder.read("out.html").starts_with("<!doctype html>"));
}

/// What the page says of a finding is all that the terminal says.
#[test]
fn the_page_has_what_to_try_and_the_proven_change() {
    let folder = Folder::new("page");
    folder.write("a.cu", "__global__ void k(int *v, int n) {\n    if (threadIdx.x < n) {\n        v[0] = 1;\n        __syncthreads();\n    }\n}\n");
    let page = folder.run(&["a.cu", "--format", "html"]).stdout;
    assert!(
        page.contains("<b>To try:</b> <code>compute-sanitizer --tool synccheck PROGRAM</code> with a block of"),
        "{page}"
    );
    assert!(page.contains("<b><code>--fix</code>, proven:</b> move the barrier behind the branch"), "{page}");
}

#[test]
fn the_format_comes_from_the_surroundings() {
    let folder = Folder::new("surroundings");
    folder.write("a.cu", CLEAN);
    let json = folder.run_with(&["a.cu"], &[("SYNCLINT_FORMAT", "json")], b"");
    assert_eq!(json.json()["version"], 1);
    let summary = folder.path().join("summary.md");
    let actions = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", summary.to_str().expect("it is UTF-8"))];
    folder.run_with(&["a.cu"], &actions, b"");
    assert!(folder.read("summary.md").starts_with("### synclint\n"));
    let told = folder.run_with(&["a.cu", "--format", "json"], &actions, b"");
    assert_eq!(told.json()["version"], 1, "what is asked for holds");
}

#[test]
fn the_summary_goes_to_standard_error() {
    let folder = Folder::new("summary");
    folder.write("a.cu", CLEAN);
    let ran = folder.run(&["a.cu"]);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.starts_with("synclint: ") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert_eq!(folder.run(&["a.cu", "--quiet"]).stderr, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_a_closed_pipe_is_not() {
    use std::process::Stdio;
    let folder = Folder::new("full-disk");
    folder.write("a.cu", CLEAN);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = crate::program::synclint()
        .args(["a.cu", "--format", "json"])
        .current_dir(folder.path())
        .stdout(full)
        .output()
        .expect("synclint runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert_eq!(told, "error: cannot write to standard output: no space left on the device\n");
    assert_eq!(folder.run(&["a.cu", "--output", "json=/dev/full"]).code, 2);

    let mut child = crate::program::synclint()
        .args(["rules", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("synclint starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("synclint ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn rules_explain_themselves() {
    let folder = Folder::new("rules");
    let list = folder.run(&["rules"]);
    assert_eq!(list.stdout.lines().count(), synclint::rules::ALL.len());
    for rule in synclint::rules::ALL {
        let page = folder.run(&["explain", rule.name]);
        assert_eq!(page.code, 0);
        assert!(page.stdout.starts_with(rule.name) && page.stdout.contains("When it is silent"), "{}", page.stdout);
        // As a person reads it: no marks of tests, no Markdown, no line wider than the terminal.
        for mark in ["EXPECT", "```", "](", "## "] {
            assert!(!page.stdout.contains(mark), "{mark} in {}", page.stdout);
        }
        let prose = page.stdout.lines().filter(|line| !line.starts_with("    "));
        assert!(prose.clone().all(|line| line.chars().count() <= 100), "{}", page.stdout);
        assert!(prose.clone().any(|line| line.starts_with("  * ")), "{}", page.stdout);
        let narrow = folder.run_with(&["explain", rule.name], &[("COLUMNS", "60")], b"");
        assert!(narrow.stdout.lines().count() > page.stdout.lines().count());
        assert!(list.stdout.contains(rule.name));
    }
    let json: serde_json::Value = folder.run(&["rules", "--format", "json"]).json();
    assert_eq!(json.as_array().map(Vec::len), Some(synclint::rules::ALL.len()));
}

#[test]
fn completions_and_the_manual_know_the_rules_and_verbs() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = folder.run(&["completions", shell]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("explain") && ran.stdout.contains("exited-threads"), "{shell}");
    }
    let man = folder.run(&["man"]);
    assert!(man.stdout.contains(".TH synclint") && man.stdout.contains("exited"), "{}", man.stdout);
}

#[test]
fn a_baseline_keeps_known_findings_quiet() {
    let folder = Folder::new("baseline");
    folder.write("a.cu", DIVERGENT);
    assert_eq!(folder.run(&["a.cu"]).code, 1);
    let wrote = folder.run(&["baseline"]);
    assert_eq!((wrote.code, wrote.stderr.as_str()), (0, "synclint: 1 finding written to synclint-baseline.json\n"));
    assert_eq!(folder.run(&["a.cu"]).code, 0);
    assert_eq!(folder.run(&["a.cu", "--no-baseline"]).code, 1);
    // Moved, with more blanks: still known. One more: new. Gone: told.
    folder.write("a.cu", format!("// a line\n\n{}", DIVERGENT.replace("        __sync", "    __sync")));
    assert_eq!(folder.run(&["a.cu"]).code, 0);
    folder.write("a.cu", DIVERGENT.replace("    }\n", "        __syncthreads();\n    }\n"));
    let more = folder.run(&["a.cu", "--format", "json"]).json();
    assert_eq!((&more["summary"]["findings"], &more["summary"]["baseline"]), (&1.into(), &1.into()));
    folder.write("a.cu", CLEAN);
    let gone = folder.run(&["a.cu"]);
    assert_eq!(gone.code, 0);
    assert!(gone.stderr.contains("1 finding of the baseline found no more"), "{}", gone.stderr);
}

#[test]
fn proven_changes_are_shown_and_made() {
    let folder = Folder::new("fix");
    let before = CLEAN.replace("    __sync", "    // synclint: ignore[divergent-branch] once needed\n    __sync");
    folder.write("a.cu", &before);
    let shown = folder.run(&["a.cu", "--diff"]);
    let hunk = "--- a.cu\n+++ a.cu\n@@ -1,5 +1,4 @@\n __global__ void k(int *v) {\n\
        -    // synclint: ignore[divergent-branch] once needed\n     __syncthreads();\n     v[threadIdx.x] = 1;\n }\n";
    assert_eq!((shown.code, shown.stdout.as_str()), (1, hunk));
    assert_eq!(folder.read("a.cu"), before);
    let made = folder.run(&["a.cu", "--fix"]);
    assert_eq!((made.code, folder.read("a.cu").as_str()), (0, CLEAN), "{}", made.stderr);
    assert!(made.stderr.starts_with("synclint: 1 change made in 1 file\n"), "{}", made.stderr);
}

#[test]
fn a_kernel_that_the_settings_misspell_is_told() {
    let folder = Folder::new("misspelt-kernel");
    folder.write("a.cu", "__global__ void reduce(int *v) {\n    __syncthreads();\n}\n");
    folder.write("synclint.toml", "[kernel.reduec]\nblock = [32, 1, 1]\n");
    let told = folder.run(&["a.cu"]).stderr;
    assert!(told.contains("a kernel `reduec` that is not among those read; did you mean `reduce`?"), "{told}");
}

#[test]
fn a_barrier_that_the_settings_misspell_is_told() {
    let folder = Folder::new("misspelt-barrier");
    folder.write("a.cu", "__global__ void k(int n) {\n    if (threadIdx.x < n) blockSync();\n}\n");
    folder.write("synclint.toml", "[[barrier]]\nnames = [\"blockSync\", \"blokSync\"]\ngroup = \"block\"\n");
    let told = "synclint: the settings speak of a barrier `blokSync` that stands in no file read\n";
    let whole = folder.run(&[]).stderr;
    assert!(whole.contains(told) && !whole.contains("`blockSync`"), "{whole}");
}

#[test]
fn a_file_alone_brings_what_it_includes() {
    let folder = Folder::new("includes");
    folder.write("include/m.cuh", "#define SYNC() __syncthreads()\n#include \"../other/f.cuh\"\n");
    folder.write(
        "other/f.cuh",
        "__device__ void f() {\n    __syncthreads();\n}\n__global__ void theirs() {\n    if (threadIdx.x) __syncthreads();\n}\n",
    );
    folder.write(
        "a.cu",
        "#include \"include/m.cuh\"\n__global__ void k(int n) {\n    if (threadIdx.x < n) SYNC();\n    if (threadIdx.x < n) f();\n}\n",
    );
    let run = folder.run(&["a.cu", "--format", "json"]);
    let lines: Vec<u64> = run.json()["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|finding| finding["line"].as_u64())
        .collect();
    assert_eq!(lines, [3, 4], "what is found in the header alone is not asked for\n{}", run.stdout);
    assert!(folder.run(&["why", "a.cu:4"]).stdout.contains("[divergent-branch]"));
}

/// What stands outside of the folders named is read if a file in them includes it, and reported only with a file in them.
#[test]
fn a_folder_brings_what_its_files_include_elsewhere() {
    let folder = Folder::new("includes-elsewhere");
    let helper = "__device__ void f() {\n    __syncthreads();\n}\n";
    let theirs = "__global__ void theirs() {\n    if (threadIdx.x) __syncthreads();\n}\n";
    folder.write("include/m.cuh", "#include \"../other/f.cuh\"\n#include \"../src/deep/own.cuh\"\n");
    folder.write("other/f.cuh", format!("{helper}{theirs}"));
    folder.write("other/unasked.cu", theirs);
    folder.write("src/deep/own.cuh", "__device__ void g() {\n    __syncthreads();\n}\n");
    let caller = "#include \"../include/m.cuh\"\n__global__ void k(int n) {\n    if (threadIdx.x < n) f();\n    if (threadIdx.x < n) g();\n}\n";
    folder.write("src/a.cu", caller);
    let places = |ran: crate::program::Ran| -> Vec<String> {
        ran.stdout.lines().filter_map(|line| Some(line.split_once(": ")?.0.to_string())).collect()
    };
    let concise = ["--format", "concise", "--isolated"];
    let expected = ["src/a.cu:3:26", "src/a.cu:4:26"];
    assert_eq!(places(folder.run(&[&["src"], &concise[..]].concat())), expected);
    assert_eq!(places(folder.run_below("src", &concise)), ["a.cu:3:26", "a.cu:4:26"]);
    assert_eq!(
        places(folder.run_below("src/deep", &[&["../a.cu"], &concise[..]].concat())),
        ["../a.cu:3:26", "../a.cu:4:26"]
    );
    // As an editor or a hook has it, under a name in the folder; the file of that name gives way.
    folder.write("src/a.cu", "");
    let typed = [&["-", "--stdin-filename", "src/a.cu"], &concise[..]].concat();
    assert_eq!(places(folder.run_with(&typed, &[], caller.as_bytes())), expected);
    // Under `-I` likewise; what is excluded stays out.
    folder.write("src/a.cu", caller.replace("../include/m", "m"));
    let found = folder.run(&[&["src", "-I", "include"], &concise[..]].concat());
    assert_eq!(places(found), expected);
    folder.write("synclint.toml", "exclude = [\"other\"]\n");
    let configured = folder.run(&["src", "-I", "include", "--format", "concise"]);
    assert_eq!(places(configured), ["src/a.cu:4:26"]);
}

/// `-p`: a file's own command says what is defined for it, and where its headers are.
#[test]
fn each_file_has_the_macros_and_folders_of_its_command() {
    let folder = Folder::new("commands");
    let kernel = |name: &str, guard: &str| {
        format!(
            "__global__ void {name}(int n) {{\n#ifdef GUARD\n    if (threadIdx.x < {guard}) __syncthreads();\n#endif\n}}\nvoid launch_{name}() {{ {name}<<<1, 64>>>(1); }}\n"
        )
    };
    folder.write("src/whole.cu", kernel("whole", "SIZE"));
    folder.write("src/half.cu", kernel("half", "SIZE"));
    folder.write("src/none.cu", kernel("none", "n"));
    folder.write("include/wait.cuh", "#ifdef GUARD\n__device__ void wait() {\n    __syncthreads();\n}\n#endif\n");
    folder.write(
        "src/calls.cu",
        "#include \"wait.cuh\"\n__global__ void calls(int n) {\n    if (threadIdx.x < n) wait();\n}\n",
    );
    let entry = |name: &str, flags: &str| {
        format!(
            "{{\"directory\": \"..\", \"file\": \"src/{name}.cu\", \"command\": \"nvcc {flags} -c src/{name}.cu\"}}"
        )
    };
    let entries = [
        entry("whole", "-DGUARD -DSIZE=64"),
        entry("half", "-DGUARD -DSIZE=32"),
        entry("none", ""),
        entry("calls", "-DGUARD -Iinclude"),
    ];
    folder.write("build/compile_commands.json", format!("[{}]", entries.join(",")));
    let places = |paths: &[&str]| -> Vec<String> {
        let ran = folder.run(&[paths, &["-p", "build", "--isolated", "--format", "concise"]].concat());
        ran.stdout.lines().filter_map(|line| Some(line.split_once(": ")?.0.to_string())).collect()
    };
    assert_eq!(places(&["src/calls.cu"]), ["src/calls.cu:3:26"]);
    assert_eq!(places(&["src"]), ["src/calls.cu:3:26", "src/half.cu:3:29"]);
    assert_eq!(places(&["src/half.cu", "src/whole.cu"]), ["src/half.cu:3:29"]);
}

#[test]
fn files_that_are_not_read_are_named() {
    let folder = Folder::new("unread");
    folder.write("bad.cu", DIVERGENT);
    folder.write("data.cu", b"__global__ void k() {}\0\0\0\0\0\0");
    let run = folder.run(&[".", "--format", "concise"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("synclint: not read: data.cu: binary data\nsynclint: 1 file"), "{}", run.stderr);
    assert!(!folder.run(&[".", "-q"]).stderr.contains("data.cu"));
}

#[test]
fn why_says_what_is_known_of_writes_and_what_is_assumed() {
    let folder = Folder::new("why-writes");
    let kernel = |written: &str| {
        format!(
            "__global__ void k(const int *v, int n) {{\n    extern __shared__ int s[];\n    {written}\n    \
             if (s[n] > 3)\n        __syncthreads();\n}}\n"
        )
    };
    folder.write("kept.cu", kernel("s[threadIdx.x] = v[threadIdx.x]; __syncthreads();"));
    folder.write("elsewhere.cu", kernel("s[threadIdx.x] = v[threadIdx.x];"));
    let why = |file: &str| folder.run(&["why", &format!("{file}:5")]).stdout;
    let (kept, elsewhere) = (why("kept.cu"), why("elsewhere.cu"));
    assert!(kept.contains("no write to it can come between"), "{kept}");
    assert!(
        elsewhere.contains("is safe") && elsewhere.contains("no write to it is seen to come between"),
        "{elsewhere}"
    );
}

#[test]
fn why_tells_what_guards_a_barrier() {
    let folder = Folder::new("why");
    folder.write("bad.cu", DIVERGENT);
    folder.write("good.cu", CLEAN);
    let bad = folder.run(&["why", "bad.cu:3"]);
    assert_eq!(bad.code, 0, "{}", bad.stderr);
    assert!(
        bad.stdout.contains("[divergent-branch]") && bad.stdout.contains("differs from thread to thread"),
        "{}",
        bad.stdout
    );
    let good = folder.run(&["why", "good.cu:2"]);
    assert!(good.stdout.contains("is safe") && good.stdout.contains("nothing guards it"), "{}", good.stdout);
    let none = folder.run(&["why", "good.cu:3"]);
    assert_eq!((none.code, none.stderr.lines().count()), (2, 1), "{}", none.stderr);
    // Who calls a helper may stand in the files beside it.
    folder.write("h.cuh", "inline __device__ void helper() {\n    __syncthreads();\n}\n");
    folder
        .write("caller.cu", "#include \"h.cuh\"\n__global__ void k(int n) {\n    if (threadIdx.x < n) helper();\n}\n");
    let helper = folder.run(&["why", "h.cuh:2"]);
    assert!(helper.stdout.contains("[divergent-branch]") && helper.stdout.contains("caller.cu:3"), "{}", helper.stdout);
    let twice = helper.stdout.lines().filter(|line| line.contains("differs from thread to thread")).count();
    assert!(twice <= 2, "{}", helper.stdout);
    assert_eq!(folder.run(&["why", "good.cu"]).code, 2);
    assert_eq!(folder.run(&["why", "missing.cu:3"]).code, 2);
}

#[test]
fn why_goes_down_to_where_a_condition_comes_from() {
    let folder = Folder::new("why-roots");
    folder.write(
        "a.cu",
        "__global__ void k(int n, const int *q, float *o) {
    __shared__ int job;
    if (threadIdx.x == 0) job = q[blockIdx.x];
    __syncthreads();
    if (job < n) __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();
    int trips = 0;
    while (o[threadIdx.x + trips] > 0) trips++;
    if (trips > 3) __syncthreads();
    if (false) __syncthreads();
    if (q[blockIdx.x] > 3) __syncthreads();
    if (threadIdx.x == 0) job = 5;
    if (job > 3) __syncthreads();
}
",
    );
    let chain = |line: u32| folder.run(&["why", &format!("a.cu:{line}")]).stdout;
    let broadcast = chain(5);
    assert!(broadcast.contains("all read the same of `job`"), "{broadcast}");
    assert!(broadcast.contains("the argument `n` is the same for all threads"), "{broadcast}");
    // A strided loop begins with the thread's index, a private counter with the loop that counts.
    let strided = chain(6);
    assert!(strided.contains("`threadIdx.x` differs from thread to thread"), "{strided}");
    let counted = chain(9);
    assert!(counted.contains("threads leave this loop after different numbers of iterations"), "{counted}");
    assert!(counted.contains("`threadIdx.x` differs from thread to thread"), "{counted}");
    let dead = folder.run(&["why", "a.cu:10"]);
    assert_eq!(dead.code, 2);
    assert!(dead.stderr.contains("`__syncthreads` on line 10 of a.cu cannot run"), "{}", dead.stderr);
    let element = chain(11);
    assert!(element.contains("`blockIdx.x` differs from block to block"), "{element}");
    let racy = chain(13);
    assert!(racy.contains("thread 0 may be writing `job` here"), "{racy}");
    assert!(!racy.contains("an address of its own"), "{racy}");
}

#[test]
fn why_says_whom_a_barrier_waits_for() {
    let folder = Folder::new("why-whom");
    folder.write(
        "a.cu",
        "__global__ void k(int n) {
    if (threadIdx.x % 32 < 16) __syncwarp(0xffff);
    asm volatile(\"bar.sync 1, 64;\");
    int here = threadIdx.x + n;
    if (here - threadIdx.x > 3) __syncthreads();
}
",
    );
    let line = |line: u32| folder.run(&["why", &format!("a.cu:{line}")]).stdout;
    let lanes = line(2);
    assert!(lanes.contains("its mask names lanes 0..15") && !lanes.contains("every thread of the warp"), "{lanes}");
    assert!(lanes.contains("the mask names only lanes that come"), "{lanes}");
    let counted = line(3);
    assert!(counted.contains("asks for 64 threads"), "{counted}");
    let cancelled = line(5);
    assert!(cancelled.contains("what differs from thread to thread cancels here"), "{cancelled}");
}

#[test]
fn standard_input_goes_by_its_name() {
    let folder = Folder::new("stdin");
    let ran = folder.run_with(&["-", "--stdin-filename", "src/new.cu", "--format", "json"], &[], DIVERGENT.as_bytes());
    let report = ran.json();
    assert_eq!(report["findings"][0]["file"], "src/new.cu", "{report}");
    assert_eq!(report["findings"][0]["line"], 3);
}

#[test]
fn a_file_on_disk_gives_way_to_standard_input() {
    let folder = Folder::new("stdin-over-disk");
    folder.write("a.cu", CLEAN);
    let ran = folder.run_with(&["-", "--stdin-filename", "a.cu", "--format", "json"], &[], DIVERGENT.as_bytes());
    assert_eq!(ran.json()["summary"]["findings"], 1);
}

#[test]
fn the_root_is_read_and_the_paths_reported() {
    let folder = Folder::new("root");
    folder.write("tile.cuh", "__device__ void wait_all() {\n    __syncthreads();\n}\n");
    folder
        .write("a.cu", "#include \"tile.cuh\"\n__global__ void a(int n) {\n    if (threadIdx.x < n) wait_all();\n}\n");
    folder.write("b.cu", DIVERGENT);
    let files = |arguments: &[&str]| -> Vec<String> {
        let report = folder.run(&[arguments, &["--format", "json"]].concat()).json();
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().filter_map(|finding| finding["file"].as_str().map(str::to_string)).collect()
    };
    // The header's change is seen in the kernel that calls into it; the other kernel has nothing to do with it.
    assert_eq!(files(&["tile.cuh", "--root", "."]), ["a.cu"]);
    assert_eq!(files(&["tile.cuh"]), [""; 0]);
    // Where synclint.toml is, the root is known.
    folder.write("synclint.toml", "");
    assert_eq!(files(&["tile.cuh"]), ["a.cu"]);
    assert_eq!(files(&["b.cu"]), ["b.cu"]);
    assert_eq!(files(&[]), ["a.cu", "b.cu"]);
}

#[test]
fn excluded_files_are_read_only_if_named() {
    let folder = Folder::new("excluded");
    folder.write("old/a.cu", DIVERGENT);
    folder.write("synclint.toml", "exclude = [\"old/\", \"olden/\"]\n");
    assert_eq!(folder.run(&["."]).code, 0);
    assert_eq!(folder.run(&["old/a.cu"]).code, 1);
    assert_eq!(folder.run(&["old/a.cu", "--force-exclude"]).code, 0);
    let told = folder.run(&[".", "--verbose"]).stderr;
    assert!(told.contains("the path `olden/` of `exclude` fits nothing that was looked at\n"), "{told}");
    assert!(!told.contains("`old/`"), "{told}");
    folder.write(".gitignore", "made/\n");
    folder.write("made/a.cu", DIVERGENT);
    assert_eq!(folder.run(&["."]).code, 0);
    assert_eq!(folder.run(&[".", "--no-ignore"]).code, 1);
}

/// What to try is the same for all findings of a kernel, and is said at the first.
#[test]
fn what_to_try_is_said_once_for_a_kernel() {
    let folder = Folder::new("try-once");
    folder.write(
        "a.cu",
        "__global__ void a(int *v) {\n    if (threadIdx.x < 3) __syncthreads();\n    if (threadIdx.x < 5) __syncthreads();\n}\n\
         __global__ void b(int *v) {\n    if (threadIdx.x < 3) __syncthreads();\n}\n",
    );
    let human = folder.run(&["a.cu"]).stdout;
    assert_eq!((human.matches("[divergent-branch]").count(), human.matches("  try:  ").count()), (3, 2), "{human}");
    let json = folder.run(&["a.cu", "--format", "json"]).json();
    let told = json["findings"].as_array().into_iter().flatten().filter(|it| it["confirm"].is_string()).count();
    assert_eq!(told, 3, "each for itself where programs read");
}

/// One line is one finding, so that lines can be counted and searched.
#[test]
fn concise_is_one_line_for_each_finding() {
    let folder = Folder::new("concise");
    folder.write("a.cu", DIVERGENT);
    let ran = folder.run(&["a.cu", "--format", "concise"]);
    assert_eq!(
        ran.stdout,
        "a.cu:3:9: error: `__syncthreads` is reached by only part of the block [divergent-branch]\n"
    );
}

/// What rests on a guess is a warning: on a method told by its name alone, on a divisor out of view.
#[test]
fn guesses_are_warnings() {
    let folder = Folder::new("guesses");
    folder.write("named.cu", include_str!("../../fixtures/calls/20-methods-told-by-name.cu"));
    folder.write("divided.cu", include_str!("../../fixtures/groups/36-tiles-of-open-size.cu"));
    let levels = |file: &str| -> Vec<String> {
        let found = folder.run(&[file, "--format", "concise"]).stdout;
        found.lines().filter_map(|line| Some(line.split(": ").nth(1)?.to_string())).collect()
    };
    assert_eq!(levels("named.cu"), ["warning", "error"]);
    assert_eq!(levels("divided.cu"), ["error", "error", "warning"]);
}

/// The help of each verb tells of its own paths.
#[test]
fn help_tells_what_is_read_without_paths() {
    let folder = Folder::new("help-paths");
    for (verb, told) in [
        ("check", "[default: .]"),
        ("why", "[default: what `check` would read if FILE lies in it, else the folder of FILE]"),
        ("graph", "[default: what `check` would read if FILE lies in it, else the folder of FILE]"),
    ] {
        let help = folder.run(&[verb, "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(told), "{verb}: {help}");
        assert_eq!(help.contains("[default: .]"), verb == "check", "{verb}: {help}");
    }
}
