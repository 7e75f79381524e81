//! Calls without a body in view: what the table of words knows of them, else a result made from the arguments.

use super::builder::Builder;
use super::calls::Arg;
use super::types::{Bound, GroupTy, INT, Ty, UNSIGNED, scalar, vector};
use super::values::{Category, Ev, What};
use crate::graph::*;
use crate::program::*;
use crate::text::Span;
use crate::words::{Agrees, BarrierRow, FunctionKind, GroupKind, ResultKind, Stop};
use std::sync::Arc;

impl Builder<'_> {
    /// Whether the table of words says anything about a function of this name.
    pub fn is_word(&self, name: &str) -> bool {
        !self.words.barrier(name).is_empty()
            || self.words.group_maker(name).is_some()
            || self.words.varies(name).is_some()
            || self.words.load(name).is_some()
            || self.words.stop(name).is_some()
            || self.words.function(name).is_some()
            || self.words.is_atomic(name)
            || self.words.library(name).is_some()
    }

    pub fn call_word(&mut self, path: &Path, args: &[Expr], span: Span) -> Ev {
        let Some(last) = path.segments.last() else { return Ev::nothing() };
        let name = last.name.clone();
        if let Some(maker) = self.words.group_maker(&name) {
            return self.make_group(maker, last, args, span);
        }
        // `thread_block::sync()`
        if let Some((_, class)) = path.segments.split_last().filter(|(_, class)| !class.is_empty())
            && let Ty::Group(group) = self.resolve_path(&Path { segments: class.to_vec(), global: path.global })
        {
            let written = Name::from(format!("{}::{name}", class[class.len() - 1].name));
            return self.call_group_method(&group, written, &name, args, span);
        }
        if args.is_empty()
            && let Some(size) = self.size_of_open_type(path, span)
        {
            return size;
        }
        // `NamedBarrier::sync(threads, id)`, or by another name for the class
        if let Some((_, class)) = path.segments.split_last()
            && let Some(spelled) = class.last().map(|class| class.name.clone())
            && !self.words.barrier_method(&name).is_empty()
        {
            let meant = match self.resolve_path(&Path { segments: class.to_vec(), global: path.global }) {
                Ty::Named(named) => named.name.clone(),
                _ => spelled.clone(),
            };
            let known = |row: &&Arc<BarrierRow>| row.on.iter().any(|on| **on == *meant || **on == *spelled);
            if let Some(row) = self.words.barrier_method(&name).iter().find(known).cloned() {
                let list = self.eval_args(args);
                return self.barrier_by_row(&row, Name::from(format!("{spelled}::{name}")), None, &list, span);
            }
        }
        if let (Some(FunctionKind::Assert), [condition, more @ ..]) = (self.words.function(&name), args) {
            self.assume(condition, span);
            more.iter().for_each(|arg| drop(self.eval(arg)));
            return Ev::nothing();
        }
        if let (Some(FunctionKind::Assume), [condition, ..]) = (self.words.function(&name), args) {
            let happens = self.effects_of(condition);
            if !happens.barrier && !happens.writes {
                self.assume(condition, span);
            }
            return Ev::nothing();
        }
        if let ("delete", [object]) = (&*name, args) {
            let ev = self.eval(object);
            if let Ty::Pointer(_) = ev.ty.value() {
                let object = self.dereference(&ev, span);
                self.destroy_now(&object, span);
            }
            return Ev::nothing();
        }
        if let (Some(FunctionKind::ConstructAt), [place, args @ ..]) = (self.words.function(&name), args) {
            return self.construct_at(last, place, args, span);
        }
        if self.words.library(&name).is_some()
            || self.words.is_barrier_class(&name)
            || *name == *super::resolve::STANDS_FOR_ANOTHER
            || args.is_empty() && last.args.is_some() && !self.is_word(&name)
        {
            // `cub::BlockReduce<int, 128>(temp)`, `cg::plus<int>()`: an object of a class not in view.
            let ty = self.named(last);
            return self.construct_value(&ty, args, span);
        }
        let list = self.eval_args(args);
        self.call_word_with(path, list, span)
    }

    /// `new (place) T(args)`, `std::construct_at(place, args)`
    fn construct_at(&mut self, segment: &Segment, place: &Expr, args: &[Expr], span: Span) -> Ev {
        let place = self.eval(place);
        let ty = match self.written_arguments(segment).as_deref() {
            Some([Bound::Type(ty), ..]) => ty.clone(),
            _ => place.ty.value().element(),
        };
        let address = self.rvalue(&place, span);
        self.initialise_arguments(address, &ty, args, true, span);
        Ev::value(address, Ty::pointer_to(ty))
    }

    pub fn call_word_with(&mut self, path: &Path, list: Vec<Arg>, span: Span) -> Ev {
        let Some(name) = path.segments.last().map(|segment| segment.name.clone()) else { return Ev::nothing() };
        let rows = self.words.barrier(&name).to_vec();
        for row in rows {
            if row.on.is_empty() || row.on.iter().any(|on| on == "any") {
                let (row, list) = self.with_written_width(row, path, list, span);
                return self.barrier_by_row(&row, name, None, &list, span);
            }
            if let Some(group) = list.first().and_then(|arg| self.group_of(&arg.ty(), &row.on)) {
                let written = match path.segments.len() {
                    0 | 1 => name.clone(),
                    _ => Name::from(path.segments.iter().map(|segment| &*segment.name).collect::<Vec<_>>().join("::")),
                };
                let mut list = list.clone();
                if let Some(position) = row.runs
                    && let Some(value) = self.run_by_one(&name, &list, position, span)
                {
                    list.push(Arg::made(value, span));
                }
                return self.barrier_by_row(&row, written, Some(group), &list, span);
            }
        }
        if &*name == "init"
            && list.len() == 2
            && let Ty::Pointer(pointee) = list[0].ty()
            && matches!(&pointee.ty, Ty::Named(named) if named.name.contains("barrier"))
        {
            let values = self.arg_values(&list);
            self.emit(Op::BarrierInit { address: values[0], count: values[1] }, span);
            return Ev::nothing();
        }
        // `cg::thread_rank(group)`: what the method says.
        if let [only] = &list[..]
            && matches!(&*name, "thread_rank" | "group_size")
            && let Ty::Group(group) = only.ty().value()
        {
            let name = if &*name == "group_size" { Name::from("size") } else { name };
            return self.group_value(group, &name, span);
        }
        if let Some(stop) = self.words.stop(&name) {
            let at = self.at(span);
            match stop {
                Stop::Trap => self.stop(End::Dead),
                Stop::Exit => self.stop(End::Exit { how: Exit::Instruction, at }),
            }
            return Ev::nothing();
        }
        if list.is_empty()
            && let Some((value, ty)) = self.constant_word(path)
        {
            return Ev::value(self.int(value, span), ty);
        }
        if let Some(agrees) = self.words.varies(&name) {
            self.clobber_out(&list, span);
            return self.varying(agrees, &name, span);
        }
        if self.words.is_atomic(&name) && !list.is_empty() {
            return self.atomic(&name, &list, span);
        }
        if let Some(read_only) = self.words.load(&name)
            && let Some(first) = list.first()
        {
            let values = self.arg_values(&list);
            let ty = first.ty().value().element();
            return Ev::value(self.emit(Op::Load { address: values[0], is_volatile: false, read_only }, span), ty);
        }
        if let Some(kind) = self.words.function(&name) {
            if let Some(result) = self.call_library(kind, path, &list, span) {
                return result;
            }
            return self.known_function(kind, &name, &list, span);
        }
        if let Some(rest) = name.strip_prefix("make_")
            && let Some(ty @ Ty::Vector { .. }) = vector(rest)
        {
            return self.vector_of(&ty, &list, span);
        }
        if let Some(ty) = scalar(&name).or_else(|| vector(&name)) {
            return self.construct_evaluated(&ty, &list, span);
        }
        if &*name == "__activemask" {
            return Ev::value(self.source(Source::ActiveMask, span), UNSIGNED);
        }
        self.call_unseen(&name, &list, span)
    }

    /// A word for values that differ between threads.
    pub fn varying(&mut self, agrees: Agrees, name: &Name, span: Span) -> Ev {
        let source = match agrees {
            Agrees::Thread => Source::Varying(name.clone()),
            Agrees::Rank => Source::ThreadRank,
            Agrees::Lane => Source::Lane,
            Agrees::Warp => Source::Warp,
            Agrees::Warpgroup => {
                let rank = self.source(Source::ThreadRank, span);
                let size = self.int(128, span);
                return Ev::value(self.emit(Op::Binary(BinaryOp::Div, rank, size), span), INT);
            }
            Agrees::Block => Source::BlockRank,
            Agrees::Cluster => Source::ClusterIndex,
            Agrees::Grid => Source::Launch(name.clone()),
        };
        Ev::value(self.source(source, span), INT)
    }

    /// A random state or the like behind a pointer changes.
    fn clobber_out(&mut self, list: &[Arg], span: Span) {
        let values = self.arg_values(list);
        self.clobber_args(list, &values, span);
    }

    fn atomic(&mut self, name: &Name, list: &[Arg], span: Span) -> Ev {
        let values = self.arg_values(list);
        let ty = list[0].ty().value().element();
        let operands = values[1..].to_vec();
        Ev::value(self.emit(Op::Atomic { name: name.clone(), address: values[0], operands }, span), ty)
    }

    fn known_function(&mut self, kind: FunctionKind, name: &Name, list: &[Arg], span: Span) -> Ev {
        match kind {
            FunctionKind::First | FunctionKind::Move | FunctionKind::Forward => {
                match list.first().and_then(|arg| arg.ev.clone()) {
                    Some(ev) => {
                        let moves = match (kind, &ev.what) {
                            (FunctionKind::Forward, What::Place(address)) => self.movable.contains(address),
                            _ => kind == FunctionKind::Move,
                        };
                        Ev { category: if moves { Category::Moved } else { Category::Lvalue }, ..ev }
                    }
                    None => self.call_unseen(name, list, span),
                }
            }
            FunctionKind::Pure
                if list.iter().all(|arg| !matches!(arg.ty().value(), Ty::Pointer(_) | Ty::Array(..))) =>
            {
                let operands = self.arg_values(list);
                let ty = match name.as_bytes() {
                    [b'_', b'_', ..] => INT,
                    _ => list.first().map_or(Ty::Unknown, |arg| arg.ty().value().clone()),
                };
                Ev::value(self.emit(Op::Pure { name: name.clone(), operands }, span), ty)
            }
            FunctionKind::Min | FunctionKind::Max | FunctionKind::Multiply if list.len() == 2 => {
                let values = self.arg_values(list);
                let ty = super::constant::arithmetic(&list[0].ty(), &list[1].ty());
                let (a, b) = (values[0], values[1]);
                if let (Some(x), Some(y)) = (self.constant_of(a), self.constant_of(b)) {
                    let folded = match kind {
                        FunctionKind::Min => x.min(y),
                        FunctionKind::Max => x.max(y),
                        _ => x.wrapping_mul(y),
                    };
                    return Ev::value(self.int(folded, span), ty);
                }
                let op = match kind {
                    FunctionKind::Min => Op::Min(a, b),
                    FunctionKind::Max => Op::Max(a, b),
                    _ => Op::Binary(BinaryOp::Mul, a, b),
                };
                Ev::value(self.emit(op, span), ty)
            }
            _ => self.call_unseen(name, list, span),
        }
    }

    /// A function nobody shows: as uniform as its arguments, and it may write what they point to.
    pub fn call_unseen(&mut self, name: &Name, list: &[Arg], span: Span) -> Ev {
        if let Some(row) = self.words.vote_spelled(name) {
            return self.barrier_by_row(&row, name.clone(), None, list, span);
        }
        let mut from = self.arg_values(list);
        let plain =
            |arg: &Arg| !matches!(arg.ty().value(), Ty::Pointer(_) | Ty::Array(..) | Ty::Class(_) | Ty::Named(_));
        if name.starts_with("__") && list.iter().all(plain) {
            return Ev::value(self.emit(Op::Pure { name: name.clone(), operands: from }, span), Ty::Unknown);
        }
        if self.answers_from_type(name, list) {
            return Ev::value(self.emit(Op::Unknown { from: Vec::new(), unseen: None }, span), Ty::Unknown);
        }
        from.extend(self.contents_of(&from.clone(), span));
        self.clobber_args(list, &from, span);
        Ev::value(self.emit(Op::Unknown { from, unseen: Some(name.clone()) }, span), Ty::Unknown)
    }

    /// What stands in the thread's own variables that pointers among these lead to: whoever gets the pointer can read it.
    pub fn contents_of(&mut self, values: &[Value], span: Span) -> Vec<Value> {
        let mut contents = Vec::new();
        for value in values {
            let mut at = *value;
            let object = loop {
                match self.op(at) {
                    Op::Address(object) => break Some(*object),
                    Op::Element { base, .. } | Op::Member { base, .. } => at = *base,
                    _ => break None,
                }
            };
            if let Some(object) = object
                && self.graph.objects[object.index()].kind == ObjectKind::Local
            {
                contents.push(self.load(*value, false, span));
            }
        }
        contents
    }

    // Methods

    /// A method that the table knows, on an object whose class is not in view.
    pub fn call_word_method(&mut self, base: &Ev, object: &Expr, name: &Name, list: &[Arg], span: Span) -> Option<Ev> {
        let ty = base.ty.value().clone();
        let rows = self.words.barrier_method(name).to_vec();
        let class = match &ty {
            Ty::Named(named) => Some(named.name.clone()),
            Ty::Class(class) if self.words.is_users_barrier(name) => class.class.name.clone(),
            _ => None,
        };
        for row in rows {
            let matches = row.on.iter().any(|on| on == "any" || class.as_ref().is_some_and(|class| **class == **on));
            let written = self.written_name(object, name, span);
            if matches {
                let group = match row.group {
                    GroupKind::Object => {
                        let address = self.address_of(base, object.span);
                        Some(Group::Object { address })
                    }
                    _ => None,
                };
                let list = self.numbered_arguments(&row, base, list, span);
                return Some(self.barrier_by_row(&row, written, group, &list, span));
            }
            if let Some(group) = self.group_of(&ty, &row.on) {
                return Some(self.barrier_by_row(&row, written, Some(group), list, span));
            }
        }
        if let Ty::Param(param) = &ty
            && looks_like_group(param)
            && matches!(&**name, "thread_rank" | "size" | "num_threads")
        {
            return Some(self.group_value(&GroupTy::Unknown, name, span));
        }
        if let Some(agrees) = self.words.varies_method(name) {
            return Some(self.varying(agrees, name, span));
        }
        if self.words.is_atomic_method(name) && !matches!(ty, Ty::Class(_)) {
            let operands = self.arg_values(list);
            let address = self.address_of(base, object.span);
            return Some(Ev::value(self.emit(Op::Atomic { name: name.clone(), address, operands }, span), Ty::Unknown));
        }
        None
    }

    /// `tile.sync`, as written; of something longer only the method.
    pub fn written_name(&self, object: &Expr, name: &Name, _: Span) -> Name {
        match &object.kind {
            ExprKind::Name(path) => match path.segments.last() {
                Some(last) => Name::from(format!("{}.{name}", last.name)),
                None => name.clone(),
            },
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Name(path) => match path.segments.last() {
                    Some(last) => Name::from(format!("{}().{name}", last.name)),
                    None => name.clone(),
                },
                _ => name.clone(),
            },
            ExprKind::Member { member, .. } => match member.segments.last() {
                Some(last) => Name::from(format!("{}.{name}", last.name)),
                None => name.clone(),
            },
            _ => name.clone(),
        }
    }

    // Barriers

    /// `ShuffleIndex<16>(x, lane, mask)`: the width as one argument more.
    fn with_written_width<'e>(
        &mut self,
        row: Arc<BarrierRow>,
        path: &Path,
        mut list: Vec<Arg<'e>>,
        span: Span,
    ) -> (Arc<BarrierRow>, Vec<Arg<'e>>) {
        let Some(position) = row.width_argument else { return (row, list) };
        let written = path.segments.last().and_then(|last| self.written_arguments(last)).unwrap_or_default();
        let width = match written.get(position) {
            Some(Bound::Value(width)) => self.int(*width, span),
            Some(Bound::Runtime(width)) => *width,
            _ => self.unknown(Vec::new(), span),
        };
        let row = BarrierRow { width: Some(list.len()), ..(*row).clone() };
        list.push(Arg::made(Ev::value(width, INT), span));
        (Arc::new(row), list)
    }

    pub fn barrier_by_row(
        &mut self,
        row: &Arc<BarrierRow>,
        name: Name,
        group: Option<Group>,
        list: &[Arg],
        span: Span,
    ) -> Ev {
        let mut values = self.arg_values(list);
        // A mask or a number in a class of its own.
        for position in [row.mask, row.id, row.count, row.lane, row.width].into_iter().flatten() {
            if let Some(Arg { ev: Some(ev), span, .. }) = list.get(position)
                && matches!(ev.ty.value(), Ty::Class(_))
            {
                values[position] = self.rvalue_as(ev, &UNSIGNED, *span);
            }
        }
        let at = |position: Option<usize>| position.and_then(|position| values.get(position)).copied();
        let id = at(row.id);
        let count = at(row.count);
        let group = match (row.group, group) {
            (_, Some(group)) => group,
            (GroupKind::Block, _) => Group::Block,
            (GroupKind::Lanes, _) => Group::Lanes { mask: at(row.mask) },
            (GroupKind::Warp, _) => Group::Lanes { mask: None },
            (GroupKind::Cluster, _) => Group::Cluster,
            (GroupKind::Grid, _) => Group::Grid,
            (GroupKind::Named, _) => Group::Named { id, aligned: row.aligned },
            (GroupKind::Counted, _) => match count {
                Some(count) => Group::Counted { id, count, aligned: row.aligned },
                // The object knows it.
                None => Group::Counted { id, count: self.unknown(Vec::new(), span), aligned: row.aligned },
            },
            (GroupKind::Object, None) if let Some(Arg { ev: Some(object), span, .. }) = list.first() => {
                Group::Object { address: self.address_of(object, *span) }
            }
            (GroupKind::Object | GroupKind::Receiver | GroupKind::Argument, None) => {
                return self.call_unseen(&name, list, span);
            }
        };
        let result = match row.result {
            ResultKind::Nothing => Outcome::Nothing,
            ResultKind::Uniform => Outcome::Uniform,
            ResultKind::Ballot => match at(row.predicate) {
                Some(predicate) => Outcome::Ballot(predicate),
                None => Outcome::Uniform,
            },
            ResultKind::Peers => Outcome::Peers,
            ResultKind::Shuffle => Outcome::Shuffle,
            ResultKind::Thread => Outcome::PerThread,
        };
        let special = [row.mask, row.id, row.count, row.lane, row.width];
        let plain = values
            .iter()
            .enumerate()
            .filter(|(index, _)| !special.contains(&Some(*index)) && !list[*index].ty().is_static())
            .map(|(_, value)| *value);
        let operands = match group {
            // For how many it arrives.
            Group::Object { .. } => count.into_iter().collect(),
            _ => plain.collect(),
        };
        let barrier = Barrier {
            name,
            group,
            waits: row.waits,
            orders_memory: row.orders_memory,
            result,
            source_lane: at(row.lane),
            width: at(row.width),
            operands,
        };
        let result = barrier.result.clone();
        let value = self.emit(Op::Barrier(Box::new(barrier)), span);
        // What a collective hands out: a predicate, a copy.
        for (position, arg) in list.iter().enumerate() {
            let Some(ev) = &arg.ev else { continue };
            if let What::Place(address) = ev.what
                && row.gives == Some(position)
            {
                self.store(address, value, span);
                continue;
            }
            let address = match (&ev.what, ev.ty.value()) {
                (What::Place(address), Ty::Array(..)) => *address,
                (What::Value(address), Ty::Pointer(pointee))
                    if !pointee.is_const && matches!(self.op(*address), Op::Address(_) | Op::Element { .. }) =>
                {
                    *address
                }
                _ => continue,
            };
            self.emit(Op::Clobber { address, from: vec![value], sure: false }, span);
        }
        match result {
            Outcome::Nothing => Ev::value(value, Ty::Unknown),
            Outcome::Ballot(_) | Outcome::Peers => Ev::value(value, UNSIGNED),
            Outcome::Uniform => Ev::value(value, INT),
            _ => {
                let operand = if row.mask.is_some() { list.get(1) } else { list.first() };
                let ty = operand.map_or(Ty::Unknown, |arg| arg.ty().value().clone());
                Ev::value(value, if ty.is_static() { Ty::Unknown } else { ty })
            }
        }
    }

    // Making values of types

    /// `T(a, b)`, `T{a}`
    pub fn construct_value(&mut self, ty: &Ty, args: &[Expr], span: Span) -> Ev {
        if let (Ty::Reference(_), [only]) = (ty, args) {
            let ev = self.eval_place(only);
            return Ev { ty: ty.value().clone(), ..ev };
        }
        let ty = &self.deduce_class(ty.clone(), args);
        match ty.value() {
            Ty::Class(_) => {
                let object = self.temporary("the temporary", ty, span);
                let address = self.address(object, span);
                self.initialise_arguments(address, ty, args, true, span);
                if self.keeps_temporaries {
                    self.destroy_later(address, ty, span);
                }
                Ev::made(address, ty.clone())
            }
            Ty::Array(..) => {
                let object = self.temporary("the temporary", ty, span);
                let address = self.address(object, span);
                self.initialise_arguments(address, ty, args, true, span);
                Ev::made(address, ty.clone())
            }
            _ => {
                let list = self.eval_args(args);
                self.construct_evaluated(ty, &list, span)
            }
        }
    }

    pub fn construct_evaluated(&mut self, ty: &Ty, list: &[Arg], span: Span) -> Ev {
        match ty.value() {
            Ty::Void => Ev::nothing(),
            Ty::Library(_) | Ty::Group(_) | Ty::Closure(_) => {
                let of_argument = list.first().map(Arg::ty).filter(|ty| matches!(ty, Ty::Group(_)));
                Ev::typed(match (ty.value(), of_argument) {
                    (Ty::Group(GroupTy::Tile(None) | GroupTy::Formed(None) | GroupTy::Unknown), Some(known)) => known,
                    _ => ty.value().clone(),
                })
            }
            Ty::Vector { .. } => self.vector_of(ty.value(), list, span),
            ty if self.is_numbered_barrier(ty) => self.construct_numbered_barrier(ty, list),
            ty if super::library::has_parts(ty) && list.len() > 1 => match self.make_parts("tuple", list, span) {
                Some(Ev { what: What::Parts(parts), .. }) => {
                    let named = parts.into_iter().enumerate();
                    let named = named.map(|(index, (_, value))| (super::library::part_name(ty, index), value));
                    Ev::parts(named.collect(), ty.clone())
                }
                _ => {
                    let from = self.arg_values(list);
                    Ev::value(self.unknown(from, span), ty.clone())
                }
            },
            _ => match list {
                [] => {
                    let value = match ty.value() {
                        Ty::Named(named) => self.trait_value(&named.name, &named.args),
                        _ => None,
                    };
                    let value = match value {
                        Some((value, _)) => self.int(value, span),
                        None if ty.value().is_scalar() => self.int(0, span),
                        // Whatever a type out of view begins as, it is the same for all.
                        None => self.unknown(Vec::new(), span),
                    };
                    Ev::value(value, ty.clone())
                }
                [one] => {
                    let ev = one.ev.clone();
                    let Some(ev) = ev else {
                        let values = self.arg_values(list);
                        return Ev::value(values[0], ty.clone());
                    };
                    if let Ty::Class(_) = ev.ty.value()
                        && ty.is_scalar()
                        && let Some(result) = self.call_conversion(&ev, ty, span)
                    {
                        return result;
                    }
                    if ev.ty.is_static() || matches!(ev.ty, Ty::Functions(_)) || !ty.is_known() {
                        return ev;
                    }
                    let value = self.rvalue(&ev, one.span);
                    Ev::value(self.convert(value, &ev.ty, ty, span), ty.clone())
                }
                many => {
                    let from = self.arg_values(many);
                    Ev::value(self.unknown(from, span), ty.clone())
                }
            },
        }
    }

    fn vector_of(&mut self, ty: &Ty, list: &[Arg], span: Span) -> Ev {
        if let [one] = list
            && let Some(ev) = &one.ev
            && matches!(ev.ty.value(), Ty::Vector { .. } | Ty::Class(_))
        {
            return Ev { ty: ty.clone(), ..ev.clone() };
        }
        let values = self.arg_values(list);
        let rest = i64::from(matches!(ty, Ty::Vector { name, .. } if &**name == "dim3"));
        let mut parts = Vec::new();
        for (index, (name, of)) in Self::components(ty).into_iter().enumerate() {
            let value = match values.get(index) {
                Some(value) => {
                    let from = list[index].ty();
                    self.convert(*value, &from, &of, span)
                }
                None => self.int(rest, span),
            };
            parts.push((name, value));
        }
        Ev::parts(parts, ty.clone())
    }
}

/// A template parameter called like a group stands for one.
pub fn looks_like_group(param: &str) -> bool {
    let lower = param.to_ascii_lowercase();
    lower.contains("group") || lower.contains("tile") || lower == "cg" || lower.ends_with("_cg")
}
