//! Missteps that a newcomer makes: each is told in a line that says what to do instead, none passes for a clean run.

use crate::program::Folder;

const CLEAN: &str = "__global__ void k(int *v) {\n    __syncthreads();\n    v[threadIdx.x] = 0;\n}\n";

const DIVERGENT: &str = "__global__ void k(int *v) {
    if (threadIdx.x < 16) {
        __syncthreads();
    }
    v[threadIdx.x] = 1;
}
";

#[test]
fn a_named_path_that_the_settings_leave_out_is_told() {
    let folder = Folder::new("left-out");
    folder.write("synclint.toml", "third-party = [\"ext/\"]\nexclude = [\"old/\"]\n");
    for name in ["a.cu", "ext/a.cu", "old/a.cu"] {
        folder.write(name, DIVERGENT);
    }
    for (arguments, told) in [
        (vec!["ext/a.cu"], "ext/a.cu: third-party by the settings, so nothing in it is reported\n"),
        (vec!["ext"], "ext: third-party by the settings, so nothing in it is reported\n"),
        (vec!["old/a.cu", "--force-exclude"], "old/a.cu: excluded by the settings, so it is not read\n"),
        (vec!["old"], "old: excluded by the settings, so it is not read\n"),
    ] {
        let ran = folder.run(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{arguments:?}");
        assert!(ran.stderr.contains(&format!("nothing found\nsynclint: {told}")), "{arguments:?}: {}", ran.stderr);
        // Others are reported beside it.
        let ran = folder.run(&[&arguments[..], &["a.cu", "--format", "concise"]].concat());
        assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{arguments:?}");
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
    }
    for arguments in [vec!["a.cu"], vec!["old/a.cu"], vec!["."]] {
        let ran = folder.run(&arguments);
        assert!(ran.code == 1 && !ran.stderr.contains("by the settings"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_third_party_path_that_fits_nothing_is_told() {
    let folder = Folder::new("third-party");
    folder.write("a.cu", DIVERGENT);
    folder.write("ext/a.cu", DIVERGENT);
    folder.write("synclint.toml", "third-party = [\"ext/\", \"extrenal/\"]\n");
    let told = "synclint: the third-party path `extrenal/` of the settings fits nothing that is read\n";
    let ran = folder.run(&["--format", "concise"]);
    assert!(ran.stderr.ends_with(told) && ran.stdout.lines().count() == 1, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("`ext/`"), "{}", ran.stderr);
    // Whoever reads only a part cannot know.
    let part = folder.run(&["a.cu", "--config", "synclint.toml"]);
    assert!(!part.stderr.contains("third-party"), "{}", part.stderr);
}

#[test]
fn no_rule_left_is_no_clean_run() {
    let folder = Folder::new("no-rule");
    folder.write("a.cu", DIVERGENT);
    let told = "error: no rule is left to run: --select, --ignore and the settings leave out all of them\n";
    let same = ["--select", "warp-mask", "--ignore", "warp-mask"];
    for arguments in [&[&["a.cu"], &same[..]].concat(), &[&["baseline", "a.cu"], &same[..]].concat()] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, told), "{arguments:?}");
    }
    let rules = folder.run(&["rules", "--format", "json"]).json();
    let names = rules.as_array().into_iter().flatten().filter_map(|rule| rule["name"].as_str());
    let off: String = names.map(|name| format!("{name} = \"off\"\n")).collect();
    folder.write("synclint.toml", format!("[rules]\n{off}"));
    assert_eq!(folder.run(&["a.cu"]).stderr, told, "{off}");
    assert_eq!(folder.run(&["a.cu", "--select", "divergent-branch"]).code, 1);
}

/// Bytes as of a random number generator, some of them zero or none.
#[test]
fn what_is_no_text_is_not_read() {
    let folder = Folder::new("no-text");
    folder.write("a.cu", DIVERGENT);
    let mut state = 7u32;
    let mut random = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let bytes: Vec<u8> = (0..20_000).map(&mut random).collect();
    let without: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    for bytes in [bytes, without] {
        folder.write("noise.cu", &bytes);
        let named = folder.run(&["noise.cu"]);
        assert!(named.code == 2 && named.stderr.starts_with("error: noise.cu: binary data\n"), "{}", named.stderr);
        let walked = folder.run(&["."]);
        assert_eq!(walked.code, 1, "{}", walked.stderr);
        assert!(walked.stderr.starts_with("synclint: not read: noise.cu: binary data\n"), "{}", walked.stderr);
    }
    // A program has no extension, as some headers have none: it is no matter of the user's.
    folder.write("program", vec![0x7f; (16 << 20) + 1]);
    let walked = folder.run(&["."]);
    assert!(!walked.stderr.contains("program"), "{}", walked.stderr);
    // Text is more than ASCII: Latin-1, Shift-JIS with its escapes, form feeds, an end of file of DOS.
    for remark in
        [&b"// caf\xe9 \xfc\xdf"[..], b"// \x83\x65\x83\x58\x83\x67", b"// \x1b$B%F%9%H\x1b(B", b"\x0c", b"// \x1a"]
    {
        folder.write("noise.cu", [remark, b"\n", DIVERGENT.as_bytes()].concat());
        assert_eq!(folder.run(&["noise.cu"]).code, 1, "{remark:?}");
    }
}

#[test]
fn a_misspelt_verb_is_told_whatever_stands_behind_it() {
    let folder = Folder::new("misspelt-verb");
    folder.write("a.cu", DIVERGENT);
    let told = "error: chek: no such file or directory (did you mean the verb `check`?)\n";
    for arguments in [&["chek"][..], &["chek", "a.cu"]] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", told), "{arguments:?}");
    }
    // A file of such a name is a file.
    folder.write("chek", DIVERGENT);
    assert_eq!(folder.run(&["chek"]).code, 1);
}

#[test]
fn help_is_a_verb_too() {
    let folder = Folder::new("help-verb");
    let help = folder.run(&["help"]);
    assert!(help.code == 0 && help.stdout.contains("Verbs:"), "{}", help.stdout);
    assert!(help.stdout.contains("one a line, as it stands"), "what @FILE holds: {}", help.stdout);
    let check = folder.run(&["help", "check"]);
    assert_eq!((check.code, &check.stdout), (0, &folder.run(&["check", "--help"]).stdout));
    assert_eq!(folder.run(&["help", "chek"]).code, 2);
}

#[test]
fn why_names_the_lines_that_could_be_meant() {
    let folder = Folder::new("why-near");
    let filler = "    v[0] = 1;\n".repeat(7);
    folder.write(
        "a.cu",
        format!("__device__ void wait() {{ __syncthreads(); }}\n__global__ void k(int *v) {{\n{filler}    wait();\n{filler}    __syncthreads();\n}}\n"),
    );
    folder.write("none.cu", "__global__ void k(int *v) {\n    v[0] = 1;\n}\n");
    let nearest = |place: &str| folder.run(&["why", place]).stderr;
    let told = "error: no barrier, and no call that leads to one, is analysed on line";
    assert_eq!(nearest("a.cu:4"), format!("{told} 4 of a.cu; the nearest are on lines 1, 10 and 18\n"));
    assert_eq!(nearest("none.cu:2"), format!("{told} 2 of none.cu, nor anywhere else in it\n"));
}

#[test]
fn a_dash_is_standard_output() {
    let folder = Folder::new("dash");
    folder.write("a.cu", DIVERGENT);
    let sarif = folder.run(&["a.cu", "--output", "sarif=-"]);
    assert_eq!((sarif.code, &sarif.json()["version"]), (1, &"2.1.0".into()));
    let both = folder.run(&["a.cu", "--output", "json=-", "--output", "concise=out.txt"]);
    assert_eq!((&both.json()["version"], folder.read("out.txt").lines().count()), (&1.into(), 1));
    let told = "error: two reports cannot both go to standard output; name a file for one of them\n";
    for arguments in [["--format", "json", "--output", "sarif=-"], ["--output", "json=-", "--output", "sarif=-"]] {
        let ran = folder.run(&[&["a.cu"], &arguments[..]].concat());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (2, "", told), "{arguments:?}");
    }
    let twice = folder.run(&["a.cu", "--output", "json=r", "--output", "sarif=./r"]);
    let told = "error: two reports cannot both go to ./r; name another file\n";
    assert_eq!((twice.code, twice.stderr.as_str(), folder.path().join("r").exists()), (2, told, false));
    let unread = folder.run(&["a.cu", "--stdin-filename", "b.cu"]);
    assert!(unread.code == 2 && unread.stderr.contains("`-` among the paths"), "{}", unread.stderr);
    // What the environment would have printed gives way, here as with --diff.
    let usual = [("SYNCLINT_FORMAT", "json")];
    assert_eq!(folder.run_with(&["a.cu", "--output", "sarif=-"], &usual, b"").json()["version"], "2.1.0");
    assert!(folder.run_with(&["a.cu", "--diff"], &usual, b"").stdout.starts_with("--- a.cu\n"));
    assert_eq!(folder.run_with(&["a.cu"], &usual, b"").json()["version"], 1);
    let wrong = folder.run_with(&["a.cu"], &[("SYNCLINT_FORMAT", "jsno")], b"");
    assert!(wrong.code == 2 && wrong.stderr.ends_with("; did you mean `json`?\n"), "{}", wrong.stderr);
    let drawn = folder.run(&["graph", "a.cu", "--format", "mermaid", "-o", "-"]);
    assert!(drawn.stdout.contains("\nflowchart TD\n"), "{}{}", drawn.stdout, drawn.stderr);
    let known = folder.run(&["baseline", "-o", "-"]).json();
    assert!(known.is_object(), "{known}");
    assert!(!folder.path().join("-").exists());
}

#[test]
fn a_dash_is_standard_input_for_every_verb() {
    let folder = Folder::new("dash-in");
    let ran = |arguments: &[&str]| folder.run_with(arguments, &[], DIVERGENT.as_bytes());
    let drawn = ran(&["graph", "-"]);
    assert!(drawn.code == 0 && drawn.stdout.contains("__syncthreads"), "{}", drawn.stderr);
    let why = ran(&["why", "-:3"]);
    assert!(
        why.code == 0 && why.stdout.contains("stdin.cu:3") && why.stdout.contains("[divergent-branch]"),
        "{}",
        why.stderr
    );
    // Under its name it sees what lies beside it.
    folder.write("src/t.cuh", "__device__ void wait() {\n    __syncthreads();\n}\n");
    let caller = b"#include \"t.cuh\"\n__global__ void k(int n) {\n    if (threadIdx.x < n) wait();\n}\n";
    for verb in [&["graph", "-"][..], &["why", "-:3"]] {
        let ran = folder.run_with(&[verb, &["--stdin-filename", "./src/new.cu"]].concat(), &[], caller);
        assert!(ran.code == 0 && ran.stdout.contains("__syncthreads"), "{verb:?}: {}", ran.stderr);
    }
    // As it is typed, not as it is on the disk.
    folder.write("src/new.cu", "__global__ void other() {}\n");
    let typed = folder.run_with(&["graph", "-", "--stdin-filename", "src/new.cu"], &[], caller);
    assert!(typed.stdout.contains("wait"), "{}{}", typed.stdout, typed.stderr);
}

/// Settings in a folder above: what is meant is the working folder, and paths are as seen from it.
#[test]
fn below_the_settings_paths_are_those_of_the_working_folder() {
    let folder = Folder::new("below");
    folder.write("synclint.toml", "");
    folder.write("top.cu", DIVERGENT);
    folder.write("lib/t.cuh", "__device__ void wait() {\n    __syncthreads();\n}\n");
    folder.write("lib/deep/a.cu", DIVERGENT);
    folder.write(
        "app/b.cu",
        "#include \"../lib/t.cuh\"\n__global__ void k(int n) {\n    if (threadIdx.x < n) wait();\n}\n",
    );
    let places = |below: &str, arguments: &[&str]| -> Vec<String> {
        let ran = folder.run_below(below, &[arguments, &["--format", "concise"]].concat());
        ran.stdout.lines().filter_map(|line| Some(line.split_once(": ")?.0.to_string())).collect()
    };
    assert_eq!(places("lib", &[]), ["../app/b.cu:3:26", "deep/a.cu:3:9"]);
    assert_eq!(places("lib/deep", &[]), ["a.cu:3:9"]);
    assert_eq!(places("lib/deep", &["../.."]), ["../../app/b.cu:3:26", "../../top.cu:3:9", "a.cu:3:9"]);
    assert_eq!(places("", &[]), ["app/b.cu:3:26", "lib/deep/a.cu:3:9", "top.cu:3:9"]);
    let shown = folder.run_below("lib", &["config", "show"]).stdout;
    assert!(shown.starts_with("# from ../synclint.toml\n"), "{shown}");
}

/// A page is filled: no line ends where the next word had still fitted.
#[test]
fn pages_of_rules_are_filled() {
    let folder = Folder::new("filled");
    for rule in synclint::rules::ALL {
        let page = folder.run(&["explain", rule.name]).stdout;
        let prose = page.split("\n\n").filter(|block| !block.starts_with("    "));
        for lines in prose.map(|block| block.lines().collect::<Vec<_>>()) {
            for pair in lines.windows(2).filter(|pair| !pair[1].starts_with("  * ")) {
                let word = pair[1].split_whitespace().next().unwrap_or_default();
                let length = pair[0].chars().count() + 1 + word.chars().count();
                assert!(length > 100, "{}: {pair:?}", rule.name);
            }
        }
    }
}

/// What `--verbose` calls the stages are words that need no knowledge of the inside.
#[test]
fn the_stages_have_names_for_users() {
    let folder = Folder::new("stages");
    folder.write("a.cu", DIVERGENT);
    let told = folder.run(&["a.cu", "--verbose", "--format", "concise"]).stderr;
    for stage in [
        "looking for files",
        "reading them",
        "tokens and macros",
        "functions that may reach a barrier",
        "analysis of kernels",
        "proof of changes",
    ] {
        assert!(told.contains(&format!(" s  {stage}\n")), "{stage}: {told}");
    }
}

/// A build's description that says nothing of what is read, or names what is not there, is told of.
#[test]
fn descriptions_of_builds_that_help_nobody_are_told() {
    let folder = Folder::new("build-faults");
    folder.write("a.cu", CLEAN);
    let faults = |entries: &str, more: &[&str]| -> Vec<String> {
        folder.write("build/compile_commands.json", format!("[{entries}]"));
        let ran = folder.run(&[&["a.cu", "-p", "build", "--isolated"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let lines = ran.stderr.lines().skip(1);
        lines.map(|line| line.strip_prefix("synclint: ").unwrap_or(line).to_string()).collect()
    };
    let good = r#"{"directory": "..", "file": "a.cu", "command": "nvcc -c a.cu"}"#;
    let gone = r#"{"directory": "..", "file": "gone.cu", "command": "nvcc -c gone.cu"}"#;
    let empty = r#"{"directory": "..", "file": "a.cu"}"#;
    let other = r#"{"directory": "..", "file": "build/compile_commands.json", "command": "cc"}"#;
    assert_eq!(faults(good, &[]), Vec::<String>::new());
    let told = faults(&[good, gone].join(","), &[]);
    assert!(
        told[0].starts_with("build/compile_commands.json: 1 of its 2 files are not there; the first is /"),
        "{told:?}"
    );
    let told = faults(&[good, empty].join(","), &[]);
    assert_eq!(told, ["build/compile_commands.json: 1 of 2 entries have no command; the first is for a.cu"]);
    let told = faults(other, &[]);
    assert_eq!(told, ["build/compile_commands.json: it has a command for none of the files read"]);
    let told = faults(good, &["-I", "nowhere"]);
    assert_eq!(told, ["nowhere: no such folder for headers"]);
}

/// What a header that is not found would have defined is not known; with `--verbose` it is named.
#[test]
fn headers_that_are_not_found_are_named() {
    let folder = Folder::new("unmet-includes");
    folder.write("has.cuh", "#define N 4\n");
    folder.write("a.cu", format!("#include \"has.cuh\"\n#include \"lacks.cuh\"\n#include <vector>\n{CLEAN}"));
    let told = folder.run(&["a.cu", "--verbose"]).stderr;
    let named: Vec<&str> = told.lines().filter(|line| line.starts_with("not found")).collect();
    assert_eq!(named, ["not found: \"lacks.cuh\", included in a.cu:2"], "{told}");
    assert!(!told.contains("no kernel"), "{told}");
    // What makes a kernel of it stands there.
    folder.write(
        "b.cu",
        "#include <own/marks.cuh>\nOWN_KERNEL void k(int n) {\n    if (threadIdx.x < n) __syncthreads();\n}\n",
    );
    let told = folder.run(&["b.cu"]).stderr;
    let wanted = "1 header included there was not found, <own/marks.cuh> the first: -I DIR, -p BUILD_DIR or --root DIR";
    assert!(told.contains(wanted), "{told}");
}

/// Who selects a rule by its name wants it, whatever the settings say of all files.
#[test]
fn the_command_line_selects_what_the_settings_have_off() {
    let folder = Folder::new("selected");
    folder.write("a.cu", DIVERGENT);
    folder.write("synclint.toml", "[rules]\ndivergent-branch = \"off\"\n");
    assert_eq!(folder.run(&["a.cu"]).code, 0);
    assert_eq!(folder.run(&["a.cu", "--select", "divergent-branch"]).code, 1);
    folder.write("synclint.toml", "[per-file.\"a.cu\"]\ndivergent-branch = \"off\"\n");
    assert_eq!(folder.run(&["a.cu", "--select", "divergent-branch"]).code, 0);
}

/// A named file brings in its headers: what is found in them is no question asked, but is no clean run either.
#[test]
fn what_is_found_in_included_headers_is_told() {
    let folder = Folder::new("elsewhere");
    folder.write("include/wait.cuh", "__device__ void wait_some() {\n    if (threadIdx.x < 3) __syncthreads();\n}\n");
    folder.write("src/a.cu", "#include \"../include/wait.cuh\"\n__global__ void k() {\n    wait_some();\n}\n");
    let told = "synclint: 1 finding in include/wait.cuh, included but not named; name the file to see it\n";
    let ran = folder.run(&["src"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(!folder.run(&["src", "include"]).stderr.contains("not named"));
    assert!(!folder.run(&["src", "--root", "."]).stderr.contains("not named"));
}

/// Who names a path that is not there beside a place to explain is told, as with `check`.
#[test]
fn paths_that_are_not_there_are_told_by_why() {
    let folder = Folder::new("why-absent");
    folder.write("a.cu", DIVERGENT);
    let ran = folder.run(&["why", "a.cu:3", "gone.cu"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (2, "error: gone.cu: no such file or directory\n"));
}

/// A diff that is empty though something was found is explained.
#[test]
fn an_empty_diff_is_explained() {
    let folder = Folder::new("empty-diff");
    folder.write("a.cu", "__global__ void k(int *v, int n) {\n    if (threadIdx.x < n) {\n        v[0] = 1;\n        __syncthreads();\n        v[1] = 2;\n    }\n}\n");
    let ran = folder.run(&["a.cu", "--diff"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("no change is proven to be safe"), "{}", ran.stderr);
}
