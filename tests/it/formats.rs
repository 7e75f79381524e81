//! One report through every format: the text as it is stored under `tests/expected/`, and what its readers demand beyond it.

use crate::sample;
use serde_json::Value;
use std::collections::BTreeSet;
use synclint::baseline::Baseline;
use synclint::report::{self, Format, Report, Style};
use synclint::rules;
use synclint::session::{self, Outcome};
use synclint::settings::{Repository, Settings};

const FORMATS: [(Format, &str); 10] = [
    (Format::Human, "human.txt"),
    (Format::Concise, "concise.txt"),
    (Format::Json, "report.json"),
    (Format::Jsonl, "report.jsonl"),
    (Format::Sarif, "report.sarif"),
    (Format::Github, "github.txt"),
    (Format::Gitlab, "gitlab.json"),
    (Format::Junit, "junit.xml"),
    (Format::Rdjson, "rdjson.json"),
    (Format::Html, "report.html"),
];

fn render(mut outcome: Outcome, format: Format, style: Style) -> String {
    let settings = Settings::default();
    let repository = Repository::of(std::path::Path::new(""), None);
    let conclusion = session::conclude(&mut outcome, &settings, None, &Baseline::default(), &repository);
    let path = |path: &str| path.to_string();
    let report = Report {
        skipped: &outcome.skipped,
        charts: &outcome.charts,
        ..Report::new(&conclusion.findings, &outcome.sources, conclusion.summary.clone(), rules::ALL, &path)
    };
    let mut text = Vec::new();
    report::render(&report, format, style, &mut text).expect("a vector takes everything");
    String::from_utf8(text).expect("reports are UTF-8")
}

fn plain(format: Format) -> String {
    render(sample::outcome(), format, Style::PLAIN)
}

fn json(format: Format) -> Value {
    serde_json::from_str(&plain(format)).expect("it is JSON")
}

#[test]
fn every_format_is_as_stored() {
    for (format, file) in FORMATS {
        crate::assert_generated(&format!("tests/expected/{file}"), &plain(format));
    }
}

#[test]
fn every_format_takes_an_empty_report() {
    for (format, _) in FORMATS {
        let text = render(Outcome::default(), format, Style::PLAIN);
        if matches!(format, Format::Json | Format::Sarif | Format::Gitlab | Format::Rdjson) {
            serde_json::from_str::<Value>(&text).expect("it is JSON");
        }
    }
    let junit = render(Outcome::default(), Format::Junit, Style::PLAIN);
    assert!(junit.contains("<testcase "), "readers of JUnit reject an empty suite: {junit}");
}

#[test]
fn json_is_as_promised() {
    let report = json(Format::Json);
    assert_eq!(report["version"], 1);
    let finding = &report["findings"][0];
    for key in [
        "rule",
        "severity",
        "message",
        "file",
        "line",
        "column",
        "end_line",
        "end_column",
        "function",
        "barrier",
        "scope",
        "cause",
        "fingerprint",
    ] {
        assert!(!finding[key].is_null(), "{key} is missing");
    }
    for key in ["file", "line", "column", "message"] {
        assert!(!finding["cause"][0][key].is_null(), "{key} of the cause is missing");
    }
    for key in ["files", "bytes", "kernels", "device_functions", "barriers", "findings", "incomplete"] {
        assert!(report["summary"][key].is_u64(), "{key} is missing");
    }
    assert_eq!(report["summary"]["findings"], 3);
    assert_eq!(report["summary"]["incomplete"], 1);
    // Columns count bytes: `Größe, 日本, 𝄞` takes 22 of them.
    let call = &finding["cause"][2];
    let column = sample::REDUCE.lines().nth(5).and_then(|line| line.find("index(lane)")).expect("it is there") + 1;
    assert_eq!((call["line"].as_u64(), call["column"].as_u64()), (Some(6), Some(column as u64)));
}

#[test]
fn jsonl_has_a_line_each() {
    let text = plain(Format::Jsonl);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[..4].iter().all(|line| line["rule"].is_string()));
    assert_eq!(lines[4]["summary"]["findings"], 3);
}

#[test]
fn sarif_is_valid() {
    let mut schema: Value =
        serde_json::from_str(include_str!("../schemas/sarif-2.1.0.json")).expect("the schema is JSON");
    // The standard's own slip: a bracket too many, which strict readers of patterns refuse.
    for owner in ["run", "toolComponent"] {
        schema["definitions"][owner]["properties"]["language"]["pattern"] = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    for outcome in [sample::outcome(), Outcome::default()] {
        let report: Value = serde_json::from_str(&render(outcome, Format::Sarif, Style::PLAIN)).expect("it is JSON");
        let errors: Vec<String> =
            validator.iter_errors(&report).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
    let mut broken = json(Format::Sarif);
    broken["version"] = "0.1.0".into();
    assert!(!validator.is_valid(&broken), "the validator sees faults");
}

/// What GitHub asks for where the schema does not.
#[test]
fn sarif_suits_code_scanning() {
    let report = json(Format::Sarif);
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules are listed");
    assert_eq!(rules.len(), rules::ALL.len());
    for rule in rules {
        for text in [&rule["shortDescription"]["text"], &rule["fullDescription"]["text"], &rule["help"]["text"]] {
            assert!(text.as_str().is_some_and(|text| !text.trim().is_empty()), "{} lacks a text", rule["id"]);
        }
        let length = rule["fullDescription"]["text"].as_str().map_or(0, |text| text.chars().count());
        assert!(length <= 1024, "{}: {length}", rule["id"]);
        assert!(rule["help"]["markdown"].is_string() && rule["properties"]["precision"].is_string());
    }
    let results = run["results"].as_array().expect("results are listed");
    assert_eq!(results.len(), 3, "what was not understood is a notification, no result");
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().map(Vec::len), Some(2));
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("it has an index") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let location = &result["locations"][0]["physicalLocation"];
        let uri = location["artifactLocation"]["uri"].as_str().expect("it has a path");
        assert!(!uri.starts_with('/') && !uri.contains(['\\', ' ']), "{uri}");
        assert_eq!(location["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        for key in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(location["region"][key].as_u64().is_some_and(|number| number > 0), "{key}");
        }
        assert!(result["partialFingerprints"]["synclint/v1"].is_string());
    }
    let flow = results[0]["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("the story is a flow");
    assert_eq!(flow.len(), 6, "five steps and the barrier");
    // UTF-16 units: ö and the two ideographs one each, the clef two.
    let line = sample::REDUCE.lines().nth(5).expect("it is there");
    let before = &line[..line.find("index(lane)").expect("it is there")];
    let column = &flow[2]["location"]["physicalLocation"]["region"]["startColumn"];
    assert_eq!(column.as_u64(), Some(before.encode_utf16().count() as u64 + 1));
    assert!(contains_no_null(&report), "GitHub rejects nulls");
}

fn contains_no_null(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().all(contains_no_null),
        Value::Object(fields) => fields.values().all(contains_no_null),
        _ => true,
    }
}

#[test]
fn github_annotations_are_escaped_and_whole() {
    let text = plain(Format::Github);
    let annotations: Vec<&str> = text.lines().filter(|line| line.starts_with("::") && line.contains("file=")).collect();
    assert_eq!(annotations.len(), 4);
    let levels: Vec<&str> = annotations.iter().map(|line| line[2..].split(' ').next().unwrap_or_default()).collect();
    assert_eq!(levels, ["error", "error", "warning", "notice"], "the worst first: GitHub drops what comes late");
    let first = annotations[0];
    assert!(first.contains("50%25, or [some]") && first.contains("%0A1. line 5: "), "{first}");
    assert!(!first.contains("50%, "), "{first}");
    let properties = first.split("::").nth(1).unwrap_or_default();
    for property in ["file=src/a b/reduce.cu", "line=10", "col=9", "endColumn=24", "title=synclint%3A divergent-branch"]
    {
        assert!(properties.contains(property), "{property} in {properties}");
    }
}

#[test]
fn gitlab_fingerprints_differ() {
    let report = json(Format::Gitlab);
    let issues = report.as_array().expect("it is an array");
    let fingerprints: BTreeSet<&str> = issues.iter().filter_map(|issue| issue["fingerprint"].as_str()).collect();
    assert_eq!(fingerprints.len(), issues.len(), "GitLab keeps one of equals");
    for issue in issues {
        assert!(issue["location"]["lines"]["begin"].is_u64() && issue["location"]["path"].is_string());
        assert!(issue["description"].as_str().is_some_and(|text| text.contains(": ")));
    }
}

#[test]
fn junit_is_well_formed() {
    let text = plain(Format::Junit);
    let mut open: Vec<&str> = Vec::new();
    let body = text.split_once("?>").expect("it begins with a declaration").1;
    for tag in body.split('<').skip(1) {
        let (tag, rest) = tag.split_once('>').unwrap_or_else(|| panic!("an open tag: {tag}"));
        assert!(!rest.contains('>'), "unescaped: {rest}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(text.contains("tests=\"4\" failures=\"3\""), "{text}");
}

#[test]
fn concise_is_what_editors_parse() {
    let text = plain(Format::Concise);
    for line in text.lines() {
        let mut parts = line.splitn(4, ':');
        let (path, row, column, rest) = (parts.next(), parts.next(), parts.next(), parts.next());
        assert!(path.is_some_and(|path| path.starts_with("src/")), "{line}");
        assert!(row.and_then(|it| it.parse::<u32>().ok()).is_some(), "{line}");
        assert!(column.and_then(|it| it.parse::<u32>().ok()).is_some(), "{line}");
        let rest = rest.unwrap_or_default().trim_start();
        assert!(["error: ", "warning: ", "note: "].iter().any(|level| rest.starts_with(level)), "{line}");
    }
}

#[test]
fn human_output_is_calm_about_anything() {
    // Bytes that are no text, carriage returns, escape sequences, no line end, a line without end, places beyond the file.
    let awkward: [Vec<u8>; 6] = [
        b"\xff\xfe__syncthreads();\r\n\x1b[31mred\x00\r\n".to_vec(),
        b"".to_vec(),
        b"\n".to_vec(),
        "ä日𝄞".repeat(3000).into_bytes(),
        b"__syncthreads();".to_vec(),
        b"\t\t__syncthreads();\t// \xc2\x9b2J\n".to_vec(),
    ];
    for bytes in awkward {
        for (start, end) in [(0, 0), (1, 3), (0, 400), (7, 5), (2, 9), (u32::MAX, u32::MAX)] {
            for unicode in [true, false] {
                let mut outcome = sample::outcome();
                outcome.sources[0].bytes = bytes.clone();
                outcome.comments.clear();
                outcome.findings.truncate(1);
                outcome.findings[0].at.start = start;
                outcome.findings[0].at.end = end;
                let style = Style { unicode, width: 60, ..Style::PLAIN };
                let text = render(outcome, Format::Human, style);
                assert!(text.contains("divergent-branch"));
                assert!(!text.contains(['\x1b', '\u{9b}', '\0']), "a terminal would obey: {text:?}");
            }
        }
    }
}
