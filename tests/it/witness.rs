//! Who is missing: the concrete case that each finding gives, against `// WITNESS: given: unit arrive / missing` on the line above.

use crate::program::{synclint, wait};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

#[test]
fn witnesses_are_as_worked_out_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/witness");
    let mut marks = 0;
    let mut wrong: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("fixtures can be read").flatten() {
        let path = entry.path();
        let text = std::fs::read_to_string(&path).expect("a fixture is text");
        let mut command = synclint();
        command.args(["check", "--isolated", "--format", "json"]).arg(&path);
        let ran = wait(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("synclint starts"));
        let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
        let findings = report["findings"].as_array().expect("findings");
        for (line, wanted) in (2u64..).zip(text.lines()).filter_map(|(line, text)| Some((line, text.split_once("// WITNESS: ")?.1))) {
            marks += 1;
            let here: Vec<String> =
                findings.iter().filter(|finding| finding["line"] == line).map(|finding| spelled(&finding["witness"])).collect();
            if !here.iter().any(|got| got == wanted) {
                wrong.push(format!("{}:{line}: wanted {wanted}, got {here:?}", path.display()));
            }
        }
    }
    assert!(marks >= 20, "the marks are there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `a block of 64 threads: threads 0..31 / 32..63`
fn spelled(witness: &Value) -> String {
    let list = |ranges: &Value| -> String {
        let ranges = ranges.as_array().into_iter().flatten();
        let spelled: Vec<String> = ranges
            .map(|range| match (range[0].as_u64(), range[1].as_u64()) {
                (first, last) if first == last => first.unwrap_or_default().to_string(),
                (first, last) => format!("{}..{}", first.unwrap_or_default(), last.unwrap_or_default()),
            })
            .collect();
        if spelled.is_empty() { "none".to_string() } else { spelled.join(", ") }
    };
    let text = |key: &str| witness[key].as_str().unwrap_or_default().to_string();
    let given = text("given");
    let given = if given.is_empty() { "any".to_string() } else { given };
    format!("{given}: {}s {} / {}", text("unit"), list(&witness["arrive"]), list(&witness["missing"]))
}
