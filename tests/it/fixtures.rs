//! Every case under `fixtures/` through the whole program: what its margin asks for, and nothing else.
//!
//! A case is a `.cu` file, or a folder that holds a file named `case`, whose files go together.

use crate::marks;
use crate::program::{synclint, wait};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[test]
fn margins_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let cases = cases(&root);
    assert!(cases.len() > 200, "the fixtures are there");
    let wrong: BTreeMap<String, Vec<String>> = cases
        .par_iter()
        .map(|case| {
            let mut command = synclint();
            command.args(["check", "--isolated", "--format", "json", "-j", "1"]).arg(case);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("synclint starts");
            let name = case.strip_prefix(&root).unwrap_or(case).display().to_string();
            (name, marks::differences(&files(case), &wait(child), Path::new("")))
        })
        .filter(|(_, differences)| !differences.is_empty())
        .collect();
    let lines: Vec<String> =
        wrong.iter().map(|(case, lines)| format!("{case}\n    {}", lines.join("\n    "))).collect();
    assert!(wrong.is_empty(), "{} of {} cases differ:\n{}", wrong.len(), cases.len(), lines.join("\n"));
}

/// A case that asks for nothing says so, or it may have lost its mark.
#[test]
fn cases_without_marks_are_meant_to_be_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for case in cases(&root) {
        let texts: Vec<String> =
            files(&case).iter().map(|file| std::fs::read_to_string(file).unwrap_or_default()).collect();
        let marked = texts.iter().any(|text| !marks::read(text).is_empty());
        let clean = texts.iter().any(|text| text.contains("// CLEAN"));
        assert!(marked != clean, "{}: either marks or CLEAN", case.display());
    }
}

fn cases(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if folder.join("case").is_file() {
            found.push(folder);
            continue;
        }
        for entry in std::fs::read_dir(&folder).expect("fixtures can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "cu") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn files(case: &Path) -> Vec<PathBuf> {
    if case.is_file() {
        return vec![case.to_path_buf()];
    }
    let entries = std::fs::read_dir(case).expect("the case can be read").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some()).collect()
}
