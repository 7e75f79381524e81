//! Calls of functions in view -> what they return: free functions, templates, static methods of a class.

use super::choices::{Happened, happened};
use super::code::{Callee, Code};
use super::deduce::deduced;
use super::evaluate::{Value, evaluate};
use super::instances::Around;
use super::locals::is_local;
use super::scope::{Bound, Frame, Path, Scope};
use crate::graph::ItemId;
use std::ops::Range;
use std::sync::Arc;

/// Returns of a function that are looked at.
const MAX_RETURNS: usize = 8;

impl Scope<'_> {
    /// A function in view, by the `return` that is taken.
    pub fn call(&self, code: &Code, path: &Path, arguments: &[Range<usize>]) -> Option<Value> {
        let (last, around) = path.split_last()?;
        let callee = Callee { name: last.0, arguments: last.1.clone(), suffix: 0..0 };
        if around.is_empty() {
            return self.with_result(code, &callee, arguments, evaluate);
        }
        match self.around(code, around) {
            Around::Class { class, frame } => self.static_method(code, &callee, arguments, class, &frame),
            Around::Namespace => self.with_result(code, &callee, arguments, evaluate),
            Around::Unknown => None,
        }
    }

    /// `Policy<4>::threads()`
    fn static_method(
        &self,
        code: &Code,
        callee: &Callee,
        arguments: &[Range<usize>],
        class: ItemId,
        outer: &Frame,
    ) -> Option<Value> {
        let tree = self.work.tree;
        let name = code.view.text(callee.name);
        let is_it = |id: &ItemId| tree.item(*id).name.as_bytes() == name && tree.item(*id).function().is_some();
        let methods: Vec<ItemId> = tree.members(class).iter().copied().filter(is_it).collect();
        if methods.is_empty() {
            return self.in_bases(class, outer, |scope, base, outer| {
                let own = Scope { work: scope.work, frame: self.frame };
                own.static_method(code, callee, arguments, base, outer)
            });
        }
        let bodies: Vec<ItemId> = methods.into_iter().filter(|id| self.takes(*id, arguments.len() as u32)).collect();
        let [method] = bodies[..] else { return None };
        let called = self.work.code(method);
        let mut frame = self.frame_for(code, callee, &called, arguments);
        // Outside the class its parameters may have other names.
        let class_code = self.work.code(class);
        let renamed = class_code.templates.iter().zip(&called.class_templates);
        let renamed = renamed.filter_map(|(own, other)| Some((other.name.clone(), outer.templates.get(&own.name)?)));
        frame.templates.extend(renamed.map(|(name, bound)| (name, bound.clone())));
        frame.templates.extend(outer.templates.iter().map(|(name, bound)| (name.clone(), bound.clone())));
        Scope { work: self.work, frame: &frame }.result(&called, evaluate)
    }

    /// What a function returns, by its tokens, whatever `read` makes of it.
    pub fn with_result<T>(
        &self,
        code: &Code,
        callee: &Callee,
        arguments: &[Range<usize>],
        read: impl FnOnce(&Scope, &Code, Range<usize>) -> Option<T>,
    ) -> Option<T> {
        let (called, special) = self.called_for(code, callee, arguments.len() as u32)?;
        let mut frame = match special {
            Some(special) => Frame { templates: special.templates, ..self.frame_of(code, &called, arguments) },
            None => self.frame_for(code, callee, &called, arguments),
        };
        // A method that calls another one of its class does so for the same object.
        let class = |code: &Code| self.work.tree.item(code.item).class;
        if class(&called).is_some() && class(&called) == class(code) {
            frame.own = self.frame.own.clone();
            for (name, bound) in &self.frame.templates {
                frame.templates.entry(name.clone()).or_insert_with(|| bound.clone());
            }
        }
        Scope { work: self.work, frame: &frame }.result(&called, read)
    }

    /// The one function in view that takes so many arguments.
    pub fn called(&self, code: &Code, name: usize, count: u32) -> Option<Arc<Code>> {
        self.called_for(code, &Callee { name, arguments: None, suffix: 0..0 }, count).map(|(called, _)| called)
    }

    /// The same; of a template with specialisations the one that the written arguments mean, and what its parameters stand for.
    fn called_for(&self, code: &Code, callee: &Callee, count: u32) -> Option<(Arc<Code>, Option<Frame>)> {
        let tree = self.work.tree;
        let word = code.view.text(callee.name);
        let is_shadowed =
            code.params.iter().any(|param| param.name.as_bytes() == word) || is_local(code, word, callee.name);
        let name = std::str::from_utf8(word).ok().filter(|_| !is_shadowed)?;
        let mut candidates = tree.visible(code.file, name);
        candidates.retain(|id| self.takes(*id, count));
        if let [only] = candidates[..] {
            let called = self.work.code(only);
            let is_fixed = tree.item(only).class.is_none() || !self.is_virtual(&called);
            return is_fixed.then_some((called, None));
        }
        let is_special = |id: &ItemId| tree.item(*id).function().is_some_and(|parts| parts.arguments.is_some());
        let primaries = candidates.iter().filter(|id| !is_special(id)).count();
        let written = callee.arguments.clone().filter(|_| primaries == 1)?;
        let (chosen, frame) = self.instance(&candidates, &self.template_arguments(code, written))?;
        Some((self.work.code(chosen), Some(frame)))
    }

    /// Whether a function has a body and may be called with so many arguments.
    fn takes(&self, id: ItemId, count: u32) -> bool {
        let item = self.work.tree.item(id);
        let parts = item.function().filter(|_| item.is_definition());
        parts.is_some_and(|parts| parts.count.min <= count && count <= parts.count.max && !parts.count.variadic)
    }

    /// A function's parameters as they are in a call.
    pub fn frame_of(&self, code: &Code, called: &Code, arguments: &[Range<usize>]) -> Frame {
        let mut frame = Frame::default();
        for (index, param) in called.params.iter().enumerate() {
            let bound = match (arguments.get(index), &param.default) {
                (Some(argument), _) => self.bind_parameter(code, argument.clone(), called, index),
                (None, Some(default)) => self.bind_parameter(called, default.clone(), called, index),
                (None, None) => Bound::default(),
            };
            frame.params.insert(param.name.clone(), bound);
        }
        frame
    }

    /// The same, with its template parameters: written, deduced, or by their defaults.
    pub fn frame_for(&self, code: &Code, callee: &Callee, called: &Code, arguments: &[Range<usize>]) -> Frame {
        let mut frame = self.frame_of(code, called, arguments);
        if called.templates.is_empty() {
            return frame;
        }
        let written = callee.arguments.clone().map_or(Vec::new(), |range| self.template_arguments(code, range));
        let is_open = written.len() < called.templates.len();
        let deduced = if is_open { deduced(self, code, arguments, called) } else { Vec::new() };
        for (index, template) in called.templates.iter().enumerate() {
            let bound = match (written.get(index), deduced.get(index), &template.default) {
                (Some(bound), ..) => bound.clone(),
                (None, Some(Some(bounds)), _) => match &bounds[..] {
                    [only] => only.clone(),
                    _ => Bound::default(),
                },
                (None, _, Some(default)) => Scope { work: self.work, frame: &frame }.bind(called, default.clone()),
                (None, _, None) => Bound::default(),
            };
            frame.templates.insert(template.name.clone(), bound);
        }
        frame
    }

    /// The `return` of this frame's function that is taken.
    pub fn result<T>(&self, called: &Code, read: impl FnOnce(&Scope, &Code, Range<usize>) -> Option<T>) -> Option<T> {
        self.result_in(called, called.body.clone(), read)
    }

    /// The `return` that is taken in a body, the function's own or that of a lambda in it.
    pub fn result_in<T>(
        &self,
        called: &Code,
        body: Range<usize>,
        read: impl FnOnce(&Scope, &Code, Range<usize>) -> Option<T>,
    ) -> Option<T> {
        let view = &called.view;
        let returns: Vec<usize> = body.clone().filter(|at| view.is(*at, b"return")).collect();
        if returns.len() > MAX_RETURNS {
            return None;
        }
        for at in returns {
            match happened(self, called, at, body.end) {
                Happened::Surely => {
                    let mut end = at + 1;
                    while end < body.end && !view.byte(end, b';') {
                        end = view.step(end);
                    }
                    return read(self, called, at + 1..end);
                }
                Happened::Not | Happened::Unless { .. } => {}
                Happened::Perhaps => return None,
            }
        }
        self.work.note_end_before(self, called, body.end);
        None
    }
}
