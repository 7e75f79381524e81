//! Constructors: what their initialisers and their bodies make of an object's members.
//!
//! The one constructor of the class is followed that takes so many arguments, wherever the program defines it. A body that
//! hands the object on, or calls a method, leaves nothing known.

use super::code::Code;
use super::deduce::deduced;
use super::evaluate::{Value, evaluate, extent, size_of};
use super::locals::behind_body;
use super::objects::{Field, Layout};
use super::scope::{Frame, Scope, component, last_name};
use super::writes::is_written;
use crate::graph::ItemId;
use crate::source::items::{Role, View};
use std::ops::Range;
use std::sync::Arc;

/// Members that stand for one another, constructors that hand on.
const MAX_DEPTH: u32 = 40;

/// A constructor as called from one place.
struct Made<'l> {
    layout: &'l Layout,
    /// None where it is defaulted.
    code: Option<Arc<Code>>,
    frame: Frame,
}

impl Scope<'_> {
    /// A member of the object that a constructor makes of some arguments.
    pub fn constructed(
        &self,
        code: &Code,
        arguments: &[Range<usize>],
        layout: &Layout,
        members: &[&[u8]],
    ) -> Option<Value> {
        if !self.enter(MAX_DEPTH) {
            return None;
        }
        let value = self.constructed_inside(code, arguments, layout, members);
        self.leave();
        value
    }

    fn constructed_inside(
        &self,
        code: &Code,
        arguments: &[Range<usize>],
        layout: &Layout,
        members: &[&[u8]],
    ) -> Option<Value> {
        if let [only] = arguments
            && evaluate(self, code, only.clone()).is_none()
        {
            // It may be copied from one like it.
            let ty = self.type_of(code, only.clone())?.text;
            let view = View::owned(ty.clone());
            let (name, _) = last_name(&view, 0..view.len())?;
            if view.text(name) == self.work.tree.item(layout.class?).name.as_bytes() {
                return self.member_of(code, only.clone(), members);
            }
            size_of(&ty)?;
        }
        let made = self.constructor(code, arguments, layout)?;
        self.member_made(code, &made, members)
    }

    /// The constructor that takes some arguments, and what its parameters stand for.
    fn constructor<'l>(&self, code: &Code, arguments: &[Range<usize>], layout: &'l Layout) -> Option<Made<'l>> {
        let tree = self.work.tree;
        let class = tree.item(layout.class?);
        let is_constructor =
            |id: &ItemId| tree.item(*id).function().is_some_and(|parts| parts.role == Role::Constructor);
        let all = tree.members(layout.class?).iter().copied().filter(is_constructor);
        let (declared, outside): (Vec<ItemId>, Vec<ItemId>) = all.partition(|id| {
            tree.item(*id).range.file == class.range.file
                && class.range.start <= tree.item(*id).range.start
                && tree.item(*id).range.end <= class.range.end
        });
        let codes: Vec<Arc<Code>> = declared.iter().map(|id| self.work.code(*id)).collect();
        let names = |code: &Code, word: &[u8]| {
            code.params.iter().flat_map(|param| param.ty.clone()).any(|at| code.view.text(at) == word)
        };
        if codes.iter().any(|code| names(code, b"initializer_list")) {
            return None;
        }
        let count = arguments.len() as u32;
        let takes = |code: &&Arc<Code>| {
            let parts = tree.item(code.item).function();
            parts.is_some_and(|parts| parts.count.min <= count && count <= parts.count.max && !parts.count.variadic)
                && !names(code, class.name.as_bytes())
        };
        let fitting: Vec<&Arc<Code>> = codes.iter().filter(takes).collect();
        let [declaration] = fitting[..] else { return None };
        let mut frame = Frame { templates: layout.frame.templates.clone(), ..Frame::default() };
        let at_home = Scope { work: self.work, frame: &layout.frame };
        for (index, param) in declaration.params.iter().enumerate() {
            let bound = match (arguments.get(index), &param.default) {
                (Some(argument), _) => self.bind_parameter(code, argument.clone(), declaration, index),
                (None, Some(default)) => at_home.bind_parameter(declaration, default.clone(), declaration, index),
                (None, None) => continue,
            };
            frame.params.insert(param.name.clone(), bound);
        }
        for (template, bounds) in declaration.templates.iter().zip(deduced(self, code, arguments, declaration)) {
            if let Some([only]) = bounds.as_deref() {
                frame.templates.insert(template.name.clone(), only.clone());
            }
        }
        if tree.item(declaration.item).is_definition() {
            return Some(Made { layout, code: Some(declaration.clone()), frame });
        }
        let view = &declaration.view;
        if (0..view.len()).any(|at| view.is(at, b"default")) {
            return Some(Made { layout, code: None, frame });
        }
        let of_count = |id: &&ItemId| {
            tree.item(**id).is_definition() && self.work.code(**id).params.len() == declaration.params.len()
        };
        let mut defined = outside.iter().filter(of_count);
        let (Some(only), None) = (defined.next(), defined.next()) else { return None };
        let defined = self.work.code(*only);
        // Outside the class all parameters may have other names.
        let renamed = declaration.params.iter().zip(&defined.params);
        frame.params = renamed
            .filter_map(|(inside, outside)| Some((outside.name.clone(), frame.params.get(&inside.name)?.clone())))
            .collect();
        let of_class = layout.code.iter().flat_map(|class| class.templates.iter().zip(&defined.class_templates));
        let of_own = declaration.templates.iter().zip(&defined.templates);
        for (inside, outside) in of_class.chain(of_own) {
            if let Some(bound) = frame.templates.get(&inside.name).cloned() {
                frame.templates.insert(outside.name.clone(), bound);
            }
        }
        Some(Made { layout, code: Some(defined), frame })
    }

    /// A member of what a constructor makes; `user` is the code in which the class is named.
    fn member_made(&self, user: &Code, made: &Made, members: &[&[u8]]) -> Option<Value> {
        let (member, rest) = members.split_first()?;
        let layout = made.layout;
        let index = layout.fields.iter().position(|field| field.name.as_bytes() == *member)?;
        let field = &layout.fields[index];
        let Some(code) = &made.code else { return self.by_default(user, layout, field, rest) };
        let view = &code.view;
        let mut frame = made.frame.clone();
        let initialisers = view.split_at_commas(code.initialisers.clone());
        let of_name = |name: &[u8]| {
            let found = initialisers.iter().find(|piece| last_named(view, piece) == Some(name))?;
            let open =
                (found.start..found.end).rev().find(|at| view.is_open_bracket(*at) && view.behind(*at) == found.end)?;
            Some(view.inside(open))
        };
        let value = if let Some(inside) = of_name(self.work.tree.item(layout.class?).name.as_bytes()) {
            // `C(int n) : C(n, 256) {}`
            let scope = Scope { work: self.work, frame: &frame };
            scope.constructed(code, &view.split_at_commas(inside), layout, members)
        } else if let Some(inside) = of_name(member) {
            self.know_members(user, made, inside.clone(), index, &mut frame);
            let scope = Scope { work: self.work, frame: &frame };
            scope.initialised(code, inside, layout, field, rest)
        } else {
            self.by_default(user, layout, field, rest)
        };
        if !keeps_to_itself(self, code, layout) {
            return None;
        }
        // In the body the name means a parameter that has it.
        if code.params.iter().any(|param| param.name.as_bytes() == *member) {
            return value;
        }
        self.know_members(user, made, code.body.clone(), index, &mut frame);
        let scope = Scope { work: self.work, frame: &frame };
        behind_body(&scope, code, (member, rest), value, field.is_extent)
    }

    /// What is known of the members before one that some tokens of its constructor name.
    fn know_members(&self, user: &Code, made: &Made, tokens: Range<usize>, index: usize, frame: &mut Frame) {
        let Some(code) = &made.code else { return };
        for field in &made.layout.fields[..index] {
            let name = field.name.as_bytes();
            let is_named = tokens.clone().any(|at| code.view.identifier(at) == Some(name));
            let is_hidden = code.params.iter().any(|param| param.name.as_bytes() == name);
            // What the body writes has another value before.
            let is_changed = is_written(code, name, code.body.clone());
            if !is_named || is_hidden || is_changed || frame.own.contains_key(&field.name) || !self.enter(MAX_DEPTH) {
                continue;
            }
            let value = self.member_made(user, made, &[name]);
            self.leave();
            frame.own.extend(value.map(|value| (field.name.clone(), value)));
        }
    }

    /// What a member is that its initialiser gives what stands inside some brackets.
    fn initialised(
        &self,
        code: &Code,
        inside: Range<usize>,
        layout: &Layout,
        field: &Field,
        rest: &[&[u8]],
    ) -> Option<Value> {
        if inside.is_empty() {
            return None;
        }
        if field.is_extent {
            return component(extent(self, code, inside), rest);
        }
        if rest.is_empty() {
            return evaluate(self, code, inside);
        }
        let home = layout.code.as_deref().unwrap_or(code);
        let inner = Scope { work: self.work, frame: &layout.frame }.layout(home, field.ty.clone())?;
        self.aggregate(code, inside, &inner, rest)
    }
}

/// The name before the brackets of an initialiser.
fn last_named<'v>(view: &'v View, piece: &Range<usize>) -> Option<&'v [u8]> {
    let (name, _) = last_name(view, piece.start..piece.end)?;
    Some(view.text(name))
}

/// Whether the body of a constructor neither hands the object on nor calls a method of its class.
fn keeps_to_itself(scope: &Scope, code: &Code, layout: &Layout) -> bool {
    let tree = scope.work.tree;
    let methods = layout.class.map_or(&[][..], |class| tree.members(class));
    let is_method = |name: &[u8]| {
        let mut of_name = methods.iter().map(|id| tree.item(*id)).filter(|item| item.function().is_some());
        of_name.any(|item| item.name.as_bytes() == name)
    };
    let view = &code.view;
    let hands_on = |at: usize| view.is(at, b"this") || view.byte(at + 1, b'(') && is_method(view.text(at));
    !code.body.clone().any(hands_on)
}
