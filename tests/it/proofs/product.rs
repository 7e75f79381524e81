//! Every kind of condition × every kind of control × every kind of barrier, against a table of extents: a barrier that a
//! condition decides is at fault where the condition agrees over less than the barrier's group, and nowhere else.
//!
//! The programs stand in files of many kernels, all in one run. `SYNCLINT_CASES=all` tries every combination.

use super::analyse;
use super::product_parts::{BARRIERS, Barrier, CONDITIONS, CONTROLS, Condition, Control, Kind, Verdict, Way};
use std::collections::BTreeMap;
use std::fmt::Write;
use synclint::analysis;
use synclint::finding::Severity;

/// Of all combinations this part is tried in a run of all tests.
const EVERY: usize = 4;
const KERNELS_PER_FILE: usize = 100;

#[test]
fn each_condition_control_and_barrier() {
    let all = std::env::var("SYNCLINT_CASES").is_ok_and(|text| text == "all");
    let mut programs = Vec::new();
    for (a, condition) in CONDITIONS.iter().enumerate() {
        for (b, control) in CONTROLS.iter().enumerate() {
            for (c, barrier) in BARRIERS.iter().enumerate() {
                if all || (a + 3 * b + c) % EVERY == 0 {
                    programs.push(Program::new(programs.len(), condition, control, barrier));
                }
            }
        }
    }
    assert!(programs.len() >= 1000);
    let differences = check(&programs);
    let mut by_part: BTreeMap<String, usize> = BTreeMap::new();
    for (program, _) in &differences {
        for part in [program.condition.name, program.control.name, program.barrier.name] {
            *by_part.entry(part.to_string()).or_default() += 1;
        }
    }
    let shown: Vec<String> = differences
        .iter()
        .take(25)
        .map(|(program, what)| format!("--- {}\n{what}\n{}", program.title(), program.text))
        .collect();
    let titles: Vec<String> =
        differences.iter().take(400).map(|(program, what)| format!("{}: {what}", program.title())).collect();
    assert!(
        differences.is_empty(),
        "{} of {} programs differ from the table: {by_part:?}\n{}\n{}",
        differences.len(),
        programs.len(),
        titles.join("\n"),
        shown.join("\n")
    );
}

struct Program {
    condition: &'static Condition,
    control: &'static Control,
    barrier: &'static Barrier,
    text: String,
    /// Lines of the barriers, from 0.
    marked: Vec<usize>,
    expected: Verdict,
}

impl Program {
    fn new(
        number: usize,
        condition: &'static Condition,
        control: &'static Control,
        barrier: &'static Barrier,
    ) -> Program {
        let fill = |text: &str| {
            let text = text.replace("BARRIER", barrier.statement).replace("VALUE", barrier.expression);
            let text = text.replace("COND", condition.expression).replace('#', &number.to_string());
            text.replace(" GIVEN", barrier.given).replace(" TAKEN", barrier.taken)
        };
        let uses = |word: &str| {
            [condition.setup, condition.expression, barrier.statement].iter().any(|text| text.contains(word))
        };
        let mut text = String::new();
        if !control.helper.is_empty() {
            let _ = writeln!(text, "{}", fill(control.helper));
        }
        if condition.setup.contains("template") {
            let _ = writeln!(text, "template <int N>");
        }
        let _ =
            writeln!(text, "__global__ void k{number}(int n, int m, int *p, const int *__restrict__ q, Pair pair) {{");
        let _ = writeln!(text, "    __shared__ int cell[64];\n    int x = threadIdx.x;\n    int i = 0;");
        for (word, line) in HANDLES {
            if uses(word) {
                let _ = writeln!(text, "    {line}");
            }
        }
        for line in condition.setup.lines().filter(|line| *line != "template") {
            let _ = writeln!(text, "    {}", line.trim());
        }
        let _ = writeln!(text, "    {}", fill(control.body).replace('\n', "\n    "));
        text.push_str("    p[threadIdx.x] = x + i;\n}\n");
        let marked =
            text.lines().enumerate().filter(|(_, line)| line.ends_with("// @")).map(|(index, _)| index).collect();
        Program { condition, control, barrier, text, marked, expected: expected(condition, control, barrier) }
    }

    fn title(&self) -> String {
        format!("{} / {} / {}", self.condition.name, self.control.name, self.barrier.name)
    }
}

/// What a barrier or a condition may speak of, declared where threads are still together.
const HANDLES: [(&str, &str); 7] = [
    ("block", "cg::thread_block block = cg::this_thread_block();"),
    ("grid.", "cg::grid_group grid = cg::this_grid();"),
    ("cluster.", "cg::cluster_group cluster = cg::this_cluster();"),
    ("tile8", "cg::thread_block_tile<8> tile8 = cg::tiled_partition<8>(cg::this_thread_block());"),
    ("tile32", "cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cg::this_thread_block());"),
    ("(temp)", "__shared__ typename cub::BlockReduce<int, 128>::TempStorage temp;"),
    ("(store)", "__shared__ typename cub::WarpReduce<int>::TempStorage store;"),
];

/// The table. A condition agrees over `extent`; a barrier needs all of `need`.
fn expected(condition: &Condition, control: &Control, barrier: &Barrier) -> Verdict {
    if control.way == Way::Joined || condition.extent >= barrier.need {
        return Verdict::Clean;
    }
    // Lanes that have ended may be missing at barriers within a warp.
    let within_warp = matches!(barrier.kind, Kind::Lanes | Kind::Tile);
    if control.way == Way::Exit && within_warp {
        return Verdict::Clean;
    }
    // The same primitive with the same mask on either way.
    if control.way == Way::BothArms && barrier.kind == Kind::Lanes {
        return Verdict::Clean;
    }
    if condition.races {
        return Verdict::Rule(&["racy-broadcast"]);
    }
    if barrier.kind == Kind::Lanes {
        return Verdict::Rule(&["warp-mask"]);
    }
    Verdict::Rule(match control.way {
        Way::Branch | Way::BothArms => &["divergent-branch"],
        Way::Loop => &["divergent-loop"],
        Way::Exit | Way::HelperExit => &["divergent-exit"],
        // A jump backwards is a loop as much as a `goto`.
        Way::Backwards => &["divergent-loop", "divergent-branch"],
        Way::Joined => unreachable!("clean"),
    })
}

fn check(programs: &[Program]) -> Vec<(&Program, String)> {
    let mut files = Vec::new();
    // By file: the first line of each program in it.
    let mut starts: Vec<Vec<(usize, usize)>> = Vec::new();
    for (number, chunk) in programs.chunks(KERNELS_PER_FILE).enumerate() {
        let mut text = PRELUDE.to_string();
        let mut at = Vec::new();
        for (index, program) in chunk.iter().enumerate() {
            at.push((text.lines().count(), number * KERNELS_PER_FILE + index));
            text.push_str(&program.text);
        }
        files.push((format!("product{number}.cu"), text));
        starts.push(at);
    }
    let mut found: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
    analyse::with_session(&files, |session, roots, lines| {
        for item in roots.kernels.iter().chain(&roots.devices) {
            for finding in analysis::root(session, *item).findings {
                let (file, line) = lines.of(finding.at);
                let line = line as usize - 1;
                let Some((start, program)) = starts[file.0 as usize].iter().rev().find(|(start, _)| *start <= line)
                else {
                    continue;
                };
                let what = if finding.severity >= Severity::Warning {
                    finding.rule.name.to_string()
                } else {
                    format!("note: {}", finding.message)
                };
                found.entry(*program).or_default().push((line - start, what));
            }
        }
    });
    let nothing = Vec::new();
    programs
        .iter()
        .enumerate()
        .filter_map(|(index, program)| {
            difference(program, found.get(&index).unwrap_or(&nothing)).map(|what| (program, what))
        })
        .collect()
}

fn difference(program: &Program, found: &[(usize, String)]) -> Option<String> {
    if KNOWN.iter().any(|(condition, control, barrier, _)| {
        let fits = |wanted: &str, name: &str| wanted == "*" || wanted == name;
        fits(condition, program.condition.name)
            && fits(control, program.control.name)
            && fits(barrier, program.barrier.name)
    }) {
        return None;
    }
    match program.expected {
        Verdict::Clean => found.first().map(|(line, what)| format!("expected clean, got {what} on line {line}")),
        Verdict::Rule(rules) => {
            if let Some((line, what)) = found.iter().find(|(line, _)| !program.marked.contains(line)) {
                return Some(format!("{what} on line {line}, where nothing is"));
            }
            for line in &program.marked {
                match found.iter().find(|(at, _)| at == line) {
                    None => return Some(format!("expected {}, got nothing on line {line}", rules.join(" or "))),
                    Some((_, what)) if !rules.contains(&what.as_str()) => {
                        return Some(format!("expected {}, got {what} on line {line}", rules.join(" or ")));
                    }
                    Some(_) => {}
                }
            }
            None
        }
    }
}

/// Combinations that the table is not to judge, with the reason; `*` is any.
const KNOWN: [(&str, &str, &str, &str); 10] = [
    ("broadcast without a barrier", "*", "cluster.sync", OF_ITS_BLOCK),
    ("broadcast without a barrier", "*", "grid.sync", OF_ITS_BLOCK),
    ("overwritten before all read", "*", "cluster.sync", OF_ITS_BLOCK),
    ("overwritten before all read", "*", "grid.sync", OF_ITS_BLOCK),
    ("branching helper of the thread index", "endless with break", "__syncthreads_or", TAKEN_FROM_THE_BARRIER),
    ("branching helper of the thread index", "endless with break", "tile of 32", TAKEN_FROM_THE_BARRIER),
    ("local array by thread", "*", "__syncthreads_or", TAKEN_FROM_THE_BARRIER),
    ("local array by thread", "*", "tile of 32", TAKEN_FROM_THE_BARRIER),
    ("local array by thread", "*", "__ballot_sync", TAKEN_FROM_THE_BARRIER),
    ("branching helper of the thread index", "*", "__syncthreads_or", TAKEN_FROM_THE_BARRIER),
];

const OF_ITS_BLOCK: &str = "shared memory is one block's, so the blocks differ, race or not; either rule is right";
const TAKEN_FROM_THE_BARRIER: &str = "the barrier's uniform result is what the next trip's condition is made of";

const PRELUDE: &str = "\
#include <cooperative_groups.h>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
struct Pair { int a; int b; };
__constant__ int table[1024];
#define WHEN(condition, ...) if (condition) { __VA_ARGS__; }
__device__ int twice(int value) { return value * 2; }
__device__ bool is_small(int value) { if (value < 9) return true; return false; }
__device__ void put(int *to, int value) { *to = value + 1; }
__device__ void wait_here() { __syncthreads(); }
__device__ int wait_there() { asm volatile(\"bar.sync 0;\" ::: \"memory\"); return 1; }
__device__ int wait_counted() { asm volatile(\"bar.sync 1, 32;\" ::: \"memory\"); return 1; }
";
