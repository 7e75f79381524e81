//! Requests that would harm or mean nothing are refused in a line; names, links and owners of files stay what they are.

use crate::program::{Folder, synclint, wait};

const DIVERGENT: &str = "__global__ void k(int *v) {\n    if (threadIdx.x < 16) {\n        __syncthreads();\n    }\n    v[threadIdx.x] = 1;\n}\n";

#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], told: &str) {
    let ran = folder.run(arguments);
    assert!(ran.code == 2 && ran.stderr.contains(told), "{arguments:?}: {} {}", ran.code, ran.stderr);
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = Folder::new("written-over");
    folder.write("a.cu", DIVERGENT);
    folder.write("synclint.toml", "fail-on = \"error\"\n");
    assert_eq!(folder.run(&["baseline"]).code, 0);
    let names = ["a.cu", "synclint.toml", "synclint-baseline.json"];
    let before: Vec<String> = names.iter().map(|name| folder.read(name)).collect();
    for name in names {
        refused(&folder, &["a.cu", "--output", &format!("json={name}")], &format!("error: {name} is read by this run"));
    }
    for name in &names[..2] {
        refused(&folder, &["graph", "a.cu", "--format", "dot", "-o", name], "is read by this run");
    }
    let after: Vec<String> = names.iter().map(|name| folder.read(name)).collect();
    assert_eq!(before, after);
}

#[test]
fn patterns_and_names_that_mean_nothing_are_refused() {
    let folder = Folder::new("nonsense");
    folder.write("a.cu", DIVERGENT);
    for (settings, told) in [
        ("exclude = [\"src/*\", \"!src/a.cu\"]\n", "`!src/a.cu` is no pattern"),
        ("exclude = [\"\"]\n", "`` is no pattern: it names nothing"),
        ("third-party = [\"/\"]\n", "`/` is no pattern: it names nothing"),
        ("[per-file.\"[\"]\nwarp-mask = \"off\"\n", "`[` is no pattern"),
        ("[[attribute]]\nwords = [\"a b\"]\nmeans = \"kernel\"\n", "`a b` names no macro"),
        ("define = [\"F(x=1\"]\n", "`F(x=1` names no macro"),
    ] {
        folder.write("synclint.toml", settings);
        refused(&folder, &["a.cu"], told);
        refused(&folder, &["a.cu"], "synclint.toml:");
    }
    std::fs::remove_file(folder.path().join("synclint.toml")).expect("it is there");
    for arguments in [["-U", ""], ["-U", "1"], ["-D", "F(x=1"]] {
        refused(&folder, &[&arguments[..], &["a.cu"]].concat(), "error: invalid value");
    }
    assert_eq!(folder.run(&["-D", "F(x) =x", "-D", "G", "-U", "H", "a.cu"]).code, 1);
    refused(
        &folder,
        &["check", "check"],
        "error: check: no such file or directory (the verb `check` comes first, and once)",
    );
    refused(&folder, &["why", ":6"], "the file's name is missing");
    refused(&folder, &["-", "--stdin-filename", "."], "--stdin-filename names a file, and `.` is none");
}

#[cfg(unix)]
#[test]
fn settings_that_are_no_file_are_told() {
    let folder = Folder::new("odd-settings");
    folder.write("a.cu", DIVERGENT);
    let path = folder.path().join("synclint.toml");
    std::os::unix::fs::symlink("nowhere", &path).expect("a link");
    refused(&folder, &["a.cu"], "synclint.toml: cannot be read: no such file or directory");
    std::fs::remove_file(&path).expect("it is there");
    std::fs::create_dir(&path).expect("a folder");
    refused(&folder, &["a.cu"], "synclint.toml: cannot be read: is a directory");
    assert_eq!(folder.run(&["a.cu", "--isolated"]).code, 1);
}

#[cfg(unix)]
#[test]
fn a_report_follows_its_link_wherever_that_leads() {
    let folder = Folder::new("report-links");
    folder.write("a.cu", DIVERGENT);
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("real.json", &link).expect("a link");
    refused(
        &folder,
        &["a.cu", "--output", "json=real.json", "--output", "sarif=link.json"],
        "two reports cannot both go to link.json",
    );
    assert_eq!(folder.run(&["a.cu", "--output", "json=link.json"]).code, 1);
    assert!(folder.read("real.json").starts_with('{'));
    assert!(link.symlink_metadata().expect("it is there").file_type().is_symlink());
}

#[cfg(unix)]
#[test]
fn a_changed_file_keeps_its_names_and_its_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = Folder::new("owner");
    let path = folder.write("a.cu", DIVERGENT);
    std::fs::hard_link(&path, folder.path().join("other")).expect("a hard link");
    assert_eq!(folder.run(&["a.cu", "--fix"]).code, 0);
    assert!(folder.read("a.cu") != DIVERGENT && folder.read("a.cu") == folder.read("other"));

    let path = folder.write("b.cu", DIVERGENT);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("they can be set");
    // Only root can give a file away.
    if chown(&path, Some(12345), Some(12346)).is_ok() {
        assert_eq!(folder.run(&["b.cu", "--fix"]).code, 0);
        let now = std::fs::metadata(&path).expect("it is there");
        assert_eq!((now.uid(), now.gid(), now.mode() & 0o777), (12345, 12346, 0o600));
    }

    let path = folder.write("c.cu", DIVERGENT);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("they can be set");
    refused(&folder, &["c.cu", "--fix"], "cannot change c.cu: permission denied");
    assert_eq!(folder.read("c.cu"), DIVERGENT);
}

#[cfg(unix)]
#[test]
fn odd_names_are_names() {
    let folder = Folder::new("odd-names");
    folder.write("back\\slash/f.cu", DIVERGENT);
    let ran = folder.run(&["back\\slash/f.cu", "--format", "concise"]);
    assert!(ran.code == 1 && ran.stdout.starts_with("back\\slash/f.cu:3:"), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(folder.run(&["--fix"]).code, 0);
    folder.write("esc\x1b[31m\there.cu", DIVERGENT);
    for format in ["concise", "github", "human"] {
        let ran = folder.run(&["--format", format]);
        assert!(ran.code == 1 && !ran.stdout.contains('\x1b'), "{format}: {}", ran.stdout);
    }
    let ran = folder.run(&["--format", "junit"]);
    assert!(ran.stdout.contains("&#9;here.cu") && !ran.stdout.contains('\t'), "{}", ran.stdout);
}

#[test]
fn an_empty_name_for_the_summary_is_none() {
    let folder = Folder::new("empty-summary");
    folder.write("a.cu", DIVERGENT);
    let ran = folder.run_with(&["a.cu", "--format", "github"], &[("GITHUB_STEP_SUMMARY", "")], b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn threads_beyond_use_are_not_started() {
    let folder = Folder::new("threads");
    folder.write("a.cu", DIVERGENT);
    assert_eq!(folder.run(&["a.cu", "-j", "65535"]).code, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for argument in ["--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        let mut command = synclint();
        command.arg(argument).stdout(full).stderr(std::process::Stdio::piped());
        let ran = wait(command.spawn().expect("synclint starts"));
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (2, "error: cannot write to standard output: no space left on the device\n")
        );
    }
}

#[test]
fn a_manual_page_names_the_version() {
    let folder = Folder::new("man-version");
    for arguments in [&["man"][..], &["man", "why"]] {
        let ran = folder.run(arguments);
        let title = ran.stdout.lines().find(|line| line.starts_with(".TH ")).unwrap_or_default();
        assert!(title.contains(concat!("synclint ", env!("CARGO_PKG_VERSION"))), "{title}");
    }
}

#[test]
fn a_comment_about_comments_that_hides_none_is_told() {
    let folder = Folder::new("unused-about-unused");
    let with = |comment: &str| folder.write("a.cu", format!("// synclint: {comment}\n{DIVERGENT}"));
    with("ignore[unused-suppression]");
    let ran = folder.run(&["a.cu", "--format", "concise"]);
    assert!(ran.stdout.contains("`ignore` of `unused-suppression` hides nothing"), "{}", ran.stdout);
    with("ignore[unused-suppression, warp-mask]");
    let ran = folder.run(&["a.cu", "--format", "concise"]);
    assert!(!ran.stdout.contains("unused-suppression"), "{}", ran.stdout);
    with("ignore[no-such-rule]");
    let ran = folder.run(&["a.cu", "--format", "concise"]);
    assert_eq!(ran.stdout.matches("no rule is called").count(), 1, "{}", ran.stdout);
}
