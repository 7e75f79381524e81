//! A kernel's chart -> a picture: Graphviz's `dot`, Mermaid, or SVG drawn here, which needs no other program.

mod dot;
mod layout;
mod mermaid;
mod svg;

pub use svg::{Frame, STYLE, svg};

use crate::chart::{Chart, Node, NodeKind, Who};
use crate::text::FileId;

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ChartFormat {
    /// For Graphviz
    Dot,
    /// A picture for browsers and documents
    Svg,
    /// For Markdown on GitHub, GitLab and elsewhere
    Mermaid,
}

/// The whole text of a picture.
pub fn render(chart: &Chart, format: ChartFormat) -> String {
    match format {
        ChartFormat::Dot => dot::dot(chart),
        ChartFormat::Svg => svg(chart, Frame::File),
        ChartFormat::Mermaid => mermaid::mermaid(chart),
    }
}

/// What a row of a node is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum RowKind {
    /// The name of the function that the rows below stand in.
    Function,
    Source,
    Barrier,
    Fault,
    /// What is to be said of the rows above.
    Remark,
}

struct Row {
    kind: RowKind,
    number: String,
    text: String,
}

/// A node's text, row by row. The main file is the one that goes without its name.
fn rows(chart: &Chart, node: &Node, main: Option<FileId>) -> Vec<Row> {
    let row = |kind, number: &str, text: String| Row { kind, number: number.to_string(), text };
    let mut rows = Vec::new();
    match node.kind {
        NodeKind::Start => rows.push(row(RowKind::Function, "", chart.name.clone())),
        NodeKind::End => rows.push(row(RowKind::Function, "", "end".to_string())),
        NodeKind::Blocks => {}
    }
    let faulty = node.barriers.iter().any(|stop| stop.fault.is_some());
    let mut inside: Option<&String> = None;
    for line in &node.lines {
        if line.function.as_ref() != inside {
            let name = line.function.clone().unwrap_or_else(|| chart.name.clone());
            let elsewhere = match chart.paths.get(&line.at.file) {
                Some(path) if main.is_some_and(|main| main != line.at.file) => format!(" ({path})"),
                _ => String::new(),
            };
            rows.push(row(RowKind::Function, "", format!("in {name}{elsewhere}")));
            inside = line.function.as_ref();
        }
        let kind = match (line.is_barrier, faulty) {
            (true, true) => RowKind::Fault,
            (true, false) => RowKind::Barrier,
            _ => RowKind::Source,
        };
        let number = if line.number == 0 { String::new() } else { line.number.to_string() };
        rows.push(row(kind, &number, line.text.clone()));
    }
    let mut faults: Vec<&str> = node.barriers.iter().filter_map(|stop| stop.fault).collect();
    faults.dedup();
    for fault in faults {
        rows.push(row(RowKind::Remark, "", format!("✗ {fault}")));
    }
    if let Some(parts) = node.parts {
        let what = match parts {
            Who::Threads => "threads part here",
            _ => "warps part here",
        };
        rows.push(row(RowKind::Remark, "", what.to_string()));
    }
    rows
}

/// The file in which most of it stands.
fn main_file(chart: &Chart) -> Option<FileId> {
    chart.nodes.iter().flat_map(|node| &node.lines).find(|line| line.function.is_none()).map(|line| line.at.file)
}

fn is_faulty(node: &Node) -> bool {
    node.barriers.iter().any(|stop| stop.fault.is_some())
}

/// `reduce, a block of 64 threads; only what decides its barriers`
fn title(chart: &Chart) -> String {
    let mut title = chart.name.clone();
    if let Some(given) = &chart.given {
        title.push_str(&format!(", {given}"));
    }
    if chart.is_reduced {
        title.push_str(&format!("; of its {} blocks only what decides its barriers", chart.blocks));
    }
    title
}
