//! Mermaid's flowcharts, as Markdown viewers draw them.

use super::{RowKind, is_faulty, main_file, rows, title};
use crate::chart::{Chart, NodeKind, Who};
use std::fmt::Write as _;

pub fn mermaid(chart: &Chart) -> String {
    let main = main_file(chart);
    let mut text = format!("---\ntitle: {}\n---\nflowchart TD\n", title_text(&title(chart)));
    for (index, node) in chart.nodes.iter().enumerate() {
        let rows: Vec<String> = rows(chart, node, main)
            .iter()
            .map(|row| {
                let number = if row.number.is_empty() { String::new() } else { format!("{}: ", row.number) };
                let mark = if matches!(row.kind, RowKind::Barrier | RowKind::Fault) { "■ " } else { "" };
                escaped(&format!("{number}{mark}{}", row.text))
            })
            .collect();
        let label = if rows.is_empty() { "…".to_string() } else { rows.join("<br/>") };
        let class = match (node.who, &node.parts) {
            _ if is_faulty(node) => "fault",
            _ if !node.barriers.is_empty() && node.who == Who::Block => "barrier",
            (Who::Threads, _) => "threads",
            (Who::Warps, _) => "warps",
            (Who::Block, Some(_)) => "parts",
            (Who::Block, None) => "block",
        };
        let _ = match node.kind {
            NodeKind::Blocks => writeln!(text, "  n{index}[\"{label}\"]:::{class}"),
            _ => writeln!(text, "  n{index}([\"{label}\"]):::{class}"),
        };
    }
    for edge in &chart.edges {
        let arrow = if edge.is_back { "-.->" } else { "-->" };
        let label = if edge.label.is_empty() { String::new() } else { format!("|\"{}\"|", escaped(&edge.label)) };
        let _ = writeln!(text, "  n{} {arrow}{label} n{}", edge.from, edge.to);
    }
    // Dark text on light colours, whatever the page's own are.
    for (class, style) in [
        ("block", "fill:#ffffff,stroke:#5f6772,color:#1d2127"),
        ("parts", "fill:#ffffff,stroke:#8a5a00,stroke-width:2px,color:#1d2127"),
        ("warps", "fill:#def0fa,stroke:#0b5e8a,color:#1d2127"),
        ("threads", "fill:#fdf0d2,stroke:#8a5a00,color:#1d2127"),
        ("barrier", "fill:#ffffff,stroke:#2e7d4f,stroke-width:3px,color:#1d2127"),
        ("fault", "fill:#fde7e5,stroke:#b3261e,stroke-width:3px,color:#1d2127"),
    ] {
        let _ = writeln!(text, "  classDef {class} {style},text-align:left");
    }
    text
}

/// Inside `\"..\"`: no character that Mermaid, Markdown or HTML would read as its own.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if character.is_control() => escaped.push(' '),
            ' ' | '.' | ',' | ':' | '…' | '■' | '✗' | '(' | ')' | '=' | '+' | '-' | '/' => {
                escaped.push(character)
            }
            _ if character.is_alphanumeric() => escaped.push(character),
            _ => {
                let _ = write!(escaped, "#{};", character as u32);
            }
        }
    }
    escaped
}

/// A title stands in YAML.
fn title_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
