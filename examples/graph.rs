//! The graphs of all roots of some files, for development: `graph FILE..`; `-q` prints figures only.
use std::time::Instant;
use synclint::inline::{Instance, Program, dump, inline};
use synclint::source::{
    index::{File, Files, Options},
    tree::Tree,
};
use synclint::words::Words;

fn main() {
    let stack = std::env::var("STACK_MB").ok().and_then(|mb| mb.parse::<usize>().ok()).unwrap_or(64);
    std::thread::Builder::new().stack_size(stack << 20).spawn(run).expect("a thread").join().expect("no panic");
}

fn run() {
    if let Ok(text) = std::env::var("LOWER") {
        let mut parser = synclint::lower::Parser::new();
        print!("{}", synclint::lower::dump(&synclint::lower::function(&mut parser, &text)));
        return;
    }
    let quiet = std::env::args().any(|arg| arg == "-q");
    let brief = std::env::args().any(|arg| arg == "-b");
    let devices = std::env::args().any(|arg| arg == "-d");
    let unresolved = std::env::args().any(|arg| arg == "-u");
    let loud = std::env::args().any(|arg| arg == "-v");
    let mut files = Vec::new();
    for arg in std::env::args().skip(1).filter(|arg| !arg.starts_with('-')) {
        for entry in ignore::WalkBuilder::new(arg).build().flatten() {
            let path = entry.path();
            let wanted = path
                .extension()
                .is_none_or(|e| ["cu", "cuh", "h", "hpp", "hxx", "inl", "cpp", "cc"].iter().any(|w| e == *w));
            if path.is_file()
                && wanted
                && let Ok(bytes) = std::fs::read(path)
            {
                files.push(File::new(path.display().to_string(), bytes));
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let words = Words::builtin();
    let start = Instant::now();
    let tree = Tree::new(Files::new(files, &Options::default()));
    let closure = synclint::source::closure::closure(&tree, &words);
    let program = Program::of(&tree);
    let roots: Vec<_> = tree
        .ids()
        .filter(|id| {
            (closure.kernels.contains(id) || devices && tree.item(*id).attributes.device)
                && tree.item(*id).is_definition()
        })
        .collect();
    eprintln!("tree {:?}; {} kernels", start.elapsed(), roots.len());
    let start = Instant::now();
    let (mut insts, mut blocks, mut incomplete, mut barriers) = (0, 0, 0, 0);
    for root in &roots {
        let item_file = tree.item(*root).file;
        let begun = Instant::now();
        if loud {
            eprintln!("-> {}", tree.item(*root).qualified_name());
        }
        let made = inline(&program, &words, *root, &Instance::default());
        if unresolved {
            for inst in &made.graph.insts {
                if let synclint::graph::Op::Unknown { unseen: Some(name), .. } = &inst.op {
                    let name = name.rsplit("::").next().unwrap_or(name);
                    let seen = tree.visible(item_file, name);
                    if seen.iter().any(|id| tree.item(*id).is_definition() && !tree.item(*id).is_kernel()) {
                        let text = program
                            .expanded(inst.at.item)
                            .map(|it| {
                                it.text
                                    .get(inst.at.span.start as usize..inst.at.span.end as usize)
                                    .unwrap_or("")
                                    .replace('\n', " ")
                            })
                            .unwrap_or_default();
                        println!(
                            "{name} | {} | {} in {}",
                            text.chars().take(90).collect::<String>(),
                            tree.item(*root).qualified_name(),
                            tree.files.get(item_file).path
                        );
                    }
                }
            }
        }
        insts += made.graph.insts.len();
        blocks += made.graph.blocks.len();
        incomplete += usize::from(!made.graph.incomplete.is_empty());
        barriers += made.graph.insts.iter().filter(|inst| matches!(inst.op, synclint::graph::Op::Barrier(_))).count();
        let item = tree.item(*root);
        if begun.elapsed().as_millis() > 300 || !made.graph.incomplete.is_empty() {
            eprintln!(
                "{} {} {:?} {} insts {} blocks {:?}",
                tree.files.get(item.file).path,
                item.qualified_name(),
                begun.elapsed(),
                made.graph.insts.len(),
                made.graph.blocks.len(),
                made.graph.incomplete
            );
        }
        if brief {
            println!("==== {}", item.qualified_name());
            for frame in &made.graph.frames {
                print!("{} ", frame.name);
            }
            println!();
            for (n, inst) in made.graph.insts.iter().enumerate() {
                match &inst.op {
                    synclint::graph::Op::Barrier(b) => {
                        println!("  {n} {} {:?} -> {:?} {:?}", b.name, b.group, b.result, b.operands)
                    }
                    synclint::graph::Op::Unknown { unseen: Some(name), from } => {
                        println!("  {n} unseen {name} {from:?}")
                    }
                    synclint::graph::Op::Source(synclint::graph::Source::Named(name)) => println!("  {n} named {name}"),
                    synclint::graph::Op::Clobber { .. }
                    | synclint::graph::Op::Coalesce
                    | synclint::graph::Op::Atomic { .. }
                    | synclint::graph::Op::BarrierInit { .. } => println!("  {n} {:?}", inst.op),
                    _ => {}
                }
            }
        } else if !quiet {
            println!("==== {}", item.qualified_name());
            print!("{}", dump(&made.graph));
        }
    }
    eprintln!(
        "{:?}: {insts} instructions, {blocks} blocks, {barriers} barriers, {incomplete} incomplete",
        start.elapsed()
    );
}
