//! Graphviz's language. Nothing but attributes that every version knows.

use super::{RowKind, is_faulty, main_file, rows, title};
use crate::chart::{Chart, NodeKind, Who};
use std::fmt::Write as _;

pub fn dot(chart: &Chart) -> String {
    let main = main_file(chart);
    let mut text = String::from("digraph kernel {\n");
    let _ = writeln!(text, "  label=\"{}\"; labelloc=t; fontname=\"Helvetica\";", quoted(&title(chart)));
    text.push_str("  node [shape=box, style=\"filled\", fillcolor=\"#ffffff\", color=\"#5f6772\", fontname=\"Courier\", fontsize=11];\n");
    text.push_str("  edge [color=\"#5f6772\", fontname=\"Helvetica\", fontsize=10];\n");
    for (index, node) in chart.nodes.iter().enumerate() {
        let mut label = String::new();
        for row in rows(chart, node, main) {
            let number = if row.number.is_empty() { String::new() } else { format!("{:>4}  ", row.number) };
            let mark = if matches!(row.kind, RowKind::Barrier | RowKind::Fault) { "■ " } else { "" };
            // A centred line for the ends, left-justified ones for source.
            let end = if node.kind == NodeKind::Blocks { "\\l" } else { "" };
            let _ = write!(label, "{}{end}", quoted(&format!("{number}{mark}{}", row.text)));
        }
        let fill = match node.who {
            Who::Block => "#ffffff",
            Who::Warps => "#def0fa",
            Who::Threads => "#fdf0d2",
        };
        let mut attributes = format!("label=\"{label}\", fillcolor=\"{fill}\"");
        if node.kind != NodeKind::Blocks {
            attributes.push_str(", style=\"filled,rounded\"");
        }
        if is_faulty(node) {
            attributes.push_str(", color=\"#b3261e\", penwidth=3");
        } else if !node.barriers.is_empty() {
            attributes.push_str(", color=\"#2e7d4f\", penwidth=2");
        } else if node.parts.is_some() {
            attributes.push_str(", color=\"#8a5a00\", penwidth=2");
        }
        let _ = writeln!(text, "  n{index} [{attributes}];");
    }
    for edge in &chart.edges {
        let mut attributes = Vec::new();
        if !edge.label.is_empty() {
            attributes.push(format!("label=\"{}\"", quoted(&edge.label)));
        }
        if edge.is_back {
            attributes.push("style=dashed".to_string());
        }
        let attributes = if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        let _ = writeln!(text, "  n{} -> n{}{attributes};", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            _ if character.is_control() => quoted.push(' '),
            _ => quoted.push(character),
        }
    }
    quoted
}
