//! The marks in the margin of annotated CUDA (`// EXPECT: rule`, `// ALT: rule`) against what the program says.

use crate::program::Ran;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// One of these rules; `any` is all of them.
    Expect(Vec<String>),
    /// Any finding is right here, none is, too.
    Alt,
}

pub fn read(text: &str) -> BTreeMap<u64, Mark> {
    let mut marks = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let after = |word: &str| line.split_once(word).map(|(_, rest)| rest);
        let mark = if let Some(rules) = after("// EXPECT:") {
            let names = rules.split(',').map(|name| name.trim());
            let name =
                |name: &str| name.split(|it: char| !it.is_ascii_lowercase() && it != '-').next().map(str::to_string);
            Mark::Expect(names.filter_map(name).filter(|name| !name.is_empty()).collect())
        } else if after("// ALT:").is_some() {
            Mark::Alt
        } else {
            continue;
        };
        marks.insert(index as u64 + 1, mark);
    }
    marks
}

/// Where the findings of one run over `files` differ from the files' marks, a line for each difference.
pub fn differences(files: &[PathBuf], ran: &Ran, folder: &Path) -> Vec<String> {
    if !(0..=1).contains(&ran.code) {
        return vec![format!("exit {}: {}", ran.code, ran.stderr.trim())];
    }
    let report: Value = match serde_json::from_str(&ran.stdout) {
        Ok(report) => report,
        Err(error) => return vec![format!("no JSON: {error}")],
    };
    let mut wrong = Vec::new();
    let mut found: BTreeMap<(PathBuf, u64), Vec<String>> = BTreeMap::new();
    for finding in report["findings"].as_array().into_iter().flatten() {
        let path = canonical(&folder.join(finding["file"].as_str().unwrap_or_default()));
        let rule = finding["rule"].as_str().unwrap_or_default().to_string();
        let line = finding["line"].as_u64().unwrap_or_default();
        let asked = rule == "incomplete" || finding["severity"] != "note";
        if asked && !tells_from_where(finding) {
            wrong.push(format!("line {line}: the story of {rule} begins at no source"));
        }
        if asked {
            found.entry((path, line)).or_default().push(rule);
        }
    }
    for file in files {
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
        let path = canonical(file);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (line, mark) in read(&text) {
            let got = found.remove(&(path.clone(), line)).unwrap_or_default();
            let Mark::Expect(rules) = mark else { continue };
            if rules.iter().any(|rule| rule == "any" && !got.is_empty() || got.contains(rule)) {
                continue;
            }
            wrong.push(format!("{name}:{line}: wanted {}, got {got:?}", rules.join(" or ")));
        }
    }
    for ((path, line), rules) in found {
        // A function given up on is a fault of a fixture only if it is marked as one.
        if rules.iter().any(|rule| rule != "incomplete") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            wrong.push(format!("{name}:{line}: unwanted {}", rules.join(", ")));
        }
    }
    wrong
}

/// A reader wants to know where the difference comes from. Of masks and counts that are wrong for all there is no such place.
fn tells_from_where(finding: &Value) -> bool {
    let rule = finding["rule"].as_str().unwrap_or_default();
    let needs_source = rule.starts_with("divergent-") || rule == "racy-broadcast";
    !needs_source || finding["cause"].as_array().into_iter().flatten().any(|step| step["role"] == "source")
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
