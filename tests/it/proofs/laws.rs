//! Laws: changes of a kernel that change nothing for its barriers must not change what is found, nor where.

use super::analyse;
use super::generate::generate;
use super::kernel::{Kernel, PRELUDE, S, Text, inner, rename, render, render_behind};
use super::outline::outline;
use super::random::{Random, hash};
use super::shrink::{MADE, shrink};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Which numbered barriers and calls are flagged, by which rule.
pub type Found = BTreeSet<(u32, &'static str)>;

/// Files, and the marks of each.
pub type Rendered = Vec<(String, Text)>;

const MAX_SHRINKING: Duration = Duration::from_secs(40);

#[test]
fn names_do_not_matter() {
    same("renaming", 60, &|kernel| one(&renamed(kernel)));
}

#[test]
fn arms_may_be_swapped() {
    same("swapping the arms", 60, &|kernel| one(&swapped(kernel)));
}

#[test]
fn a_for_is_a_while() {
    same("for as while", 60, &|kernel| one(&loops_rewritten(kernel)));
}

#[test]
fn a_condition_may_have_a_name() {
    same("naming conditions", 60, &|kernel| one(&named(kernel)));
}

#[test]
fn an_unrelated_statement_does_not_matter() {
    same("unrelated statements", 60, &|kernel| one(&padded(kernel)));
}

#[test]
fn blocks_do_not_matter() {
    same("blocks", 60, &|kernel| one(&wrapped(kernel)));
}

#[test]
fn the_order_of_functions_does_not_matter() {
    same("reordering functions", 60, &|kernel| {
        let mut functions = kernel.functions.clone();
        Random::new(kernel.seed).shuffle(&mut functions);
        let prototypes: String = kernel.functions.iter().map(|function| format!("{};\n", function.head)).collect();
        vec![("kernel.cu".to_string(), render_behind(&format!("{PRELUDE}{prototypes}"), &functions, Some(kernel)))]
    });
}

#[test]
fn functions_may_stand_in_a_header() {
    same("splitting off a header", 60, &|kernel| {
        let header = render_behind(&format!("#pragma once\n{PRELUDE}"), &kernel.functions, None);
        let main = render_behind("#include \"parts.cuh\"\n", &[], Some(kernel));
        vec![("kernel.cu".to_string(), main), ("parts.cuh".to_string(), header)]
    });
}

/// Statements moved into a device function: a barrier among them is flagged where it was, itself or by the new call.
#[test]
fn statements_may_move_into_a_function() {
    let law = |kernel: &Kernel| -> Option<String> {
        let outlined = outline(kernel)?;
        let before = found(&one(kernel));
        let after = found(&one(&outlined.kernel));
        let inside = |number: &u32| outlined.moved.contains(number);
        let rest = |found: &Found| -> Found {
            found.iter().filter(|(number, _)| !inside(number) && *number != outlined.call).copied().collect()
        };
        let by_call: BTreeSet<&str> =
            after.iter().filter(|(number, _)| *number == outlined.call).map(|(_, rule)| *rule).collect();
        let of_moved =
            |found: &Found| -> Found { found.iter().filter(|(number, _)| inside(number)).copied().collect() };
        let (was, is) = (of_moved(&before), of_moved(&after));
        let lost: Found = was
            .iter()
            .filter(|(number, rule)| !is.iter().any(|(other, _)| other == number) && !by_call.contains(rule))
            .copied()
            .collect();
        let gained: Found =
            is.iter().filter(|(number, _)| !was.iter().any(|(other, _)| other == number)).copied().collect();
        let idle: Vec<&&str> = by_call.iter().filter(|rule| !was.iter().any(|(_, was)| was == *rule)).collect();
        if rest(&before) == rest(&after) && lost.is_empty() && gained.is_empty() && idle.is_empty() {
            return None;
        }
        let (old, new) = (render(kernel).text, render(&outlined.kernel).text);
        Some(format!(
            "outside {:?} -> {:?}; lost {lost:?}, gained {gained:?}, at the call {by_call:?}\n{old}\n---- becomes\n{new}",
            rest(&before),
            rest(&after)
        ))
    };
    holds("outlining", 150, &law);
}

fn same(name: &str, few: u64, change: &dyn Fn(&Kernel) -> Rendered) {
    holds(name, few, &|kernel| {
        let changed = change(kernel);
        let (before, after) = (found(&one(kernel)), found(&changed));
        if before == after {
            return None;
        }
        let gone: Vec<_> = before.difference(&after).collect();
        let come: Vec<_> = after.difference(&before).collect();
        let new: String = changed.iter().map(|(path, text)| format!("---- {path}\n{}", text.text)).collect();
        Some(format!("gone {gone:?}, come {come:?}\n{}\n---- becomes\n{new}", render(kernel).text))
    });
}

fn holds(name: &str, few: u64, law: &dyn Fn(&Kernel) -> Option<String>) {
    let cases = super::cases(few);
    let mut failures = Vec::new();
    let mut left = MAX_SHRINKING;
    // Each law on kernels of its own.
    let start = 1_000_000 + hash(&[name.len() as u64, u64::from(name.as_bytes()[0])]) % 1000 * 10_000;
    for seed in start..start + cases {
        let kernel = generate(seed);
        if law(&kernel).is_none() {
            continue;
        }
        let started = Instant::now();
        let small = shrink(&kernel, started + left.min(MAX_SHRINKING / 3), &|kernel| law(kernel).is_some());
        left = left.saturating_sub(started.elapsed());
        failures.push(format!("--- seed {seed}: {}", law(&small).unwrap_or_default()));
    }
    let shown: Vec<String> = failures.iter().take(6).cloned().collect();
    assert!(failures.is_empty(), "{name}: {} of {cases} kernels\n{}", failures.len(), shown.join("\n"));
}

pub fn one(kernel: &Kernel) -> Rendered {
    vec![("kernel.cu".to_string(), render(kernel))]
}

pub fn found(rendered: &Rendered) -> Found {
    let files: Vec<(String, String)> = rendered.iter().map(|(path, text)| (path.clone(), text.text.clone())).collect();
    analyse::with_session(&files, |session, roots, lines| {
        let findings = analyse::findings(session, roots);
        findings
            .iter()
            .map(|finding| {
                let (file, line) = lines.of(finding.at);
                let number = rendered[file.0 as usize].1.marks.get(&line).copied();
                (number.unwrap_or(100_000 + line), finding.rule.name)
            })
            .collect()
    })
}

// ---------------------------------------------------------------- changes

fn renamed(kernel: &Kernel) -> Kernel {
    let mut copy = kernel.clone();
    let change = |word: &str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_made = letters.len() < word.len() && (MADE.contains(&letters) || letters == "kernel");
        match word {
            "slots" => Some("part_of_block".to_string()),
            "flag" => Some("x".to_string()),
            _ => is_made.then(|| format!("other_{}_{letters}", &word[letters.len()..])),
        }
    };
    copy.texts(&mut |text| *text = rename(text, &change));
    copy
}

fn swapped(kernel: &Kernel) -> Kernel {
    let mut copy = kernel.clone();
    copy.lists(&mut |list| {
        for statement in list {
            if let S::If(condition, yes, no) = statement {
                *condition = format!("!({condition})");
                std::mem::swap(yes, no);
            }
        }
    });
    copy
}

fn loops_rewritten(kernel: &Kernel) -> Kernel {
    let mut copy = kernel.clone();
    copy.lists(&mut |list| {
        for statement in list {
            let taken = std::mem::replace(statement, S::Block(Vec::new()));
            *statement = match taken {
                S::For { init, condition, step, mut body } if !continues(&mut body.clone()) => {
                    body.push(S::Line(format!("{step};")));
                    S::Block(vec![S::Line(format!("{init};")), S::While(condition, body)])
                }
                S::While(condition, body) => S::For { init: String::new(), condition, step: String::new(), body },
                other => other,
            };
        }
    });
    copy
}

/// A `continue` of this very loop.
fn continues(body: &mut [S]) -> bool {
    body.iter_mut().any(|statement| match statement {
        S::Line(text) => text == "continue;",
        S::For { .. } | S::While(..) | S::DoWhile(..) | S::Lambda(..) => false,
        other => inner(other).into_iter().any(|list| continues(list)),
    })
}

fn named(kernel: &Kernel) -> Kernel {
    let mut copy = kernel.clone();
    let mut count = 0;
    copy.lists(&mut |list| {
        for index in (0..list.len()).rev() {
            if let S::If(condition, ..) = &mut list[index] {
                count += 1;
                let name = format!("fresh{count}");
                let line = S::Line(format!("bool {name} = {condition};"));
                *condition = name;
                list.insert(index, line);
            }
        }
    });
    copy
}

fn padded(kernel: &Kernel) -> Kernel {
    let mut copy = kernel.clone();
    let mut random = Random::new(kernel.seed);
    let mut count = 0;
    copy.lists(&mut |list| {
        for index in (0..=list.len()).rev() {
            let after_end = index > 0 && matches!(&list[index - 1], S::Line(text) if text.starts_with("return") || text == "break;" || text == "continue;");
            if random.one_in(2) && !after_end {
                count += 1;
                let text = *random.pick(&["m * 3", "threadIdx.x + 1", "q[threadIdx.x]", "clock()"]);
                list.insert(index, S::Line(format!("int fresh{count} = {text};")));
            }
        }
    });
    copy
}

fn wrapped(kernel: &Kernel) -> Kernel {
    let mut copy = kernel.clone();
    copy.lists(&mut |list| {
        for statement in list {
            if matches!(statement, S::If(..) | S::For { .. } | S::While(..) | S::DoWhile(..)) {
                let taken = std::mem::replace(statement, S::Block(Vec::new()));
                *statement = S::Block(vec![S::Block(vec![taken])]);
            }
        }
    });
    copy
}
