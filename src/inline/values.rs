//! What an expression evaluates to, and moving it: loads, stores, copies, conversions.

use super::builder::Builder;
use super::expressions::operator_in;
use super::facts::{self, Call, Facts, Holds};
use super::names::Found;
use super::scope::Binding;
use super::types::{COMPONENTS, ClassTy, Pointee, Ty};
use super::visit::{Node, visit};
use crate::graph::*;
use crate::program::{Expr, ExprKind, Name, Segment};
use crate::text::Span;
use std::sync::Arc;

/// An evaluated expression.
#[derive(Clone, Debug)]
pub struct Ev {
    pub what: What,
    pub ty: Ty,
    /// Of a place: not to be written through this name for it.
    pub is_const: bool,
    pub is_volatile: bool,
    pub category: Category,
}

/// What may become of a value, as C++ has it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Category {
    /// Somebody else's: an object made from it is a copy.
    #[default]
    Lvalue,
    /// `std::move(x)`
    Moved,
    /// Made by the expression: what it initialises is the thing itself.
    Made,
}

#[derive(Clone, Debug)]
pub enum What {
    /// No value at all, or none beyond its type.
    Nothing,
    Value(Value),
    /// Something in memory, by its address.
    Place(Value),
    /// A struct of which each member's value is known.
    Parts(Vec<(Name, Value)>),
}

impl Ev {
    pub fn nothing() -> Ev {
        Ev::typed(Ty::Void)
    }

    pub fn typed(ty: Ty) -> Ev {
        Ev::of(What::Nothing, ty, Category::Made)
    }

    pub fn value(value: Value, ty: Ty) -> Ev {
        Ev::of(What::Value(value), ty, Category::Made)
    }

    pub fn place(address: Value, ty: Ty) -> Ev {
        Ev::of(What::Place(address), ty, Category::Lvalue)
    }

    /// An object that is there for this expression alone.
    pub fn made(address: Value, ty: Ty) -> Ev {
        Ev { category: Category::Made, ..Ev::place(address, ty) }
    }

    pub fn parts(parts: Vec<(Name, Value)>, ty: Ty) -> Ev {
        Ev::of(What::Parts(parts), ty, Category::Made)
    }

    fn of(what: What, ty: Ty, category: Category) -> Ev {
        Ev { what, ty, is_const: false, is_volatile: false, category }
    }

    /// Not to be written, if it was not that before.
    pub fn fixed_if(self, is_const: bool) -> Ev {
        Ev { is_const: self.is_const || is_const, ..self }
    }

    pub fn volatile_place(address: Value, ty: Ty, is_volatile: bool) -> Ev {
        Ev { is_volatile, ..Ev::place(address, ty) }
    }

    pub fn is_place(&self) -> bool {
        matches!(self.what, What::Place(_))
    }
}

/// Stands for the conversion functions of a class.
const CONVERSION: &str = "operator ";

impl Builder<'_> {
    pub fn rvalue_of(&mut self, expr: &Expr) -> Value {
        let ev = self.eval(expr);
        self.rvalue(&ev, expr.span)
    }

    /// The value itself: loads what stands in memory. An array's value is its address.
    pub fn rvalue(&mut self, ev: &Ev, span: Span) -> Value {
        match &ev.what {
            What::Value(value) => *value,
            What::Place(address) if matches!(ev.ty.value(), Ty::Array(..)) => *address,
            What::Place(address) => match *self.op(*address) {
                // A choice of two variables is read as the choice of their values.
                Op::Select { on, yes, no } if ev.ty.value().is_scalar() && !ev.is_volatile => {
                    let (yes, no) = (self.load(yes, false, span), self.load(no, false, span));
                    self.select(on, yes, no, span)
                }
                Op::Address(object) if self.pointees.contains_key(&object) => {
                    let loaded = self.load(*address, ev.is_volatile, span);
                    self.choose_pointee(object, loaded, span)
                }
                _ => self.load(*address, ev.is_volatile, span),
            },
            What::Parts(parts) => {
                let from = parts.iter().map(|(_, value)| *value).collect();
                self.unknown(from, span)
            }
            What::Nothing if ev.ty == Ty::Void => self.int(0, span),
            // A type where a value is wanted: an argument that nobody understood.
            What::Nothing => self.unknown(Vec::new(), span),
        }
    }

    /// The value as one of type `to`, by the conversion function of a class where it is an object.
    pub fn rvalue_as(&mut self, ev: &Ev, to: &Ty, span: Span) -> Value {
        if to.value().is_scalar()
            && let Some(converted) = self.call_conversion(ev, to.value(), span)
        {
            return self.rvalue(&converted, span);
        }
        let value = self.rvalue(ev, span);
        self.convert(value, &ev.ty, to, span)
    }

    /// A condition's value.
    pub fn truth_of(&mut self, expr: &Expr) -> Value {
        let ev = self.eval(expr);
        match ev.ty.value() {
            Ty::Class(_) => self.rvalue_as(&ev, &Ty::Bool, expr.span),
            _ => self.rvalue(&ev, expr.span),
        }
    }

    /// The address of a place; what is none is put into a temporary.
    pub fn address_of(&mut self, ev: &Ev, span: Span) -> Value {
        match &ev.what {
            What::Place(address) => *address,
            What::Value(value)
                if matches!(self.op(*value), Op::Address(_) | Op::Element { .. } | Op::Member { .. })
                    && matches!(ev.ty.value(), Ty::Array(..)) =>
            {
                *value
            }
            _ => {
                let object = self.temporary("the temporary", ev.ty.value(), span);
                let address = self.address(object, span);
                self.store_to(address, &ev.ty.clone(), ev, span);
                address
            }
        }
    }

    /// Writes a value to memory of type `ty`, members one by one where it has any.
    pub fn store_to(&mut self, address: Value, ty: &Ty, ev: &Ev, span: Span) {
        if let Some((index, of)) = super::algorithms::alternative_of(ty, &ev.ty) {
            return self.store_alternative(address, index, &of, ev, span);
        }
        if let (Ty::FunctionPointer, Ty::Closure(number)) = (ty.value(), ev.ty.value()) {
            let pointer = self.pointer_to_closure(*number, span);
            return self.store_to(address, ty, &pointer, span);
        }
        match &ev.what {
            What::Nothing => {}
            What::Parts(parts) => {
                for (name, value) in parts {
                    let member = self.member_address(address, name, span);
                    self.store(member, *value, span);
                }
            }
            What::Place(from) if self.is_copied_whole(ty, &ev.ty) => {
                if !self.overlays.is_empty() {
                    let value = self.load(*from, false, span);
                    self.write_overlaid(address, value, span);
                }
                self.emit(Op::Copy { to: address, from: *from }, span);
            }
            What::Place(_) | What::Value(_) => {
                let value = self.rvalue_as(ev, ty, span);
                self.store(address, value, span);
            }
        }
    }

    fn is_copied_whole(&self, to: &Ty, from: &Ty) -> bool {
        match (to.value(), from.value()) {
            (Ty::Unknown | Ty::Param(_), from) => from.is_aggregate(),
            (to, Ty::Unknown | Ty::Param(_)) => to.is_aggregate(),
            (to, from) => to.is_aggregate() && from.is_aggregate(),
        }
    }

    /// A component or member of something evaluated.
    pub fn member_of(&mut self, base: &Ev, name: &Name, ty: Ty, span: Span) -> Ev {
        self.note_rank(name, &ty);
        let place = match &base.what {
            What::Place(address) => {
                let address = self.member_address(*address, name, span);
                Ev::volatile_place(address, ty, base.is_volatile).fixed_if(base.is_const)
            }
            What::Parts(parts) => match parts.iter().find(|(part, _)| part == name) {
                Some((_, value)) => Ev::value(*value, ty),
                None => Ev::value(self.unknown(Vec::new(), span), ty),
            },
            What::Value(value) => {
                let parts = self.constant_parts.get(value);
                let known = parts.and_then(|parts| parts.iter().find(|(part, ..)| part == name)).map(|part| part.1);
                let value = match known {
                    Some(known) => self.int(known, span),
                    None => self.unknown(vec![*value], span),
                };
                Ev::value(value, ty)
            }
            What::Nothing => Ev::value(self.unknown(Vec::new(), span), ty),
        };
        self.follow_reference(place, span)
    }

    /// A member that is a reference holds an address.
    pub fn follow_reference(&mut self, place: Ev, span: Span) -> Ev {
        match &place.ty {
            Ty::Reference(pointee) => {
                let pointee = pointee.clone();
                let address = self.rvalue(&Ev { ty: Ty::Pointer(pointee.clone()), ..place }, span);
                self.place_behind(address, &pointee)
            }
            _ => place,
        }
    }

    pub fn place_behind(&self, address: Value, pointee: &Pointee) -> Ev {
        Ev::volatile_place(address, pointee.ty.clone(), pointee.is_volatile).fixed_if(pointee.is_const)
    }

    /// The object of the method that the code stands in, as a place.
    pub fn this_object(&mut self) -> Option<Ev> {
        match self.local("this") {
            Some(Binding::Value { value, ty: Ty::Pointer(pointee) }) if matches!(pointee.ty, Ty::Class(_)) => {
                Some(self.place_behind(*value, pointee))
            }
            _ => None,
        }
    }

    /// The object `this` points to, if the code stands in a method.
    pub fn this(&mut self) -> Option<(Value, Arc<ClassTy>)> {
        match self.local("this") {
            Some(Binding::Value { value, ty: Ty::Pointer(pointee) }) => match &pointee.ty {
                Ty::Class(class) => Some((*value, class.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn field_type(&mut self, class: &Arc<ClassTy>, index: usize) -> Ty {
        let Some(member) = class.class.members.get(index) else { return Ty::Unknown };
        let (name, member) = (member.name.clone(), member.ty.clone());
        let scope = self.class_scope(class);
        let ty = self.in_item(class.item, scope, |builder| builder.resolve(&member));
        self.note_rank(&name, &ty);
        ty
    }

    /// Notes how many dimensions a member of that name has.
    fn note_rank(&mut self, name: &Name, ty: &Ty) {
        let rank = super::library::rank(ty);
        match self.graph.member_ranks.get_mut(name) {
            Some(known) if *known == rank => {}
            Some(known) => *known = None,
            None => _ = self.graph.member_ranks.insert(name.clone(), rank),
        }
    }

    /// Names and types of a class's own data members, those of its bases first.
    pub fn fields_of(&mut self, class: &Arc<ClassTy>) -> Vec<(Name, Ty)> {
        self.fields_at(class, 0)
    }

    fn fields_at(&mut self, class: &Arc<ClassTy>, depth: usize) -> Vec<(Name, Ty)> {
        let mut fields = Vec::new();
        if depth < 8 {
            for base in self.bases_of(class) {
                fields.extend(self.fields_at(&base, depth + 1));
            }
        }
        for (index, member) in class.class.members.iter().enumerate() {
            if !member.storage.is_static && !member.storage.is_constexpr {
                let ty = self.field_type(class, index);
                fields.push((self.cell_of(class, &member.name), ty));
            }
        }
        fields
    }

    /// What a data member of a class goes by in an object: its name, behind that of the class where a base has one of the same
    /// name, as C++ spells it: `object.Derived::count`.
    pub fn cell_of(&mut self, class: &Arc<ClassTy>, member: &Name) -> Name {
        if class.class.bases.is_empty() {
            return member.clone();
        }
        let key = (class.clone(), member.clone());
        if let Some(known) = self.memo.cells.get(&key) {
            return known.clone();
        }
        let cell = match (self.hidden_by(class, member), &class.class.name) {
            (0, _) | (_, None) => member.clone(),
            (1, Some(own)) => Name::from(format!("{own}::{member}")),
            // Of one template, as with tuples, each class has the same name.
            (more, Some(own)) => Name::from(format!("{own}({more})::{member}")),
        };
        self.memo.cells.insert(key, cell.clone());
        cell
    }

    /// How many of the bases have a data member of this name, each in an object a cell of its own.
    fn hidden_by(&mut self, class: &Arc<ClassTy>, member: &Name) -> usize {
        const DEEP: usize = 8;
        const MANY: usize = 64;
        let is_data = |one: &crate::program::Declaration| {
            one.name == *member && !one.storage.is_static && !one.storage.is_constexpr
        };
        let mut hidden = 0;
        let mut level = vec![class.clone()];
        for _ in 0..DEEP {
            level = level.iter().flat_map(|class| self.bases_of(class)).take(MANY).collect();
            hidden += level.iter().filter(|base| base.class.members.iter().any(is_data)).count();
        }
        hidden
    }

    /// The member of the class itself that has a name.
    pub fn own_field(&mut self, class: &Arc<ClassTy>, name: &Name) -> Option<(Name, Ty)> {
        let index = class.class.members.iter().position(|member| member.name == *name)?;
        let ty = self.field_type(class, index);
        Some((self.cell_of(class, name), ty))
    }

    /// The components of a vector type.
    pub fn components(ty: &Ty) -> Vec<(Name, Ty)> {
        match ty.value() {
            Ty::Vector { of, lanes, .. } => {
                COMPONENTS[..usize::from(*lanes)].iter().map(|name| (Name::from(*name), (**of).clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A built-in variable as a whole.
    pub fn source_parts(&mut self, kind: crate::words::SourceKind, span: Span) -> Ev {
        use crate::words::SourceKind::*;
        if kind == WarpSize {
            let value = self.int(32, span);
            return Ev::value(value, super::types::INT);
        }
        self.copied_index |= matches!(kind, ThreadIdx | BlockDim);
        let axes = [Axis::X, Axis::Y, Axis::Z];
        let parts = axes
            .iter()
            .zip(COMPONENTS)
            .map(|(axis, name)| (Name::from(name), self.emit(Op::Source(source_of(kind, *axis)), span)));
        let parts = parts.collect();
        let name = if matches!(kind, BlockDim | GridDim) { "dim3" } else { "uint3" };
        Ev::parts(parts, Ty::vector(name, super::types::UNSIGNED, 3))
    }

    // Effects

    /// What evaluating the expression may do, found by names; for deciding whether `&&` and `?:` must be branches.
    pub fn effects_of(&mut self, expr: &Expr) -> Holds {
        let mut plain = true;
        let mut assigns = false;
        let (words, program, home) = (self.words, self.program, self.item);
        visit(vec![Node::Expr(expr)], |node| {
            if let Node::Expr(expr) = node {
                match &expr.kind {
                    ExprKind::Assign(..) | ExprKind::Increment { .. } | ExprKind::Statements(_) | ExprKind::Asm(_) => {
                        plain = false;
                        assigns = true;
                    }
                    ExprKind::Call { callee, .. } => {
                        plain = false;
                        // `ok ? (void)0 : __assert_fail(...)`
                        assigns |= matches!(&callee.kind, ExprKind::Name(path)
                            if path.segments.last().is_some_and(|last| words.stop(&last.name).is_some()));
                    }
                    ExprKind::Construct(..) => plain = false,
                    _ => {
                        plain &= operator_in(expr).is_none_or(|sign| program.operators_meant(home, &[sign]).is_empty())
                    }
                }
            }
            plain || !assigns
        });
        let of_objects = self.effects_on_objects(expr);
        if plain {
            return of_objects;
        }
        let direct = facts::of_expr(expr, self.words);
        let mut holds = direct.what;
        holds.join(of_objects);
        holds.writes |= assigns;
        for call in &direct.calls {
            self.join_reach(call, &mut holds);
        }
        self.join_operators(&direct.operators, &mut holds);
        holds
    }

    /// What runs without a sign of its own: `[]` and `->` of classes, and their conversion functions.
    fn effects_on_objects(&mut self, expr: &Expr) -> Holds {
        let mut objects: Vec<(&Expr, &str)> = Vec::new();
        visit(vec![Node::Expr(expr)], |node| {
            match node {
                Node::Expr(Expr { kind: ExprKind::Lambda(_), .. }) => return false,
                Node::Expr(Expr { kind: ExprKind::Index(object, _), .. }) => objects.push((object, "operator[]")),
                Node::Expr(Expr { kind: ExprKind::Member { object, arrow: true, .. }, .. }) => {
                    objects.push((object, "operator->"));
                }
                Node::Expr(whole @ Expr { kind: ExprKind::Name(_) | ExprKind::Member { .. }, .. }) => {
                    objects.push((whole, CONVERSION));
                }
                _ => {}
            }
            true
        });
        let mut holds = Holds::default();
        for (object, operator) in objects {
            let Ty::Class(class) = self.type_of(object).value().clone() else { continue };
            let found = match operator {
                CONVERSION => self.conversions_of(&class, 0),
                name => match self.find_in_class(&class, &Segment { name: Name::from(name), args: None }) {
                    Some(Found::Functions(set)) => set,
                    _ => continue,
                },
            };
            for one in found {
                holds.join(Holds { barrier: self.reach_of(&one).barrier, ..Holds::default() });
            }
        }
        holds
    }

    fn join_reach(&mut self, call: &Call, holds: &mut Holds) {
        let name = &call.name;
        if holds.barrier && holds.writes {
            return;
        }
        if let Some(Binding::Static(ty) | Binding::Object { ty, .. } | Binding::Alias { ty, .. }) = self.local(name) {
            let ty = ty.clone();
            return self.join_type(&ty, holds);
        }
        self.join_items(call, holds);
    }

    /// What calling a value of the type may do.
    pub fn join_type(&mut self, ty: &Ty, holds: &mut Holds) {
        match ty.value() {
            Ty::Closure(number) => {
                let lambda = self.closures[*number as usize].lambda.clone();
                let inner = facts::of_function(&lambda.function, self.words);
                self.join_facts(&inner, holds);
            }
            Ty::Functions(set) => {
                for callable in self.function_sets[*set as usize].clone() {
                    holds.join(self.reach_of(&callable));
                }
            }
            Ty::Class(class) => {
                let class = class.clone();
                let call = Segment { name: Name::from("operator()"), args: None };
                if let Some(Found::Functions(set)) = self.find_in_class(&class, &call) {
                    for callable in set {
                        holds.join(self.reach_of(&callable));
                    }
                }
            }
            _ => {}
        }
    }

    /// What a body of its own holds, with all it may call.
    pub fn join_facts(&mut self, facts: &Facts, holds: &mut Holds) {
        holds.join(facts.what);
        for call in &facts.calls {
            self.join_items(call, holds);
        }
        self.join_operators(&facts.operators, holds);
    }

    fn join_operators(&mut self, signs: &[&'static str], holds: &mut Holds) {
        for id in self.program.operators_meant(self.item, signs) {
            holds.join(self.program.reach(id, self.words));
        }
    }

    fn join_items(&mut self, call: &Call, holds: &mut Holds) {
        let program = self.program;
        let home = self.item;
        let named = program.visible(home, &call.name);
        if named.len() > 64 {
            return;
        }
        for id in named.iter() {
            if facts::may_mean(program, home, call, program.item(*id)) {
                let reach = program.reach(*id, self.words);
                holds.join(reach);
            }
        }
        for id in program.destructors_of(home, &call.name).iter() {
            holds.join(program.reach(*id, self.words));
        }
    }
}

pub fn source_of(kind: crate::words::SourceKind, axis: Axis) -> Source {
    use crate::words::SourceKind::*;
    match kind {
        ThreadIdx => Source::ThreadIdx(axis),
        BlockIdx => Source::BlockIdx(axis),
        BlockDim => Source::BlockDim(axis),
        GridDim => Source::GridDim(axis),
        WarpSize => Source::Launch(Name::from("warpSize")),
    }
}

pub fn axis_of(name: &str) -> Option<Axis> {
    match name {
        "x" => Some(Axis::X),
        "y" => Some(Axis::Y),
        "z" => Some(Axis::Z),
        _ => None,
    }
}
