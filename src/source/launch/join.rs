//! What is common to several ways, where they are too many to be looked at one by one: argument by argument, also within the
//! arguments of one template. What they differ in is open.

use super::Argument;
use super::evaluate::Value;
use super::scope::{Bound, Frame};
use crate::source::items::View;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Templates within templates.
const MAX_NESTING: u32 = 8;

/// Names for what is open, each another one: nothing says that two of them are the same.
#[derive(Default)]
pub(super) struct Joining {
    open: u32,
}

/// One way for all that are understood, and one that stands for those that are not.
pub(super) fn frames(ways: Vec<Option<Frame>>) -> Vec<Option<Frame>> {
    let is_whole = ways.iter().all(Option::is_some);
    let mut joining = Joining::default();
    let joined = ways.into_iter().flatten().reduce(|one, other| joining.frame(&one, &other));
    joined.map(Some).into_iter().chain((!is_whole).then_some(None)).collect()
}

/// What is common to the template arguments of several launches.
pub fn arguments<'a>(all: impl IntoIterator<Item = &'a [Argument]>) -> Vec<Argument> {
    let mut joining = Joining::default();
    let joined = all.into_iter().map(<[Argument]>::to_vec).reduce(|one, other| joining.arguments(&one, &other));
    let mut joined = joined.unwrap_or_default();
    while joined.last() == Some(&Argument::Open) {
        joined.pop();
    }
    joined
}

impl Joining {
    fn arguments(&mut self, one: &[Argument], other: &[Argument]) -> Vec<Argument> {
        let mut found: Vec<Argument> = one.iter().zip(other).map(|(one, other)| self.argument(one, other)).collect();
        found.resize(one.len().max(other.len()), Argument::Open);
        found
    }

    fn argument(&mut self, one: &Argument, other: &Argument) -> Argument {
        match (one, other) {
            (one, other) if one == other => one.clone(),
            (Argument::Text(one), Argument::Text(other)) => {
                self.text(one, other).map_or(Argument::Open, Argument::Text)
            }
            _ => Argument::Open,
        }
    }

    fn frame(&mut self, one: &Frame, other: &Frame) -> Frame {
        Frame {
            params: self.bounds(&one.params, &other.params),
            templates: self.bounds(&one.templates, &other.templates),
            own: one.own.iter().filter(|(name, value)| other.own.get(*name) == Some(value)).map(own).collect(),
            assumed: Vec::new(),
        }
    }

    fn bounds(&mut self, one: &FxHashMap<String, Bound>, other: &FxHashMap<String, Bound>) -> FxHashMap<String, Bound> {
        let mut names: Vec<&String> = one.keys().filter(|name| other.contains_key(*name)).collect();
        names.sort_unstable();
        names.into_iter().map(|name| (name.clone(), self.bound(&one[name], &other[name]))).collect()
    }

    fn bound(&mut self, one: &Bound, other: &Bound) -> Bound {
        if one == other {
            return one.clone();
        }
        Bound {
            value: value(one.value, other.value),
            text: self.text(&one.text, &other.text).unwrap_or_default(),
            fields: one.fields.iter().filter(|field| other.fields.contains(field)).cloned().collect(),
            lambda: one.lambda.filter(|lambda| other.lambda == Some(*lambda)),
        }
    }

    /// `Traits<float, 4>` and `Traits<half, 4>`: a `Traits<?, 4>`; none for what has nothing in common.
    fn text(&mut self, one: &str, other: &str) -> Option<String> {
        if one == other {
            return Some(one.to_string());
        }
        let (left, right) = (View::owned(one.to_string()), View::owned(other.to_string()));
        self.pieces(&left, 0..left.len(), &right, 0..right.len(), 0)
    }

    fn pieces(&mut self, left: &View, a: Range<usize>, right: &View, b: Range<usize>, depth: u32) -> Option<String> {
        let (one, other) = (left.spelled(a.clone()), right.spelled(b.clone()));
        if one == other {
            return Some(one);
        }
        let (open, theirs) = (opening(left, a.clone())?, opening(right, b.clone())?);
        let head = left.spelled(a.start..open);
        if depth >= MAX_NESTING || head != right.spelled(b.start..theirs) {
            return None;
        }
        let (own, given) = (left.split_at_commas(open + 1..a.end - 1), right.split_at_commas(theirs + 1..b.end - 1));
        if own.len() != given.len() {
            return None;
        }
        let mut inside = Vec::with_capacity(own.len());
        for (own, given) in own.into_iter().zip(given) {
            inside.push(self.pieces(left, own, right, given, depth + 1).unwrap_or_else(|| self.name()));
        }
        Some(format!("{head}<{}>", inside.join(", ")))
    }

    fn name(&mut self) -> String {
        self.open += 1;
        format!("__open{}", self.open)
    }
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), *value)
}

/// Numbers that differ are no more than the greatest.
fn value(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    match (one?, other?) {
        (one, other) if one == other => Some(one),
        (one, other) => Some(Value::AtMost(one.number()?.value.max(other.number()?.value))),
    }
}

/// The bracket of the arguments that a type ends in.
fn opening(view: &View, range: Range<usize>) -> Option<usize> {
    let open = range.clone().find(|at| view.is(*at, b"<"))?;
    (view.behind_angle(open) == Some(range.end)).then_some(open)
}
