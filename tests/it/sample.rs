//! One outcome as the analysis would hand it over, made by hand: two files, a story through both, lanes, a fix, awkward text.

use std::collections::BTreeMap;
use synclint::chart::{Chart, Edge, Line, Node, NodeKind, Stop, Who};
use synclint::finding::{Finding, Fix, Note, Role, Severity, Summary, Unit, Unread, Witness};
use synclint::rules;
use synclint::session::Outcome;
use synclint::text::{FileId, Range, Source};

pub const REDUCE: &str = "\
#include \"tile.cuh\"

__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float s[64];
    int lane = threadIdx.x & 31;
    /* Größe, 日本, 𝄞 */ int i = index(lane);
    s[threadIdx.x] = in[i];
    if (i < n) {
        s[lane] += in[i];
        __syncthreads(); // a: b, 100% <sure> & \"quoted\"
    }
    if (lane < 16) {
        __syncwarp();
    }
    store(out, s, lane);
}
";

pub const TILE: &str = "\
__device__ int index(int lane) {
    return blockIdx.x * 32 + lane;
}

__device__ void store(float *out, float *s, int lane) {
    if (lane == 0) return;
    __syncthreads();
    out[lane] = s[lane];
}
";

pub fn outcome() -> Outcome {
    let sources = vec![
        Source { path: "src/a b/reduce.cu".to_string(), bytes: REDUCE.into() },
        Source { path: "src/tile.cuh".to_string(), bytes: TILE.into() },
    ];
    let findings = vec![
        Finding {
            rule: &rules::DIVERGENT_BRANCH,
            severity: Severity::Error,
            message: "`__syncthreads()` is reached by only part of the block".to_string(),
            at: at(0, "__syncthreads()", 0),
            function: "reduce".to_string(),
            barrier: "__syncthreads".to_string(),
            scope: "block".to_string(),
            story: vec![
                note(at(0, "threadIdx.x", 0), Role::Source, "`threadIdx.x` differs in every thread"),
                note(at(0, "lane", 0), Role::Step, "so `lane` does"),
                note(at(0, "index(lane)", 0), Role::Step, "`index` is given it"),
                note(at(1, "blockIdx.x * 32 + lane", 0), Role::Step, "and returns it"),
                note(at(0, "i < n", 0), Role::Branch, "only threads with `i < n` go on: 50%, or [some]"),
            ],
            related: Vec::new(),
            witness: Some(Witness {
                given: "block of 96 threads, n = 33".to_string(),
                arrive: vec![(0, 32)],
                missing: vec![(33, 95)],
                unit: Unit::Thread,
                mask: None,
            }),
            help: Some("move the barrier out of the branch and guard the accesses".to_string()),
            fixes: vec![Fix {
                title: "move the barrier behind the branch".to_string(),
                edits: vec![(at(0, "__syncthreads();", 0), String::new())],
            }],
        },
        Finding {
            rule: &rules::WARP_MASK,
            severity: Severity::Warning,
            message: "`__syncwarp()` names lanes that do not come".to_string(),
            at: at(0, "__syncwarp()", 0),
            function: "reduce".to_string(),
            barrier: "__syncwarp".to_string(),
            scope: "warp".to_string(),
            story: vec![
                note(at(0, "threadIdx.x", 0), Role::Source, "`threadIdx.x` differs in every thread"),
                note(at(0, "lane < 16", 0), Role::Branch, "lanes of a warp part here"),
            ],
            related: Vec::new(),
            witness: Some(Witness {
                given: "one warp".to_string(),
                arrive: vec![(0, 15)],
                missing: vec![(16, 31)],
                unit: Unit::Lane,
                mask: Some(0xffff_ffff),
            }),
            help: Some("name the lanes that come: `__syncwarp(0x0000ffff)`".to_string()),
            fixes: Vec::new(),
        },
        Finding {
            rule: &rules::DIVERGENT_EXIT,
            severity: Severity::Error,
            message: "`__syncthreads()` comes after a return that only some threads of the block take".to_string(),
            at: at(1, "__syncthreads()", 0),
            function: "store".to_string(),
            barrier: "__syncthreads".to_string(),
            scope: "block".to_string(),
            story: vec![
                note(at(0, "threadIdx.x", 0), Role::Source, "`threadIdx.x` differs in every thread"),
                note(at(1, "return;", 0), Role::Branch, "threads leave here"),
            ],
            related: vec![note(at(0, "store(out, s, lane)", 0), Role::Other, "called here")],
            witness: None,
            help: None,
            fixes: Vec::new(),
        },
        Finding {
            rule: &rules::INCOMPLETE,
            severity: Severity::Note,
            message: "`index` could not be read whole".to_string(),
            at: at(1, "index", 0),
            function: "index".to_string(),
            barrier: String::new(),
            scope: String::new(),
            story: Vec::new(),
            related: Vec::new(),
            witness: None,
            help: None,
            fixes: Vec::new(),
        },
    ];
    let summary = Summary {
        files: 2,
        bytes: (REDUCE.len() + TILE.len()) as u64,
        kernels: 1,
        device_functions: 2,
        barriers: 3,
        ..Summary::default()
    };
    Outcome {
        findings,
        summary,
        kernels: vec!["reduce".to_string()],
        skipped: vec![Unread {
            path: "src/blob.h".to_string(),
            why: "larger than 16 MiB".to_string(),
            is_named: false,
        }],
        comments: sources.iter().enumerate().map(|(file, source)| comments(file as u32, &source.bytes)).collect(),
        sources,
        charts: vec![chart()],
        ..Outcome::default()
    }
}

/// What a reader is shown of the kernel: a branch that parts threads, the barrier in it.
fn chart() -> Chart {
    let line = |text: &str, number: u32, is_barrier: bool| Line {
        at: at(0, text, 0),
        number,
        text: text.to_string(),
        function: None,
        is_barrier,
    };
    let edge = |from, to, label: &str| Edge { from, to, label: label.to_string(), is_back: false };
    let blocks = Node { kind: NodeKind::Blocks, ..Node::default() };
    Chart {
        name: "reduce".to_string(),
        given: None,
        nodes: vec![
            Node::default(),
            Node { lines: vec![line("i < n", 8, false)], parts: Some(Who::Threads), decides: true, ..blocks.clone() },
            Node {
                lines: vec![line("s[lane] += in[i]", 9, false), line("__syncthreads()", 10, true)],
                who: Who::Threads,
                barriers: vec![Stop { name: "__syncthreads".to_string(), fault: Some("divergent-branch") }],
                ..blocks
            },
            Node { kind: NodeKind::End, ..Node::default() },
        ],
        edges: vec![edge(0, 1, ""), edge(1, 2, "yes"), edge(1, 3, "no"), edge(2, 3, "")],
        blocks: 5,
        is_reduced: false,
        findings: vec![("divergent-branch", at(0, "__syncthreads()", 0))],
        paths: BTreeMap::from([(FileId(0), "src/reduce.cu".to_string())]),
    }
}

/// The place of the `nth` occurrence of a text in a file of the sample.
fn at(file: u32, text: &str, nth: usize) -> Range {
    let source = [REDUCE, TILE][file as usize];
    let (start, _) = source.match_indices(text).nth(nth).unwrap_or_else(|| panic!("no {text} in the sample"));
    Range { file: FileId(file), start: start as u32, end: (start + text.len()) as u32 }
}

fn note(at: Range, role: Role, message: &str) -> Note {
    Note { at, message: message.to_string(), role }
}

/// The comments of plain source: no string of it holds a slash.
pub fn comments(file: u32, bytes: &[u8]) -> Vec<Range> {
    let text = std::str::from_utf8(bytes).expect("the sample is UTF-8");
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("//").into_iter().chain(text[from..].find("/*")).min().map(|it| from + it)
    {
        let length = match text[start..].starts_with("//") {
            true => text[start..].find('\n'),
            false => text[start..].find("*/").map(|it| it + 2),
        };
        let end = length.map_or(text.len(), |length| start + length);
        found.push(Range { file: FileId(file), start: start as u32, end: end as u32 });
        from = end;
    }
    found
}
