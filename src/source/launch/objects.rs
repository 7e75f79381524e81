//! Objects that hold a launch's shape, member by member: braces, the members' own defaults, constructors, what functions
//! return, pairs.
//!
//! An object of a class with a base is unknown.

use super::code::{Callee, Code, behind_initialisers, callee_in};
use super::evaluate::{Number, Value, evaluate, is_type_word};
use super::scope::{Bound, Frame, Scope, component, last_name};
use crate::graph::ItemId;
use crate::source::items::{ItemKind, View};
use std::ops::Range;
use std::sync::Arc;

/// Members of an argument that are looked at.
const MAX_FIELDS: usize = 16;

/// A class of which each object is what its members are.
pub(super) struct Layout {
    /// Where the members are declared, unless that is in the function itself.
    pub code: Option<Arc<Code>>,
    pub class: Option<ItemId>,
    /// Its template arguments.
    pub frame: Frame,
    pub fields: Vec<Field>,
    /// What it is made of goes to a constructor, not to its members one by one.
    pub has_constructor: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    pub name: String,
    pub ty: Range<usize>,
    pub default: Option<Range<usize>>,
    pub is_extent: bool,
    /// It takes one value of a list in braces, whatever that is.
    takes_one: bool,
}

impl Layout {
    /// Of `cudaLaunchConfig_t`, which no file in view declares.
    pub fn config() -> Layout {
        let names = ["gridDim", "blockDim", "dynamicSmemBytes", "stream", "attrs", "numAttrs"];
        let field = |name: &str| Field {
            name: name.into(),
            is_extent: name.ends_with("Dim"),
            takes_one: true,
            ..Field::default()
        };
        Layout::plain(names.map(field).into())
    }

    /// Of a class without a name, or one of the function itself.
    fn plain(fields: Vec<Field>) -> Layout {
        Layout { code: None, class: None, frame: Frame::default(), fields, has_constructor: false }
    }

    fn field(&self, member: &[u8]) -> Option<usize> {
        self.fields.iter().position(|field| field.name.as_bytes() == member)
    }
}

impl Scope<'_> {
    /// The class that some tokens of a declaration name, or define in place.
    pub fn layout(&self, code: &Code, ty: Range<usize>) -> Option<Layout> {
        let view = &code.view;
        if let Some(open) = ty.clone().find(|at| view.byte(*at, b'{')) {
            return Some(Layout::plain(fields(view, open, b"")?.0));
        }
        let (name, arguments) = last_name(view, ty)?;
        let word = view.text(name);
        let definitions = code.uses(b"struct", code.body.clone()).iter();
        let mut of_name = definitions.filter(|at| view.text(*at + 1) == word && view.byte(*at + 2, b'{'));
        if let Some(local) = of_name.next() {
            let (fields, has_constructor) = fields(view, local + 2, word)?;
            return (!has_constructor).then(|| Layout::plain(fields));
        }
        let mut class = String::from_utf8_lossy(word).into_owned();
        let mut given = arguments.map_or(Vec::new(), |range| self.template_arguments(code, range));
        let tree = self.work.tree;
        for _ in 0..4 {
            if class.ends_with("LaunchConfig_t") {
                return Some(Layout::config());
            }
            let visible = tree.visible(code.file, &class);
            let is_whole = |id: &ItemId| matches!(&tree.item(*id).kind, ItemKind::Class(parts) if parts.body.is_some());
            let classes: Vec<ItemId> = visible.iter().copied().filter(is_whole).collect();
            if let [class] = classes[..] {
                return self.layout_of(class, &given);
            }
            let alias = visible.iter().copied().find(|id| matches!(tree.item(*id).kind, ItemKind::Alias))?;
            let alias = self.work.code(alias);
            let (target, arguments) = last_name(&alias.view, super::scope::alias_target(&alias.view)?)?;
            class = String::from_utf8_lossy(alias.view.text(target)).into_owned();
            given = arguments.map_or(Vec::new(), |range| self.template_arguments(&alias, range));
        }
        None
    }

    /// Whether a type is a union, or a class with one in it: what is written to one member changes another.
    pub fn overlaps(&self, code: &Code, ty: Range<usize>) -> bool {
        let class = self.class_named(code, ty);
        class.is_some_and(|class| {
            let view = &self.work.code(class).view;
            (0..view.len()).any(|at| view.is(at, b"union"))
        })
    }

    /// Whether a type is a class in view, which may be converted to whatever it says.
    pub fn names_class(&self, code: &Code, ty: Range<usize>) -> bool {
        self.class_named(code, ty).is_some()
    }

    fn class_named(&self, code: &Code, ty: Range<usize>) -> Option<ItemId> {
        let (name, _) = last_name(&code.view, ty)?;
        let name = std::str::from_utf8(code.view.text(name)).ok().filter(|name| *name != "auto")?;
        let tree = self.work.tree;
        let is_whole = |id: &ItemId| matches!(&tree.item(*id).kind, ItemKind::Class(parts) if parts.body.is_some());
        tree.visible(code.file, name).into_iter().find(is_whole)
    }

    pub fn layout_of(&self, class: ItemId, arguments: &[Bound]) -> Option<Layout> {
        let code = self.work.code(class);
        let view = &code.view;
        let open = (0..view.len()).find(|at| view.byte(*at, b'{'))?;
        let head = (0..open).rev().find(|at| view.is(*at, b"struct"))?;
        if (head..open).any(|at| view.byte(at, b':')) {
            return None;
        }
        let (fields, has_constructor) = fields(view, open, self.work.tree.item(class).name.as_bytes())?;
        let bound = code.templates.iter().zip(arguments);
        let templates = bound.map(|(template, bound)| (template.name.clone(), bound.clone())).collect();
        let frame = Frame { templates, ..Frame::default() };
        Some(Layout { code: Some(code), class: Some(class), frame, fields, has_constructor })
    }

    /// A member of the object that an expression gives.
    pub fn member_of(&self, code: &Code, range: Range<usize>, members: &[&[u8]]) -> Option<Value> {
        if !self.enter(40) {
            return None;
        }
        let value = self.member_inside(code, range, members);
        self.leave();
        value
    }

    fn member_inside(&self, code: &Code, range: Range<usize>, members: &[&[u8]]) -> Option<Value> {
        let view = &code.view;
        let mut range = super::kernels::chosen(self, code, range)?;
        while view.byte(range.start, b'(') && view.behind(range.start) == range.end {
            range = view.inside(range.start);
        }
        if view.byte(range.start, b'&') && range.len() == 2 {
            range.start += 1;
        }
        let first = view.identifier(range.start)?;
        let made = called(view, range.clone());
        let Some((callee, open)) = made else {
            // `c`, `c.inner`
            let is_chain = (range.start..range.end).all(|at| match (at - range.start) % 2 {
                0 => view.identifier(at).is_some(),
                _ => view.byte(at, b'.'),
            });
            let inner = (range.start + 2..range.end).step_by(2).map(|at| view.text(at));
            let path: Vec<&[u8]> = inner.chain(members.iter().copied()).collect();
            let key = std::str::from_utf8(first).ok()?;
            return is_chain.then(|| self.plain_name(code, first, key, &path, range.start)).flatten();
        };
        let inside = view.inside(open);
        let pieces = view.split_at_commas(inside.clone());
        match (view.text(callee.name), members, &pieces[..]) {
            (b"move" | b"forward" | b"as_const", _, [only]) => return self.member_of(code, only.clone(), members),
            (b"dim3", ..) => return component(evaluate(self, code, range)?, members),
            (b"make_pair" | b"pair", [b"first"], [value, _]) => return evaluate(self, code, value.clone()),
            (b"make_pair" | b"pair", [b"second"], [_, value]) => return evaluate(self, code, value.clone()),
            _ => {}
        }
        if let Some(layout) = self.layout(code, range.start..open) {
            return match &pieces[..] {
                [only] if view.byte(open, b'(') && !layout.has_constructor => {
                    self.member_of(code, only.clone(), members)
                }
                _ => self.aggregate(code, inside, &layout, members),
            };
        }
        if !view.byte(open, b'(') {
            return None;
        }
        self.with_result(code, &callee, &pieces, |scope, called, result| match view_brace(called, &result) {
            // `std::pair<int, int> shape() { return {3, 64}; }`
            Some(inside) if matches!(members, [b"first" | b"second"]) && scope.gives_pair(called) => {
                let values = called.view.split_at_commas(inside);
                evaluate(scope, called, values.get(usize::from(members == [b"second"]))?.clone())
            }
            Some(inside) => {
                let layout = scope.layout(called, called.result.clone())?;
                scope.aggregate(called, inside, &layout, members)
            }
            None => scope.member_of(called, result, members),
        })
    }

    fn gives_pair(&self, called: &Code) -> bool {
        last_name(&called.view, called.result.clone()).is_some_and(|(name, _)| called.view.is(name, b"pair"))
    }

    /// A member of a constant at namespace scope.
    pub fn member_of_constant(&self, code: &Code, name: &str, members: &[&[u8]]) -> Option<Value> {
        let tree = self.work.tree;
        let mut values = tree.visible(code.file, name);
        values.retain(|id| {
            let item = tree.item(*id);
            let is_const = item.attributes.is_const || item.attributes.is_constexpr;
            matches!(item.kind, ItemKind::Value) && item.class.is_none() && is_const
        });
        let own: Vec<ItemId> = values.iter().copied().filter(|id| tree.item(*id).file == code.file).collect();
        let [only] = (if own.is_empty() { values } else { own })[..] else { return None };
        let code = self.work.code(only);
        let view = &code.view;
        let declared = (0..view.len()).find(|at| view.identifier(*at) == Some(name.as_bytes()))?;
        let scope = Scope { work: self.work, frame: &Frame::default() };
        let layout = scope.layout(&code, 0..declared)?;
        let open = declared + 1 + usize::from(view.byte(declared + 1, b'='));
        match view.text(open) {
            b"{" => scope.aggregate(&code, view.inside(open), &layout, members),
            b"(" if layout.has_constructor => scope.aggregate(&code, view.inside(open), &layout, members),
            _ => {
                let end = (open..view.len()).find(|at| view.byte(*at, b';')).unwrap_or(view.len());
                scope.member_of(&code, open..end, members)
            }
        }
    }

    /// A member of an object made of the values inside some braces; the declaration of one without any gives it none.
    pub fn aggregate(&self, code: &Code, inside: Range<usize>, layout: &Layout, members: &[&[u8]]) -> Option<Value> {
        let view = &code.view;
        let (member, rest) = members.split_first()?;
        let pieces = view.split_at_commas(inside);
        if layout.has_constructor {
            return self.constructed(code, &pieces, layout, members);
        }
        let index = layout.field(member)?;
        let field = &layout.fields[index];
        if let [only] = &pieces[..]
            && layout.fields.len() > 1
            && view.identifier(only.start).is_some()
            && index > 0
        {
            // One like it is copied.
            return self.member_of(code, only.clone(), members);
        }
        let value = self.given(code, &pieces, layout, index)?;
        match value {
            Some(value) => self.of_field(code, value, code, layout, field, rest),
            None => self.by_default(code, layout, field, rest),
        }
    }

    /// What a member holds that nothing is given; `user` is the code in which the class is named.
    pub fn by_default(&self, user: &Code, layout: &Layout, field: &Field, rest: &[&[u8]]) -> Option<Value> {
        match &field.default {
            Some(default) => {
                let home = layout.code.as_deref().unwrap_or(user);
                let scope = Scope { work: self.work, frame: &layout.frame };
                let scope = if layout.code.is_some() { &scope } else { self };
                scope.of_field(home, default.clone(), user, layout, field, rest)
            }
            None if field.is_extent => component(Value::Extent([Some(Number::ONE); 3]), rest),
            None => None,
        }
    }

    /// What a list in braces gives one member: nothing, some tokens; none if that is not clear.
    fn given(
        &self,
        code: &Code,
        pieces: &[Range<usize>],
        layout: &Layout,
        index: usize,
    ) -> Option<Option<Range<usize>>> {
        let view = &code.view;
        if pieces.iter().any(|piece| view.byte(piece.start, b'.')) {
            // `{.grid = 2, .block = 64}`
            let name = layout.fields[index].name.as_bytes();
            let named = pieces.iter().find(|piece| view.text(piece.start + 1) == name);
            return Some(named.map(|piece| piece.start + 2 + usize::from(view.byte(piece.start + 2, b'='))..piece.end));
        }
        let fills_one = |(field, piece): (&Field, &Range<usize>)| {
            field.takes_one || view.byte(piece.start, b'{') || self.is_function(code, piece.clone())
        };
        let mut before = layout.fields[..index].iter().zip(pieces);
        (pieces.len() <= layout.fields.len() && before.all(fills_one)).then(|| pieces.get(index).cloned())
    }

    /// Whether an expression is the address of a function in view.
    fn is_function(&self, code: &Code, range: Range<usize>) -> bool {
        let name = callee_in(&code.view, range).filter(|callee| callee.suffix.is_empty());
        let name = name.and_then(|callee| std::str::from_utf8(code.view.text(callee.name)).ok());
        let tree = self.work.tree;
        let is_it = |id: &ItemId| tree.item(*id).function().is_some();
        name.is_some_and(|name| tree.visible(code.file, name).iter().any(is_it))
    }

    /// The tokens that an object made by an expression takes one of its members from.
    pub fn given_member(
        &self,
        code: &Code,
        range: Range<usize>,
        ty: Range<usize>,
        member: &[u8],
    ) -> Option<Range<usize>> {
        let view = &code.view;
        let inside = match view_brace(code, &range) {
            Some(inside) => inside,
            None => {
                called(view, range).filter(|(_, open)| view.byte(*open, b'{')).map(|(_, open)| view.inside(open))?
            }
        };
        let layout = self.layout(code, ty).filter(|layout| !layout.has_constructor)?;
        let index = layout.field(member)?;
        self.given(code, &view.split_at_commas(inside), &layout, index)?
    }

    /// What a field holds that is given some tokens; `user` is the code in which the class is named.
    fn of_field(
        &self,
        code: &Code,
        given: Range<usize>,
        user: &Code,
        layout: &Layout,
        field: &Field,
        rest: &[&[u8]],
    ) -> Option<Value> {
        let braced = view_brace(code, &given);
        if field.is_extent {
            return component(Value::Extent(evaluate(self, code, given)?.extent()), rest);
        }
        match (braced, rest) {
            (braced, []) => evaluate(self, code, braced.unwrap_or(given)),
            (Some(inside), _) => {
                let inner = self.layout(layout.code.as_deref().unwrap_or(user), field.ty.clone())?;
                self.aggregate(code, inside, &inner, rest)
            }
            (None, _) => self.member_of(code, given, rest),
        }
    }

    /// The value at one place of `auto [a, b] = ..`.
    pub fn part(&self, code: &Code, whole: Range<usize>, position: usize) -> Option<Value> {
        let view = &code.view;
        let (callee, open) = called(view, whole.clone())?;
        if matches!(view.text(callee.name), b"make_pair" | b"pair" | b"make_tuple" | b"tuple") {
            return evaluate(self, code, view.split_at_commas(view.inside(open)).get(position)?.clone());
        }
        let named = |layout: Layout| Some(layout.fields.get(position)?.name.clone());
        if let Some(layout) = self.layout(code, whole.start..open) {
            return self.member_of(code, whole, &[named(layout)?.as_bytes()]);
        }
        let pieces = view.split_at_commas(view.inside(open));
        self.with_result(code, &callee, &pieces, |scope, called, result| {
            match (scope.layout(called, called.result.clone()), view_brace(called, &result)) {
                (Some(layout), Some(inside)) => {
                    let name = layout.fields.get(position)?.name.clone();
                    scope.aggregate(called, inside, &layout, &[name.as_bytes()])
                }
                (Some(layout), None) => scope.member_of(called, result, &[named(layout)?.as_bytes()]),
                // `std::pair<int, int> shape() { return {3, 64}; }`
                (None, Some(inside)) => {
                    evaluate(scope, called, called.view.split_at_commas(inside).get(position)?.clone())
                }
                (None, None) => scope.part(called, result, position),
            }
        })
    }

    /// What a parameter stands for in a call: of an object its members, too.
    pub fn bind_parameter(&self, code: &Code, argument: Range<usize>, called: &Code, index: usize) -> Bound {
        let mut bound = self.bind(code, argument.clone());
        let is_list = view_brace(code, &argument).is_some();
        if let (Some(value), Some(param)) = (bound.value, called.params.get(index))
            && (is_list || matches!(value, Value::Int(_) | Value::AtMost(_)))
            && self.names_class(called, param.ty.clone())
        {
            bound.value = None;
        }
        let Some(ty) = called.params.get(index).map(|param| param.ty.clone()).filter(|_| bound.value.is_none()) else {
            return bound;
        };
        // Of what a pointer leads to only a variable's address is told.
        if ty.clone().any(|at| called.view.byte(at, b'*')) && !code.view.byte(argument.start, b'&') {
            return bound;
        }
        let layout = Scope { work: self.work, frame: &Frame::default() }.layout(called, ty);
        let Some(layout) = layout.filter(|layout| layout.fields.len() <= MAX_FIELDS) else { return bound };
        for field in &layout.fields {
            let member = [field.name.as_bytes()];
            let value = match view_brace(code, &argument) {
                Some(inside) => self.aggregate(code, inside, &layout, &member),
                None => self.member_of(code, argument.clone(), &member),
            };
            bound.fields.extend(value.map(|value| (field.name.clone(), value)));
        }
        bound
    }

    /// `object.threads()`, by what the method returns.
    pub fn method(&self, code: &Code, object: usize, name: usize, arguments: &[Range<usize>]) -> Option<Value> {
        let view = &code.view;
        let declared = super::locals::declaration(code, view.text(object), object)?;
        let layout = self.layout(code, super::locals::declared_type(code, declared)?.0)?;
        let tree = self.work.tree;
        let is_method =
            |id: &ItemId| tree.item(*id).name.as_bytes() == view.text(name) && tree.item(*id).is_definition();
        let methods: Vec<ItemId> = tree.members(layout.class?).iter().copied().filter(is_method).collect();
        let [method] = methods[..] else { return None };
        let method = self.work.code(method);
        // What a reference refers to may be of a derived class.
        if matches!(view.text(declared - 1), b"&" | b"&&" | b"*") && self.is_virtual(&method) {
            return None;
        }
        let mut frame = self.frame_of(code, &method, arguments);
        frame.templates = layout.frame.templates.clone();
        for field in &layout.fields {
            if let Some(value) = self.member_of(code, object..object + 1, &[field.name.as_bytes()]) {
                frame.own.insert(field.name.clone(), value);
            }
        }
        Scope { work: self.work, frame: &frame }.result(&method, evaluate)
    }

    /// Whether a derived class may have another method instead.
    pub fn is_virtual(&self, method: &Code) -> bool {
        let tree = self.work.tree;
        let item = tree.item(method.item);
        let of_class = item.class.map_or(&[][..], |class| tree.members(class));
        of_class.iter().map(|id| tree.item(*id)).any(|own| own.name == item.name && own.attributes.is_virtual)
    }

    /// Whether a method of this name changes nothing: by its text it writes and calls nothing.
    pub fn only_reads(&self, code: &Code, method: &[u8]) -> bool {
        let tree = self.work.tree;
        let Ok(name) = std::str::from_utf8(method) else { return false };
        let methods: Vec<ItemId> =
            tree.visible(code.file, name).into_iter().filter(|id| tree.item(*id).class.is_some()).collect();
        let reads = |id: &ItemId| {
            let code = self.work.code(*id);
            let view = &code.view;
            let writes = |at: usize| match view.text(at) {
                b"=" | b"++" | b"--" => true,
                b"==" | b"<=" | b">=" | b"!=" => false,
                b"(" => {
                    view.identifier(at - 1).is_some_and(|name| !matches!(name, b"dim3" | b"min" | b"max" | b"return"))
                }
                text => text.len() > 1 && text.ends_with(b"="),
            };
            !code.body.clone().any(writes)
        };
        !methods.is_empty() && methods.iter().all(|id| tree.item(*id).is_definition() && reads(id))
    }
}

/// The braces that an expression is.
fn view_brace(code: &Code, range: &Range<usize>) -> Option<Range<usize>> {
    let view = &code.view;
    (view.byte(range.start, b'{') && view.behind(range.start) == range.end).then(|| view.inside(range.start))
}

/// `ns::name<..>(..)`, `name{..}`: the name and the bracket.
pub(super) fn called(view: &View, range: Range<usize>) -> Option<(Callee, usize)> {
    let mut at = range.start;
    loop {
        let name = at;
        view.identifier(name)?;
        at += 1;
        let angle = if view.is(at, b"<") { view.behind_angle(at) } else { None };
        let arguments = angle.map(|behind| at + 1..behind - 1);
        at = angle.unwrap_or(at);
        if at < range.end && view.is(at, b"::") {
            at += 1;
        } else {
            let is_call =
                at < range.end && (view.byte(at, b'(') || view.byte(at, b'{')) && view.behind(at) == range.end;
            return is_call.then_some((Callee { name, arguments, suffix: 0..0 }, at));
        }
    }
}

/// The data members in a class's braces, in order, and whether it has a constructor; none if it has what is not understood.
fn fields(view: &View, open: usize, class: &[u8]) -> Option<(Vec<Field>, bool)> {
    let inside = view.inside(open);
    let mut found = Vec::new();
    let mut has_constructor = false;
    let mut at = inside.start;
    while at < inside.end {
        if matches!(view.text(at), b"public" | b"private" | b"protected") && view.byte(at + 1, b':') {
            at += 2;
            continue;
        }
        let start = at;
        if view.is(at, b"template") {
            at = view.behind_angle(at + 1).unwrap_or(at);
        }
        let mut parameters = None;
        let mut given = None;
        let mut is_other = false;
        while at < inside.end && !view.byte(at, b';') {
            match view.text(at) {
                b"(" if given.is_none() && parameters.is_none() => parameters = Some(at),
                b"=" => given = given.or(Some(at)),
                b"operator" => is_other = true,
                b":" if parameters.is_some_and(|open| view.text(open - 1) == class) => {
                    at = behind_initialisers(view, at);
                    continue;
                }
                b"{" if parameters.is_some() || is_other => {
                    // A method with its body.
                    at = view.behind(at);
                    break;
                }
                b":" | b"union" | b"alignas" | b"__attribute__" | b"&" | b"&&" if parameters.is_none() => return None,
                _ => {}
            }
            at = view.step(at);
        }
        let end = at;
        at += usize::from(view.byte(at, b';'));
        if start == end || is_other {
            continue;
        }
        if let Some(open) = parameters {
            let is_constructor = view.text(open - 1) == class && !view.is(open.wrapping_sub(2), b"~");
            has_constructor |= is_constructor;
            if view.byte(open + 1, b'*') {
                found.push(pointer_to_function(view, start..open, given.map(|given| given + 1..end))?);
            }
            continue;
        }
        match view.text(start) {
            b"using" | b"typedef" | b"static" | b"friend" | b"template" | b"enum" => continue,
            b"struct" | b"class" | b"[" => return None,
            _ => add_fields(view, start..end, &mut found)?,
        }
    }
    Some((found, has_constructor))
}

/// `void (*kernel)(float *) = k`, its type up to the bracket
fn pointer_to_function(view: &View, ty: Range<usize>, default: Option<Range<usize>>) -> Option<Field> {
    let inside = view.inside(ty.end);
    let word = view.identifier(inside.end.checked_sub(1)?)?;
    let is_plain = inside.clone().skip(1).all(|at| view.identifier(at).is_some());
    let name = String::from_utf8_lossy(word).into_owned();
    is_plain.then_some(Field { name, ty, default, is_extent: false, takes_one: true })
}

/// `dim3 grid, block{64}`
fn add_fields(view: &View, range: Range<usize>, found: &mut Vec<Field>) -> Option<()> {
    let mut ty: Option<Range<usize>> = None;
    for piece in view.split_at_commas(range) {
        let mut name_end = piece.start;
        while name_end < piece.end && !matches!(view.text(name_end), b"=" | b"{" | b"[") {
            name_end = view.step(name_end);
        }
        let name = name_end.checked_sub(1).filter(|name| *name >= piece.start)?;
        let default = match view.text(name_end) {
            b"[" => return None,
            b"=" => Some(name_end + 1..piece.end),
            b"{" => Some(name_end..piece.end),
            _ => None,
        };
        let word = view.identifier(name)?;
        let ty = ty.get_or_insert(piece.start..name).clone();
        let is_pointer = ty.clone().chain(piece.start..name).any(|at| view.byte(at, b'*'));
        let is_plain = |at: usize| {
            is_type_word(view.text(at))
                || matches!(view.text(at), b"float" | b"double" | b"cudaStream_t" | b"hipStream_t")
        };
        found.push(Field {
            name: String::from_utf8_lossy(word).into_owned(),
            is_extent: !is_pointer && ty.clone().any(|at| view.is(at, b"dim3")),
            takes_one: is_pointer || ty.clone().all(is_plain),
            ty,
            default,
        });
    }
    Some(())
}
