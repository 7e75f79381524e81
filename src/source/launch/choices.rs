//! What host code chooses at run time, by `?:`, `if` and `switch` over something unknown -> one reading for each way.
//!
//! A reading takes one way at each fork that it asks about; forks of one function over the same text go the same way, as long
//! as nobody looks closer. Loops are no forks: what they decide stays unknown. A reading on whose way the function ends before
//! the launch, `else return false;`, is none.

use super::Work;
use super::code::Code;
use super::evaluate::{Value, evaluate};
use super::locals::{is_label, statement_end, statement_start};
use super::scope::Scope;
use super::writes::is_jumped_over;
use crate::graph::ItemId;
use crate::source::items::View;
use std::ops::Range;

/// Readings of one place; where there would be more, nothing is chosen and what depends on it is unknown.
const MAX_READINGS: usize = 8;
/// Statements that end a function, of those in front of a launch.
const MAX_ENDS: usize = 64;
/// Labels of a switch that is read way by way.
const MAX_LABELS: usize = 12;

/// A fork of host code: its function, and the condition as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fork {
    item: ItemId,
    condition: String,
}

#[derive(Default)]
pub(super) struct Choices {
    /// A reading is under way.
    open: bool,
    /// Ways that the place read stands on.
    given: Vec<(Fork, u32)>,
    /// In the order in which they were asked for.
    taken: Vec<Taken>,
    /// Nothing more is chosen, nor worked out: what is asked is where the ways taken so far lead.
    settled: bool,
}

/// A fork, the ways that are read one after another, and the place among them of the one that is read now.
struct Taken {
    fork: Fork,
    ways: Vec<u32>,
    now: usize,
}

impl Choices {
    fn way(&self, fork: &Fork) -> Option<u32> {
        let given = self.given.iter().find(|(known, _)| known == fork).map(|(_, way)| *way);
        given.or_else(|| {
            self.taken.iter().find(|taken| taken.fork == *fork).and_then(|taken| taken.ways.get(taken.now).copied())
        })
    }

    /// Turns to the next combination of ways, the last fork first.
    fn advance(&mut self) -> bool {
        while let Some(last) = self.taken.last_mut() {
            if last.now + 1 < last.ways.len() {
                last.now += 1;
                return true;
            }
            self.taken.pop();
        }
        false
    }
}

impl Work<'_> {
    /// What `read` gives, once for each combination of ways it asks about. `given` are ways that are settled.
    pub(super) fn readings<T: PartialEq>(&self, given: &[(Fork, u32)], mut read: impl FnMut() -> T) -> Vec<T> {
        if self.choices.borrow().open {
            return vec![read()];
        }
        self.choices.replace(Choices { open: true, given: given.to_vec(), ..Choices::default() });
        let mut found: Vec<T> = Vec::new();
        for count in 0.. {
            if count == MAX_READINGS {
                self.choices.replace(Choices::default());
                return vec![read()];
            }
            self.left.set(false);
            let one = read();
            if !self.left.replace(false) && !found.contains(&one) {
                found.push(one);
            }
            if !self.choices.borrow_mut().advance() {
                break;
            }
        }
        self.choices.replace(Choices::default());
        found
    }

    /// Makes this reading none if on its way the function, or the turn of a loop round the place, has ended before it.
    pub(super) fn note_end_before(&self, scope: &Scope, code: &Code, at: usize) {
        {
            let mut choices = self.choices.borrow_mut();
            let chose_here = choices.taken.iter().any(|taken| taken.fork.item == code.item);
            if !choices.open || choices.settled || !chose_here {
                return;
            }
            choices.settled = true;
        }
        let chose = self.chose.get();
        let ends = ends(code, at).take(MAX_ENDS).any(|end| happened(scope, code, end, at) == Happened::Surely);
        self.chose.set(chose);
        self.choices.borrow_mut().settled = false;
        self.left.set(self.left.get() || ends);
    }

    /// The way taken at a fork; none if nothing is chosen.
    fn choose(&self, fork: Fork, ways: u32) -> Option<u32> {
        self.choose_among(fork, (0..ways).collect())
    }

    /// The same where only some of a fork's ways are of interest; none if another one is taken.
    fn choose_among(&self, fork: Fork, ways: Vec<u32>) -> Option<u32> {
        let first = *ways.first()?;
        self.chose.set(true);
        let mut choices = self.choices.borrow_mut();
        if !choices.open {
            return None;
        }
        if let Some(known) = choices.way(&fork) {
            return ways.contains(&known).then_some(known);
        }
        if choices.settled {
            return None;
        }
        choices.taken.push(Taken { fork, ways, now: 0 });
        Some(first)
    }
}

/// Which of several values stands at a token, on the way that is read.
pub(super) fn one_of(scope: &Scope, code: &Code, at: usize, count: usize) -> Option<usize> {
    match count {
        0 => None,
        1 => Some(0),
        _ => {
            let fork = Fork { item: code.item, condition: format!("one of those at {at}") };
            scope.work.choose(fork, count as u32).map(|way| way as usize)
        }
    }
}

/// Which of an array's elements an index means on the way that is read, of those that are of interest.
pub(super) fn indexed(scope: &Scope, code: &Code, index: Range<usize>, ways: Vec<u32>) -> Option<usize> {
    if let Some(value) = evaluate(scope, code, index.clone()).and_then(Value::int) {
        return ways.into_iter().find(|way| i64::from(*way) == value).map(|way| way as usize);
    }
    if ways.len() > MAX_READINGS {
        return None;
    }
    let fork = Fork { item: code.item, condition: format!("element {}", code.view.spelled(index)) };
    scope.work.choose_among(fork, ways).map(|way| way as usize)
}

/// Whether a condition holds on the way that is read.
pub(super) fn holds(scope: &Scope, code: &Code, condition: Range<usize>) -> Option<bool> {
    let (fork, negated) = fork(code, condition.clone());
    let known = scope.work.choices.borrow().way(&fork);
    if let Some(way) = known {
        scope.work.chose.set(true);
        return Some((way == 0) != negated);
    }
    if scope.work.choices.borrow().settled {
        return None;
    }
    match evaluate(scope, code, condition).and_then(Value::int) {
        Some(value) => Some(value != 0),
        None => scope.work.choose(fork, 2).map(|way| (way == 0) != negated),
    }
}

/// The same for a condition of which it is known that it cannot be worked out.
pub(super) fn chosen(scope: &Scope, code: &Code, condition: Range<usize>) -> Option<bool> {
    let (fork, negated) = fork(code, condition);
    scope.work.choose(fork, 2).map(|way| (way == 0) != negated)
}

/// How often what a condition names was written before: written alike, it may come out otherwise behind a write.
fn changes_before(code: &Code, condition: Range<usize>) -> usize {
    let before = code.body.start..condition.start;
    let writes = |name: &[u8]| code.writes(name, before.clone()).len();
    condition.filter_map(|at| code.view.identifier(at)).map(writes).sum()
}

/// A condition without its brackets and its `!`, and whether that turned it round.
fn fork(code: &Code, condition: Range<usize>) -> (Fork, bool) {
    let view = &code.view;
    let mut range = condition;
    let mut negated = false;
    loop {
        if view.byte(range.start, b'(') && view.behind(range.start) == range.end {
            range = view.inside(range.start);
        } else if view.byte(range.start, b'!')
            && (range.len() == 2 || view.byte(range.start + 1, b'(') && view.behind(range.start + 1) == range.end)
        {
            negated = !negated;
            range.start += 1;
        } else {
            let condition = format!("{} {}", view.spelled(range.clone()), changes_before(code, range));
            return (Fork { item: code.item, condition }, negated);
        }
    }
}

/// What controls a statement: the nearest one round it.
enum Control {
    /// The keyword's token, the condition, and whether it must hold.
    If(usize, Range<usize>, bool),
    Switch {
        keyword: usize,
        open: usize,
    },
    /// A block, or a body that runs at least once.
    Always(usize),
    /// The function's own body.
    Nothing,
    /// A loop, a lambda.
    Unknown,
}

/// What controls the statement round a token.
fn control(code: &Code, at: usize) -> Control {
    let view = &code.view;
    let start = statement_start(view, at);
    let Some(before) = start.checked_sub(1) else { return Control::Nothing };
    match view.text(before) {
        b")" => return by_bracket(view, before),
        b"else" => return behind_else(view, before),
        b"do" => return Control::Always(before),
        _ => {}
    }
    let Some(open) = view.bracket_round(start).filter(|open| *open >= code.body.start) else { return Control::Nothing };
    if !view.byte(open, b'{') {
        // What a loop begins with is run once.
        let is_first =
            view.is(open - 1, b"for") && start == open + 1 && (at..view.inside(open).end).any(|at| view.byte(at, b';'));
        return if is_first { Control::Always(open - 1) } else { Control::Unknown };
    }
    match view.text(open.wrapping_sub(1)) {
        b")" => match by_bracket(view, open - 1) {
            Control::Always(keyword) => Control::Switch { keyword, open },
            other => other,
        },
        b"else" => behind_else(view, open - 1),
        b"do" => Control::Always(open - 1),
        b";" | b"{" | b"}" => Control::Always(open),
        _ if is_label(view, open - 1) => Control::Always(open),
        _ => Control::Unknown,
    }
}

/// `if (..)` by its closing bracket; a `switch` comes as `Always`.
fn by_bracket(view: &View, close: usize) -> Control {
    let opener = view.opener(close);
    let keyword = opener.wrapping_sub(1);
    match view.text(keyword) {
        b"if" => Control::If(keyword, view.inside(opener), true),
        b"constexpr" if view.is(keyword.wrapping_sub(1), b"if") => Control::If(keyword - 1, view.inside(opener), true),
        b"switch" => Control::Always(keyword),
        _ => Control::Unknown,
    }
}

fn behind_else(view: &View, word: usize) -> Control {
    let Some(mut at) = word.checked_sub(1) else { return Control::Unknown };
    at = if view.byte(at, b'}') { view.opener(at) } else { statement_start(view, at) };
    for _ in 0..64 {
        let Some(close) = at.checked_sub(1).filter(|close| view.byte(*close, b')')) else { return Control::Unknown };
        match by_bracket(view, close) {
            Control::If(keyword, condition, _) => return Control::If(keyword, condition, false),
            // `if (a) for (..) x; else y;`
            _ => at = view.opener(close).wrapping_sub(1),
        }
    }
    Control::Unknown
}

/// What became of a statement before the place that is asked about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    Surely,
    Not,
    /// It did not happen since this condition, by its tokens, did not hold.
    Unless {
        start: usize,
        end: usize,
    },
    Perhaps,
}

/// Whether the statement at `write` was run on the way to `at` that is read.
pub(super) fn happened(scope: &Scope, code: &Code, write: usize, at: usize) -> Happened {
    let view = &code.view;
    if is_jumped_over(code, write, at) {
        return Happened::Perhaps;
    }
    let mut inner = write;
    for depth in 0..64 {
        let encloses = |open: usize| open < at && at < view.behind(open);
        match control(code, inner) {
            Control::Nothing => return Happened::Surely,
            Control::Always(open) if view.byte(open, b'{') && encloses(open) => return Happened::Surely,
            // `do { .. if (done) break; write; } while (0);`
            Control::Always(outer) if view.is(outer, b"do") && (outer..inner).any(|at| leaves_turn(view, at)) => {
                return Happened::Perhaps;
            }
            Control::Always(outer) => inner = outer,
            Control::If(keyword, condition, wanted) => {
                let branch = view.bracket_round(inner).filter(|open| *open > condition.end);
                if branch.is_some_and(encloses) || condition.contains(&inner) {
                    return Happened::Surely;
                }
                match holds(scope, code, condition.clone()) {
                    Some(holds) if holds == wanted => {}
                    Some(false) if depth == 0 => {
                        return Happened::Unless { start: condition.start, end: condition.end };
                    }
                    Some(_) => return Happened::Not,
                    None => return Happened::Perhaps,
                }
                inner = keyword;
            }
            Control::Switch { keyword, open } => {
                let labels = labels(view, open);
                if encloses(open) {
                    let falls = labels.iter().any(|label| write < *label && *label < at);
                    return if falls { Happened::Perhaps } else { Happened::Surely };
                }
                match runs(scope, code, keyword, open, &labels, inner) {
                    Some(true) => {}
                    Some(false) => return Happened::Not,
                    None => return Happened::Perhaps,
                }
                inner = keyword;
            }
            Control::Unknown => {
                let start = statement_start(view, inner);
                let holds_both = match view.byte(start.wrapping_sub(1), b')') {
                    // A loop's body without braces.
                    true => start <= at && at < statement_end(view, start),
                    false => view.bracket_round(start).is_some_and(encloses),
                };
                return if holds_both { Happened::Surely } else { Happened::Perhaps };
            }
        }
    }
    Happened::Perhaps
}

/// The statements before a place that end the function or the turn of a loop that holds it, but for those in lambdas.
fn ends(code: &Code, at: usize) -> impl Iterator<Item = usize> {
    let view = &code.view;
    let is_end = move |word: &usize| {
        let named = match view.text(*word) {
            b"return" | b"throw" | b"continue" => true,
            b"abort" | b"exit" | b"_exit" | b"terminate" | b"__builtin_unreachable" => view.byte(word + 1, b'('),
            _ => false,
        };
        let qualified = view.is(word.wrapping_sub(1), b"::") && view.is(word.wrapping_sub(2), b"std");
        let first = if qualified { word - 2 } else { *word };
        // `return [&] { k<<<1, n>>>(); }();` comes to the launch, and ends then.
        named && statement_start(view, *word) == first && statement_end(view, *word) <= at
    };
    (code.body.start..at.min(code.body.end)).filter(is_end)
}

fn leaves_turn(view: &View, at: usize) -> bool {
    matches!(view.text(at), b"break" | b"continue")
}

/// The labels of a switch by their tokens.
fn labels(view: &View, open: usize) -> Vec<usize> {
    let is_own = |at: &usize| matches!(view.text(*at), b"case" | b"default") && view.bracket_round(*at) == Some(open);
    view.inside(open).filter(is_own).collect()
}

/// Whether a statement of a switch runs: its label, or one that falls through to it, is the one taken.
fn runs(scope: &Scope, code: &Code, keyword: usize, open: usize, labels: &[usize], at: usize) -> Option<bool> {
    let view = &code.view;
    if labels.len() > MAX_LABELS {
        return None;
    }
    let subject = view.inside(keyword + 1);
    let settled = scope.work.choices.borrow().settled;
    let entry = match entry(scope, code, subject.clone(), labels).filter(|_| !settled) {
        Some(entry) => entry,
        None => {
            let ways = labels.len() + usize::from(!labels.iter().any(|label| view.is(*label, b"default")));
            scope.work.choose(switch_fork(code, subject), ways as u32)? as usize
        }
    };
    let Some(label) = labels.get(entry) else { return Some(false) };
    let own = |at: usize| {
        let round = view.bracket_round(at);
        round == Some(open) || round.is_some_and(|block| view.byte(block, b'{') && is_label(view, block - 1))
    };
    let leaves = (*label..at).any(|at| {
        matches!(view.text(at), b"break" | b"return" | b"continue" | b"goto" | b"throw")
            && own(at)
            && !matches!(view.text(at - 1), b")" | b"else")
    });
    Some(*label < at && !leaves)
}

fn switch_fork(code: &Code, subject: Range<usize>) -> Fork {
    Fork { item: code.item, condition: format!("switch ({})", code.view.spelled(subject)) }
}

/// The label that a known subject leads to; one past the last if there is none.
fn entry(scope: &Scope, code: &Code, subject: Range<usize>, labels: &[usize]) -> Option<usize> {
    let view = &code.view;
    let value = evaluate(scope, code, subject)?.int()?;
    let mut default = labels.len();
    for (index, label) in labels.iter().enumerate() {
        if view.is(*label, b"default") {
            default = index;
            continue;
        }
        let colon = (*label..view.len()).find(|at| view.byte(*at, b':'))?;
        if evaluate(scope, code, label + 1..colon)?.int()? == value {
            return Some(index);
        }
    }
    Some(default)
}

/// The ways that lead to a place.
pub(super) fn ways_to(code: &Code, at: usize) -> Vec<(Fork, u32)> {
    let view = &code.view;
    let mut found = Vec::new();
    for control in controls_round(code, at) {
        match control {
            Control::If(_, condition, wanted) => {
                let (fork, negated) = fork(code, condition);
                found.push((fork, u32::from(wanted == negated)));
            }
            Control::Switch { keyword, open } => {
                let way = labels(view, open).iter().filter(|label| **label < at).count();
                if let Some(way) = way.checked_sub(1) {
                    found.push((switch_fork(code, view.inside(keyword + 1)), way as u32));
                }
            }
            _ => {}
        }
    }
    found
}

/// The conditions of the branches that a place stands in, and whether each must hold.
pub(super) fn conditions_round(code: &Code, at: usize) -> Vec<(Range<usize>, bool)> {
    let condition = |control| match control {
        Control::If(_, condition, wanted) => Some((condition, wanted)),
        _ => None,
    };
    controls_round(code, at).into_iter().filter_map(condition).collect()
}

fn controls_round(code: &Code, at: usize) -> Vec<Control> {
    let view = &code.view;
    let mut found = Vec::new();
    let mut inner = at;
    for _ in 0..64 {
        let control = control(code, inner);
        inner = match &control {
            Control::Nothing | Control::Unknown => match view.bracket_round(inner) {
                // Of a loop or lambda it is inside, too.
                Some(open) if open > code.body.start => open,
                _ => break,
            },
            Control::Always(outer) if *outer < inner => *outer,
            Control::Always(_) => break,
            Control::If(keyword, ..) | Control::Switch { keyword, .. } => *keyword,
        };
        found.push(control);
    }
    found
}
