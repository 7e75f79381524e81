//! What a trial of the program brought up: comments beside code, what `why` reads and says, pictures, `--fix -`.

use crate::program::Folder;

const HELPER: &str = "__device__ void publish(int *p) {\n    __syncthreads();\n}\n";
const CALLER: &str =
    "#include \"../include/h.cuh\"\n__global__ void k(int *p, int n) {\n    if (threadIdx.x < n) publish(p);\n}\n";

/// The lines of `a.cu` that are reported.
#[track_caller]
fn lines(folder: &Folder, text: &str) -> Vec<u32> {
    folder.write("a.cu", text);
    let ran = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
    let findings = ran["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().filter_map(|finding| finding["line"].as_u64()).map(|line| line as u32).collect()
}

#[test]
fn a_comment_beside_code_covers_its_own_line_only() {
    let folder = Folder::new("trial-beside");
    let guarded = "if (threadIdx.x < n) __syncthreads();";
    let kernel = |lines: [&str; 3]| format!("__global__ void k(int n) {{\n{}\n}}\n", lines.join("\n"));
    let ignore = "/* synclint: ignore[divergent-branch] */";
    // Lines 2, 3 and 4; the first begins with the comment.
    assert_eq!(lines(&folder, &kernel([&format!("{ignore} {guarded}"), guarded, guarded])), [3, 4]);
    assert_eq!(lines(&folder, &kernel([&format!("{guarded} {ignore}"), guarded, guarded])), [3, 4]);
    for alone in
        [ignore.to_string(), format!("{ignore} // why"), format!("/* why */ {ignore}   "), ignore.replace("*/", "\n*/")]
    {
        let text = kernel([&alone, guarded, guarded]);
        assert_eq!(lines(&folder, &text), [text.lines().count() as u32 - 1], "{alone}");
    }
}

#[test]
fn why_sees_the_callers_that_check_sees() {
    let folder = Folder::new("trial-callers");
    folder.write("app/include/h.cuh", HELPER);
    folder.write("app/src/a.cu", CALLER);
    let asked = |below: &str, arguments: &[&str]| folder.run_below(below, &[&["why"], arguments].concat()).stdout;
    let is_flagged =
        |text: &str| text.contains("[divergent-branch]") && text.contains("a.cu:3") && !text.contains("is safe");
    // From the top, from a folder inside it, and with the settings' folder as the program.
    assert!(is_flagged(&asked("", &["app/include/h.cuh:2"])));
    assert!(is_flagged(&asked("app", &["include/h.cuh:2", "--isolated"])));
    let alone = asked("app/include", &["h.cuh:2"]);
    assert!(alone.contains("is safe within `publish`, whose callers are not in view"), "{alone}");
    assert!(alone.contains("no caller of `publish` is in view"), "{alone}");
    folder.write("app/synclint.toml", "");
    assert!(is_flagged(&asked("app/include", &["h.cuh:2"])));
    let drawn = folder.run_below("app", &["graph", "src/a.cu"]);
    assert!(drawn.stdout.contains("in publish (include/h.cuh)"), "{}{}", drawn.stdout, drawn.stderr);
    // A file elsewhere: what lies in its folder.
    let elsewhere = asked("app/src", &["../include/h.cuh:2", "--isolated"]);
    assert!(elsewhere.contains("no caller of `publish` is in view"), "{elsewhere}");
    // Of a working folder with many programs the file's own is read.
    folder.write("app/.git/HEAD", "");
    folder.write("other/b.cu", CALLER.replace("../include", "../app/include"));
    let own = asked("", &["app/include/h.cuh:2", "--isolated"]);
    assert!(is_flagged(&own) && !own.contains("b.cu"), "{own}");
    // A kernel has no callers to look for.
    assert!(!asked("app", &["src/a.cu:3"]).contains("no caller"));
}

#[test]
fn why_says_what_is_so_of_masks_and_counts() {
    let folder = Folder::new("trial-why");
    folder.write(
        "a.cu",
        "__global__ void ended(int *v, int n) {
    if (threadIdx.x >= n) return;
    v[threadIdx.x] = __shfl_down_sync(0xffffffff, v[threadIdx.x], 1);
}
__global__ void masked(int *v) {
    if (threadIdx.x % 32 < 16) __syncwarp(0xffff);
}
__global__ void given(int *v, unsigned mask) {
    if (threadIdx.x % 32 < 16) __syncwarp(mask);
}
__global__ void ways(int *v) {
    if (threadIdx.x % 32 < 16) __syncwarp();
    else __syncwarp();
}
#include <cuda/barrier>
__global__ void object(int *p, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    if (threadIdx.x == 0) init(&full, n);
    __syncthreads();
    if (threadIdx.x < 64) full.arrive_and_wait();
}
__global__ void runs(int *p) {
    if (p[threadIdx.x / 64]) __syncwarp();
}
",
    );
    for (line, told, not) in [
        (3, "a mask may name lanes that have ended", "names only lanes that come"),
        (6, "the mask names only lanes that come", "ended"),
        (9, "is not judged: which lanes its mask names is not known", "is safe"),
        (12, "there is one on every way", "names only lanes"),
        (20, "is not judged: how many arrivals it waits for", "every thread of"),
        (23, "the same for the whole run of 64 threads: enough", "tile of"),
    ] {
        let ran = folder.run(&["why", &format!("a.cu:{line}"), "--isolated"]);
        assert!(ran.stdout.contains(told) && !ran.stdout.contains(not), "{line}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_mask_that_is_wrong_in_itself_is_told_so() {
    let folder = Folder::new("trial-mask");
    let told = |body: &str| {
        folder
            .write("a.cu", format!("__global__ void k(int *v) {{\n    int lane = threadIdx.x % 32;\n    {body}\n}}\n"));
        folder.run(&["a.cu", "--isolated"]).stdout
    };
    let short = told("v[lane] = __shfl_down_sync(0xfffffff, v[lane], 1);");
    for part in [
        "the mask names 28 lanes and leaves out callers 28..31 [",
        "── the mask names lanes 0..27\n",
        "help: `0xffffffff` names the whole warp\n",
    ] {
        assert!(short.contains(part), "{part}: {short}");
    }
    let width = told("v[lane] = __shfl_sync(0xffffffff, v[lane], 3, 12);");
    assert!(width.contains("this one is 12"), "{width}");
    let few = told("if (lane < 8) __syncwarp(0xf);");
    assert!(few.contains("lanes  ■■■■■■■■ □□□□□□□□ □□□□□□□□ □□□□□□□□\n"), "{few}");
    assert!(few.contains("■ arrive: lanes 0..7   □ not asked for: lanes 8..31   mask: 0x0000000f"), "{few}");
    assert!(few.contains("help: name all lanes that come, 0..7: `0x000000ff`\n"), "{few}");
    for text in [short, width, few] {
        assert!(
            !text.contains("every lane of the mask") && !text.contains("missing") && !text.contains("branch\n"),
            "{text}"
        );
    }
    // Where somebody is missing, it is said as before.
    let missing = told("if (lane < 8) __syncwarp();");
    assert!(
        missing.contains("every lane of the mask has to arrive here") && missing.contains("missing: lanes 8..31"),
        "{missing}"
    );
}

#[test]
fn what_has_no_name_is_called_what_it_is() {
    let folder = Folder::new("trial-names");
    folder.write(
        "a.cu",
        "__device__ int pick(int *p, int n) {
    if (threadIdx.x < n) return p[0];
    return 3;
}
__global__ void k(int *p, int n) {
    int x = threadIdx.x < n ? __ldg(&p[blockIdx.x]) + p[1] : 3;
    if (x > 1) __syncthreads();
    if (pick(p, n) > 1) __syncthreads();
    int y = threadIdx.y ? __syncthreads_count(p[0]) : 3;
    if (y > 1) __syncthreads();
}
",
    );
    let ran = folder.run(&["a.cu", "--isolated"]).stdout;
    assert!(ran.contains("which value the `?:` gets is decided here"), "{ran}");
    for name in ["`conditional`", "`result`", "`temporary`", "`the "] {
        assert!(!ran.contains(name), "{name}: {ran}");
    }
}

#[test]
fn the_picture_of_a_named_barrier_says_what_the_text_says() {
    let folder = Folder::new("trial-named");
    let told = |body: &str| {
        folder.write(
            "a.cu",
            format!("__global__ void k(int *v) {{\n    {body}\n}}\nvoid go(int *v) {{ k<<<1, 128>>>(v); }}\n"),
        );
        folder.run(&["a.cu", "--isolated"]).stdout
    };
    let counts = told(
        "if (threadIdx.x < 64) asm volatile(\"bar.sync 1, 96;\");\n    else asm volatile(\"barrier.arrive 1, 128;\");",
    );
    assert!(counts.contains("arrive here with a count of 128") && !counts.contains("missing"), "{counts}");
    assert!(
        counts.contains("it reports counts that disagree\n") || counts.contains("counts\n        that disagree\n"),
        "{counts}"
    );
    let many = told("asm volatile(\"bar.sync 3, 256;\");");
    assert!(
        many.contains("but the block has 128") && !many.contains("missing") && !many.contains("disagree"),
        "{many}"
    );
    let number = told("asm volatile(\"bar.sync 17, 64;\");");
    assert!(number.contains("is none of them") && !number.contains("disagree"), "{number}");
    let count = told("asm volatile(\"bar.sync 2, 48;\");");
    assert!(count.contains("no whole number of warps") && !count.contains("disagree"), "{count}");
    // Who stays away altogether is missing.
    let away = told("if (threadIdx.x < 64) asm volatile(\"bar.sync 3, 128;\");");
    assert!(away.contains("missing: threads 64..127"), "{away}");
}

#[test]
fn what_to_try_names_inputs_only() {
    let folder = Folder::new("trial-try");
    folder.write(
        "a.cu",
        "__global__ void turns(int *v, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();
}
__global__ void warps(int *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) __syncwarp();
}
",
    );
    let ran = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
    for finding in ran["findings"].as_array().expect("findings") {
        let confirm = finding["confirm"].as_str().expect("a dynamic check");
        let given = finding["witness"]["given"].as_str().expect("a case");
        assert!(given.contains("trip") || given.contains(", warp "), "{given}");
        assert!(confirm.contains("with a block of 128 threads, n = 33; "), "{confirm}");
    }
}

#[test]
fn files_are_listed() {
    let folder = Folder::new("trial-files");
    for name in ["a.cu", "sub/b.cuh", "old/c.cu", "build/d.cu", ".hidden/e.cu"] {
        folder.write(name, HELPER);
    }
    folder.write("notes.txt", "text");
    folder.write("data.cu", b"__global__ void k() {}\0\0\0\0\0\0");
    folder.write(".gitignore", "build/\n");
    folder.write("synclint.toml", "exclude = [\"old/\"]\n");
    let files = folder.run(&["--show-files"]);
    assert_eq!((files.code, files.stdout.as_str(), files.stderr.as_str()), (0, "a.cu\nsub/b.cuh\n", ""));
    for arguments in [&["--show-files", "-v"][..], &["-v"], &["-v", "--statistics"]] {
        let told = folder.run(arguments).stderr;
        for line in [
            "not read: data.cu: binary data\n",
            "not read: old: excluded by the settings\n",
            "not read: build: hidden, or named by .gitignore\n",
            "not read: .hidden: hidden, or named by .gitignore\n",
        ] {
            assert_eq!(told.matches(line).count(), 1, "{arguments:?}: {line}{told}");
        }
    }
    assert!(!folder.run(&["--statistics"]).stderr.contains("build"));
    assert_eq!(folder.run(&["--show-files", "missing.cu"]).code, 2);
}

#[test]
fn an_unknown_rule_in_the_settings_is_met_with_the_list() {
    let folder = Folder::new("trial-rule");
    folder.write("a.cu", HELPER);
    let told = |name: &str| {
        folder.write("synclint.toml", format!("[rules]\n{name} = \"off\"\n"));
        folder.run(&["a.cu"]).stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(told("bogus").contains("no rule is called `bogus`; there are divergent-branch, divergent-loop"));
    assert!(told("warp-masks").contains("did you mean `warp-mask`?"));
}

#[test]
fn standard_input_is_mended_to_standard_output() {
    let folder = Folder::new("trial-fix");
    let text = "__global__ void k(int *v) {\r\n    if (threadIdx.x < 3) {\r\n        v[0] = 1;\r\n        __syncthreads();\r\n    }\r\n}\r\n";
    folder.write("a.cu", text);
    let made = folder.run_with(&["--fix", "-"], &[], text.as_bytes());
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert_eq!(folder.run(&["--fix", "a.cu"]).code, 0);
    assert_eq!(made.stdout, folder.read("a.cu"));
    assert_ne!(made.stdout, text);
    assert!(made.stderr.contains("nothing found"), "{}", made.stderr);
    // What cannot be mended stays as it is, and is told beside it; the file of that name is not touched.
    let left = "__global__ void k(int *v, int n) {\n    if (threadIdx.x >= n) return;\n    __syncthreads();\n    v[0] = 1;\n}\n";
    folder.write("b.cu", HELPER);
    let ran = folder.run_with(
        &["--fix", "--stdin-filename", "b.cu", "--format", "concise", "--isolated"],
        &[],
        left.as_bytes(),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (1, left));
    assert!(ran.stderr.starts_with("b.cu:3:5: error: "), "{}", ran.stderr);
    assert_eq!(folder.read("b.cu"), HELPER);
    assert_eq!(folder.run_with(&["--fix", "-", "a.cu"], &[], b"").code, 2);
    assert_eq!(folder.run_with(&["--fix", "-", "--output", "json=-"], &[], b"").code, 2);
}

#[test]
fn the_baseline_at_the_top_of_the_repository_is_found() {
    let folder = Folder::new("trial-baseline");
    folder.write("repo/.git/HEAD", "");
    folder.write("repo/src/a.cu", "__global__ void k(int n) {\n    if (threadIdx.x < n) __syncthreads();\n}\n");
    assert_eq!(folder.run_below("repo", &["baseline"]).code, 0);
    let below = folder.run_below("repo/src", &[]);
    assert!(below.code == 0 && below.stderr.contains("1 in the baseline"), "{}", below.stderr);
    // It is brought up to date where it is.
    let again = folder.run_below("repo/src", &["baseline"]);
    assert!(again.stderr.contains("written to ../synclint-baseline.json"), "{}", again.stderr);
    // One that lies above the repository is another's.
    folder.write("other/synclint-baseline.json", "{\"version\": 1, \"findings\": []}");
    folder.write("other/repo/.git/HEAD", "");
    folder.write("other/repo/a.cu", "__global__ void k() {}\n");
    let apart = folder.run_below("other/repo", &["baseline"]);
    assert!(apart.stderr.contains("written to synclint-baseline.json"), "{}", apart.stderr);
}

#[test]
fn a_page_of_the_manual_begins_with_a_synopsis() {
    let folder = Folder::new("trial-man");
    let page = folder.run(&["man", "check"]).stdout;
    let synopsis = page.split(".SH SYNOPSIS\n").nth(1).and_then(|rest| rest.lines().next());
    assert_eq!(synopsis, Some("synclint check [OPTIONS] [PATH]..."));
    assert!(page.contains(".SH DESCRIPTION\n") && page.contains("\\fI<LEVEL>\\fR"), "{page}");
    let all = folder.run(&["man"]).stdout;
    assert!(all.contains(".SH SYNOPSIS\nsynclint [check] [OPTIONS] [PATH]...\n.br\nsynclint VERB ...\n"), "{all}");
}
