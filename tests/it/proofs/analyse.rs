//! Files that exist only in memory through the library: their findings, and the graphs behind them.

use synclint::analysis::{self, Session};
use synclint::checks::Policy;
use synclint::finding::{Finding, Severity};
use synclint::graph::{At, Graph, InstId, ItemId, Op};
use synclint::inline::{self, Instance, Program};
use synclint::source::closure::{self, Closure};
use synclint::source::index::{File, Files, Options};
use synclint::source::launch::Launches;
use synclint::source::tree::Tree;
use synclint::text::{FileId, LineIndex, Range};
use synclint::words::Words;

/// Runs `work` over the files' program, on a stack as deep as the program's own.
pub fn with_session<R: Send>(
    files: &[(String, String)],
    work: impl FnOnce(&Session, &Closure, &Lines) -> R + Send,
) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20);
        let work = || {
            let words = Words::builtin();
            let parsed = files.iter().map(|(path, text)| File::new(path.clone(), text.clone().into_bytes())).collect();
            let tree = Tree::new(Files::new(parsed, &Options::default()));
            let roots = closure::closure(&tree, &words);
            let program = Program::of(&tree);
            let launches = Launches::new(&tree, &roots.kernels);
            let session = Session {
                tree: &tree,
                program: &program,
                words: &words,
                launches: &launches,
                policy: Policy::default(),
                known_blocks: &|_| None,
            };
            work(&session, &roots, &Lines::new(files))
        };
        thread
            .spawn_scoped(scope, work)
            .expect("a thread starts")
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Findings at `warning` or above of all roots, each once.
pub fn findings(session: &Session, roots: &Closure) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for item in roots.kernels.iter().chain(&roots.devices) {
        for finding in analysis::root(session, *item).findings {
            if finding.severity >= Severity::Warning
                && !all.iter().any(|known| known.at == finding.at && known.rule.name == finding.rule.name)
            {
                all.push(finding);
            }
        }
    }
    all
}

pub fn graph(session: &Session, item: ItemId) -> Graph {
    inline::inline(session.program, session.words, item, &Instance::default()).graph
}

/// Where a barrier stands, and each call that leads to it.
pub fn places(session: &Session, graph: &Graph, inst: InstId) -> Vec<Range> {
    let own = &graph.insts[inst.index()];
    let home = |at: At| session.program.expanded(at.item).map(|text| text.home(at.span).range);
    let mut places: Vec<Range> = home(own.at).into_iter().collect();
    let mut frame = own.frame;
    while let Some((above, call)) = graph.frames[frame.index()].call {
        places.extend(home(call));
        frame = above;
    }
    places
}

pub fn barriers(graph: &Graph) -> impl Iterator<Item = InstId> + '_ {
    (0..graph.insts.len() as u32).map(InstId).filter(|inst| matches!(graph.insts[inst.index()].op, Op::Barrier(_)))
}

/// Bytes of files as lines.
pub struct Lines(Vec<LineIndex>);

impl Lines {
    pub fn new(files: &[(String, String)]) -> Lines {
        Lines(files.iter().map(|(_, text)| LineIndex::new(text.as_bytes())).collect())
    }

    pub fn of(&self, range: Range) -> (FileId, u32) {
        let line = self.0.get(range.file.0 as usize).map_or(0, |lines| lines.place(range.start).line);
        (range.file, line)
    }
}
