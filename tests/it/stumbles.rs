//! What the first users stumbled over: each is told in words that say what to do.

use crate::program::Folder;

fn told(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(&[&["--isolated"], arguments].concat());
    format!("{}{}", ran.stdout, ran.stderr)
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
