//! Looks at the preprocessing half of the front end from outside; for development, never shipped.
//!
//!     expand show FILE [ROOT..]                  the file as the parser would see it, its macros resolved within ROOTs
//!     expand differential OUT COUNT ROOT..       input for scripts/expand_vs_gcc.py
//!     expand skeletons OUT COUNT ROOT..          input for scripts/skeletons_vs_gcc.py
//!     expand measure ROOT..                      times of each step over whole trees
//!     expand parse ROOT..                        how many function bodies that hold kernels or barriers parse without error

mod skeletons;

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use synclint::inline::Program;
use synclint::source::conditions;
use synclint::source::expand::{self, Unit};
use synclint::source::index::{self, DirectiveKind, File, Files, Options};
use synclint::source::select;
use synclint::source::tree::Tree;
use synclint::text::FileId;
use synclint::words::Words;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["show", file, ref roots @ ..] => show(file, roots),
        ["differential", out, count, ref roots @ ..] => {
            differential(Path::new(out), count.parse().unwrap_or(1000), roots)
        }
        ["skeletons", out, count, ref roots @ ..] => skeletons(Path::new(out), count.parse().unwrap_or(1000), roots),
        ["measure", ref roots @ ..] => measure(roots),
        ["parse", ref roots @ ..] => parse(roots),
        _ => eprintln!(
            "expand show FILE [ROOT..] | differential OUT COUNT ROOT.. | skeletons OUT COUNT ROOT.. | measure ROOT.. | parse ROOT.."
        ),
    }
}

fn read(roots: &[&str]) -> Vec<File> {
    let walk = roots
        .iter()
        .flat_map(|root| ignore::WalkBuilder::new(root).standard_filters(false).sort_by_file_path(Ord::cmp).build());
    let paths: Vec<_> =
        walk.flatten().map(|entry| entry.into_path()).filter(|path| path.is_file() && is_source(path)).collect();
    let index = |path: &std::path::PathBuf| Some(File::new(path.to_string_lossy().into_owned(), fs::read(path).ok()?));
    paths.par_iter().filter_map(index).collect()
}

fn is_source(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => {
            matches!(
                extension,
                "cu" | "cuh" | "h" | "hpp" | "hh" | "hxx" | "inl" | "inc" | "ipp" | "c" | "cc" | "cpp" | "cxx" | "hip"
            )
        }
        None => path.to_string_lossy().contains("/include/"),
    }
}

fn show(file: &str, roots: &[&str]) {
    let roots = if roots.is_empty() { &[file][..] } else { roots };
    let files = Files::new(read(roots), &Options::default());
    let Some(id) = files.ids().find(|id| files.get(*id).path == file) else {
        return eprintln!("{file} is not under the roots");
    };
    let unit = Unit::new(&files, id);
    let selection = select::select(&unit);
    let expansion = expand::expand(&unit, &selection, 0..files.get(id).tokens.len() as u32);
    println!("{}", expansion.expanded.text);
    for dropped in &expansion.dropped {
        eprintln!("dropped at {}: {}", dropped.out, dropped.text);
    }
}

/// Writes what we make of COUNT files, for another preprocessor to be compared with.
fn differential(out: &Path, count: usize, roots: &[&str]) {
    let files = Files::new(read(roots), &Options::default());
    let ids: Vec<FileId> = files.ids().collect();
    let step = (ids.len() / count).max(1);
    let sample: Vec<FileId> = ids.into_iter().step_by(step).take(count).collect();
    write_copies(&files, &sample, out);
    let list: Vec<String> = sample
        .par_iter()
        .map(|id| {
            let unit = Unit::in_view_only(&files, *id);
            let selection = select::select(&unit);
            let expansion = expand::expand_plain(&unit, &selection);
            let ours = out.join(format!("{}.ours", id.0));
            fs::write(&ours, &expansion.expanded.text).expect("a result");
            format!("{}\t{}\t{}\n", files.get(*id).path, name(&files, out, *id).display(), ours.display())
        })
        .collect();
    fs::write(out.join("list.txt"), list.concat()).expect("a list");
}

/// Where the copy of a file is.
fn name(files: &Files, out: &Path, id: FileId) -> PathBuf {
    let name =
        Path::new(&files.get(id).path).file_name().map_or("".into(), |name| format!("-{}", name.to_string_lossy()));
    out.join("copies").join(format!("{}{name}", id.0))
}

/// Copies of some files and all that they include for another preprocessor: includes name what we resolve them to, and no
/// header defines CUDA's own words away.
fn write_copies(files: &Files, sample: &[FileId], out: &Path) {
    let mut needed = BTreeSet::new();
    for id in sample {
        needed.extend(files.include_closure(*id).iter().copied());
    }
    fs::create_dir_all(out.join("copies")).expect("an output folder");
    for id in needed {
        let file = files.get(id);
        for asks in file.tokens.iter().filter(|token| token.bytes(&file.bytes) == b"__has_include") {
            let after = &file.bytes[asks.end() as usize..];
            let operand = String::from_utf8_lossy(&after[..after.len().min(100)]).into_owned();
            let operand = operand.trim_start_matches(['(', ' ']).split([')', ' ']).next().unwrap_or("");
            if operand.ends_with('>') && conditions::has_include(files, operand) {
                let stub = out.join("stubs").join(operand.trim_matches(['<', '>']));
                fs::create_dir_all(stub.parent().expect("a folder")).expect("a folder");
                fs::write(stub, "").expect("a stub");
            }
        }
        let mut text = Vec::new();
        let mut done = 0;
        for directive in &file.directives {
            let line = file.tokens[directive.start as usize].start() as usize
                ..file.tokens[directive.end as usize - 1].end() as usize;
            let replaced = match directive.kind {
                DirectiveKind::Include(include) => match file.includes[include as usize].resolved {
                    Some(resolved) => format!("#include \"{}\"", name(files, out, resolved).display()),
                    None => String::new(),
                },
                DirectiveKind::Define(define) if index::is_opaque(file.text(file.macros[define as usize].name)) => {
                    String::new()
                }
                DirectiveKind::Undef(name) if index::is_opaque(file.text(name)) => String::new(),
                _ => continue,
            };
            text.extend_from_slice(&file.bytes[done..line.start]);
            text.extend_from_slice(replaced.as_bytes());
            // Lines keep their numbers.
            text.extend(file.bytes[line.clone()].iter().filter(|byte| **byte == b'\n'));
            done = line.end;
        }
        text.extend_from_slice(&file.bytes[done..]);
        fs::write(name(files, out, id), text).expect("a copy");
    }
    let mut opaque = String::from("#undef __FILE__\n#undef __LINE__\n#undef __DATE__\n#undef __TIME__\n");
    for word in index::OPAQUE_WORDS {
        opaque.push_str(&format!("#define {word} {word}\n"));
    }
    fs::write(out.join("opaque.h"), opaque).expect("a header");
}

/// Writes the skeletons of about COUNT functions that bear on a barrier, and copies of their files.
fn skeletons(out: &Path, count: usize, roots: &[&str]) {
    let tree = Tree::new(Files::new(read(roots), &Options::default()));
    let words = Words::builtin();
    let closure = synclint::source::closure::closure(&tree, &words);
    let program = Program::of(&tree);
    let interesting = closure.kernels.iter().chain(&closure.holding).copied();
    let interesting: BTreeSet<_> = interesting.filter(|id| tree.item(*id).is_definition()).collect();
    let all: Vec<_> = interesting.into_iter().collect();
    let step = (all.len() / count).max(1);
    let mut sample = BTreeSet::new();
    let mut list = String::new();
    for id in all.into_iter().step_by(step) {
        let item = tree.item(id);
        let Some(function) = program.function(id) else { continue };
        let mut skeleton = skeletons::Skeleton::default();
        skeleton.statement(&function.body);
        let file = tree.files.get(item.file);
        let line = 1 + file.bytes[..item.name_range.start as usize].iter().filter(|byte| **byte == b'\n').count();
        let copy = name(&tree.files, out, item.file);
        let dead = if item.in_dead_branch { "dead" } else { "alive" };
        list += &format!("{}\t{}\t{}\t{line}\t{dead}\t{}\n", file.path, copy.display(), item.name, skeleton.text);
        sample.insert(item.file);
    }
    write_copies(&tree.files, &sample.into_iter().collect::<Vec<_>>(), out);
    fs::write(out.join("skeletons.tsv"), list).expect("a list");
}

/// Processor time of this thread, which other work on the machine does not lengthen.
fn now() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

fn measure(roots: &[&str]) {
    for root in roots {
        let indexed = read(&[root]);
        let bytes: usize = indexed.iter().map(|file| file.bytes.len()).sum();
        let rate = |start: Duration| bytes as f64 / (now() - start).as_secs_f64() / 1e6;
        let start = now();
        for file in &indexed {
            std::hint::black_box(synclint::source::lexer::lex(&file.bytes));
        }
        let lex = rate(start);
        let copies: Vec<_> = indexed.iter().map(|file| (file.path.clone(), file.bytes.to_vec())).collect();
        let start = now();
        for (path, bytes) in copies {
            std::hint::black_box(File::new(path, bytes));
        }
        let index = rate(start);
        let start = now();
        let files = Files::new(indexed, &Options::default());
        let join = now() - start;
        let ids: Vec<FileId> = files.ids().collect();
        let start = now();
        for id in &ids {
            std::hint::black_box(files.include_closure(*id).len());
        }
        let closures = now() - start;
        let start = now();
        let (mut alive, mut flips) = (0, 0);
        for id in &ids {
            let unit = Unit::new(&files, *id);
            let selection = select::select(&unit);
            alive += selection.tokens().count();
            flips += usize::from(!select::flips(&unit, &selection, std::iter::empty()).is_empty());
        }
        let select_time = now() - start;
        let start = now();
        let (mut out, mut overflowed) = (0, 0);
        let mut slowest = (Duration::ZERO, FileId(0));
        for id in &ids {
            let start = now();
            let unit = Unit::new(&files, *id);
            let selection = select::select(&unit);
            let expansion = expand::expand(&unit, &selection, 0..files.get(*id).tokens.len() as u32);
            out += expansion.expanded.text.len();
            overflowed += usize::from(expansion.overflowed);
            slowest = slowest.max((now() - start, *id));
        }
        println!(
            "{root}: {} files, {:.1} MB; lex {lex:.0} MB/s; lex and index {index:.0} MB/s; join {join:.1?}; closures {closures:.1?}; \
             select {select_time:.1?}, {alive} tokens alive, {flips} flips; \
             expand everything {:.1?}, {:.1} MB out, {overflowed} overflowed; slowest {:.1?} {}",
            ids.len(),
            bytes as f64 / 1e6,
            now() - start,
            out as f64 / 1e6,
            slowest.0,
            files.get(slowest.1).path
        );
    }
}

fn parse(roots: &[&str]) {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_cpp::LANGUAGE.into()).expect("the grammar");
    for root in roots {
        let files = Files::new(read(&[root]), &Options::default());
        let (mut functions, mut clean, mut overflowed, mut time, mut expand_time, mut bytes) = (0, 0, 0, 0.0, 0.0, 0);
        for id in files.ids().filter(|id| !files.get(*id).marked.is_empty()) {
            let file = files.get(id);
            let unit = Unit::new(&files, id);
            let selection = select::select(&unit);
            for body in bodies(file, &selection) {
                if !file.marked.iter().any(|token| (body.0..body.2).contains(token)) {
                    continue;
                }
                let start = now();
                let expansion = expand::expand(&unit, &selection, body.1..body.2);
                expand_time += (now() - start).as_secs_f64();
                overflowed += usize::from(expansion.overflowed);
                let text = format!("void f() {}", expansion.expanded.text);
                bytes += text.len();
                let start = now();
                let tree = parser.parse(&text, None).expect("a tree");
                time += (now() - start).as_secs_f64();
                functions += 1;
                clean += usize::from(!tree.root_node().has_error());
                if tree.root_node().has_error() {
                    println!("{}: {}", file.path, first_error(&tree, &text));
                }
            }
        }
        println!(
            "{root}: {clean} of {functions} bodies clean, {overflowed} overflowed; {:.2} MB; expand {expand_time:.3} s, parse {time:.3} s",
            bytes as f64 / 1e6
        );
    }
}

/// Start of the head, of the body and end of each function, by brackets alone.
fn bodies(file: &File, selection: &select::Selection) -> Vec<(u32, u32, u32)> {
    let mut found = Vec::new();
    let mut head = None;
    let (mut depth, mut body, mut is_function) = (0, None, false);
    for at in selection.tokens() {
        let token = file.tokens[at as usize];
        if body.is_some() {
            depth += i32::from(token.is_byte(b'{')) - i32::from(token.is_byte(b'}'));
            if depth == 0 {
                found.push((head.unwrap_or(at), body.take().unwrap_or(at), at + 1));
                head = None;
                is_function = false;
            }
        } else if token.is_byte(b'{') && is_function {
            body = Some(at);
            depth = 1;
        } else if token.is_byte(b'{') || token.is_byte(b'}') || token.is_byte(b';') {
            head = None;
            is_function = false;
        } else {
            head.get_or_insert(at);
            is_function |= token.is_byte(b'(');
            if matches!(file.text(at), b"namespace" | b"=") {
                is_function = false;
            }
        }
    }
    found
}

fn first_error(tree: &tree_sitter::Tree, text: &str) -> String {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            let from = node.start_byte().saturating_sub(60);
            let to = (node.end_byte() + 20).min(node.start_byte() + 100).min(text.len());
            return format!("{} @ {:?}", node.kind(), String::from_utf8_lossy(&text.as_bytes()[from..to]));
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return "?".into();
            }
        }
    }
}
