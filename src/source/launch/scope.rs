//! A name in a function's text -> its value: template arguments, locals, parameters, members, constants of any file in view.

use super::code::{Code, Parameter};
use super::deduce::LambdaId;
use super::evaluate::{Number, Value, evaluate};
use super::instances::Around;
use super::lambdas;
use super::locals::{Local, is_local, local, scope_end, written_parameter};
use super::members::is_data_member;
use super::writes::is_written_in;
use super::{Argument, Work};
use crate::graph::ItemId;
use crate::source::items::{ItemKind, View};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::PoisonError;

/// What a parameter stands for in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub value: Option<Value>,
    pub text: String,
    /// Of an object, members that are known.
    pub fields: Vec<(String, Value)>,
    /// It is this lambda, or of its type.
    pub lambda: Option<LambdaId>,
}

impl Bound {
    pub fn new(value: Option<Value>, text: String) -> Bound {
        Bound { value, text, ..Bound::default() }
    }

    pub fn argument(self) -> Argument {
        match self.lambda {
            Some(lambda) => Argument::Lambda(lambda),
            None if self.text.is_empty() => Argument::Open,
            None => Argument::Text(self.text),
        }
    }

    /// What is known of it, or of one of its members.
    fn component(&self, members: &[&[u8]]) -> Option<Value> {
        if let (None, Some((member, rest))) = (self.value, members.split_first()) {
            let field = self.fields.iter().find(|(name, _)| name.as_bytes() == *member);
            return component(field?.1, rest);
        }
        component(self.value?, members)
    }
}

/// A function as called from one place: what is known of its parameters.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Frame {
    pub params: FxHashMap<String, Bound>,
    pub templates: FxHashMap<String, Bound>,
    /// Members of the object that a method is called on.
    pub own: FxHashMap<String, Value>,
    /// What the branches and checks round a launch say of variables: `case 256:`, `if (threads <= 256)`.
    pub assumed: Vec<(String, Value)>,
}

impl Frame {
    /// It says nothing but what parameters of this function stand for.
    fn speaks_of(&self, code: &Code) -> bool {
        let is_own = |name: &String| code.templates.iter().chain(&code.class_templates).any(|own| own.name == *name);
        self.assumed.is_empty() && self.own.is_empty() && self.templates.keys().all(is_own)
    }

    fn is_empty(&self) -> bool {
        self.params.is_empty() && self.templates.is_empty() && self.own.is_empty() && self.assumed.is_empty()
    }
}

pub(super) struct Scope<'s> {
    pub work: &'s Work<'s>,
    pub frame: &'s Frame,
}

/// Of a path: the token of a name, and its template arguments.
pub(super) type Segment = (usize, Option<Range<usize>>);
pub(super) type Path = [Segment];

impl Scope<'_> {
    /// Whether one level more is allowed; then `leave` must follow.
    pub fn enter(&self, limit: u32) -> bool {
        if self.work.depth.get() >= limit || self.work.budget.get() == 0 {
            self.work.gave_up.set(true);
            return false;
        }
        self.work.depth.set(self.work.depth.get() + 1);
        self.work.budget.set(self.work.budget.get() - 1);
        true
    }

    pub fn leave(&self) {
        self.work.depth.set(self.work.depth.get() - 1);
    }

    pub fn name(&self, code: &Code, path: &Path, members: &[usize], at: usize) -> Option<Value> {
        let known = code.values.lock().unwrap_or_else(PoisonError::into_inner).get(&at).copied();
        if !self.frame.is_empty() {
            // What needs no caller is the same for all of them.
            return match known {
                Some((value, false)) if self.frame.speaks_of(code) => value,
                _ => self.evaluate_name(code, path, members, at),
            };
        }
        if let Some((value, needs_caller)) = known {
            self.work.needs_caller.set(self.work.needs_caller.get() || needs_caller);
            return value;
        }
        let needed = self.work.needs_caller.replace(false);
        let gave_up = self.work.gave_up.replace(false);
        let chose = self.work.chose.replace(false);
        let value = self.evaluate_name(code, path, members, at);
        let needs_caller = self.work.needs_caller.replace(needed || self.work.needs_caller.get());
        let own_choice = self.work.chose.replace(chose || self.work.chose.get());
        // What came of a limit says nothing to who has more left, and what came of a choice is one of several.
        if !self.work.gave_up.replace(gave_up || self.work.gave_up.get()) && !own_choice {
            code.values.lock().unwrap_or_else(PoisonError::into_inner).insert(at, (value, needs_caller));
        }
        value
    }

    fn evaluate_name(&self, code: &Code, path: &Path, members: &[usize], at: usize) -> Option<Value> {
        let view = &code.view;
        let [(name, arguments)] = path else { return self.qualified(code, path, members) };
        if arguments.is_some() {
            return self.of_variable_template(code, &path[0]);
        }
        let name = view.text(*name);
        let key = std::str::from_utf8(name).ok()?;
        let members: Vec<&[u8]> = members.iter().map(|at| view.text(*at)).collect();
        if let (b"this", Some((own, rest))) = (name, members.split_first()) {
            return self.own_member(code, std::str::from_utf8(own).ok()?, rest);
        }
        let mut limit = None;
        for (_, assumed) in self.frame.assumed.iter().filter(|(name, _)| name == key && members.is_empty()) {
            match assumed {
                Value::AtMost(_) => limit = Value::least(limit, Some(*assumed)),
                known => return Some(*known),
            }
        }
        match self.plain_name(code, name, key, &members, at) {
            Some(Value::AtMost(value)) => Value::least(limit, Some(Value::AtMost(value))),
            None => limit,
            known => known,
        }
    }

    pub fn plain_name(&self, code: &Code, name: &[u8], key: &str, members: &[&[u8]], at: usize) -> Option<Value> {
        if let Local::Known(value) = local(self, code, name, members, at) {
            return value;
        }
        if let Some(bound) = lambdas::template(self, code, name, at) {
            return component(bound.value?, members);
        }
        if let Some(param) = code.params.iter().find(|param| param.name == key) {
            let Some(bound) = self.frame.params.get(&param.name) else {
                self.work.needs_caller.set(true);
                return None;
            };
            return if written_parameter(self, code, name, at) { None } else { bound.component(members) };
        }
        if code.templates.iter().chain(&code.class_templates).any(|template| template.name == key) {
            let Some(bound) = self.frame.templates.get(key) else {
                self.work.needs_caller.set(true);
                return None;
            };
            return component(bound.value?, members);
        }
        if let Some(bound) = self.frame.templates.get(key) {
            return component(bound.value?, members);
        }
        if self.frame.own.contains_key(key) {
            return self.own_member(code, key, members);
        }
        if let Some(class) = self.work.tree.item(code.item).class {
            if self.work.code(class).templates.iter().any(|template| template.name == key) {
                self.work.needs_caller.set(true);
                return None;
            }
            let frame = Frame { templates: self.frame.templates.clone(), ..Frame::default() };
            if let Some(value) = self.member(class, key, &frame) {
                return component(value, members);
            }
            if is_data_member(self.work, code, key) {
                return self.own_member(code, key, members);
            }
        }
        let value = self.constant(code, key, None).and_then(|value| component(value, members));
        value.or_else(|| if members.is_empty() { None } else { self.member_of_constant(code, key, members) })
    }

    /// `Traits<128>::threads`, `ns::threads`, `Kind::Small`
    fn qualified(&self, code: &Code, path: &Path, members: &[usize]) -> Option<Value> {
        let view = &code.view;
        let [around @ .., (name, arguments)] = path else { return None };
        let name = std::str::from_utf8(view.text(*name)).ok()?;
        let members: Vec<&[u8]> = members.iter().map(|at| view.text(*at)).collect();
        let &(outer, _) = around.last()?;
        if let (Some(target), "value", 1) = (local_alias(code, view.text(outer), outer), name, around.len())
            && view.is(target.start, b"decltype")
        {
            return component(evaluate(self, code, view.inside(target.start + 1))?, &members);
        }
        match self.around(code, around) {
            Around::Class { class, frame } => component(self.member(class, name, &frame)?, &members),
            Around::Namespace if arguments.is_some() => self.of_variable_template(code, path.last()?),
            Around::Namespace => {
                let around_name = std::str::from_utf8(view.text(outer)).ok()?;
                let named = self.constant(code, name, Some(around_name)).or_else(|| self.constant(code, name, None));
                component(named?, &members)
            }
            Around::Unknown => None,
        }
    }

    /// `threads_v<P>`
    fn of_variable_template(&self, code: &Code, (name, arguments): &Segment) -> Option<Value> {
        let tree = self.work.tree;
        let name = std::str::from_utf8(code.view.text(*name)).ok()?;
        let given = self.template_arguments(code, arguments.clone()?);
        let mut templates = tree.visible(code.file, name);
        templates.retain(|id| matches!(tree.item(*id).kind, ItemKind::Value) && !tree.item(*id).templates.is_empty());
        let (value, frame) = self.instance(&templates, &given)?;
        self.declared_value(value, &frame)
    }

    /// The values and texts of template arguments; parameters of the function among them are replaced.
    pub fn template_arguments(&self, code: &Code, range: Range<usize>) -> Vec<Bound> {
        let pieces = code.view.split_at_commas(range);
        pieces.into_iter().map(|piece| self.bind(code, piece)).collect()
    }

    pub fn bind(&self, code: &Code, piece: Range<usize>) -> Bound {
        let view = &code.view;
        if let Some(lambda) = code.lambda_in(piece.clone()) {
            return Bound { lambda: Some(lambda), ..Bound::default() };
        }
        let value = evaluate(self, code, piece.clone());
        if let Some(Value::Int(number)) = value {
            return Bound::new(value, number.to_string());
        }
        if view.is(piece.start, b"decltype")
            && view.behind(piece.start + 1) == piece.end
            && let Some(ty) = self.type_of(code, view.inside(piece.start + 1))
        {
            return ty;
        }
        if let (1, Some(name)) = (piece.len(), view.identifier(piece.start)) {
            if let Some(bound) = self.stands_for_type(code, name, piece.start) {
                return Bound { value, ..bound };
            }
            let name = String::from_utf8_lossy(name).into_owned();
            let bound = self.frame.params.get(&name);
            return Bound::new(value, bound.map_or(name, |bound| bound.text.clone()));
        }
        Bound::new(value, self.written(code, piece))
    }

    /// A name that stands for a template argument: a parameter of the function or of a lambda, an alias of the function.
    fn stands_for_type(&self, code: &Code, name: &[u8], at: usize) -> Option<Bound> {
        if let Some(bound) = std::str::from_utf8(name).ok().and_then(|name| self.frame.templates.get(name)) {
            return Some(bound.clone());
        }
        if let Some(bound) = lambdas::template(self, code, name, at) {
            return Some(bound);
        }
        let target = local_alias(code, name, at).filter(|_| self.enter(40))?;
        let bound = self.bind(code, target);
        self.leave();
        Some(bound)
    }

    /// Whether a name is a template parameter, of the function or of its class.
    pub fn is_open(&self, code: &Code, name: &[u8]) -> bool {
        let is_it = |param: &Parameter| param.name.as_bytes() == name;
        let class = || self.work.tree.item(code.item).class.map(|class| self.work.code(class));
        code.templates.iter().chain(&code.class_templates).any(is_it)
            || class().is_some_and(|class| class.templates.iter().any(is_it))
    }

    /// The text of a type or an expression; what names of the function stand for instead of them.
    pub fn written(&self, code: &Code, piece: Range<usize>) -> String {
        let view = &code.view;
        view.spelled_with(piece, &|at| {
            let name =
                view.identifier(at).filter(|_| !matches!(view.text(at.wrapping_sub(1)), b"::" | b"." | b"->"))?;
            if let Some(bound) = self.stands_for_type(code, name, at) {
                return Some(bound.text).filter(|text| !text.is_empty());
            }
            if self.is_open(code, name) {
                self.work.needs_caller.set(true);
                return None;
            }
            let is_plain = !matches!(view.text(at + 1), b"::" | b"(" | b"<" | b"." | b"->" | b"{");
            let value = (is_plain && is_local(code, name, at)).then(|| evaluate(self, code, at..at + 1));
            value.flatten().and_then(Value::int).map(|value| value.to_string())
        })
    }

    /// A static constant or an enumerator of a class, or of one of its bases.
    fn member(&self, class: ItemId, name: &str, frame: &Frame) -> Option<Value> {
        let tree = self.work.tree;
        let member = tree.members(class).iter().copied().find(|id| {
            let item = tree.item(*id);
            &*item.name == name && matches!(item.kind, ItemKind::Value | ItemKind::Enumerator { .. })
        });
        match member {
            Some(member) => self.declared_value(member, frame),
            None => self.in_bases(class, frame, |scope, base, frame| scope.member(base, name, frame)),
        }
    }

    /// A constant at namespace scope. Where several files have one of the name, all that are seen must agree.
    fn constant(&self, code: &Code, name: &str, around: Option<&str>) -> Option<Value> {
        let tree = self.work.tree;
        let is_value = |id: &ItemId| {
            let item = tree.item(*id);
            matches!(item.kind, ItemKind::Value | ItemKind::Enumerator { .. })
                && around.is_none_or(|around| item.scope.last().is_some_and(|scope| &**scope == around))
                && !item.attributes.is_extern
                && (item.class.is_none() || around.is_some())
        };
        let visible: Vec<ItemId> = tree.visible(code.file, name).into_iter().filter(is_value).collect();
        let own = visible.iter().copied().filter(|id| tree.item(*id).file == code.file);
        let mut candidates: Vec<ItemId> = own.collect();
        if candidates.is_empty() {
            candidates = visible;
        }
        let mut values = candidates.into_iter().take(16).map(|id| self.declared_value(id, &Frame::default()));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }

    fn declared_value(&self, id: ItemId, frame: &Frame) -> Option<Value> {
        if !self.enter(40) {
            return None;
        }
        let value = self.value_of_declaration(id, frame);
        self.leave();
        value
    }

    fn value_of_declaration(&self, id: ItemId, frame: &Frame) -> Option<Value> {
        let tree = self.work.tree;
        let item = tree.item(id);
        let code = self.work.code(id);
        let view = &code.view;
        let scope = Scope { work: self.work, frame };
        if matches!(item.kind, ItemKind::Enumerator { .. }) {
            return scope.enumerator(&code, &item.name);
        }
        if !(item.attributes.is_const || item.attributes.is_constexpr) && is_written_in(self.work, id) {
            return None;
        }
        let (name, behind) = (0..view.len()).find_map(|at| {
            let behind = if view.is(at + 1, b"<") { view.behind_angle(at + 1)? } else { at + 1 };
            let is_it = view.identifier(at) == Some(item.name.as_bytes());
            (is_it && matches!(view.text(behind), b"=" | b"(" | b"{")).then_some((at, behind))
        })?;
        let is_extent = (0..name).any(|at| view.is(at, b"dim3"));
        let range = match view.text(behind) {
            b"=" => {
                let mut end = behind + 1;
                while end < view.len() && !matches!(view.text(end), b";" | b",") {
                    end = view.step(end);
                }
                behind + 1..end
            }
            _ => view.inside(behind),
        };
        if is_extent {
            let pieces = view.split_at_commas(range.clone());
            if pieces.len() > 1 {
                let mut extent = [Some(Number::ONE); 3];
                for (axis, piece) in pieces.into_iter().enumerate().take(3) {
                    extent[axis] = evaluate(&scope, &code, piece).and_then(Value::number);
                }
                return Some(Value::Extent(extent));
            }
            return evaluate(&scope, &code, range).map(|value| Value::Extent(value.extent()));
        }
        evaluate(&scope, &code, range)
    }

    fn enumerator(&self, code: &Code, name: &str) -> Option<Value> {
        let view = &code.view;
        let open = (0..view.len()).find(|at| view.byte(*at, b'{'))?;
        let mut next = Some(0);
        for piece in view.split_at_commas(view.inside(open)) {
            if view.byte(piece.start + 1, b'=') {
                next = evaluate(self, code, piece.start + 2..piece.end).and_then(Value::int);
            }
            if view.is(piece.start, name.as_bytes()) {
                return next.map(Value::Int);
            }
            next = next.and_then(|value| value.checked_add(1));
        }
        None
    }
}

pub(super) fn component(value: Value, members: &[&[u8]]) -> Option<Value> {
    match (value, members) {
        (value, []) => Some(value),
        // `std::integral_constant<int, 128>` is its value.
        (Value::Int(_), [b"value"]) => Some(value),
        (Value::Extent(extent), [axis]) => {
            let axis = [&b"x"[..], b"y", b"z"].iter().position(|known| known == axis)?;
            extent[axis].map(Value::from)
        }
        _ => None,
    }
}

/// The last name of a type, and its template arguments.
pub(super) fn last_name(view: &View, range: Range<usize>) -> Option<(usize, Option<Range<usize>>)> {
    let mut found = None;
    let mut at = range.start;
    while at < range.end {
        if view.identifier(at).is_some() && !matches!(view.text(at), b"typename" | b"const" | b"struct" | b"class") {
            let behind = if view.is(at + 1, b"<") { view.behind_angle(at + 1) } else { None };
            found = Some((at, behind.map(|behind| at + 2..behind - 1)));
            at = behind.unwrap_or(at + 1);
        } else {
            at = view.step(at);
        }
    }
    found
}

/// What `using name = ..;` or `typedef .. name;` in a function stands for at a place.
pub(super) fn local_alias(code: &Code, name: &[u8], at: usize) -> Option<Range<usize>> {
    let view = &code.view;
    let is_open = |start: &&usize| scope_end(view, **start, code.body.end) > at;
    let before = code.body.start..at.min(code.body.end);
    let end = |start| (start..code.body.end).find(|at| view.byte(*at, b';'));
    let mut using = code.uses(b"using", before.clone()).iter().rev().filter(is_open);
    if let Some(start) = using.find(|start| view.text(**start + 1) == name && view.byte(**start + 2, b'=')) {
        return Some(start + 3..end(*start)?);
    }
    let mut typedefs = code.uses(b"typedef", before).iter().rev().filter(is_open);
    typedefs.find_map(|start| {
        let end = end(*start)?;
        (view.text(end - 1) == name).then_some(start + 1..end - 1)
    })
}

pub(super) fn alias_target(view: &View) -> Option<Range<usize>> {
    let end = (0..view.len()).find(|at| view.byte(*at, b';')).unwrap_or(view.len());
    if view.is(0, b"typedef") {
        return Some(1..end.checked_sub(1)?);
    }
    let equals = (0..end).find(|at| view.byte(*at, b'='))?;
    Some(equals + 1..end)
}
