//! `Policy<4>`, `typename Kernel::Traits` -> the class that is meant, through aliases, and what its parameters stand for there.
//!
//! Of a template and its specialisations the one is taken that the arguments fit; where more than one fits as well, none.

use super::code::{Code, parameters};
use super::evaluate::{Value, evaluate, integer, size_of};
use super::locals::{declaration, declared_type};
use super::scope::{Bound, Frame, Path, Scope, Segment, alias_target, local_alias};
use crate::graph::ItemId;
use crate::source::items::{ItemKind, View};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Aliases of aliases, classes in classes.
const MAX_DEPTH: u32 = 40;
/// Names that a type has one after another.
const MAX_ALIASES: u32 = 4;
/// Classes within template arguments that are compared.
const MAX_NESTING: u32 = 8;
/// Bases of one class that are looked at.
const MAX_BASES: usize = 4;

/// What stands in front of a `::`.
pub(super) enum Around {
    Class {
        class: ItemId,
        /// What its template parameters stand for.
        frame: Frame,
    },
    /// No class in view has that name.
    Namespace,
    Unknown,
}

impl Scope<'_> {
    pub fn around(&self, code: &Code, path: &Path) -> Around {
        if !self.enter(MAX_DEPTH) {
            return Around::Unknown;
        }
        let around = self.around_inside(code, path);
        self.leave();
        around
    }

    fn around_inside(&self, code: &Code, path: &Path) -> Around {
        let Some(((at, arguments), outer)) = path.split_last() else { return Around::Namespace };
        let view = &code.view;
        let Ok(name) = std::str::from_utf8(view.text(*at)) else { return Around::Unknown };
        if outer.is_empty() {
            // A type that stands for another one: a template parameter, an alias of the function.
            if let Some(bound) = self.type_parameter(code, name, *at) {
                return match bound {
                    Some(bound) if !bound.text.is_empty() => self.around_text(code, bound.text),
                    _ => Around::Unknown,
                };
            }
            if let Some(target) = local_alias(code, name.as_bytes(), *at) {
                return self.around_type(code, target);
            }
        } else if let Around::Class { class, frame } = self.around(code, outer)
            && let Some(inner) = self.member_type(class, name, &frame)
        {
            return inner;
        }
        let given = || arguments.clone().map_or(Vec::new(), |range| self.template_arguments(code, range));
        let own = self.work.tree.item(code.item).class;
        if let Some(inner) = own.filter(|_| outer.is_empty()).and_then(|own| {
            let frame = Frame { templates: self.frame.templates.clone(), ..Frame::default() };
            self.member_type(own, name, &frame)
        }) {
            return inner;
        }
        self.among(code, &self.work.tree.visible(code.file, name), given)
    }

    /// What a template parameter in view of a place stands for; the inner one is none if nothing tells.
    fn type_parameter(&self, code: &Code, name: &str, at: usize) -> Option<Option<Bound>> {
        if let Some(bound) = self.frame.templates.get(name) {
            return Some(Some(bound.clone()));
        }
        if let Some(bound) = super::lambdas::template(self, code, name.as_bytes(), at) {
            return Some(Some(bound));
        }
        self.is_open(code, name.as_bytes()).then(|| {
            self.work.needs_caller.set(true);
            None
        })
    }

    /// The class or alias among the items of one name.
    fn among(&self, code: &Code, items: &[ItemId], given: impl Fn() -> Vec<Bound>) -> Around {
        let tree = self.work.tree;
        let is_class = |id: &ItemId| matches!(&tree.item(*id).kind, ItemKind::Class(parts) if parts.body.is_some());
        let classes: Vec<ItemId> = items.iter().copied().filter(is_class).collect();
        if !classes.is_empty() {
            return match self.instance(&classes, &given()) {
                Some((class, frame)) => Around::Class { class, frame },
                None => Around::Unknown,
            };
        }
        match items.iter().find(|id| matches!(tree.item(**id).kind, ItemKind::Alias)) {
            Some(alias) => self.around_alias(*alias, &given(), FxHashMap::default()),
            None if items.iter().any(|id| matches!(tree.item(*id).kind, ItemKind::Class(_))) => Around::Unknown,
            None => match code.uses(b"struct", code.body.clone()) {
                [] => Around::Namespace,
                // A class of the function itself may have the name.
                _ => Around::Unknown,
            },
        }
    }

    /// `template <class T> using Traits = ..;`, in a class whose parameters stand for `outer`.
    fn around_alias(&self, alias: ItemId, given: &[Bound], outer: FxHashMap<String, Bound>) -> Around {
        let code = self.work.code(alias);
        let header = if code.view.is(0, b"template") { code.view.behind_angle(1) } else { None };
        let templates = header.map_or(Vec::new(), |end| parameters(&code.view, 2..end - 1));
        let mut frame = Frame { templates: outer, ..Frame::default() };
        frame.templates.extend(templates.into_iter().map(|template| template.name).zip(given.iter().cloned()));
        let scope = Scope { work: self.work, frame: &frame };
        match alias_target(&code.view) {
            Some(target) => scope.around_type(&code, target),
            None => Around::Unknown,
        }
    }

    /// A class or an alias inside a class, or a base of it.
    fn member_type(&self, class: ItemId, name: &str, frame: &Frame) -> Option<Around> {
        let tree = self.work.tree;
        let own = tree.members(class).iter().copied().filter(|id| *tree.item(*id).name == *name);
        let found: Vec<ItemId> =
            own.filter(|id| matches!(tree.item(*id).kind, ItemKind::Class(_) | ItemKind::Alias)).collect();
        match found[..] {
            [] => self.in_bases(class, frame, |scope, base, frame| scope.member_type(base, name, frame)),
            [one] if matches!(tree.item(one).kind, ItemKind::Alias) => {
                Some(self.around_alias(one, &[], frame.templates.clone()))
            }
            [one] => Some(Around::Class { class: one, frame: frame.clone() }),
            _ => Some(Around::Unknown),
        }
    }

    /// What the first base has that has it.
    pub fn in_bases<T>(
        &self,
        class: ItemId,
        frame: &Frame,
        read: impl Fn(&Scope, ItemId, &Frame) -> Option<T>,
    ) -> Option<T> {
        let tree = self.work.tree;
        let ItemKind::Class(parts) = &tree.item(class).kind else { return None };
        let bases = parts.bases.clone()?;
        let own = self.work.code(class);
        let code = own.beside(tree.expanded(class, bases).trim_start_matches(':').to_string());
        let scope = Scope { work: self.work, frame };
        code.view.split_at_commas(0..code.view.len()).into_iter().take(MAX_BASES).find_map(|base| {
            match scope.around_type(&code, base) {
                Around::Class { class: base, frame } if base != class && scope.enter(MAX_DEPTH) => {
                    let found = read(&scope, base, &frame);
                    scope.leave();
                    found
                }
                _ => None,
            }
        })
    }

    fn around_text(&self, code: &Code, text: String) -> Around {
        let code = code.beside(text);
        let empty = Frame::default();
        Scope { work: self.work, frame: &empty }.around_type(&code, 0..code.view.len())
    }

    /// The class that some tokens of a type name.
    fn around_type(&self, code: &Code, range: Range<usize>) -> Around {
        match path_in(&code.view, range) {
            Some(path) => self.around(code, &path),
            None => Around::Unknown,
        }
    }

    /// Of a template and its specialisations the one that the arguments mean.
    pub fn instance(&self, items: &[ItemId], given: &[Bound]) -> Option<(ItemId, Frame)> {
        let special: Vec<(ItemId, View)> = items.iter().filter_map(|id| Some((*id, self.special_for(*id)?))).collect();
        let mut fitting: Vec<(ItemId, Frame)> = Vec::new();
        for (id, arguments) in &special {
            if given.iter().any(|bound| bound.text.is_empty()) {
                return None;
            }
            let code = self.work.code(*id);
            let names: Vec<&str> = code.templates.iter().map(|template| template.name.as_str()).collect();
            let mut frame = Frame::default();
            if fits_all(&names, arguments, 0..arguments.len(), given, &mut frame, 0) {
                if frame.templates.is_empty() {
                    return Some((*id, frame));
                }
                fitting.push((*id, frame));
            }
        }
        if fitting.len() > 1 {
            return None;
        }
        if let Some(only) = fitting.pop() {
            return Some(only);
        }
        let primary = items.iter().copied().find(|id| special.iter().all(|(other, _)| other != id))?;
        let code = self.work.code(primary);
        let mut frame = Frame::default();
        for (position, template) in code.templates.iter().enumerate() {
            let bound = match (given.get(position), &template.default) {
                (Some(bound), _) => bound.clone(),
                (None, Some(default)) => Scope { work: self.work, frame: &frame }.bind(&code, default.clone()),
                (None, None) => continue,
            };
            frame.templates.insert(template.name.clone(), bound);
        }
        Some((primary, frame))
    }

    /// Whether a name is one of variables made from a template: `threads_v<P>`.
    pub fn is_variable_template(&self, code: &Code, name: usize) -> bool {
        let tree = self.work.tree;
        let Ok(name) = std::str::from_utf8(code.view.text(name)) else { return false };
        let is_it =
            |id: &ItemId| matches!(tree.item(*id).kind, ItemKind::Value) && !tree.item(*id).templates.is_empty();
        tree.named(name).iter().any(is_it)
    }

    /// The number of elements of a local array.
    pub fn length(&self, code: &Code, array: Range<usize>) -> Option<i64> {
        let name = code.view.identifier(array.start).filter(|_| array.len() == 1)?;
        self.extents(code, declaration(code, name, array.start)?).first().copied().flatten()
    }

    fn extents(&self, code: &Code, declared: usize) -> Vec<Option<i64>> {
        let view = &code.view;
        let mut found = Vec::new();
        let mut at = declared + 1;
        while view.byte(at, b'[') {
            found.push(view.inside(at));
            at = view.behind(at);
        }
        let list = at + usize::from(view.byte(at, b'='));
        let read = |extent: Range<usize>| match extent.is_empty() {
            // `int sizes[] = {1, 2}`
            true if view.byte(list, b'{') => i64::try_from(view.split_at_commas(view.inside(list)).len()).ok(),
            _ => evaluate(self, code, extent)?.int(),
        };
        found.into_iter().map(read).collect()
    }

    /// The size of a local array, or of a part of it: `sizes`, `sizes[0]`, `*sizes`.
    fn size_of_array(&self, code: &Code, range: Range<usize>) -> Option<i64> {
        let view = &code.view;
        let name = range.clone().find(|at| !view.byte(*at, b'*'))?;
        let declared = declaration(code, view.identifier(name)?, name)?;
        let (mut taken, mut at) = (name - range.start, name + 1);
        while at < range.end && view.byte(at, b'[') {
            taken += 1;
            at = view.behind(at);
        }
        let extents = self.extents(code, declared);
        if at != range.end || extents.is_empty() || !self.enter(MAX_DEPTH) {
            return None;
        }
        let of_one = declared_type(code, declared).and_then(|(ty, _)| self.size(code, ty));
        self.leave();
        extents.get(taken..)?.iter().try_fold(of_one?, |size, extent| size.checked_mul((*extent)?))
    }

    /// The size of a type, as far as it is the same on every platform, or of a local array.
    pub fn size(&self, code: &Code, ty: Range<usize>) -> Option<i64> {
        if let Some(size) = self.size_of_array(code, ty.clone()) {
            return Some(size);
        }
        let mut text = self.written(code, ty);
        for _ in 0..MAX_ALIASES {
            let plain = text.trim_start_matches("const ").trim_start_matches("typename ").trim_end_matches(" const");
            if let Some(size) = size_of(plain) {
                return Some(size);
            }
            let visible = self.work.tree.visible(code.file, plain);
            let alias = visible.into_iter().find(|id| matches!(self.work.tree.item(*id).kind, ItemKind::Alias))?;
            let alias = self.work.code(alias);
            text = alias.view.spelled(alias_target(&alias.view)?);
        }
        None
    }

    /// The arguments that an item specialises its template for.
    fn special_for(&self, id: ItemId) -> Option<View<'static>> {
        let tree = self.work.tree;
        let item = tree.item(id);
        let arguments = match &item.kind {
            ItemKind::Class(parts) => parts.arguments.clone()?,
            ItemKind::Function(parts) => parts.arguments.clone()?,
            ItemKind::Value => {
                let code = self.work.code(id);
                let view = &code.view;
                let name = (0..view.len()).find(|at| view.identifier(*at) == Some(item.name.as_bytes()))?;
                let behind = if view.is(name + 1, b"<") { view.behind_angle(name + 1)? } else { return None };
                return Some(View::owned(view.spelled(name + 2..behind - 1)));
            }
            _ => return None,
        };
        Some(View::owned(tree.expanded(id, arguments)))
    }
}

/// Whether arguments are those that a specialisation is for; its own parameters are bound.
fn fits_all(names: &[&str], view: &View, wanted: Range<usize>, given: &[Bound], frame: &mut Frame, depth: u32) -> bool {
    let wanted = view.split_at_commas(wanted);
    wanted.len() == given.len()
        && wanted.into_iter().zip(given).all(|(wanted, given)| fits(names, view, wanted, given, frame, depth))
}

fn fits(names: &[&str], view: &View, wanted: Range<usize>, given: &Bound, frame: &mut Frame, depth: u32) -> bool {
    let spelled = view.spelled(wanted.clone());
    if wanted.len() == 1 && names.contains(&spelled.as_str()) {
        let known = frame.templates.insert(spelled, given.clone());
        return known.is_none_or(|known| known.text == given.text);
    }
    let theirs = View::owned(given.text.clone());
    if same(view, wanted.clone(), &theirs, 0..theirs.len()) {
        return true;
    }
    if depth > MAX_NESTING {
        return false;
    }
    // `Tile<T, 4>` for `Tile<float, 4>`, `T *` for `float *`
    let star = |view: &View, range: &Range<usize>| !range.is_empty() && view.byte(range.end - 1, b'*');
    let whole = 0..theirs.len();
    if star(view, &wanted) && star(&theirs, &whole) {
        let inner = Bound::new(None, theirs.spelled(0..whole.end - 1));
        return fits(names, view, wanted.start..wanted.end - 1, &inner, frame, depth + 1);
    }
    let arguments = |view: &View, range: Range<usize>| {
        let open = range.clone().find(|at| view.is(*at, b"<"))?;
        (view.behind_angle(open) == Some(range.end)).then_some(open)
    };
    let (Some(open), Some(other)) = (arguments(view, wanted.clone()), arguments(&theirs, whole.clone())) else {
        return false;
    };
    let bound = |piece: Range<usize>| {
        let value = integer(theirs.text(piece.start)).filter(|_| piece.len() == 1).map(Value::Int);
        Bound::new(value, theirs.spelled(piece))
    };
    let inner: Vec<Bound> = theirs.split_at_commas(other + 1..whole.end - 1).into_iter().map(bound).collect();
    same(view, wanted.start..open, &theirs, 0..other)
        && fits_all(names, view, open + 1..wanted.end - 1, &inner, frame, depth + 1)
}

/// Whether tokens are the same, or are the same number.
fn same(left: &View, a: Range<usize>, right: &View, b: Range<usize>) -> bool {
    let number = |view: &View, range: &Range<usize>| match range.len() {
        1 => integer(view.text(range.start)).or(match view.text(range.start) {
            b"true" => Some(1),
            b"false" => Some(0),
            _ => None,
        }),
        _ => None,
    };
    let (one, other) = (number(left, &a), number(right, &b));
    one.is_some() && one == other || a.len() == b.len() && a.zip(b).all(|(a, b)| left.text(a) == right.text(b))
}

/// The segments of a type: `typename ns::Policy<T>::Tile`.
pub(super) fn path_in(view: &View, range: Range<usize>) -> Option<Vec<Segment>> {
    let is_specifier = |at: &usize| {
        matches!(
            view.text(*at),
            b"typename" | b"const" | b"struct" | b"class" | b"::" | b"public" | b"constexpr" | b"static" | b"template"
        )
    };
    let mut found: Vec<Segment> = Vec::new();
    let mut at = range.clone().find(|at| !is_specifier(at))?;
    loop {
        view.identifier(at)?;
        let behind = if view.is(at + 1, b"<") { view.behind_angle(at + 1) } else { None };
        found.push((at, behind.map(|behind| at + 2..behind - 1)));
        at = behind.unwrap_or(at + 1);
        if at >= range.end {
            return Some(found);
        }
        if !view.is(at, b"::") {
            return None;
        }
        at += 1 + usize::from(view.is(at + 1, b"template"));
    }
}
