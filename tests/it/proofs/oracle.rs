//! The second oracle: what the interpreter sees going wrong on a generated kernel, the analysis must have said.

use super::analyse;
use super::generate::generate;
use super::interpreter::{self, Before, Caught, Launch, SCHEDULES};
use super::kernel::{Kernel, render};
use super::random::hash;
use super::shrink::shrink;
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};
use synclint::graph::{Graph, InstId};
use synclint::text::Range;

/// Runs of each kernel, on inputs and in orders of their own.
const RUNS: u64 = 8;
const MAX_SHOWN: usize = 12;
/// Failures are made small for whoever reads them, for so long.
const MAX_SHRINKING: Duration = Duration::from_secs(60);

#[test]
fn what_is_caught_running_is_found_reading() {
    let cases = super::cases(300);
    let first: u64 = std::env::var("SYNCLINT_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut failures = Vec::new();
    let mut tally = Tally::default();
    let mut left = MAX_SHRINKING;
    for seed in first..first + cases {
        let kernel = generate(seed);
        if case(&kernel, &mut tally).is_none() {
            continue;
        }
        let until = Instant::now() + left;
        let started = Instant::now();
        let kernel = shrink(&kernel, until.min(started + MAX_SHRINKING / 4), &|smaller| {
            case(smaller, &mut Tally::default()).is_some()
        });
        left = left.saturating_sub(started.elapsed());
        match failures.len() {
            0..MAX_SHOWN => failures.extend(case(&kernel, &mut Tally::default())),
            _ => failures.push(String::new()),
        }
    }
    println!("{tally:?}");
    assert!(tally.caught > cases && tally.clean > cases, "the kernels try both sides: {tally:?}");
    assert!(
        failures.is_empty(),
        "{} of {cases} kernels: called clean, but caught\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[derive(Default, Debug)]
struct Tally {
    barriers: u64,
    /// Flagged, and seen to come apart.
    caught: u64,
    /// Flagged, never seen to come apart.
    quiet: u64,
    /// Reached and not flagged.
    clean: u64,
    finished: u64,
    given_up: u64,
    incomplete: u64,
}

/// `None`: nothing was caught that the analysis calls clean.
fn case(kernel: &Kernel, tally: &mut Tally) -> Option<String> {
    let seed = kernel.seed;
    let text = render(kernel);
    let files = vec![("kernel.cu".to_string(), text.text.clone())];
    analyse::with_session(&files, |session, roots, lines| {
        let findings = analyse::findings(session, roots);
        let flagged: FxHashSet<Range> = findings.iter().map(|finding| finding.at).collect();
        // A kernel from which no barrier can be reached is no root, and nothing of it can be missed.
        let root = *roots.kernels.first()?;
        let graph = analyse::graph(session, root);
        tally.incomplete += graph.incomplete.len() as u64;
        let known: FxHashSet<InstId> = analyse::barriers(&graph)
            .filter(|inst| analyse::places(session, &graph, *inst).iter().any(|place| flagged.contains(place)))
            .collect();
        let before = Before::new(&graph);
        let mut confirmed = FxHashSet::default();
        let mut reached = FxHashSet::default();
        let mut failure = None;
        for run in 0..RUNS {
            let launch = launch(kernel, &graph, hash(&[seed, run]));
            let schedule = SCHEDULES[run as usize % SCHEDULES.len()];
            let report = interpreter::run(&graph, &before, launch, hash(&[seed, run, 5]), schedule, &|inst| {
                known.contains(&inst)
            });
            confirmed.extend(report.confirmed);
            reached.extend(report.reached);
            if report.finished {
                tally.finished += 1
            } else {
                tally.given_up += 1
            }
            if let Some(caught) = report.caught.first()
                && failure.is_none()
            {
                let at: Vec<u32> =
                    caught.at.iter().map(|inst| lines.of(analyse::places(session, &graph, *inst)[0]).1).collect();
                failure = Some(describe(kernel, &text.text, &at, caught, launch, &format!("{schedule:?}, run {run}")));
            }
        }
        tally.barriers += analyse::barriers(&graph).count() as u64;
        tally.caught += confirmed.len() as u64;
        tally.quiet += (known.len() - known.intersection(&confirmed).count()) as u64;
        tally.clean += reached.difference(&known).count() as u64;
        failure
    })
}

fn launch(kernel: &Kernel, graph: &Graph, hash: u64) -> Launch {
    let block = match (kernel.launch, graph.multidimensional) {
        (Some(threads), _) => [threads, 1, 1],
        (None, true) => [[8, 8, 1], [16, 4, 1], [32, 2, 1], [4, 16, 1]][hash as usize % 4],
        (None, false) => [[32, 1, 1], [64, 1, 1], [96, 1, 1], [64, 1, 1]][hash as usize % 4],
    };
    Launch { block, blocks: 2, cluster: 2 }
}

fn describe(kernel: &Kernel, text: &str, at: &[u32], caught: &Caught, launch: Launch, how: &str) -> String {
    let mut shown = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let sign = if at.contains(&number) { ">" } else { " " };
        shown += &format!("{sign}{number:4} {line}\n");
    }
    let missing: Vec<usize> = caught.missing.iter().copied().take(8).collect();
    let came: Vec<usize> = caught.came.iter().copied().take(8).collect();
    format!(
        "--- seed {}, lines {at:?}: {} ({launch:?}, {how})\n    came {came:?} ({}), missing {missing:?} ({})\n{shown}",
        kernel.seed,
        caught.why,
        caught.came.len(),
        caught.missing.len()
    )
}
