//! Puts control flow round real barriers, one at a time, and counts what is found and what stays clean:
//!
//!     cargo run --release --example inject -- [--sites N] [--seed S] [--write DIR] [--verbose] TREE..
//!
//! A site is a `__syncthreads();` on a line of its own that the analysis reaches and calls clean. Nothing is written but
//! with `--write`: some of the edited files, to be compiled by others.

mod kinds;

use kinds::{KINDS, Kind, PRELUDE};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use synclint::analysis::{self, Session};
use synclint::checks::Policy;
use synclint::finding::Severity;
use synclint::graph::ItemId;
use synclint::inline::Program;
use synclint::program::TypeKind;
use synclint::rules;
use synclint::source::closure;
use synclint::source::index::{File, Files, Options};
use synclint::source::launch;
use synclint::source::reading::{self, Content};
use synclint::source::tree::Tree;
use synclint::source::walk;
use synclint::text::{FileId, LineIndex};
use synclint::words::Words;

const SITES_PER_FILE: usize = 2;
/// Files with more headers in view are left aside: each edit reads all of them again.
const MAX_CLOSURE: usize = 120;
/// A block smaller than this may make uniform what is meant to part it.
const SMALL_BLOCK: u32 = 64;

struct Arguments {
    trees: Vec<PathBuf>,
    sites: usize,
    seed: u64,
    write: Option<PathBuf>,
    verbose: bool,
}

/// A file with all it includes; itself first.
struct Unit {
    files: Vec<(String, Vec<u8>)>,
}

struct Site {
    unit: usize,
    /// From 0, in the first file.
    line: usize,
    roots: Vec<String>,
    is_void: bool,
    parameter: Option<String>,
    /// What is flagged without an edit, by line and rule.
    before: Vec<(usize, &'static str)>,
    /// Races that appear where the barrier is taken out: it ordered memory, and control flow that may skip it does as much.
    needs_it: Vec<(usize, &'static str)>,
}

fn main() {
    let Some(arguments) = arguments() else {
        eprintln!("usage: inject [--sites N] [--seed S] [--write DIR] [--verbose] TREE..");
        std::process::exit(2);
    };
    let pool = rayon::ThreadPoolBuilder::new().stack_size(256 << 20).build().expect("threads start");
    pool.install(|| run(&arguments));
}

fn arguments() -> Option<Arguments> {
    let mut found = Arguments { trees: Vec::new(), sites: 120, seed: 1, write: None, verbose: false };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--sites" => found.sites = rest.next()?.parse().ok()?,
            "--seed" => found.seed = rest.next()?.parse().ok()?,
            "--write" => found.write = Some(PathBuf::from(rest.next()?)),
            "--verbose" => found.verbose = true,
            path => found.trees.push(PathBuf::from(path)),
        }
    }
    (!found.trees.is_empty()).then_some(found)
}

fn run(arguments: &Arguments) {
    let (units, mut sites) = sites(arguments);
    sites.par_iter_mut().for_each(|site| site.needs_it = races_without(&units[site.unit], site));
    println!(
        "{} sites in {} files\n",
        sites.len(),
        sites.iter().map(|site| site.unit).collect::<std::collections::BTreeSet<_>>().len()
    );
    let tried: Vec<(usize, usize, Option<String>)> = sites
        .par_iter()
        .enumerate()
        .flat_map_iter(|(number, site)| {
            let unit = &units[site.unit];
            KINDS.iter().enumerate().filter_map(move |(kind, what)| {
                let edited = edit(unit, site, what)?;
                Some((kind, number, judge(unit, site, what, &edited)))
            })
        })
        .collect();
    let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (kind, _, wrong) in &tried {
        let entry = counts.entry(*kind).or_default();
        entry.0 += 1;
        entry.1 += usize::from(wrong.is_none());
    }
    table(&counts);
    for (kind, number, wrong) in &tried {
        let (Some(wrong), true) = (wrong, arguments.verbose) else { continue };
        let site = &sites[*number];
        println!("{}: {}:{}: {wrong}", KINDS[*kind].name, units[site.unit].files[0].0, site.line + 1);
    }
    if let Some(folder) = &arguments.write {
        write(folder, &units, &sites);
    }
}

fn table(counts: &BTreeMap<usize, (usize, usize)>) {
    for divides in [true, false] {
        let title = if divides { "control flow that parts the block" } else { "control flow that keeps it together" };
        println!("| {title} | sites | {} | |\n|---|---:|---:|---:|", if divides { "found" } else { "clean" });
        let mut total = (0, 0);
        for (kind, (sites, right)) in counts.iter().filter(|(kind, _)| KINDS[**kind].divides == divides) {
            println!("| {} | {sites} | {right} | {:.1} % |", KINDS[*kind].name, 100.0 * *right as f64 / *sites as f64);
            total = (total.0 + sites, total.1 + right);
        }
        println!("| **all** | {} | {} | {:.2} % |\n", total.0, total.1, 100.0 * total.1 as f64 / total.0.max(1) as f64);
    }
}

// ---------------------------------------------------------------- sites

fn sites(arguments: &Arguments) -> (Vec<Unit>, Vec<Site>) {
    let found = walk::walk(&arguments.trees, false, |_, _| true);
    if let Some(missing) = found.skipped.iter().find(|skipped| arguments.trees.contains(&skipped.path)) {
        eprintln!("{}: {}", missing.path.display(), missing.why);
        std::process::exit(2);
    }
    let read: Vec<(String, Vec<u8>)> = found
        .files
        .par_iter()
        .filter_map(|path| match reading::source(path, false) {
            Content::Source(bytes) => Some((path.display().to_string(), bytes)),
            _ => None,
        })
        .collect();
    let parsed: Vec<File> = read.par_iter().map(|(path, bytes)| File::new(path.clone(), bytes.clone())).collect();
    let files = Files::new(parsed, &Options::default());
    let mut candidates: Vec<FileId> =
        files.ids().filter(|id| memchr::memmem::find(&read[id.0 as usize].1, b"__syncthreads").is_some()).collect();
    shuffle(&mut candidates, arguments.seed);
    let mut units = Vec::new();
    let mut sites = Vec::new();
    for id in candidates {
        if sites.len() >= arguments.sites {
            break;
        }
        let closure = files.include_closure(id);
        if closure.len() > MAX_CLOSURE {
            continue;
        }
        let others = closure.iter().filter(|other| **other != id && (other.0 as usize) < read.len());
        let unit = Unit { files: [id].iter().chain(others).map(|id| read[id.0 as usize].clone()).collect() };
        let mut here = sites_of(&unit, units.len());
        shuffle(&mut here, arguments.seed);
        here.truncate(SITES_PER_FILE.min(arguments.sites - sites.len()));
        if !here.is_empty() {
            units.push(unit);
            sites.extend(here);
        }
    }
    (units, sites)
}

fn shuffle<T>(list: &mut [T], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for index in (1..list.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        list.swap(index, (state % (index as u64 + 1)) as usize);
    }
}

/// Opens a session over the files and lets `work` use it.
fn session<R>(files: &[(String, Vec<u8>)], work: impl FnOnce(&Session, &[ItemId]) -> R) -> R {
    let words = Words::builtin();
    let parsed = files.iter().map(|(path, bytes)| File::new(path.clone(), bytes.clone())).collect();
    let tree = Tree::new(Files::new(parsed, &Options::default()));
    let roots = closure::closure(&tree, &words);
    let program = Program::of(&tree);
    let launches = launch::Launches::new(&tree, &roots.kernels);
    let session = Session {
        tree: &tree,
        program: &program,
        words: &words,
        launches: &launches,
        policy: Policy::default(),
        known_blocks: &|_| None,
    };
    let items: Vec<ItemId> = roots.kernels.iter().chain(&roots.devices).copied().collect();
    work(&session, &items)
}

fn sites_of(unit: &Unit, number: usize) -> Vec<Site> {
    let text = String::from_utf8_lossy(&unit.files[0].1).into_owned();
    if text.len() != unit.files[0].1.len() || text.contains('\r') {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let index = LineIndex::new(text.as_bytes());
    session(&unit.files, |session, roots| {
        let mut found: BTreeMap<usize, Site> = BTreeMap::new();
        let mut spoilt: Vec<usize> = Vec::new();
        for root in roots {
            let answer = analysis::root(session, *root);
            let small = session.launches.of(session.tree, *root).iter().any(|launch| {
                let [x, y, z] = launch.block.map(|extent| extent.unwrap_or(SMALL_BLOCK));
                x * y * z < SMALL_BLOCK || x < 41
            });
            let bounds = launch::bounds(session.tree, *root, &[]);
            let small = small
                || bounds.block.is_some_and(|[x, ..]| x < 41)
                || bounds.max_threads.is_some_and(|most| most < SMALL_BLOCK);
            let line_of = |range: synclint::text::Range| index.place(range.start).line as usize - 1;
            let mut before: Vec<(usize, &'static str)> = Vec::new();
            for finding in &answer.findings {
                let places = std::iter::once(finding.at).chain(finding.related.iter().map(|note| note.at));
                for at in places.filter(|at| at.file == FileId(0)) {
                    before.push((line_of(at), finding.rule.name));
                }
            }
            for barrier in answer.barriers.iter().filter(|barrier| barrier.file == FileId(0)) {
                let line = line_of(*barrier);
                let is_plain = lines[line].split("//").next().is_some_and(|code| code.trim() == "__syncthreads();");
                if !is_plain {
                    continue;
                }
                if small || before.iter().any(|(at, _)| *at == line) {
                    spoilt.push(line);
                    continue;
                }
                let Some((is_void, parameter)) = surroundings(session, barrier.start, &text) else { continue };
                let name = session.tree.item(*root).qualified_name();
                let site = found.entry(line).or_insert_with(|| Site {
                    unit: number,
                    line,
                    roots: Vec::new(),
                    is_void,
                    parameter,
                    before: Vec::new(),
                    needs_it: Vec::new(),
                });
                if !site.roots.contains(&name) {
                    site.roots.push(name);
                }
                site.before.extend(before.iter().copied());
            }
        }
        found.into_values().filter(|site| !spoilt.contains(&site.line)).collect()
    })
}

/// Whether the function round a place gives nothing back, and an integer parameter of it that nobody writes.
fn surroundings(session: &Session, byte: u32, text: &str) -> Option<(bool, Option<String>)> {
    let holds = |id: &ItemId| {
        let item = session.tree.item(*id);
        item.file == FileId(0) && item.is_definition() && item.range.start <= byte && byte < item.range.end
    };
    let id = session
        .tree
        .ids()
        .filter(holds)
        .min_by_key(|id| session.tree.item(*id).range.end - session.tree.item(*id).range.start)?;
    let range = session.tree.item(id).range;
    let function = session.program.function(id)?.clone();
    let named = |kind: &TypeKind, names: &[&str]| match kind {
        TypeKind::Named(path) => path.segments.last().is_some_and(|segment| names.contains(&&*segment.name)),
        _ => false,
    };
    let body = &text[range.start as usize..range.end as usize];
    let is_written = |name: &str| {
        let spelled: String = body.split_whitespace().collect();
        ["=", "+=", "-=", "*=", "/=", "++", "--", ">>=", "<<=", "%="].iter().any(|op| {
            spelled.match_indices(&format!("{name}{op}")).any(|(at, found)| {
                let before = spelled[..at].chars().next_back();
                let is_equality = *op == "=" && spelled[at + found.len()..].starts_with('=');
                !is_equality && !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
            })
        }) || body.contains(&format!("&{name}"))
            || body.contains(&format!("++{name}"))
            || body.contains(&format!("--{name}"))
    };
    // Helpers may be given values of the thread, and a local variable may have a parameter's name.
    let is_kernel = session.tree.item(id).is_kernel();
    let fits = |param: &&synclint::program::Param| {
        named(&param.ty.kind, &["int", "unsigned", "unsigned int", "size_t", "uint32_t", "long", "long long"])
            && param
                .name
                .as_ref()
                .is_some_and(|name| !is_written(name) && body.matches(&format!("int {name}")).count() <= 1)
    };
    let parameter = function.params.iter().find(fits).filter(|_| is_kernel).and_then(|param| param.name.as_ref());
    Some((named(&function.result.kind, &["void"]), parameter.map(|name| name.to_string())))
}

// ---------------------------------------------------------------- edits

/// The first file with the kind round the site's barrier; `None` if it does not fit there.
fn edit(unit: &Unit, site: &Site, kind: &Kind) -> Option<String> {
    let text = std::str::from_utf8(&unit.files[0].1).ok()?;
    if kind.text.contains("return;") && !site.is_void {
        return None;
    }
    let mut wrapped = kind.text.replace("B ", "__syncthreads(); ");
    if let Some(rest) = wrapped.strip_suffix(" B") {
        wrapped = format!("{rest} __syncthreads();");
    }
    wrapped = wrapped.replace(", B)", ", __syncthreads();)");
    if kind.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "N") {
        let parameter = site.parameter.as_ref()?;
        wrapped = wrapped.replace("(N >", &format!("({parameter} >")).replace("(int)N", &format!("(int){parameter}"));
    }
    let mut out = String::from(PRELUDE);
    for (number, line) in text.lines().enumerate() {
        if number == site.line {
            out.push_str(&format!("{{ {wrapped} }}"));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    Some(out)
}

/// What is flagged at the site's roots in the edited first file, by line from 0.
fn flagged(unit: &Unit, site: &Site, edited: &str) -> Vec<(usize, &'static str, String)> {
    let mut files = unit.files.clone();
    files[0].1 = edited.as_bytes().to_vec();
    let index = LineIndex::new(edited.as_bytes());
    session(&files, |session, roots| {
        let mut found = Vec::new();
        for root in roots.iter().filter(|root| site.roots.contains(&session.tree.item(**root).qualified_name())) {
            for finding in analysis::root(session, *root).findings {
                if finding.severity >= Severity::Warning && finding.at.file == FileId(0) {
                    let line = index.place(finding.at.start).line as usize - 1;
                    found.push((line, finding.rule.name, finding.message.clone()));
                }
            }
        }
        found
    })
}

fn races_without(unit: &Unit, site: &Site) -> Vec<(usize, &'static str)> {
    let Ok(text) = std::str::from_utf8(&unit.files[0].1) else { return Vec::new() };
    let mut without = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        without.push_str(if number == site.line { ";" } else { line });
        without.push('\n');
    }
    let found = flagged(unit, site, &without).into_iter().map(|(line, rule, _)| (line, rule));
    let mut races: Vec<(usize, &'static str)> = found.filter(|(_, rule)| *rule == rules::RACY_BROADCAST.name).collect();
    // What decides the other barriers of the loop decides the one at the site, too.
    if !races.is_empty() {
        races.push((site.line, rules::RACY_BROADCAST.name));
    }
    races
}

/// What is wrong with the answer, if anything is.
fn judge(unit: &Unit, site: &Site, kind: &Kind, edited: &str) -> Option<String> {
    let shift = PRELUDE.lines().count();
    let found = flagged(unit, site, edited);
    if kind.divides {
        let right = |(line, ..): &(usize, &str, String)| *line == site.line + shift || *line < shift;
        return (!found.iter().any(right)).then(|| "not found".to_string());
    }
    let is_known = |line: usize, rule: &'static str| {
        let at = (line - shift, rule);
        site.before.contains(&at) || site.needs_it.contains(&at)
    };
    let new = found.iter().find(|(line, rule, _)| *line < shift || !is_known(*line, rule));
    new.map(|(line, rule, message)| format!("flagged line {}: {rule}: {message}", line + 1))
}

/// Edited files that stand alone, one of each kind, to be compiled.
fn write(folder: &std::path::Path, units: &[Unit], sites: &[Site]) {
    let stands_alone = |site: &&Site| {
        let files = &units[site.unit].files;
        files.len() == 1 && files[0].0.ends_with(".cu") && memchr::memmem::find(&files[0].1, b"#include \"").is_none()
    };
    let alone: Vec<&Site> = sites.iter().filter(stands_alone).collect();
    let mut written = 0;
    for (number, kind) in KINDS.iter().enumerate() {
        for site in alone.iter().cycle().skip(number * 7).take(alone.len()).take(2) {
            let unit = &units[site.unit];
            let Some(text) = edit(unit, site, kind) else { continue };
            let name = format!("{number:02}-{written:03}.cu");
            let source = format!("// {}: {}:{}\n{text}", kind.name, unit.files[0].0, site.line + 1);
            if std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(name), source)).is_ok() {
                written += 1;
            }
        }
    }
    println!("{written} files written to {}", folder.display());
}
