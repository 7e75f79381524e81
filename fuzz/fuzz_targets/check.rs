//! Up to four files -> findings in every format: no panic, every place inside its file, one and two threads of one mind.
//!
//! libFuzzer ends the process at a panic, also at one that a run would survive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use synclint::baseline::Baseline;
use synclint::report::{self, Format, Report, Style};
use synclint::rules;
use synclint::session::{self, Progress, Request};
use synclint::settings::{Repository, Settings};

#[path = "files.rs"]
mod files;

const FORMATS: [Format; 10] = [
    Format::Human,
    Format::Concise,
    Format::Json,
    Format::Jsonl,
    Format::Sarif,
    Format::Github,
    Format::Gitlab,
    Format::Junit,
    Format::Rdjson,
    Format::Html,
];

fuzz_target!(|bytes: &[u8]| {
    let texts = files::split(bytes).map(|(name, bytes)| (PathBuf::from(name), bytes.to_vec())).collect();
    let request = Request { texts, confined: true, charts: true, fixes: true, ..Request::default() };
    let mut settings = Settings::default();
    settings.jobs = Some(1);
    let mut outcome = session::run(&settings, &request, &Progress::default()).expect("nothing is read from a disk");
    let repository = Repository::of(&PathBuf::new(), None);
    let conclusion = session::conclude(&mut outcome, &settings, None, &Baseline::default(), &repository);
    for marked in &conclusion.findings {
        let finding = &marked.finding;
        let notes = finding.story.iter().chain(&finding.related).map(|note| note.at);
        for at in notes.chain([finding.at]) {
            let length = outcome.sources.get(at.file.0 as usize).map(|source| source.bytes.len());
            assert!(at.start <= at.end && length.is_none_or(|length| at.end as usize <= length), "{finding:?}");
        }
    }
    let path = |path: &str| repository.path(path);
    let report = Report {
        skipped: &outcome.skipped,
        charts: &outcome.charts,
        ..Report::new(&conclusion.findings, &outcome.sources, conclusion.summary.clone(), rules::ALL, &path)
    };
    for format in FORMATS {
        report::render(&report, format, Style::PLAIN, &mut std::io::sink()).expect("a sink takes everything");
    }
});
