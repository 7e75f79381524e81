//! Fingerprints and the file of known findings.

use crate::sample;
use std::collections::BTreeSet;
use synclint::baseline::Baseline;
use synclint::finding::fnv1a;
use synclint::session::{self, Conclusion, Outcome};
use synclint::settings::{Repository, Settings};

fn conclude(mut outcome: Outcome, baseline: &Baseline) -> Conclusion {
    session::conclude(&mut outcome, &Settings::default(), None, baseline, &repository())
}

fn repository() -> Repository {
    Repository::of(std::path::Path::new(""), None)
}

fn baseline_of(outcome: Outcome) -> Baseline {
    let sources = outcome.sources.clone();
    let conclusion = conclude(outcome, &Baseline::default());
    Baseline::of(&conclusion.findings, &sources, &|path| repository().path(path))
}

fn fingerprints(outcome: Outcome) -> Vec<u64> {
    conclude(outcome, &Baseline::default()).findings.iter().map(|marked| marked.fingerprint).collect()
}

/// The sample with lines put before everything in its first file, and more blanks before the barrier.
fn moved() -> Outcome {
    let mut outcome = sample::outcome();
    let prefix = "// a new line\n\n";
    outcome.sources[0].bytes = [prefix.as_bytes(), &outcome.sources[0].bytes].concat();
    for finding in &mut outcome.findings {
        let notes = finding.story.iter_mut().chain(&mut finding.related).map(|note| &mut note.at);
        for range in std::iter::once(&mut finding.at).chain(notes).filter(|range| range.file.0 == 0) {
            range.start += prefix.len() as u32;
            range.end += prefix.len() as u32;
        }
    }
    outcome
}

/// The hash is written out so that baselines hold on every machine and in every version.
#[test]
fn the_hash_never_changes() {
    assert_eq!(fnv1a(&[]), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(&["a"]), 0x089b_e207_b544_f1e4);
    assert_ne!(fnv1a(&["ab", "c"]), fnv1a(&["a", "bc"]));
}

#[test]
fn fingerprints_survive_moved_lines() {
    assert_eq!(fingerprints(sample::outcome()), fingerprints(moved()));
}

#[test]
fn equals_are_told_apart() {
    let mut outcome = sample::outcome();
    let twin = outcome.findings[0].clone();
    outcome.findings.push(twin);
    let prints = fingerprints(outcome);
    assert_eq!(prints.iter().collect::<BTreeSet<_>>().len(), prints.len());
}

#[test]
fn known_findings_are_left_out() {
    let baseline = baseline_of(sample::outcome());
    assert_eq!(baseline.len(), 4);
    let conclusion = conclude(moved(), &baseline);
    assert_eq!((conclusion.findings.len(), conclusion.known, conclusion.stale.len()), (0, 4, 0));
    assert_eq!(conclusion.summary.findings, 0);
}

#[test]
fn one_more_of_the_same_is_new() {
    let baseline = baseline_of(sample::outcome());
    let mut outcome = sample::outcome();
    let twin = outcome.findings[0].clone();
    outcome.findings.push(twin);
    assert_eq!(conclude(outcome, &baseline).findings.len(), 1);
}

#[test]
fn entries_that_fit_nothing_are_told() {
    let baseline = baseline_of(sample::outcome());
    let mut outcome = sample::outcome();
    outcome.findings.remove(1);
    let conclusion = conclude(outcome, &baseline);
    assert_eq!(conclusion.findings.len(), 0);
    assert_eq!(conclusion.stale.len(), 1);
    assert!(conclusion.stale[0].to_string().contains("warp-mask in `reduce`: __syncwarp();"), "{:?}", conclusion.stale);
}

#[test]
fn the_file_is_read_as_written_one_finding_a_line() {
    let baseline = baseline_of(sample::outcome());
    let mut text = Vec::new();
    baseline.write(&mut text).expect("a vector takes everything");
    let text = String::from_utf8(text).expect("it is UTF-8");
    assert_eq!(text.lines().count(), 6);
    assert_eq!(Baseline::parse(&text), Ok(baseline));
    assert!(Baseline::parse(&text.replace("\"version\": 1", "\"version\": 2")).is_err());
    assert!(Baseline::parse("[]").is_err());
    let newer = Baseline::parse("{\"version\": 99, \"entries\": 3}").expect_err("nobody knows what is in it");
    assert_eq!(newer, "is of version 99, newer than this synclint");
}

const DIVERGENT: &str =
    "__global__ void k(int *v) {\n    if (threadIdx.x < 3)\n        __syncthreads();\n    v[0] = 1;\n}\n";

/// Files that are gone have no findings; what lies outside a run, or was not looked for, is neither stale nor lost.
#[test]
fn entries_come_and_go_with_their_files() {
    let folder = crate::program::Folder::new("baseline-files");
    for name in ["src/a.cu", "src/b.cu", "lib/c.cu"] {
        folder.write(name, DIVERGENT);
    }
    let told = |arguments: &[&str]| {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        ran.stderr
    };
    assert_eq!(told(&["baseline"]), "synclint: 3 findings written to synclint-baseline.json\n");
    std::fs::remove_file(folder.path().join("src/b.cu")).expect("it was there");
    let stale = "synclint: 1 finding of the baseline found no more; `synclint baseline` brings it up to date\n  \
                 src/b.cu: divergent-branch in `k`: __syncthreads();\n";
    assert!(told(&["."]).ends_with(stale), "{}", told(&["."]));
    assert!(told(&["lib"]).ends_with(stale), "wherever one looks, the file is gone");
    // Rules that did not run and paths that were not read say nothing.
    assert!(!told(&[".", "--select", "warp-mask"]).contains("found no more"));
    assert!(!told(&[".", "--ignore", "divergent-branch"]).contains("found no more"));
    folder.write("lib/d.cu", DIVERGENT);
    let written = "synclint: 3 findings written to synclint-baseline.json: 1 added, 1 found no more\n";
    assert_eq!(told(&["baseline", "lib"]), written);
    assert!(!told(&["."]).contains("found no more"));
    let entries = folder.read("synclint-baseline.json");
    let paths: Vec<&str> = ["src/a.cu", "src/b.cu", "lib/c.cu", "lib/d.cu"]
        .into_iter()
        .filter(|path| entries.contains(&format!("\"path\":\"{path}\"")))
        .collect();
    assert_eq!(paths, ["src/a.cu", "lib/c.cu", "lib/d.cu"]);
    assert_eq!(folder.run(&["baseline", "missing", "lib"]).code, 2);
    assert_eq!(folder.read("synclint-baseline.json"), entries);
}
