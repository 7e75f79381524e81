//! A method that launches, and the object that it is called on: `Job job(128); job.run(..);`.
//!
//! What a class keeps is known where the method's own text changes none of it, and calls nothing that might.

use super::Work;
use super::code::{Code, callee_before};
use super::evaluate::Value;
use super::locals::{declaration, declared_type};
use super::objects::called;
use super::scope::{Frame, Scope, component};
use super::writes::{is_written, plain_write};
use crate::graph::ItemId;
use std::ops::Range;

/// The names of the data members that each object of a method's class has of its own; none of a class with a base.
pub(super) fn data_members(work: &Work, code: &Code) -> Vec<String> {
    let Some(class) = work.tree.item(code.item).class else { return Vec::new() };
    let layout = Scope { work, frame: &Frame::default() }.layout_of(class, &[]);
    layout.map_or(Vec::new(), |layout| layout.fields.into_iter().map(|field| field.name).collect())
}

/// Whether a name is one of them.
pub(super) fn is_data_member(work: &Work, code: &Code, name: &str) -> bool {
    let Some(class) = work.tree.item(code.item).class else { return false };
    let class = work.code(class);
    let is_named = (0..class.view.len()).any(|at| class.view.is(at, name.as_bytes()));
    is_named && data_members(work, code).iter().any(|own| own == name)
}

/// Whether a method may change a member of its object, itself or by what it calls.
pub(super) fn is_changed(scope: &Scope, code: &Code, name: &[u8]) -> bool {
    let (view, tree) = (&code.view, scope.work.tree);
    let methods = tree.item(code.item).class.map_or(&[][..], |class| tree.members(class));
    let is_method = |word: &[u8]| {
        let mut of_name = methods.iter().map(|id| tree.item(*id)).filter(|item| item.name.as_bytes() == word);
        of_name.any(|item| item.function().is_some() && !item.attributes.is_static)
    };
    let changes = |at: usize| match view.text(at) {
        b"this" if !view.is(at + 1, b"->") => true,
        b"this" if view.text(at + 2) == name => plain_write(view, at + 2).is_some(),
        word if view.identifier(at).is_some() => {
            let is_own = !view.byte(at - 1, b'.') && (!view.is(at - 1, b"->") || view.is(at - 2, b"this"));
            is_own && is_method(word) && !scope.only_reads(code, word)
        }
        _ => false,
    };
    is_written(code, name, code.body.clone()) || code.body.clone().any(changes)
}

impl Scope<'_> {
    /// What some members are of the object that a method of a class is called on at a token.
    pub fn members_at_call(&self, caller: &Code, at: usize, class: ItemId, names: &[&str]) -> Vec<(String, Value)> {
        let view = &caller.view;
        let is_same_object = match view.text(at - 1) {
            b"." => false,
            b"->" if view.is(at - 2, b"this") => true,
            b"->" | b"::" => return Vec::new(),
            _ => true,
        };
        if is_same_object {
            if self.work.tree.item(caller.item).class != Some(class) {
                return Vec::new();
            }
            let value = |name: &&str| Some((name.to_string(), self.own_member(caller, name, &[])?));
            return names.iter().filter_map(value).collect();
        }
        let Some((object, of_class)) = self.object_before(caller, at - 1) else { return Vec::new() };
        if of_class != class {
            return Vec::new();
        }
        let value = |name: &&str| Some((name.to_string(), self.member_of(caller, object.clone(), &[name.as_bytes()])?));
        names.iter().filter_map(value).collect()
    }

    /// The class of the object that a method is called on at a token, where that has no base.
    pub fn class_at_call(&self, caller: &Code, at: usize) -> Option<ItemId> {
        let is_of_object = caller.view.byte(at.checked_sub(1)?, b'.');
        is_of_object.then(|| self.object_before(caller, at - 1)).flatten().map(|(_, class)| class)
    }

    /// The tokens of the object that a dot stands behind, and its class: a local variable, `Job(128)`.
    fn object_before(&self, code: &Code, dot: usize) -> Option<(Range<usize>, ItemId)> {
        let view = &code.view;
        let last = dot.checked_sub(1)?;
        if let Some(name) = view.identifier(last) {
            let is_part = matches!(view.text(last.checked_sub(1)?), b"." | b"->" | b"::");
            let declared = declaration(code, name, last).filter(|_| !is_part)?;
            if matches!(view.text(declared - 1), b"&" | b"&&" | b"*") {
                return None;
            }
            let (mut ty, value) = declared_type(code, declared)?;
            if ty.clone().any(|at| view.is(at, b"auto")) {
                let (callee, _) = called(view, value?)?;
                ty = callee.name..callee.name + 1;
            }
            return Some((last..dot, self.layout(code, ty)?.class?));
        }
        let open = matches!(view.text(last), b")" | b"}").then(|| view.opener(last))?;
        let callee = callee_before(view, open)?;
        Some((callee.name..dot, self.layout(code, callee.name..open)?.class?))
    }

    /// A member of the object that a method is called on.
    pub fn own_member(&self, code: &Code, name: &str, members: &[&[u8]]) -> Option<Value> {
        let known = self.frame.own.get(name).copied();
        if known.is_none() {
            if is_data_member(self.work, code, name) {
                self.work.needs_caller.set(true);
            }
            return None;
        }
        if is_changed(self, code, name.as_bytes()) { None } else { component(known?, members) }
    }
}
