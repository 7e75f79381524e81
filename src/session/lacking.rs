//! What may come from a header that was not found: names in kernels and device functions that nothing in view declares.

use super::{Loaded, Progress, Request};
use crate::analysis;
use crate::graph::ItemId;
use crate::settings::Settings;
use crate::text::LineIndex;

/// A name, and where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    pub name: String,
    pub path: String,
    pub line: u32,
}

/// The first name that a header which was not found may declare, in a function of a file that is asked for. Where folders
/// are read, headers of libraries are out of view as a rule, and nobody wants to hear of each.
pub fn first_name(loaded: &Loaded, settings: &Settings, request: &Request) -> Option<Lacking> {
    let only = request.only.as_deref()?;
    if loaded.walked.unmet_includes.is_empty() || request.read.iter().any(|path| path.is_dir()) {
        return None;
    }
    let asked: Vec<_> = only.iter().filter_map(|path| loaded.file(path)).collect();
    let roots = loaded.roots.roots().chain(loaded.roots.kernels_without.iter().copied());
    let roots: Vec<ItemId> = roots.filter(|item| asked.contains(&loaded.tree.item(*item).file)).collect();
    let mut program = loaded.program();
    let answers = loaded.answers(settings, &mut program, &Progress::default(), &roots, analysis::names_out_of_view);
    let names = answers.into_iter().flat_map(|answer| answer.unseen);
    let names = names.filter(|(name, at)| asked.contains(&at.file) && !is_from_a_system(name));
    let (name, at) = names.min_by_key(|(_, at)| *at)?;
    let line = LineIndex::new(loaded.bytes(at.file)).place(at.start).line;
    Some(Lacking { name, path: loaded.shown(at.file), line })
}

/// Standard headers declare it, or those of the toolkit, which are out of view by design; or it is a name of nothing that is
/// written.
fn is_from_a_system(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "printf",
        "fprintf",
        "puts",
        "assert",
        "abort",
        "exit",
        "malloc",
        "free",
        "memcpy",
        "memset",
        "NULL",
        "EOF",
        "INFINITY",
        "NAN",
        "HUGE_VAL",
        "CHAR_BIT",
        "lambda",
        "operator()",
    ];
    const STARTS: [&str; 12] =
        ["__", "cuda", "curand", "M_", "std::", "thrust::", "cub::", "nv", "tex", "surf", "sincos", "wmma"];
    const LIMITS: [&str; 5] = ["_MAX", "_MIN", "_EPSILON", "_DIG", "_BIT"];
    const KINDS: [&str; 14] = [
        "CHAR", "SCHAR", "UCHAR", "SHRT", "USHRT", "INT", "UINT", "LONG", "ULONG", "LLONG", "ULLONG", "FLT", "DBL",
        "SIZE",
    ];
    let without_bits = |kind: &str| kind.trim_end_matches(|it: char| it.is_ascii_digit()).to_string();
    let mut kinds = LIMITS.iter().filter_map(|limit| name.strip_suffix(limit));
    NAMES.contains(&name)
        || name.contains(' ')
        || STARTS.iter().any(|start| name.starts_with(start))
        || kinds.any(|kind| KINDS.contains(&without_bits(kind).as_str()))
}
