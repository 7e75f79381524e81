//! One file as a translation unit of its own: which definition of a macro counts at a place, which branches live.
//!
//! Headers are not replayed. Every place of the unit's files has a `Moment`, its rank in the order in which a compiler would
//! come by (each header once, where it is first included); a name is looked up by going through its own `#define`s
//! and `#undef`s up to the moment of the question. An answer only ever depends on earlier moments.

use super::marks::Marks;
use super::pieces::{self, Prepared};
use crate::source::conditions::{self, Verdict};
use crate::source::index::{Branch, Change, ChangeKind, Condition, Directive, DirectiveKind, Files, MacroName};
use crate::text::FileId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// How deep conditions may rest on macros that rest on conditions.
const MAX_DEPTH: u32 = 60;
/// How many files the search for a file that includes a header may look at.
const MAX_INCLUDERS: usize = 256;

/// A file and all that it includes, as one thread looks at them. Cheap to make; it memoises what it is asked.
pub struct Unit<'f> {
    pub files: &'f Files,
    pub file: FileId,
    timeline: OnceCell<Arc<Timeline>>,
    forced: FxHashMap<u32, bool>,
    names: RefCell<FxHashMap<MacroName, History>>,
    verdicts: RefCell<FxHashMap<(FileId, u32), Verdict>>,
    alive: RefCell<FxHashMap<(FileId, u32), bool>>,
    decided: RefCell<FxHashMap<(FileId, u32), bool>>,
    reached: RefCell<FxHashMap<FileId, bool>>,
    prepared: RefCell<FxHashMap<Definition, Rc<Prepared>>>,
    depth: Cell<u32>,
    /// A file that includes this one, for names that only it defines.
    outer: OnceCell<Option<Box<Unit<'f>>>>,
    in_view_only: bool,
    pub(super) known_marks: RefCell<FxHashMap<Definition, Marks>>,
}

/// A place in the order of translation: later is greater.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Definition {
    pub file: FileId,
    /// An index into the file's macros.
    pub index: u32,
}

/// What a name means as a macro at one moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    Defined(Definition),
    /// By `#undef` or `-U`.
    Undefined,
    /// No directive in view has spoken of it.
    Unknown,
}

impl<'f> Unit<'f> {
    pub fn new(files: &'f Files, file: FileId) -> Unit<'f> {
        Unit {
            files,
            file,
            timeline: OnceCell::new(),
            forced: FxHashMap::default(),
            names: RefCell::default(),
            verdicts: RefCell::default(),
            alive: RefCell::default(),
            decided: RefCell::default(),
            reached: RefCell::default(),
            prepared: RefCell::default(),
            depth: Cell::new(0),
            outer: OnceCell::new(),
            in_view_only: false,
            known_marks: RefCell::default(),
        }
    }

    /// A unit to which macros of includers and well-known ones mean nothing, as to a compiler.
    pub fn in_view_only(files: &'f Files, file: FileId) -> Unit<'f> {
        Unit { in_view_only: true, ..Unit::new(files, file) }
    }

    /// The same file with branches of it taken, or not, whatever their conditions say.
    pub(crate) fn with_forced(&self, forced: FxHashMap<u32, bool>) -> Unit<'f> {
        Unit { forced, ..Unit::new(self.files, self.file) }
    }

    /// The moment of a token; that of the unit's end for a file outside the unit.
    pub fn moment(&self, file: FileId, token: u32) -> Moment {
        self.timeline().moment(file, token).unwrap_or(Moment(u64::MAX))
    }

    pub fn meaning(&self, name: MacroName, at: Moment) -> Meaning {
        let mut next = match self.names.borrow_mut().entry(name).or_insert_with(|| self.history(name)).settled(at) {
            Ok(meaning) => return meaning,
            Err(next) => next,
        };
        if self.depth.get() >= MAX_DEPTH {
            return Meaning::Unknown;
        }
        self.depth.set(self.depth.get() + 1);
        // Each change is settled with the map free: its conditions may ask about earlier moments of this very name.
        let meaning = loop {
            let happens = self.reached(next.file) && self.alive(next.file, next.branch);
            let assert = if next.kind == ChangeKind::Assert { self.assert_read_at(&next) } else { Meaning::Unknown };
            let mut names = self.names.borrow_mut();
            let Some(history) = names.get_mut(&name) else { break Meaning::Unknown };
            history.settle(happens, assert, next.start, next.file);
            match history.settled(at) {
                Ok(meaning) => break meaning,
                Err(following) => next = following,
            }
        };
        self.depth.set(self.depth.get() - 1);
        meaning
    }

    /// What `<assert.h>` makes of `assert` where it is read: each time anew, as the C standard has it (7.2).
    fn assert_read_at(&self, include: &Change) -> Meaning {
        let Some(debug_is_off) = self.files.macro_name(b"NDEBUG") else { return Meaning::Unknown };
        let asked_in = (include.file == self.file).then_some(include.start);
        let meaning = self.meaning_in_program(debug_is_off, self.moment(include.file, include.start), asked_in);
        match (meaning, self.files.silent_assert()) {
            (Meaning::Defined(_), Some(index)) => Meaning::Defined(Definition { file: self.files.well_known(), index }),
            _ => Meaning::Unknown,
        }
    }

    /// What a name means at a moment or, where nothing in view has spoken of it, at the token `asked_in` of this file as a
    /// file that includes it sees it.
    pub fn meaning_in_program(&self, name: MacroName, at: Moment, asked_in: Option<u32>) -> Meaning {
        let meaning = self.meaning(name, at);
        if let (Meaning::Unknown, Some(token), false) = (meaning, asked_in, self.in_view_only)
            && self
                .files
                .changes(name)
                .iter()
                .any(|change| change.file != self.file && self.files.is_of_some(change.file))
            && let Some(outer) = self.outer()
        {
            return outer.meaning(name, outer.moment(self.file, token));
        }
        meaning
    }

    /// The definition to expand a name by, which may be a well-known one.
    pub fn definition(&self, name: MacroName, at: Moment, asked_in: Option<u32>) -> Option<Definition> {
        match self.meaning_in_program(name, at, asked_in) {
            Meaning::Defined(definition) => return Some(definition),
            Meaning::Undefined => return None,
            Meaning::Unknown if self.in_view_only => return None,
            Meaning::Unknown => {}
        }
        let known = self.files.changes(name).last().filter(|change| change.file == self.files.well_known())?;
        match known.kind {
            ChangeKind::Define(index) => Some(Definition { file: known.file, index }),
            _ => None,
        }
    }

    /// Whether the text of a branch is compiled.
    pub fn alive(&self, file: FileId, branch: u32) -> bool {
        let index = self.files.get(file);
        // Up to the nearest branch that is known, then down again.
        let mut chain = Vec::new();
        let mut at = branch;
        let mut alive = loop {
            if at == 0 {
                break true;
            }
            if let Some(known) = self.alive.borrow().get(&(file, at)) {
                break *known;
            }
            chain.push(at);
            at = index.branches[at as usize].parent;
        };
        for branch in chain.into_iter().rev() {
            alive = alive && self.taken(file, branch);
            self.alive.borrow_mut().insert((file, branch), alive);
        }
        alive
    }

    /// Whether a branch is the one of its group that is taken, if the group is reached.
    fn taken(&self, file: FileId, branch: u32) -> bool {
        if let Some(forced) = self.forced.get(&branch).filter(|_| file == self.file) {
            return *forced;
        }
        let earlier = self.files.get(file).branches[branch as usize].previous;
        !earlier.is_some_and(|earlier| self.decided(file, earlier)) && self.verdict(file, branch).holds
    }

    /// Whether this branch of a group or one before it holds.
    fn decided(&self, file: FileId, branch: u32) -> bool {
        let branches = &self.files.get(file).branches;
        let mut chain = Vec::new();
        let mut at = Some(branch);
        let mut decided = loop {
            let Some(branch) = at else { break false };
            if let Some(known) = self.decided.borrow().get(&(file, branch)) {
                break *known;
            }
            chain.push(branch);
            at = branches[branch as usize].previous;
        };
        for branch in chain.into_iter().rev() {
            decided = decided || self.verdict(file, branch).holds;
            self.decided.borrow_mut().insert((file, branch), decided);
        }
        decided
    }

    /// Whether the compiler comes by a file at all: not if the one `#include` of it in the unit stands in a dead branch.
    fn reached(&self, file: FileId) -> bool {
        let mut chain = Vec::new();
        let mut at = file;
        let mut reached = loop {
            if let Some(known) = self.reached.borrow().get(&at) {
                break *known;
            }
            chain.push(at);
            match self.timeline().included_by(at) {
                Some((includer, _)) => at = includer,
                None => break true,
            }
        };
        for file in chain.into_iter().rev() {
            if let Some((includer, index)) = self.timeline().included_by(file) {
                let include = &self.files.get(includer).includes[index as usize];
                reached = reached && self.alive(includer, include.branch);
            }
            self.reached.borrow_mut().insert(file, reached);
        }
        reached
    }

    /// What the branch's own condition says.
    pub(crate) fn verdict(&self, file: FileId, branch: u32) -> Verdict {
        if let Some(known) = self.verdicts.borrow().get(&(file, branch)) {
            return *known;
        }
        let opened: &Branch = &self.files.get(file).branches[branch as usize];
        let at = self.moment(file, opened.start);
        let asked_in = (file == self.file && !self.is_guard(branch)).then_some(opened.start);
        let defined = |name: u32| {
            let file = self.files.get(file);
            conditions::defined(self, &file.tokens[name as usize].spelling(&file.bytes), at, asked_in)
        };
        let verdict = match &opened.condition {
            Condition::Always => Verdict { holds: true, certain: true },
            Condition::Malformed => Verdict { holds: false, certain: true },
            Condition::Defined(name) => defined(*name),
            Condition::NotDefined(name) => {
                let Verdict { holds, certain } = defined(*name);
                Verdict { holds: !holds, certain }
            }
            Condition::Expression(_) if self.depth.get() >= MAX_DEPTH => Verdict { holds: false, certain: false },
            Condition::Expression(tokens) => {
                self.depth.set(self.depth.get() + 1);
                let verdict = conditions::evaluate(self, file, tokens.clone(), at, asked_in);
                self.depth.set(self.depth.get() - 1);
                verdict
            }
        };
        self.verdicts.borrow_mut().insert((file, branch), verdict);
        verdict
    }

    /// Whether a branch is the file's include guard: another file of the program may well have one of the same name.
    fn is_guard(&self, branch: u32) -> bool {
        let file = self.files.get(self.file);
        let name = match &file.branches[branch as usize].condition {
            Condition::NotDefined(name) => *name,
            Condition::Expression(tokens) if file.text(tokens.start) == b"!" => {
                let mut words = tokens.clone().skip(1).filter(|token| !matches!(file.text(*token), b"(" | b")"));
                match (words.next(), words.next(), words.next()) {
                    (Some(defined), Some(name), None) if file.text(defined) == b"defined" => name,
                    _ => return false,
                }
            }
            _ => return false,
        };
        let defines = |directive: &Directive| match directive.kind {
            DirectiveKind::Define(index) => file.text(file.macros[index as usize].name) == file.text(name),
            _ => false,
        };
        let inside = file.directives.iter().find(|directive| directive.start > file.branches[branch as usize].start);
        branch == 1 && inside.is_some_and(defines)
    }

    pub(super) fn prepared(&self, definition: Definition) -> Rc<Prepared> {
        if let Some(known) = self.prepared.borrow().get(&definition) {
            return known.clone();
        }
        let prepared = Rc::new(pieces::prepare(self.files, definition));
        self.prepared.borrow_mut().insert(definition, prepared.clone());
        prepared
    }

    fn timeline(&self) -> &Timeline {
        self.timeline.get_or_init(|| Arc::new(Timeline::new(self.files, self.file)))
    }

    /// The order of its files, if it has been asked for.
    pub(in crate::source) fn known_timeline(&self) -> Option<Arc<Timeline>> {
        self.timeline.get().cloned()
    }

    /// The same unit, whose order of files is known.
    pub(in crate::source) fn with_timeline(self, timeline: Arc<Timeline>) -> Unit<'f> {
        Unit { timeline: OnceCell::from(timeline), ..self }
    }

    fn history(&self, name: MacroName) -> History {
        let changes = self.files.changes(name).iter();
        let mut ahead: Vec<(Moment, Change)> =
            changes.filter_map(|change| Some((self.timeline().moment(change.file, change.start)?, *change))).collect();
        ahead.sort_unstable_by_key(|(moment, _)| *moment);
        History { changes: ahead, settled: 0, applied: Vec::new(), pushed: Vec::new() }
    }

    fn outer(&self) -> Option<&Unit<'f>> {
        let make = || {
            let mut seen = FxHashSet::from_iter([self.file]);
            let mut found = vec![self.file];
            let mut next = 0;
            let mut best = None;
            while let Some(&file) = found.get(next) {
                next += 1;
                let includers = self.files.includers(file);
                if includers.is_empty() && file != self.file {
                    best = Some(file);
                    if self.files.get(file).path.ends_with(".cu") {
                        break;
                    }
                }
                for includer in includers {
                    if found.len() < MAX_INCLUDERS && seen.insert(*includer) {
                        found.push(*includer);
                    }
                }
            }
            Some(Box::new(Unit::new(self.files, best?)))
        };
        self.outer.get_or_init(make).as_deref()
    }
}

/// The `#define`s and `#undef`s of one name in the order of the unit, and those found to happen so far.
struct History {
    changes: Vec<(Moment, Change)>,
    settled: usize,
    applied: Vec<(Moment, Meaning)>,
    /// What `push_macro` kept, the newest last.
    pushed: Vec<Meaning>,
}

impl History {
    /// The meaning at a moment, or the change that must be settled first.
    fn settled(&self, at: Moment) -> Result<Meaning, Change> {
        if let Some((_, change)) = self.changes.get(self.settled).filter(|(moment, _)| *moment < at) {
            return Err(*change);
        }
        let before = self.applied.partition_point(|(moment, _)| *moment < at);
        Ok(before.checked_sub(1).map_or(Meaning::Unknown, |last| self.applied[last].1))
    }

    /// Settles the next change, unless a question that came up meanwhile already has.
    fn settle(&mut self, happens: bool, assert: Meaning, start: u32, file: FileId) {
        let Some((moment, change)) = self.changes.get(self.settled) else { return };
        if (change.start, change.file) != (start, file) {
            return;
        }
        self.settled += 1;
        if !happens {
            return;
        }
        let before = self.applied.last().map_or(Meaning::Unknown, |(_, meaning)| *meaning);
        let meaning = match change.kind {
            ChangeKind::Define(index) => Meaning::Defined(Definition { file, index }),
            ChangeKind::Undef => Meaning::Undefined,
            ChangeKind::Assert => assert,
            ChangeKind::Push => return self.pushed.push(before),
            ChangeKind::Pop => self.pushed.pop().unwrap_or(before),
        };
        self.applied.push((*moment, meaning));
    }
}

/// The order in which a compiler comes by the files of a unit.
pub(in crate::source) struct Timeline {
    files: Vec<Passage>,
    /// For each file of the unit one stretch, and one more after each include that brought something new:
    /// the first token of the stretch, and its rank.
    stretches: Vec<(u32, u32)>,
}

/// How the unit comes by one file; `length` is 0 for a file it does not come by.
#[derive(Copy, Clone, Default)]
struct Passage {
    /// Its stretches.
    first: u32,
    length: u32,
    /// The file and the include that bring it first.
    includer: u32,
    include: u32,
    /// How often it is included.
    times: u32,
}

impl Timeline {
    fn new(files: &Files, main: FileId) -> Timeline {
        let mut timeline = Timeline { files: vec![Passage::default(); files.count()], stretches: Vec::new() };
        let lines = files.command_lines_of(main);
        for (file, rank) in std::iter::once(files.predefined()).chain(lines).chain([main]).zip(0..) {
            timeline.enter(files, file, rank, (0, 0));
        }
        let mut rank = 4;
        let mut open = vec![(main, 0)];
        while let Some((file, next)) = open.last_mut() {
            let (file, index) = (*file, *next);
            *next += 1;
            let Some(edge) = files.edges(file).get(index) else {
                open.pop();
                if let Some((includer, next)) = open.last() {
                    rank += 1;
                    let resumed = files.edges(*includer)[*next - 1].start + 1;
                    let passage = &mut timeline.files[includer.0 as usize];
                    timeline.stretches[(passage.first + passage.length) as usize] = (resumed, rank);
                    passage.length += 1;
                }
                continue;
            };
            let passage = &mut timeline.files[edge.to.0 as usize];
            passage.times += 1;
            if passage.length == 0 {
                rank += 1;
                timeline.enter(files, edge.to, rank, (file.0, edge.include));
                open.push((edge.to, 0));
            }
        }
        // The unit's own file is there whoever else includes it.
        timeline.files[main.0 as usize].times = 0;
        timeline
    }

    fn enter(&mut self, files: &Files, file: FileId, rank: u32, (includer, include): (u32, u32)) {
        let first = self.stretches.len() as u32;
        let times = self.files[file.0 as usize].times;
        self.files[file.0 as usize] = Passage { first, length: 1, includer, include, times };
        self.stretches.push((0, rank));
        self.stretches.resize(self.stretches.len() + files.edges(file).len(), (0, 0));
    }

    fn moment(&self, file: FileId, token: u32) -> Option<Moment> {
        let passage = self.files.get(file.0 as usize).filter(|passage| passage.length > 0)?;
        let stretches = &self.stretches[passage.first as usize..(passage.first + passage.length) as usize];
        let index = stretches.partition_point(|(start, _)| *start <= token);
        let (_, rank) = stretches[index.max(1) - 1];
        Some(Moment(u64::from(rank) << 32 | u64::from(token)))
    }

    /// The only include that brings a file.
    fn included_by(&self, file: FileId) -> Option<(FileId, u32)> {
        let passage = self.files.get(file.0 as usize).filter(|passage| passage.times == 1)?;
        Some((FileId(passage.includer), passage.include))
    }
}
