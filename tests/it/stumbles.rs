//! What the first users stumbled over: each is told in words that say what to do.

use crate::program::Folder;

fn told(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(&[&["--isolated"], arguments].concat());
    format!("{}{}", ran.stdout, ran.stderr)
}

/// A single file: the header that is lacking is named once, where something may come from it.
#[test]
fn a_header_that_may_matter_is_named() {
    let folder = Folder::new("stumble-header");
    folder.write("call.cu", "#include \"x.cuh\"\n#include \"y.cuh\"\n__global__ void k(int *v) {\n    v[0] = 1;\n    wait_all(v);\n    wait_all(v);\n}\n");
    let wanted = "synclint: \"x.cuh\", included in call.cu:1, and 1 other header were not found; `wait_all`, call.cu:5, may be from there: -I DIR names a folder of headers\n";
    let call = folder.run(&["call.cu", "--isolated"]);
    assert!(call.code == 0 && call.stderr.ends_with(wanted), "{}", call.stderr);
    assert_eq!(folder.run(&["call.cu", "--isolated", "-q"]).stderr, "");
    for (name, body) in [("macro.cu", "SYNC;"), ("value.cu", "if (threadIdx.x < WIDTH) __syncthreads();")] {
        folder.write(name, format!("#include \"x.cuh\"\n__global__ void k(int *v) {{ {body} }}\n"));
        assert!(told(&folder, &[name]).contains("synclint: \"x.cuh\", included in"), "{name}");
    }
    // Nothing in a kernel can come of these; what the toolkit declares is known not to be in view.
    folder.write(
        "host.cu",
        "#include \"x.cuh\"\n#include <climits>\n__global__ void k(int *v, int n) {\n    __syncthreads();\n    \
         printf(\"%d\", n);\n    for (int i = 0; i < n; i++) v[i] = min(v[1], INT_MAX);\n}\nvoid run() { check(1); }\n",
    );
    assert!(!told(&folder, &["host.cu"]).contains("x.cuh"), "{}", told(&folder, &["host.cu"]));
    // Whoever reads a tree knows that libraries are out of view; and with the folder there is nothing to tell.
    assert!(!told(&folder, &["."]).contains("not found"), "{}", told(&folder, &["."]));
    folder.write("lib/x.cuh", "__device__ void wait_all(int *v) { __syncthreads(); }\n");
    folder.write("lib/y.cuh", "");
    assert!(!told(&folder, &["call.cu", "-I", "lib"]).contains("x.cuh"));
}

/// The story says that the block's shape decides, the help what to write; and that is right.
#[test]
fn a_shape_that_would_settle_it_is_told() {
    let folder = Folder::new("stumble-shape");
    let settled = [
        ("if (threadIdx.x < 256) __syncthreads();", "256 threads", "[256, 1, 1]"),
        ("if (threadIdx.x < 96) __syncthreads();", "96 threads", "[96, 1, 1]"),
        ("for (int i = threadIdx.x; i < 1024; i += 256) __syncthreads();", "256 threads", "[256, 1, 1]"),
        ("if (threadIdx.y == 0) __syncwarp();", "32 by 8 threads", "[32, 8, 1]"),
    ];
    for (body, block, written) in settled {
        folder.write("a.cu", format!("namespace n {{ __global__ void k(int *v) {{\n    {body}\n}} }}\n"));
        let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
        let finding = &report["findings"][0];
        let branch = finding["cause"].as_array().and_then(|cause| cause.last()).expect("a branch");
        let message = branch["message"].as_str().unwrap_or_default();
        let wanted = format!("in a block of {block} they would not, but nothing in view tells its shape");
        assert!(message.ends_with(&wanted), "{body}: {message}");
        let help = finding["help"].as_str().unwrap_or_default();
        assert!(help.ends_with(&format!("under `[kernel.\"k\"]` write `block = {written}`")), "{body}: {help}");
        folder.write("synclint.toml", format!("[kernel.\"k\"]\nblock = {written}\n"));
        assert_eq!(folder.run(&["a.cu", "--config", "synclint.toml"]).code, 0, "{body}");
    }
    for body in [
        "if (threadIdx.x < n) __syncthreads();",
        "if (threadIdx.x == 0) __syncthreads();",
        "if (v[threadIdx.x]) __syncthreads();",
        // In a block of 256 nobody would come.
        "if (threadIdx.x < 256) return; __syncthreads();",
        "for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();",
    ] {
        folder.write("a.cu", format!("__global__ void k(int *v, int n) {{\n    {body}\n}}\n"));
        let said = told(&folder, &["a.cu"]);
        assert!(said.contains("[divergent-") && !said.contains("its shape") && !said.contains("[kernel."), "{said}");
    }
    // With a launch in view the shape is known.
    folder.write(
        "a.cu",
        "__global__ void k() { if (threadIdx.x < 256) __syncthreads(); }\nvoid run() { k<<<1, 512>>>(); }\n",
    );
    assert!(!told(&folder, &["a.cu"]).contains("its shape"));
}

#[test]
fn races_name_the_cell_and_the_writer() {
    let folder = Folder::new("stumble-race");
    let of = |body: &str| -> String {
        folder.write("a.cu", format!("struct State {{ int phase; }};\n__global__ void k(int *done, State *state, int *v) {{\n    __shared__ int flag;\n    __shared__ int flags[4];\n    {body}\n}}\n"));
        let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
        let finding = &report["findings"][0];
        assert_eq!(finding["rule"], "racy-broadcast", "{body}: {report}");
        let cause = finding["cause"].as_array().into_iter().flatten();
        let mut said: Vec<&str> = cause.filter_map(|note| note["message"].as_str()).collect();
        said.extend(finding["help"].as_str());
        assert_eq!(
            finding["confirm"].is_null(),
            said.concat().contains("of another block"),
            "racecheck watches one block"
        );
        said.join("\n")
    };
    let own = of("if (threadIdx.x == 0) flag = v[blockIdx.x];\n    if (flag) __syncthreads();");
    assert!(
        own.starts_with("thread 0 may be writing `flag` here\n`flag` is read here, with no barrier between\n"),
        "{own}"
    );
    assert!(own.contains("put a barrier between the write and the read"), "{own}");
    let slot = of("flags[2] = v[threadIdx.x];\n    if (flags[2]) __syncthreads();");
    assert!(slot.starts_with("another thread may be writing `flags[2]` here\n"), "{slot}");
    for (body, cell) in [
        (
            "if (threadIdx.x == 0) done[0] = v[blockIdx.x];\n    __syncthreads();\n    if (done[0]) __syncthreads();",
            "done[0]",
        ),
        (
            "if (threadIdx.x == 0) atomicAdd(done, 1);\n    __syncthreads();\n    if (*done > 7) __syncthreads();",
            "*done",
        ),
        (
            "if (threadIdx.x == 0) state->phase = v[blockIdx.x];\n    __syncthreads();\n    if (state->phase) __syncthreads();",
            "state->phase",
        ),
    ] {
        let said = of(body);
        let wanted = format!(
            "thread 0 of another block may be writing `{cell}` here\n`{cell}` is read here, and no barrier of the block holds other blocks back\n"
        );
        assert!(said.starts_with(&wanted), "{said}");
        assert!(!said.contains("__syncthreads") && said.contains("`grid.sync()`"), "{said}");
    }
}

#[test]
fn counts_are_rounded_up_only_where_there_is_one() {
    let folder = Folder::new("stumble-round");
    let help = |body: &str| {
        folder.write(
            "a.cu",
            format!(
                "struct Node {{ Node *next; }};\n__global__ void k(int *v, int n, Node **heads) {{\n    {body}\n}}\n"
            ),
        );
        let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
        report["findings"][0]["help"].as_str().unwrap_or_default().to_string()
    };
    for body in [
        "for (int i = threadIdx.x; i < n; i += blockDim.x) { __syncthreads(); v[i] = 1; }",
        "for (int i = threadIdx.x; ; i += 256) { if (i >= n) break; __syncthreads(); v[i] = 1; }",
    ] {
        assert!(help(body).contains("(round the count up)"), "{body}: {}", help(body));
    }
    let most = help("for (int i = 0; i < v[threadIdx.x]; i++) __syncthreads();");
    assert!(most.contains("its maximum over the block"), "{most}");
    for body in [
        "for (Node *p = heads[threadIdx.x]; p; p = p->next) __syncthreads();",
        "while (true) { __syncthreads(); if (v[threadIdx.x] > n) break; v[threadIdx.x]++; }",
    ] {
        let help = help(body);
        assert!(!help.contains("count") && help.contains("`__syncthreads_or` tells"), "{body}: {help}");
    }
}

#[test]
fn slips_in_the_settings_are_answered_with_what_to_write() {
    let folder = Folder::new("stumble-settings");
    folder.write("a.cu", "__global__ void k() { if (threadIdx.x < 3) __syncthreads(); }\n");
    for (text, wanted) in [
        ("[barrier]\nnames = [\"x\"]\n", "help: there may be several of them: write `[[barrier]]`"),
        ("[[kernel]]\nname = \"k\"\n", "help: write `[kernel.NAME]` with the kernel's name"),
        ("[kernel]\nblock = [64, 1, 1]\n", "help: name the kernel: `[kernel.NAME]`"),
        ("fail-on = \"warn\"\n", "help: did you mean `warning`?"),
        ("[rules]\nwarp-mask = \"info\"\n", "help: did you mean `note`?"),
        ("[rules]\nwarp-mask = \"ignore\"\n", "help: did you mean `off`?"),
        (
            "[rules]\n\"divergent-*\" = \"off\"\n",
            "each rule has a line of its own; `divergent-*` would be `divergent-branch`,",
        ),
        ("define = [\"1X=2\"]\n", "`1X=2` names no macro"),
        ("define = [\"A\", \"=2\"]\n", "`=2` names no macro"),
        ("undefine = [\"A=2\"]\n", "`A=2` names no macro"),
    ] {
        folder.write("synclint.toml", text);
        let ran = folder.run(&["a.cu"]);
        assert!(ran.code == 2 && ran.stderr.contains(wanted), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains("[synclint.toml:"), "{text}: {}", ran.stderr);
    }
    folder.write("synclint.toml", "define = [\"A\", \"B=2\", \"C(x)=x\"]\nundefine = [\"D\"]\n");
    assert_eq!(folder.run(&["a.cu"]).code, 1);
}

#[test]
fn rules_are_chosen_by_patterns_too() {
    let folder = Folder::new("stumble-select");
    folder.write(
        "a.cu",
        "__global__ void k(int n) {\n    if (threadIdx.x < 3) __syncthreads();\n    if (threadIdx.x % 32 < 3) __syncwarp();\n}\n",
    );
    let found = |arguments: &[&str]| -> Vec<String> {
        let ran = folder.run(&[&["a.cu", "--isolated", "--format", "concise"], arguments].concat());
        ran.stdout.lines().filter_map(|line| Some(line.rsplit_once('[')?.1.trim_end_matches(']').to_string())).collect()
    };
    assert_eq!(found(&["--select", "divergent-*"]), ["divergent-branch"]);
    assert_eq!(found(&["--ignore", "divergent-*"]), ["warp-mask"]);
    assert_eq!(found(&["--select", "*-mask,divergent-loop"]), ["warp-mask"]);
    assert_eq!(found(&["--select", "*"]), ["divergent-branch", "warp-mask"]);
    let none = folder.run(&["a.cu", "--select", "loop-*"]);
    assert!(none.code == 2 && none.stderr.contains("invalid value 'loop-*'"), "{}", none.stderr);
}

#[test]
fn a_pattern_in_a_suppression_is_answered() {
    let folder = Folder::new("stumble-suppression");
    folder.write("a.cu", "__global__ void k() {\n    __syncthreads();  // synclint: ignore[divergent-*]\n}\n");
    let wanted = "help: write the rules out: `ignore[divergent-branch, divergent-loop, divergent-exit]`";
    assert!(told(&folder, &["a.cu"]).contains(wanted), "{}", told(&folder, &["a.cu"]));
}

/// Where the first excerpt is headed by another place, the message names the finding's own.
#[test]
fn the_place_of_a_finding_is_always_told() {
    let folder = Folder::new("stumble-place");
    let filler = "    v[threadIdx.x] = 1;\n".repeat(12);
    folder.write(
        "a.cu",
        format!("__global__ void k(int *v, int n) {{\n    int t = threadIdx.x;\n{filler}    if (t < n) {{\n{filler}        __syncthreads();\n    }}\n}}\n"),
    );
    let far = folder.run(&["a.cu", "--isolated"]).stdout;
    assert!(far.starts_with("  × a.cu:28:9: `__syncthreads` is reached by only part of the block"), "{far}");
    folder.write("a.cu", "__global__ void k(int n) {\n    if (threadIdx.x < n) __syncthreads();\n}\n");
    let near = folder.run(&["a.cu", "--isolated"]).stdout;
    assert!(
        near.starts_with(
            "  × `__syncthreads` is reached by only part of the block [divergent-branch]\n   ╭─[a.cu:2:26]"
        ),
        "{near}"
    );
}

/// One story for all barriers below a branch; every other format has one finding for each.
#[test]
fn findings_of_one_cause_are_told_once() {
    let folder = Folder::new("stumble-groups");
    folder.write(
        "a.cu",
        "__device__ void wait() { __syncthreads(); }\n__global__ void k(int n) {\n    if (threadIdx.x >= n) return;\n    \
         __syncthreads();\n    __syncthreads();\n    wait();\n}\n__global__ void other(int n) {\n    if (threadIdx.x >= n) return;\n    __syncthreads();\n}\n",
    );
    let ran = folder.run(&["a.cu", "--isolated", "--statistics"]);
    assert_eq!(ran.stdout.matches("[divergent-exit]").count(), 2, "{}", ran.stdout);
    let others = "  also: a.cu:5:5 __syncthreads\n        a.cu:6:5 __syncthreads, through this call\n  help: ";
    assert!(ran.stdout.contains(others), "{}", ran.stdout);
    assert!(
        ran.stderr.contains(": 4 errors") && ran.stderr.contains("     4  error    divergent-exit\n"),
        "{}",
        ran.stderr
    );
    let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(4));
    assert_eq!(folder.run(&["a.cu", "--isolated", "--format", "concise"]).stdout.lines().count(), 4);
}

#[test]
fn statistics_are_sorted_and_to_be_had_as_json() {
    let folder = Folder::new("stumble-statistics");
    folder.write(
        "a.cu",
        "__global__ void k(int *v, int n) {\n    if (threadIdx.x < n) { v[0] = 1; __syncthreads(); }\n    \
         if (threadIdx.x % 32 < 3) __syncwarp();\n    if (v[threadIdx.x]) __syncwarp();\n    if (threadIdx.y == 0) __syncwarp();\n    far(v);\n}\n",
    );
    let ran = folder.run(&["a.cu", "--isolated", "--statistics", "--quiet", "--format", "json"]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "     2  error    warp-mask",
            "     1  error    divergent-branch  1 with a change that --fix makes",
            "     1  warning  warp-mask",
        ]
    );
    let statistics = &ran.json()["statistics"];
    assert_eq!(
        statistics["rules"][0],
        serde_json::json!({"rule": "warp-mask", "severity": "error", "findings": 2, "fixable": 0})
    );
    assert_eq!(statistics["unseen"][0], serde_json::json!({"name": "far", "calls": 1, "file": "a.cu", "line": 6}));
    let plain = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
    assert!(plain.get("statistics").is_none());
    let lines = folder.run(&["a.cu", "--isolated", "--statistics", "--format", "jsonl"]).stdout;
    assert!(lines.lines().last().is_some_and(|last| last.contains("\"statistics\":{")), "{lines}");
}

/// Excerpts come as the story does.
#[test]
fn excerpts_follow_the_story() {
    let folder = Folder::new("stumble-order");
    folder.write("wait.cuh", "__device__ inline void wait(bool all) {\n    if (all)\n        __syncthreads();\n}\n");
    folder.write("a.cu", "#include \"wait.cuh\"\n__global__ void k(int n) {\n    wait(threadIdx.x < n);\n}\n");
    let ran = folder.run(&["a.cu", "wait.cuh", "--isolated"]).stdout;
    let place = |text: &str| ran.find(text).unwrap_or_else(|| panic!("{text}: {ran}"));
    assert!(place("[divergent-branch]") < place("[a.cu:3:"), "{ran}");
    assert!(place("1. `threadIdx.x`") < place("every thread of the block has to arrive here"), "{ran}");
    assert!(place("[a.cu:3:") < place("[wait.cuh:3:"), "{ran}");
    // In one file, too: what is called stands above.
    let filler = "\n".repeat(9);
    folder.write(
        "b.cu",
        format!("__device__ inline void wait(bool all) {{\n    if (all)\n        __syncthreads();\n}}\n{filler}__global__ void k(int n) {{\n    wait(threadIdx.x < n);\n}}\n"),
    );
    let ran = folder.run(&["b.cu", "--isolated"]).stdout;
    let steps: Vec<Option<usize>> = (1..=4).map(|step| ran.find(&format!("{step}. "))).collect();
    assert!(steps[1] < steps[2] && steps[0] < steps[2], "{ran}");
    assert!(ran.contains("steps 3 and 4 are in b.cu"), "{ran}");
}

#[test]
fn a_header_by_itself_is_explained() {
    let folder = Folder::new("stumble-alone");
    folder.write("wait.cuh", "__device__ inline void wait(int n) {\n    if (n > 3) __syncthreads();\n}\n");
    let alone = told(&folder, &["wait.cuh"]);
    assert!(
        alone.contains("no kernel was read: functions that wait are checked as if a kernel called them"),
        "{alone}"
    );
    folder.write("a.cu", "#include \"wait.cuh\"\n__global__ void k(int *v) { wait(v[threadIdx.x]); }\n");
    let whole = told(&folder, &["wait.cuh", "--root", "."]);
    assert!(!whole.contains("no kernel"), "{whole}");
}

/// A baseline of the wrong folder knows nothing.
#[test]
fn a_baseline_of_nothing_says_why() {
    let folder = Folder::new("stumble-baseline");
    let ran = folder.run(&["baseline", "--isolated"]);
    assert!(
        ran.stderr.starts_with("synclint: 0 findings written to synclint-baseline.json\nsynclint: looked for .cu,"),
        "{}",
        ran.stderr
    );
}

/// A page with many findings has a filter, which needs nothing from elsewhere.
#[test]
fn pages_with_many_findings_have_a_filter() {
    let folder = Folder::new("stumble-filter");
    let kernel = |count: usize| {
        format!(
            "__global__ void k(int n) {{\n    if (threadIdx.x < n) {{\n{}    }}\n}}\n",
            "        __syncthreads();\n".repeat(count)
        )
    };
    folder.write("a.cu", kernel(5));
    folder.write("b<c>.cu", kernel(3));
    let page = folder.run(&[".", "--isolated", "--format", "html"]).stdout;
    for part in [
        "<form class=\"filter\" role=\"search\" aria-label=\"Filter findings\" hidden>",
        ">a.cu (5)</option>",
        ">b&lt;c&gt;.cu (3)</option>",
        "<option value=\"divergent-branch\">divergent-branch (8)</option>",
        "<option value=\"error\">error (8)</option>",
        "data-rule=\"divergent-branch\" data-level=\"error\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains(" src=") && !page.contains("@import") && !page.contains("url(") && !page.contains("fetch("));
    let few = folder.run(&["a.cu", "--isolated", "--format", "html"]).stdout;
    assert!(!few.contains("<script") && !few.contains("<form"));
}
