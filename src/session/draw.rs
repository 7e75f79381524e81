//! A file and a kernel's name -> the kernel's control flow as a chart, and what else the name could have meant.

use super::{Error, Request, load};
use crate::analysis;
use crate::chart::Chart;
use crate::graph::ItemId;
use crate::settings::Settings;
use crate::text::LineIndex;
use std::path::Path;

/// What a file holds that could be drawn, and the chart of what was asked for.
#[derive(Debug, Default)]
pub struct Drawn {
    /// Kernels and uncalled device functions with a body in the file, with their lines, in order.
    pub functions: Vec<(String, u32)>,
    /// Those that were meant, indices into `functions`.
    pub meant: Vec<usize>,
    /// The chart of the first of them, simplified. `Err`: how many blocks it has, too many.
    pub chart: Option<Result<Chart, usize>>,
    /// Why the file is not among those read.
    pub missing: Option<String>,
}

/// Draws the function of a name in a file; without a name the only one there is.
pub fn graph(settings: &Settings, request: &Request, path: &Path, name: Option<&str>) -> Result<Drawn, Error> {
    let loaded = load(settings, request)?;
    let Some(file) = loaded.file(path) else {
        return Ok(Drawn { missing: Some(loaded.why_not(settings, path)), ..Drawn::default() });
    };
    let (tree, roots) = (&loaded.tree, &loaded.roots);
    loaded.with_program(settings, |session| {
        let lines = LineIndex::new(loaded.bytes(file));
        let drawable = |item: &ItemId| {
            tree.item(*item).is_definition() && (tree.item(*item).is_kernel() || roots.devices.contains(item))
        };
        let items: Vec<ItemId> = tree.items_of(file).filter(drawable).collect();
        let line = |item: ItemId| lines.place(analysis::name_range(session, item).start).line;
        let functions: Vec<(String, u32)> =
            items.iter().map(|item| (tree.item(*item).qualified_name(), line(*item))).collect();
        let meant: Vec<usize> = match name {
            Some(name) => (0..items.len()).filter(|index| is_meant(name, &functions[*index])).collect(),
            // A device function nobody calls is more likely to be somebody else's business.
            None => match (0..items.len()).filter(|index| tree.item(items[*index]).is_kernel()).collect::<Vec<_>>() {
                kernels if kernels.is_empty() && items.len() == 1 => vec![0],
                kernels if kernels.len() == 1 => kernels,
                _ => Vec::new(),
            },
        };
        let chart = meant.first().map(|index| match analysis::chart(session, items[*index]) {
            None => Err(0),
            Some(mut chart) => {
                chart.name_files(&|file| loaded.shown(file));
                if chart.simplify() { Ok(chart) } else { Err(chart.blocks) }
            }
        });
        Drawn { functions, meant, chart, missing: None }
    })
}

/// `reduce`, `ns::reduce`, `reduce:42`
fn is_meant(name: &str, (known, line): &(String, u32)) -> bool {
    let (name, at) = match name.rsplit_once(':') {
        Some((name, at)) if !name.ends_with(':') && at.parse::<u32>().is_ok() => (name, at.parse().ok()),
        _ => (name, None),
    };
    let same = known == name || known.strip_suffix(name).is_some_and(|scope| scope.ends_with("::"));
    same && at.is_none_or(|at: u32| at == *line)
}
