//! The graph under construction: blocks, instructions, objects, the stack of inlined calls and the budgets.
//!
//! Constants are folded as they are emitted; everything else is left to the analysis.

use super::constant_parts::ConstantParts;
use super::memo::Memo;
use super::program::Program;
use super::scope::{Binding, Scope, ScopeId};
use super::types::{Bases, Bound, Callable, ClassTy, Ty, UNSIGNED};
use crate::graph::*;
use crate::program::{BinaryOp, Expr, ExprKind, Function, Lambda, Name, Path, TemplateArg, Type, TypeKind, UnaryOp};
use crate::text::Span;
use crate::words::Words;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::Arc;

/// What one graph may grow to, and how deep calls and expressions may nest.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    pub instructions: usize,
    pub blocks: usize,
    pub calls: usize,
    /// Instructions up to which bodies without a barrier are followed.
    pub detail: usize,
    /// Nested expressions and statements over all calls together.
    pub nesting: usize,
    /// Names looked up, each weighed by how many items share it; an eighth of it for bodies without a barrier.
    pub searched: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { instructions: 60_000, blocks: 8_000, calls: 64, detail: 5_000, nesting: 4_000, searched: 1_600_000 }
    }
}

type InstanceKey = (usize, Option<Arc<ClassTy>>, Box<[Bound]>);

pub struct Builder<'p> {
    pub program: &'p Program<'p>,
    pub words: &'p Words,
    pub graph: Graph,
    pub limits: Limits,
    pub block: BlockId,
    pub frame: FrameId,
    /// Whose text spans count in.
    pub item: ItemId,
    pub scope: ScopeId,
    pub scopes: Vec<Scope>,
    pub class_scopes: FxHashMap<Arc<ClassTy>, ScopeId>,
    pub item_scopes: FxHashMap<ItemId, ScopeId>,
    pub closures: Vec<Closure>,
    pub function_sets: Vec<Vec<Callable>>,
    /// Calls being inlined, outermost first.
    pub active: Vec<Activation>,
    /// Objects to destroy, innermost last.
    pub cleanups: Vec<Cleanup>,
    /// Shared, static and global variables: one object each.
    pub statics: FxHashMap<StaticKey, ObjectId>,
    /// Values of template arguments that nobody gave, by item and name: one each.
    pub unbound: FxHashMap<(ItemId, Name), Value>,
    pub inlined: FxHashSet<ItemId>,
    /// What this frame calls now is told by name alone.
    pub guessing: Option<FrameId>,
    pub nesting: usize,
    pub cut: bool,
    /// Steps left for the evaluation of constants.
    pub steps: u32,
    /// Names looked up so far, and what was looked through for them.
    pub searched: Cell<usize>,
    pub constant_nesting: usize,
    /// Variables of scopes from here on may change while a constant is evaluated.
    pub constant_floor: Option<ScopeId>,
    pub constants: FxHashMap<StaticKey, Option<(i64, Ty)>>,
    pub nesting_of_aliases: usize,
    pub lookups: usize,
    pub memo: Memo,
    /// Open template arguments match any specialisation.
    pub is_lenient: bool,
    /// Expressions of which it is being asked whether they are possible, each for the one before.
    pub questions: usize,
    /// The thread index or the block's extent has been copied as a whole.
    pub copied_index: bool,
    /// Objects that are declared `const`.
    pub const_objects: FxHashSet<ObjectId>,
    /// Classes of the objects that are of one.
    pub object_classes: FxHashMap<ObjectId, Arc<ClassTy>>,
    /// Classes with virtual methods that objects of this graph have.
    pub polymorphic: Vec<Arc<ClassTy>>,
    pub class_bases: FxHashMap<Arc<ClassTy>, Bases>,
    /// Temporaries are destroyed at the end of the statement.
    pub keeps_temporaries: bool,
    /// Addresses of members that share memory, with the names of the others.
    pub overlays: FxHashMap<Value, Vec<Name>>,
    /// Members of classes' values that are template arguments.
    pub constant_parts: FxHashMap<Value, ConstantParts>,
    /// Classes of what pointers of a body point to for as long as it runs.
    pub pointed_classes: FxHashMap<ObjectId, Arc<ClassTy>>,
    /// What pointers at namespace scope may point to; whether that is all.
    pub pointees: FxHashMap<ObjectId, (Vec<(ItemId, Expr)>, bool)>,
    /// Addresses of what parameters are bound to that `forward` hands on as it came.
    pub movable: FxHashSet<Value>,
    /// What `T &&` parameters stand for that are bound to an lvalue, as `T` is a reference itself.
    pub collapsed: FxHashSet<Value>,
    /// Bodies of lambdas, shared by their calls.
    pub lambda_functions: FxHashMap<usize, Arc<Function>>,
    /// What pointers to data members are, by the members' names in an object.
    pub member_numbers: FxHashMap<Name, i64>,
    /// Function templates with arguments, where they are values: by the function, its class and the arguments.
    pub instances: FxHashMap<InstanceKey, Callable>,
}

/// A lambda where it was written: its body and the names it sees.
#[derive(Clone)]
pub struct Closure {
    pub lambda: Arc<Lambda>,
    pub scope: ScopeId,
    pub item: ItemId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StaticKey {
    /// All `extern __shared__` arrays are one piece of memory.
    DynamicShared,
    Item(ItemId, Vec<Bound>),
    /// A declaration inside a function, by its place, and the template arguments of that function.
    Local(At, Vec<Bound>),
    /// A static data member.
    Member(Arc<ClassTy>, Name),
}

/// One inlined call.
pub struct Activation {
    pub key: CallKey,
    pub function: Arc<Function>,
    pub frame: FrameId,
    pub entry: BlockId,
    /// Where `return` goes; the root has none.
    pub exit: Option<BlockId>,
    pub result: Ty,
    /// The function returns a reference: the result is an address.
    pub returns_reference: bool,
    pub result_object: Option<ObjectId>,
    /// Result of a function whose only `return` is its last statement.
    pub direct: Option<super::values::Ev>,
    pub may_be_direct: bool,
    /// Blocks that end in a recursive call, and those behind it.
    pub recursions: Vec<(BlockId, BlockId)>,
    pub cleanup_base: usize,
    pub breaks: Vec<(BlockId, usize)>,
    pub continues: Vec<(BlockId, usize)>,
    pub switches: Vec<SwitchState>,
    pub labels: FxHashMap<Name, BlockId>,
    pub params: Vec<Option<ObjectId>>,
    /// Holds `this` of a method that may call itself.
    pub this_object: Option<ObjectId>,
    /// Template arguments, to tell statics apart.
    pub args: Vec<Bound>,
    /// A result that is all type.
    pub static_result: Option<Ty>,
    /// The variable that is being returned: it lives on as the result.
    pub given_away: Option<ObjectId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallKey {
    pub function: usize,
    pub args: Vec<Bound>,
    pub class: Option<Arc<ClassTy>>,
    pub scope: Option<ScopeId>,
    /// Argument types that say more than the parameter's own: closures, function sets.
    pub statics: Vec<Ty>,
}

pub struct SwitchState {
    pub head: BlockId,
    pub cases: Vec<(Value, BlockId)>,
    pub default: Option<BlockId>,
    pub ty: Ty,
}

#[derive(Clone)]
pub struct Cleanup {
    pub address: Value,
    pub class: Arc<ClassTy>,
    pub destructor: Callable,
    pub span: Span,
}

impl<'p> Builder<'p> {
    pub fn new(program: &'p Program<'p>, words: &'p Words, root: ItemId) -> Builder<'p> {
        let mut builder = Builder {
            program,
            words,
            graph: Graph::default(),
            limits: Limits::default(),
            block: BlockId(0),
            frame: FrameId(0),
            item: root,
            scope: ScopeId(0),
            scopes: Vec::new(),
            class_scopes: FxHashMap::default(),
            item_scopes: FxHashMap::default(),
            closures: Vec::new(),
            function_sets: Vec::new(),
            active: Vec::new(),
            cleanups: Vec::new(),
            statics: FxHashMap::default(),
            unbound: FxHashMap::default(),
            inlined: FxHashSet::default(),
            guessing: None,
            nesting: 0,
            cut: false,
            steps: 0,
            searched: Cell::new(0),
            constant_nesting: 0,
            constant_floor: None,
            constants: FxHashMap::default(),
            nesting_of_aliases: 0,
            lookups: 0,
            memo: Memo::default(),
            is_lenient: false,
            questions: 0,
            copied_index: false,
            const_objects: FxHashSet::default(),
            object_classes: FxHashMap::default(),
            polymorphic: Vec::new(),
            class_bases: FxHashMap::default(),
            keeps_temporaries: false,
            overlays: FxHashMap::default(),
            constant_parts: FxHashMap::default(),
            pointed_classes: FxHashMap::default(),
            pointees: FxHashMap::default(),
            movable: FxHashSet::default(),
            collapsed: FxHashSet::default(),
            lambda_functions: FxHashMap::default(),
            instances: FxHashMap::default(),
            member_numbers: FxHashMap::default(),
        };
        builder.scope = builder.item_scope(root);
        builder
    }

    pub fn at(&self, span: Span) -> At {
        At { item: self.item, span }
    }

    // Blocks

    pub fn new_block(&mut self) -> BlockId {
        let id = BlockId(self.graph.blocks.len() as u32);
        self.graph.blocks.push(Block { insts: Vec::new(), end: End::Dead, frame: self.frame });
        id
    }

    pub fn finish(&mut self, end: End) {
        self.graph.blocks[self.block.index()].end = end;
    }

    /// Ends the current block and goes on in one that nothing leads to.
    pub fn stop(&mut self, end: End) {
        self.finish(end);
        self.block = self.new_block();
    }

    pub fn jump(&mut self, to: BlockId, leaving: Leaving, span: Span) {
        let at = self.at(span);
        self.finish(End::Jump { to, leaving, at });
    }

    /// Falls into `to` and goes on there.
    pub fn fall_into(&mut self, to: BlockId, span: Span) {
        self.jump(to, Leaving::Fall, span);
        self.go_on(to);
    }

    pub fn go_on(&mut self, block: BlockId) {
        self.block = block;
        self.graph.blocks[block.index()].frame = self.frame;
    }

    // Instructions

    pub fn emit(&mut self, op: Op, span: Span) -> Value {
        let at = self.at(span);
        self.emit_at(op, at)
    }

    pub fn emit_at(&mut self, op: Op, at: At) -> Value {
        if self.graph.insts.len() >= 2 * self.limits.instructions {
            self.cut_off(at, "the graph grew beyond its limit");
            return self.sink();
        }
        let id = InstId(self.graph.insts.len() as u32);
        self.graph.insts.push(Inst { op, at, frame: self.frame });
        self.graph.blocks[self.block.index()].insts.push(id);
        id
    }

    /// Emits where every block can use it.
    pub fn emit_at_entry(&mut self, op: Op) -> Value {
        let at = At { item: self.item, span: Span::default() };
        let id = InstId(self.graph.insts.len() as u32);
        self.graph.insts.push(Inst { op, at, frame: FrameId(0) });
        self.graph.blocks[0].insts.insert(0, id);
        id
    }

    /// A value for what is not emitted any more.
    fn sink(&mut self) -> Value {
        InstId(0)
    }

    /// Notes what could not be followed, once.
    pub fn incomplete(&mut self, at: At, why: String) {
        const NOTES: usize = 64;
        let notes = &mut self.graph.incomplete;
        if notes.len() < NOTES && !notes.iter().any(|(known, _)| *known == at) {
            notes.push((at, why));
        }
    }

    pub fn cut_off(&mut self, at: At, why: &str) {
        if !self.cut {
            self.cut = true;
            self.graph.incomplete.push((at, why.to_string()));
        }
    }

    /// No more calls are followed.
    pub fn is_full(&self) -> bool {
        self.graph.insts.len() >= self.limits.instructions
            || self.graph.blocks.len() >= self.limits.blocks
            || self.searched.get() >= self.limits.searched
    }

    pub fn op(&self, value: Value) -> &Op {
        &self.graph.insts[value.index()].op
    }

    pub fn constant_of(&self, value: Value) -> Option<i64> {
        match self.op(value) {
            Op::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub fn int(&mut self, value: i64, span: Span) -> Value {
        self.emit(Op::Int(value), span)
    }

    pub fn unknown(&mut self, from: Vec<Value>, span: Span) -> Value {
        self.emit(Op::Unknown { from, unseen: None }, span)
    }

    pub fn source(&mut self, source: Source, span: Span) -> Value {
        if matches!(&source, Source::ThreadIdx(Axis::Y | Axis::Z) | Source::BlockDim(Axis::Y | Axis::Z)) {
            self.graph.multidimensional = true;
        }
        self.emit(Op::Source(source), span)
    }

    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: &Ty, span: Span) -> Value {
        let (x, y) = (self.constant_of(a), self.constant_of(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(value) = super::constant::fold(op, x, y)
        {
            return self.int(super::constant::wrap(value, ty), span);
        }
        match (op, x, y) {
            (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => return self.int(0, span),
            (BinaryOp::Or, Some(x), _) if x != 0 => return self.int(1, span),
            (BinaryOp::Or, _, Some(y)) if y != 0 => return self.int(1, span),
            (BinaryOp::And, Some(_), _) | (BinaryOp::Or, Some(_), _) => return self.truth(b, span),
            (BinaryOp::And, _, Some(_)) | (BinaryOp::Or, _, Some(_)) => return self.truth(a, span),
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr, _, Some(0)) => return a,
            (BinaryOp::Add, Some(0), _) => return b,
            (BinaryOp::Mul | BinaryOp::Div, _, Some(1)) => return a,
            (BinaryOp::Mul, Some(1), _) => return b,
            _ => {}
        }
        self.emit(Op::Binary(op, a, b), span)
    }

    /// The value as 0 or 1.
    pub fn truth(&mut self, value: Value, span: Span) -> Value {
        match self.op(value) {
            Op::Int(known) => {
                let known = i64::from(*known != 0);
                self.int(known, span)
            }
            Op::Binary(op, ..) if super::constant::is_truth(*op) => value,
            Op::Unary(UnaryOp::Not, _) | Op::Convert { to: To::Bool, .. } => value,
            _ => self.emit(Op::Convert { to: To::Bool, value }, span),
        }
    }

    pub fn not(&mut self, value: Value, span: Span) -> Value {
        match self.constant_of(value) {
            Some(known) => self.int(i64::from(known == 0), span),
            None => self.emit(Op::Unary(UnaryOp::Not, value), span),
        }
    }

    pub fn select(&mut self, on: Value, yes: Value, no: Value, span: Span) -> Value {
        match self.constant_of(on) {
            Some(0) => no,
            Some(_) => yes,
            None => self.emit(Op::Select { on, yes, no }, span),
        }
    }

    pub fn convert(&mut self, value: Value, from: &Ty, to: &Ty, span: Span) -> Value {
        let (from, to) = (from.value(), to.value());
        if from == to {
            return value;
        }
        if let Some(known) = self.constant_of(value)
            && to.is_integer()
        {
            let wrapped = super::constant::wrap(known, to);
            return if wrapped == known { value } else { self.int(wrapped, span) };
        }
        let narrows = match (from, to) {
            (_, Ty::Bool) => return self.truth(value, span),
            (from, Ty::Float { .. }) if from.is_integer() => {
                return self.emit(Op::Convert { to: To::Float, value }, span);
            }
            (&UNSIGNED, Ty::Int { bits: 64, .. }) => return self.wrapped(value, span),
            (Ty::Float { .. }, &Ty::Int { bits, signed }) => {
                // A sum or product of numbers that are not whole tells nothing of what is cut down to an integer.
                let whole = self.emit(Op::Pure { name: Name::from("whole part"), operands: vec![value] }, span);
                return self.emit(Op::Convert { to: To::Int { bits, signed }, value: whole }, span);
            }
            (Ty::Int { bits: wide, .. }, Ty::Int { bits, .. }) => bits < wide || bits == wide && *bits < 32,
            (Ty::Unknown | Ty::Param(_), Ty::Int { bits, .. }) => *bits < 32,
            _ => false,
        };
        match *to {
            Ty::Int { bits, signed } if narrows => self.emit(Op::Convert { to: To::Int { bits, signed }, value }, span),
            _ => value,
        }
    }

    /// The value as an unsigned operand.
    pub fn wrapped(&mut self, value: Value, span: Span) -> Value {
        match self.op(value) {
            Op::Int(known) if *known < 0 => {
                let known = super::constant::wrap(*known, &UNSIGNED);
                self.int(known, span)
            }
            Op::Int(_) | Op::Source(_) | Op::Wrapped(_) => value,
            _ => self.emit(Op::Wrapped(value), span),
        }
    }

    // Memory

    pub fn new_object(&mut self, name: &Name, kind: ObjectKind, ty: &Ty, span: Span) -> ObjectId {
        let at = self.at(span);
        let id = ObjectId(self.graph.objects.len() as u32);
        let (dims, innermost) = super::library::dimensions(ty);
        let is_open = matches!(innermost, Ty::Named(_));
        if let Ty::Class(class) = ty {
            self.object_classes.insert(id, class.clone());
        }
        self.graph.objects.push(Object {
            name: name.clone(),
            kind,
            dims,
            is_open,
            is_volatile: false,
            at,
            frame: self.frame,
        });
        if let (Ty::Class(class), ObjectKind::Local) = (ty, kind) {
            self.note_class(id, class, span);
        }
        id
    }

    /// What the source has no name for: `what` is a phrase, so that messages can tell it from a name.
    pub fn temporary(&mut self, what: &str, ty: &Ty, span: Span) -> ObjectId {
        self.new_object(&Name::from(what), ObjectKind::Local, ty, span)
    }

    pub fn address(&mut self, object: ObjectId, span: Span) -> Value {
        self.emit(Op::Address(object), span)
    }

    pub fn store(&mut self, address: Value, value: Value, span: Span) {
        self.write_overlaid(address, value, span);
        self.emit(Op::Store { address, value }, span);
    }

    pub fn load(&mut self, address: Value, is_volatile: bool, span: Span) -> Value {
        self.emit(Op::Load { address, is_volatile, read_only: false }, span)
    }

    pub fn member_address(&mut self, base: Value, name: &Name, span: Span) -> Value {
        self.emit(Op::Member { base, name: name.clone() }, span)
    }

    pub fn element_address(&mut self, base: Value, index: Value, span: Span) -> Value {
        self.emit(Op::Element { base, index }, span)
    }

    // Nesting

    /// Counts one level of recursion in; `false` if it may go no deeper.
    pub fn descend(&mut self, span: Span) -> bool {
        if self.nesting >= self.limits.nesting {
            let at = self.at(span);
            self.cut_off(at, "nested too deeply");
            return false;
        }
        self.nesting += 1;
        true
    }

    pub fn ascend(&mut self) {
        self.nesting -= 1;
    }

    pub fn activation(&mut self) -> &mut Activation {
        self.active.last_mut().expect("the root's activation is pushed first")
    }

    /// Evaluates in the text of another item: default arguments, initialisers of members.
    pub fn in_item<R>(&mut self, item: ItemId, scope: ScopeId, work: impl FnOnce(&mut Self) -> R) -> R {
        let outer = (self.item, self.scope);
        (self.item, self.scope) = (item, scope);
        let result = work(self);
        (self.item, self.scope) = outer;
        result
    }

    pub fn function_set(&mut self, set: Vec<Callable>) -> u32 {
        if let Some(known) = self.function_sets.iter().position(|known| *known == set) {
            return known as u32;
        }
        self.function_sets.push(set);
        self.function_sets.len() as u32 - 1
    }

    /// The packs that an expression names, and how many elements each has.
    pub fn names_of_packs(&self, expr: &Expr) -> Vec<(Name, usize)> {
        use super::visit::{Node, visit};
        let mut paths: Vec<&Path> = Vec::new();
        visit(vec![Node::Expr(expr)], |node| {
            match node {
                Node::Expr(Expr { kind: ExprKind::Name(path), .. }) => paths.push(path),
                Node::Type(Type { kind: TypeKind::Named(path), .. }) => paths.push(path),
                _ => {}
            }
            true
        });
        self.packs_in(paths)
    }

    pub fn packs_in(&self, mut paths: Vec<&Path>) -> Vec<(Name, usize)> {
        let mut packs = Vec::new();
        let mut at = 0;
        while let Some(path) = paths.get(at).copied() {
            at += 1;
            for segment in &path.segments {
                if let Some(Binding::Pack(list)) = self.local(&segment.name) {
                    packs.push((segment.name.clone(), list.len()));
                }
                for arg in segment.args.iter().flatten() {
                    match arg {
                        TemplateArg::Type(Type { kind: TypeKind::Named(path), .. })
                        | TemplateArg::Either(Type { kind: TypeKind::Named(path), .. }, _)
                        | TemplateArg::Expr(Expr { kind: ExprKind::Name(path), .. }) => paths.push(path),
                        _ => {}
                    }
                }
            }
        }
        packs
    }
}
