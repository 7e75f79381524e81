//! Comments that hide findings: which lines they cover, and what is said of those that hide nothing.

use crate::program::Folder;
use crate::sample;
use serde_json::Value;
use synclint::baseline::Baseline;
use synclint::session::{self, Conclusion, Outcome};
use synclint::settings::{ExitedThreads, Repository, Settings};

/// The sample with replacements in its files; places behind and in the common end of a replacement move along.
fn sample_with(replacements: &[(usize, &str, &str)]) -> Outcome {
    let mut outcome = sample::outcome();
    for (file, from, to) in replacements {
        let text = String::from_utf8(outcome.sources[*file].bytes.clone()).expect("the sample is UTF-8");
        let at = text.find(from).unwrap_or_else(|| panic!("no {from} in the sample")) as u32;
        outcome.sources[*file].bytes = text.replacen(from, to, 1).into_bytes();
        let common = from.bytes().rev().zip(to.bytes().rev()).take_while(|(a, b)| a == b).count();
        let moved = |byte: &mut u32| {
            if *byte >= at + (from.len() - common) as u32 {
                *byte = *byte + to.len() as u32 - from.len() as u32;
            }
        };
        for finding in &mut outcome.findings {
            let notes = finding.story.iter_mut().chain(&mut finding.related).map(|note| &mut note.at);
            for range in std::iter::once(&mut finding.at).chain(notes) {
                if range.file.0 as usize == *file {
                    moved(&mut range.start);
                    moved(&mut range.end);
                }
            }
        }
    }
    for (file, source) in outcome.sources.iter().enumerate() {
        outcome.comments[file] = sample::comments(file as u32, &source.bytes);
    }
    outcome
}

fn conclude(mut outcome: Outcome, settings: &Settings) -> Conclusion {
    let repository = Repository::of(std::path::Path::new(""), None);
    session::conclude(&mut outcome, settings, None, &Baseline::default(), &repository)
}

/// The rules that are reported, by file and place.
fn reported(replacements: &[(usize, &str, &str)]) -> Vec<&'static str> {
    let conclusion = conclude(sample_with(replacements), &Settings::default());
    conclusion.findings.iter().map(|marked| marked.finding.rule.name).collect()
}

const ALL: [&str; 4] = ["divergent-branch", "warp-mask", "incomplete", "divergent-exit"];

#[test]
fn nothing_is_hidden_without_a_comment() {
    assert_eq!(reported(&[]), ALL);
}

#[test]
fn a_comment_on_the_barriers_line_or_the_line_above_hides() {
    let others = ["warp-mask", "incomplete", "divergent-exit"];
    for (from, to) in [
        ("// a: b, 100%", "// synclint: ignore[divergent-branch] blocks of 32; a: b, 100%"),
        (
            "        __syncthreads(); // a",
            "        // synclint: ignore[divergent-branch] reason\n        __syncthreads(); // a",
        ),
        (
            "        __syncthreads(); // a",
            "  // synclint: ignore[divergent-branch] why\n  // and more\n        __syncthreads(); // a",
        ),
        (
            "        __syncthreads(); // a",
            "  /* synclint: ignore[warp-mask, divergent-branch]\n   * and more */\n  __syncthreads(); // a",
        ),
        ("// a: b, 100%", "// NOLINT(synclint-divergent-branch) a: b, 100%"),
        ("// a: b, 100%", "// NOLINT(bugprone-branch, synclint-divergent-branch)"),
        (
            "        __syncthreads(); // a",
            "  // NOLINTNEXTLINE(synclint-divergent-branch)\n        __syncthreads(); // a",
        ),
    ] {
        let mut got = reported(&[(0, from, to)]);
        got.retain(|rule| *rule != "unused-suppression");
        assert_eq!(got, others, "{to}");
    }
}

#[test]
fn a_comment_on_any_line_of_the_story_hides() {
    // At the branch, at the variable both findings begin with, in the other file's step.
    assert_eq!(
        reported(&[(0, "if (i < n) {", "if (i < n) { // synclint: ignore[divergent-branch] n is a multiple of 64")]),
        ["warp-mask", "incomplete", "divergent-exit"]
    );
    assert_eq!(
        reported(&[(0, "threadIdx.x & 31;", "threadIdx.x & 31; // synclint: ignore[divergent-branch, warp-mask]")]),
        ["incomplete", "divergent-exit"]
    );
    assert_eq!(
        reported(&[(1, "* 32 + lane;", "* 32 + lane; // synclint: ignore[divergent-branch]")]),
        ["warp-mask", "incomplete", "divergent-exit"]
    );
}

#[test]
fn a_whole_file_or_a_region_is_hidden() {
    assert_eq!(
        reported(&[(1, "__device__ int", "// synclint: ignore-file[divergent-exit] CUDA only\n__device__ int")]),
        ["divergent-branch", "warp-mask", "incomplete"]
    );
    let region = [
        (0, "    if (i < n) {", "    // NOLINTBEGIN(synclint-divergent-branch)\n    if (i < n) {"),
        (0, "    if (lane < 16)", "    // NOLINTEND(synclint-divergent-branch)\n    if (lane < 16)"),
    ];
    assert_eq!(reported(&region), ["warp-mask", "incomplete", "divergent-exit"]);
}

#[test]
fn comments_for_others_hide_nothing() {
    for to in [
        "// NOLINT",
        "// NOLINT()",
        "// NOLINT(*)",
        "// NOLINT(bugprone-divergent-branch)",
        "// see the docs of synclint: ignore is not what we want",
        "// ignore[divergent-branch]",
    ] {
        assert_eq!(reported(&[(0, "// a: b, 100% <sure> & \"quoted\"", to)]), ALL, "{to}");
    }
    // In a string, not in a comment.
    let mut outcome = sample_with(&[(0, "// a: b", "// synclint: ignore[divergent-branch] a: b")]);
    outcome.comments[0].clear();
    assert_eq!(conclude(outcome, &Settings::default()).suppressed, 0);
}

#[test]
fn a_comment_on_a_line_of_its_own_does_not_reach_over_a_blank_line() {
    let got =
        reported(&[(0, "    if (i < n) {", "    // synclint: ignore[divergent-branch] what\n\n    if (i < n) {")]);
    assert!(got.contains(&"divergent-branch") && got.contains(&"unused-suppression"), "{got:?}");
}

#[test]
fn what_hides_nothing_is_told() {
    let outcome = sample_with(&[(0, "if (lane < 16) {", "if (lane < 16) { // synclint: ignore[divergent-loop] old")]);
    let conclusion = conclude(outcome, &Settings::default());
    let unused =
        conclusion.findings.iter().find(|it| it.finding.rule.name == "unused-suppression").expect("it is told");
    assert_eq!(unused.finding.message, "`ignore` of `divergent-loop` hides nothing");
    let (edit, text) = &unused.finding.fixes[0].edits[0];
    let line = " // synclint: ignore[divergent-loop] old";
    assert_eq!((edit.end - edit.start, text.as_str()), (line.len() as u32, ""));

    let outcome = sample_with(&[(0, "// a: b", "// synclint: ignore[divergent-branhc] a: b")]);
    let conclusion = conclude(outcome, &Settings::default());
    let unused =
        conclusion.findings.iter().find(|it| it.finding.rule.name == "unused-suppression").expect("it is told");
    assert_eq!(unused.finding.message, "no rule is called `divergent-branhc`");
    assert_eq!(unused.finding.help.as_deref(), Some("did you mean `divergent-branch`?"));

    let got = reported(&[(0, "// a: b", "// synclint: divergent-branch is fine here")]);
    assert!(got.contains(&"unused-suppression"), "a comment that is not understood is no silent failure: {got:?}");
}

#[test]
fn what_hides_nothing_is_told_only_if_all_rules_ran() {
    let outcome =
        || sample_with(&[(0, "if (lane < 16) {", "if (lane < 16) { // synclint: ignore[divergent-loop] old")]);
    let told = |settings: &Settings| {
        let conclusion = conclude(outcome(), settings);
        conclusion.findings.iter().any(|it| it.finding.rule.name == "unused-suppression")
    };
    assert!(told(&Settings::default()));
    let mut settings = Settings::default();
    settings.choose(None, vec![&synclint::rules::WARP_MASK]);
    assert!(!told(&settings));
    // A policy that takes findings of a rule away leaves comments for that rule without work.
    let hides_exit =
        || sample_with(&[(0, "if (lane < 16) {", "if (lane < 16) { // synclint: ignore[divergent-exit] old")]);
    let told = |settings: &Settings| {
        let conclusion = conclude(hides_exit(), settings);
        conclusion.findings.iter().any(|it| it.finding.rule.name == "unused-suppression")
    };
    let mut settings = Settings::default();
    assert!(told(&settings));
    settings.exited_threads = ExitedThreads::MayExit;
    assert!(!told(&settings));
}

#[test]
fn the_complaint_itself_can_be_hidden() {
    let line = "if (lane < 16) { // synclint: ignore[divergent-loop, unused-suppression] needed by the old compiler";
    assert_eq!(reported(&[(0, "if (lane < 16) {", line)]), ALL);
}

#[test]
fn what_is_hidden_is_counted() {
    let outcome =
        sample_with(&[(0, "threadIdx.x & 31;", "threadIdx.x & 31; // synclint: ignore[divergent-branch, warp-mask]")]);
    let conclusion = conclude(outcome, &Settings::default());
    assert_eq!((conclusion.suppressed, conclusion.summary.findings), (2, 1));
}

/// Through the whole program: patterns, and comments that are meant for synclint and cannot be read.
#[test]
fn patterns_and_malformed_comments() {
    let folder = Folder::new("suppress-forms");
    let ran = |comment: &str| {
        folder.write(
            "a.cu",
            format!(
                "__global__ void k(int *v) {{\n    if (threadIdx.x < 3)\n        __syncthreads();  {comment}\n}}\n"
            ),
        );
        let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let rules: Vec<String> =
            findings.iter().map(|it| it["rule"].as_str().unwrap_or_default().to_string()).collect();
        let help = findings.iter().find(|it| it["rule"] == "unused-suppression").map(|it| it["help"].to_string());
        (rules.join(" "), help.unwrap_or_default())
    };
    // The reason is free, and may be left out.
    for hidden in [
        "// synclint: ignore[divergent-branch]",
        "// synclint: ignore[divergent-branch] whole warps only",
        "// synclint:ignore[divergent-branch]: whole warps only",
        "// NOLINT(synclint-*)",
        "// NOLINT(synclint-divergent-*)",
        "// NOLINT(bugprone-*, synclint-*-branch) why not",
        "// Synclint: ignore[divergent-branch]",
        "// SYNCLINT: ignore[divergent-branch]",
        "// NOLINT(Synclint-divergent-branch)",
    ] {
        assert_eq!(ran(hidden), (String::new(), String::new()), "{hidden}");
    }
    for (comment, form) in [
        ("// synclint: ignore", "// synclint: ignore[rule] reason"),
        ("// synclint: ignore divergent-branch", "// synclint: ignore[divergent-branch] reason"),
        ("// synclint: ignore(divergent-branch) ok", "// synclint: ignore[divergent-branch] reason"),
        ("// synclint: ignore[divergent-branch", "// synclint: ignore[divergent-branch] reason"),
        ("// synclint: ignore[]", "// synclint: ignore[rule] reason"),
        ("// synclint: disable=divergent-branch", "// synclint: ignore[divergent-branch] reason"),
        ("// synclint: ignore-next-line[divergent-branch]", "// synclint: ignore[divergent-branch] reason"),
        ("// synclint-ignore[divergent-branch]", "// synclint: ignore[divergent-branch] reason"),
        ("/* synclint ignore divergent-branch */", "// synclint: ignore[divergent-branch] reason"),
        ("// synclint: file-ignore[divergent-branch]", "// synclint: ignore-file[divergent-branch] reason"),
        ("// NOLINT(synclint)", "// NOLINT(synclint-rule)"),
        ("// Synclint: Ignore[divergent-branch]", "// synclint: ignore[divergent-branch] reason"),
        ("// Synclint ignore divergent-branch", "// synclint: ignore[divergent-branch] reason"),
    ] {
        let (rules, help) = ran(comment);
        assert_eq!(rules, "divergent-branch unused-suppression", "{comment}");
        assert_eq!(help, format!("\"write `{form}`\""), "{comment}");
    }
    let (rules, help) = ran("// synclint: ignore[*] all");
    assert_eq!(
        (rules.as_str(), help.as_str()),
        ("divergent-branch unused-suppression", "\"`synclint rules` lists the rules\"")
    );
    // A pattern that fits nothing, and one that hides nothing.
    assert_eq!(ran("// NOLINT(synclint-convergent-*)").0, "divergent-branch unused-suppression");
    assert_eq!(ran("// NOLINT(synclint-warp-*)").0, "divergent-branch unused-suppression");
    // Words that only speak of synclint, or that are another tool's.
    for comment in ["// synclint finds this one", "// as synclint: says", "// NOLINT(*)", "// see synclint-ignore"] {
        assert_eq!(ran(comment).0, "divergent-branch", "{comment}");
    }
}

/// Half of a region hides nothing, as with clang-tidy, and is told; both halves have to name the same rules.
#[test]
fn half_a_region_is_told() {
    let folder = Folder::new("suppress-halves");
    let told = |before: &str, after: &str| {
        let body = "    if (threadIdx.x < 3)\n        __syncthreads();\n";
        folder.write("a.cu", format!("{before}\n__global__ void k(int *v) {{\n{body}}}\n{after}\n"));
        let report = folder.run(&["a.cu", "--isolated", "--format", "json"]).json();
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let text = |it: &Value| {
            [&it["line"], &it["message"], &it["help"]].map(|it| it.to_string().replace('"', "")).join(": ")
        };
        findings.iter().filter(|it| it["rule"] == "unused-suppression").map(text).collect::<Vec<String>>().join("; ")
            + if findings.iter().any(|it| it["rule"] == "divergent-branch") { " !" } else { "" }
    };
    let begin = "// NOLINTBEGIN(synclint-divergent-branch)";
    let end = "// NOLINTEND(synclint-divergent-branch)";
    assert_eq!(told(begin, end), "");
    assert_eq!(told("// NOLINTBEGIN(a, synclint-divergent-branch)", "// NOLINTEND(synclint-divergent-branch, b)"), "");
    let lone_begin = "1: `NOLINTBEGIN` without a `NOLINTEND` of the same rules hides nothing: \
        write `// NOLINTEND(synclint-divergent-branch)` below what is to be hidden, or remove the comment";
    let lone_end = "6: `NOLINTEND` without a `NOLINTBEGIN` of the same rules hides nothing: \
        write `// NOLINTBEGIN(synclint-divergent-branch)` above what is to be hidden, or remove the comment";
    for other in ["", "// NOLINTEND(bugprone-branch)", "// NOLINTEND"] {
        assert_eq!(told(begin, other), format!("{lone_begin} !"), "{other}");
    }
    assert_eq!(told("", end), format!("{lone_end} !"));
    let other = told(begin, "// NOLINTEND(synclint-warp-mask)");
    assert!(
        other.starts_with(lone_begin) && other.contains("6: `NOLINTEND` without") && other.ends_with('!'),
        "{other}"
    );
    // Of other tools nothing is said.
    assert_eq!(told("// NOLINTBEGIN(bugprone-branch)", ""), " !");
}

/// What `--fix` takes out of a comment of several rules: those that hide nothing, and no more.
#[test]
fn what_is_not_needed_is_taken_out_of_a_list() {
    let folder = Folder::new("suppress-lists");
    let fixed = |before: &str, comment: &str, after: &str| {
        let body = format!("    if (threadIdx.x < 3)\n        __syncthreads();{comment}\n");
        folder.write("a.cu", format!("{before}__global__ void k(int *v) {{\n{body}}}\n{after}"));
        folder.run(&["a.cu", "--isolated", "--fix", "--quiet"]);
        let text = folder.read("a.cu");
        let (before, rest) =
            text.split_once("__global__ void k(int *v) {\n    if (threadIdx.x < 3)\n").expect("it stays");
        let (comment, after) = rest.split_once("\n}\n").expect("it stays");
        [before, comment.trim_start().strip_prefix("__syncthreads();").expect("it stays"), after].join("|")
    };
    for (comment, left) in [
        ("  // synclint: ignore[divergent-branch, warp-mask] why", "  // synclint: ignore[divergent-branch] why"),
        ("  // synclint: ignore[warp-mask, divergent-branch] why", "  // synclint: ignore[divergent-branch] why"),
        ("  // synclint: ignore[warp-mask,divergent-loop,divergent-branch]", "  // synclint: ignore[divergent-branch]"),
        (
            "  // synclint: ignore[divergent-branch, divergent-loop , warp-mask]",
            "  // synclint: ignore[divergent-branch]",
        ),
        (
            "  // synclint: ignore[warp-mask, divergent-branch, divergent-exit] y",
            "  // synclint: ignore[divergent-branch] y",
        ),
        (
            "  // NOLINT(bugprone-x, synclint-warp-mask, synclint-divergent-*)",
            "  // NOLINT(bugprone-x, synclint-divergent-*)",
        ),
        // A name that does not exist was meant to be one that does.
        ("  // synclint: ignore[divergent-branch, warp-musk]", "  // synclint: ignore[divergent-branch, warp-musk]"),
    ] {
        assert_eq!(fixed("", comment, ""), format!("|{left}|"), "{comment}");
    }
    let begin = "// NOLINTBEGIN(synclint-warp-mask, synclint-divergent-branch)\n";
    let end = "// NOLINTEND(synclint-divergent-branch, synclint-warp-mask)\n";
    assert_eq!(
        fixed(begin, "", end),
        "// NOLINTBEGIN(synclint-divergent-branch)\n||// NOLINTEND(synclint-divergent-branch)\n"
    );
    // The barrier is moved out of its branch at once; what is left is no region any more, nor half of one.
    let hidden = "  // synclint: ignore[divergent-branch]";
    assert_eq!(
        fixed("// NOLINTBEGIN(synclint-warp-mask)\n", hidden, "// NOLINTEND(synclint-warp-mask)\n"),
        format!("|{hidden}|")
    );
    // Another tool's names and another request stay.
    let kept = "  // NOLINT(bugprone-x)";
    assert_eq!(
        fixed("", &format!("{hidden}\n    // NOLINT(bugprone-x, synclint-warp-mask)"), ""),
        format!("|{hidden}\n  {kept}|")
    );
}
