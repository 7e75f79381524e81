//! The chart as SVG. Alone in a file it brings its colours, light and dark; on a page it takes the page's.

use super::layout::{Boxes, TURN, layout};
use super::{Row, RowKind, is_faulty, main_file, rows, title};
use crate::chart::{Chart, NodeKind, Who};
use crate::report::markup::escape;
use std::fmt::Write as _;

/// Where the picture is to stand.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// In a file of its own.
    File,
    /// On a page that has the colours and tells what they mean.
    Page,
}

/// The colours, and what takes them; a page brings its own colours.
const COLORS: &str = include_str!("chart.css");
pub const STYLE: &str = include_str!("nodes.css");

/// The width of a character and the height of a row in the font used.
const CHARACTER: f64 = 7.3;
const ROW: f64 = 17.0;
const PADDING: f64 = 10.0;
const MARGIN: f64 = 16.0;

pub fn svg(chart: &Chart, frame: Frame) -> String {
    let main = main_file(chart);
    let texts: Vec<Vec<Row>> = chart.nodes.iter().map(|node| rows(chart, node, main)).collect();
    let sizes: Vec<(f64, f64)> = texts.iter().map(|rows| size(rows)).collect();
    let arrows: Vec<(usize, usize, bool)> = chart.edges.iter().map(|edge| (edge.from, edge.to, edge.is_back)).collect();
    let drawn = layout(&Boxes { sizes: &sizes, arrows: &arrows });
    let head = if frame == Frame::File { 34.0 } else { 0.0 };
    let foot = if frame == Frame::File { 34.0 } else { 0.0 };
    let least = if frame == Frame::File { 660.0 } else { 0.0 };
    let width = (drawn.width + 2.0 * MARGIN).max(least);
    let height = drawn.height + 2.0 * MARGIN + head + foot;
    let label = format!("control flow of {}", title(chart));

    let mut text = String::new();
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" aria-label=\"{}\" \
         style=\"--width: {width:.0}px\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">",
        escape(&label)
    );
    if frame == Frame::File {
        let _ = writeln!(text, "<title>{}</title>\n<style>\n{COLORS}{STYLE}</style>", escape(&label));
        let _ = writeln!(text, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>");
        let _ = writeln!(text, "<text class=\"title\" x=\"{MARGIN}\" y=\"26\">{}</text>", escape(&title(chart)));
    }
    let _ = writeln!(text, "<g transform=\"translate({MARGIN} {:.1})\">", MARGIN + head);
    for (edge, way) in chart.edges.iter().zip(&drawn.ways) {
        let divergent = chart.nodes[edge.from].parts.is_some() || chart.nodes[edge.from].who != Who::Block;
        let class = if divergent { "way divergent" } else { "way" };
        let _ = writeln!(text, "<path class=\"{class}\" d=\"{}\"/>", path(way));
        arrow_head(way, divergent, &mut text);
    }
    for (index, node) in chart.nodes.iter().enumerate() {
        let ((x, y), (w, h)) = (drawn.places[index], sizes[index]);
        let who = match node.who {
            Who::Block => "block",
            Who::Warps => "warps",
            Who::Threads => "threads",
        };
        let mark = match () {
            () if is_faulty(node) => " fault",
            () if !node.barriers.is_empty() => " barrier",
            () if node.parts.is_some() => " parts",
            () => "",
        };
        let round = if node.kind == NodeKind::Blocks { 4.0 } else { h / 2.0 };
        let _ = writeln!(text, "<g class=\"node {who}{mark}\">");
        let _ =
            writeln!(text, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" rx=\"{round:.1}\"/>");
        let digits = texts[index].iter().map(|row| row.number.len()).max().unwrap_or(0) as f64;
        for (row, line) in texts[index].iter().zip(0..) {
            let baseline = y + PADDING + ROW * (f64::from(line) + 0.72);
            if node.kind != NodeKind::Blocks {
                let middle = x + w / 2.0;
                let _ = writeln!(
                    text,
                    "<text x=\"{middle:.1}\" y=\"{baseline:.1}\" text-anchor=\"middle\">{}</text>",
                    escape(&row.text)
                );
                continue;
            }
            row_text(row, x + PADDING, baseline, digits, &mut text);
        }
        text.push_str("</g>\n");
    }
    labels(chart, &drawn.ways, &mut text);
    text.push_str("</g>\n");
    if frame == Frame::File {
        legend(height, &mut text);
    }
    text.push_str("</svg>\n");
    text
}

fn size(rows: &[Row]) -> (f64, f64) {
    let digits = rows.iter().map(|row| row.number.len()).max().unwrap_or(0) as f64;
    let widest = rows
        .iter()
        .map(|row| {
            let indent = if row.number.is_empty() { 0.0 } else { digits + 2.0 };
            let mark = if matches!(row.kind, RowKind::Barrier | RowKind::Fault) { 2.0 } else { 0.0 };
            indent + mark + columns(&row.text)
        })
        .fold(4.0, f64::max);
    (widest * CHARACTER + 2.0 * PADDING, rows.len().max(1) as f64 * ROW + 2.0 * PADDING)
}

/// Columns in a font of fixed width: ideographs and their kin take two.
fn columns(text: &str) -> f64 {
    text.chars().map(|character| if (character as u32) < 0x1100 || character == '…' { 1.0 } else { 2.0 }).sum()
}

fn row_text(row: &Row, x: f64, y: f64, digits: f64, text: &mut String) {
    let class = match row.kind {
        RowKind::Function => "function",
        RowKind::Source => "source",
        RowKind::Barrier => "stop",
        RowKind::Fault => "stop fault",
        RowKind::Remark => "remark",
    };
    let mut at = x;
    if !row.number.is_empty() {
        let right = x + digits * CHARACTER;
        let _ = write!(text, "<text class=\"number\" x=\"{right:.1}\" y=\"{y:.1}\">{}</text>", row.number);
        at += (digits + 2.0) * CHARACTER;
    }
    if matches!(row.kind, RowKind::Barrier | RowKind::Fault) {
        let _ = write!(text, "<rect class=\"bar\" x=\"{at:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\"/>", y - 9.0);
        at += 2.0 * CHARACTER;
    }
    let _ = writeln!(text, "<text class=\"{class}\" x=\"{at:.1}\" y=\"{y:.1}\">{}</text>", escape(&row.text));
}

/// Curves that leave and arrive vertically.
fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let Some(((x, y), rest)) = points.split_first() else { return path };
    let _ = write!(path, "M{x:.1} {y:.1}");
    let (mut x, mut y) = (*x, *y);
    let upwards = points.len() > 2 && points.windows(2).any(|pair| pair[1].1 < pair[0].1);
    for (index, (to_x, to_y)) in rest.iter().enumerate() {
        if (to_x - x).abs() < 0.05 {
            let _ = write!(path, "V{to_y:.1}");
        } else if upwards && index == 0 {
            // Down out of the box, round, and up.
            let low = y.max(*to_y) + TURN;
            let _ = write!(path, "C{x:.1} {low:.1} {to_x:.1} {low:.1} {to_x:.1} {to_y:.1}");
        } else if upwards && index + 1 == rest.len() {
            let high = y.min(*to_y) - TURN;
            let _ = write!(path, "C{x:.1} {high:.1} {to_x:.1} {high:.1} {to_x:.1} {to_y:.1}");
        } else {
            let middle = (y + to_y) / 2.0;
            let _ = write!(path, "C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}");
        }
        (x, y) = (*to_x, *to_y);
    }
    path
}

/// Of two ways each has its label at its own side of the fork; of more, where they arrive.
fn labels(chart: &Chart, ways: &[Vec<(f64, f64)>], text: &mut String) {
    let mut forks: Vec<Vec<(f64, usize)>> = vec![Vec::new(); chart.nodes.len()];
    for ((index, edge), way) in chart.edges.iter().enumerate().zip(ways) {
        forks[edge.from].push((way.first().map_or(0.0, |(x, _)| *x), index));
    }
    for fork in &mut forks {
        fork.sort_by(|a, b| a.0.total_cmp(&b.0));
        let many = fork.len() > 2;
        for (position, (_, index)) in fork.iter().enumerate() {
            let (edge, way) = (&chart.edges[*index], &ways[*index]);
            let (Some(first), Some(last), false) = (way.first(), way.last(), edge.label.is_empty()) else { continue };
            let left = !many && position == 0 && fork.len() == 2;
            let (x, y) = if many { (last.0 + 7.0, last.1 - 11.0) } else { (first.0, first.1 + 15.0) };
            let (x, anchor) = match (many, left) {
                (true, _) => (x, "start"),
                (_, true) => (x - 6.0, "end"),
                (_, false) => (x + 6.0, "start"),
            };
            let label = escape(&edge.label);
            let _ = writeln!(
                text,
                "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{label}</text>"
            );
        }
    }
}

/// Arrows arrive from above.
fn arrow_head(points: &[(f64, f64)], divergent: bool, text: &mut String) {
    let Some((x, y)) = points.last() else { return };
    let class = if divergent { "head divergent" } else { "head" };
    let _ = writeln!(text, "<path class=\"{class}\" d=\"M{x:.1} {y:.1}l-4 -8h8z\"/>");
}

fn legend(height: f64, text: &mut String) {
    let y = height - 22.0;
    let mut x = MARGIN;
    for (class, words) in [("block", Who::Block), ("warps", Who::Warps), ("threads", Who::Threads)] {
        let words = words.words();
        let _ = writeln!(
            text,
            "<g class=\"node {class}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"11\" rx=\"2\"/></g>\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{words}</text>",
            x + 20.0,
            y + 10.0
        );
        x += 36.0 + 7.0 * words.len() as f64;
    }
    let _ = writeln!(
        text,
        "<g class=\"node barrier\"><rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"9\" height=\"9\"/></g>\
         <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">barrier</text>",
        x + 15.0,
        y + 10.0
    );
}
