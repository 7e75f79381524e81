//! What touches no memory that other threads see: a condition that is so a barrier may pass, code that is so needs no order.

use super::region::{self, Chain, Statement};
use crate::analysis::Session;
use crate::graph::ItemId;
use crate::program::{Declaration, Function, Init, Name, Param, Stmt, StmtKind, Type, TypeKind};
use crate::source::index::File;
use crate::source::lexer::TokenKind;
use rustc_hash::FxHashMap;

/// All conditions of an `if` are made of literals, thread indices and the function's own plain variables.
pub fn are_private(session: &Session, file: &File, item: ItemId, chain: &Chain) -> bool {
    let Some(function) = session.program.function(item) else { return false };
    let holders = holders(function);
    chain.conditions.iter().all(|condition| {
        condition.first <= condition.last
            && (condition.first..=condition.last)
                .all(|token| is_private(session, file, token, condition.first, &holders))
    })
}

/// A barrier that begins an arm may stand before the `if`: what the threads that skip the arm do until they come to a barrier,
/// in the other arms and behind the `if`, was before what follows the barrier, and will no longer be. So nothing of it may be
/// seen from there.
pub fn may_go_before(
    session: &Session,
    item: ItemId,
    file: &File,
    barrier: Statement,
    gone: &[Statement],
    chain: &Chain,
) -> bool {
    let Some(function) = session.program.function(item) else { return false };
    let holders = holders(function);
    let quiet = |first: u32, last: u32, objects: &dyn Fn(&Name) -> bool| {
        let is_gone = |token: u32| gone.iter().any(|it| it.first <= token && token <= it.last);
        (first..last).all(|token| is_gone(token) || is_quiet(session, file, token, first, &holders, objects))
    };
    let begins_with_it =
        |(first, last): &(u32, u32)| gone.iter().any(|statement| *first <= statement.first && statement.last <= *last);
    let (own, others): (Vec<_>, Vec<_>) = chain.arms.iter().copied().partition(begins_with_it);
    // The memory of the block, and what a kernel is handed, have nothing in common.
    let is_shared = |name: &Name| holders.get(name) == Some(&Holder::Block);
    let in_block = own.iter().all(|(first, last)| quiet(first + 1, *last, &is_shared));
    let is_handed = |name: &Name| {
        let is_it = |param: &Param| param.name.as_ref() == Some(name);
        in_block && session.tree.item(item).is_kernel() && function.params.iter().any(is_it)
    };
    let end = file.tokens.partition_point(|token| token.end() <= session.tree.item(item).range.end) as u32;
    let (behind, end) = region::until_same(file, barrier, chain.statement.last + 1, end);
    quiet(behind, end, &is_handed) && others.iter().all(|(first, last)| quiet(first + 1, *last, &is_handed))
}

/// Part of a statement that works on nothing but the function's own plain variables, and on elements of some objects.
fn is_quiet(
    session: &Session,
    file: &File,
    token: u32,
    first: u32,
    holders: &FxHashMap<Name, Holder>,
    objects: &dyn Fn(&Name) -> bool,
) -> bool {
    const HEADS: [&[u8]; 4] = [b"if", b"for", b"while", b"switch"];
    let before = if token > first { file.text(token - 1) } else { b"" };
    let is_object = |token: u32| {
        let name = std::str::from_utf8(file.text(token)).ok().and_then(|text| holders.get_key_value(text));
        name.is_some_and(|(name, _)| objects(name) && session.tree.files.macro_name(file.text(token)).is_none())
    };
    match file.text(token) {
        b";" | b"{" | b"}" | b"," | b"?" | b":" | b"=" | b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"&=" | b"|="
        | b"^=" | b"<<=" | b">>=" | b"++" | b"--" | b"]" => true,
        b"else" | b"do" | b"return" | b"break" | b"continue" | b"case" | b"default" | b"const" | b"float" => true,
        word if HEADS.contains(&word) => true,
        b"(" if HEADS.contains(&before) => true,
        // Behind a bracket or a keyword it may be what a pointer points to.
        b"*" | b"&" if before == b")" || matches!(before, b"else" | b"do" | b"return" | b"case") => false,
        b"[" => token > first && (before == b"]" || is_object(token - 1)),
        _ if file.text(token + 1) == b"[" => is_object(token),
        _ => is_private(session, file, token, first, holders),
    }
}

fn is_private(session: &Session, file: &File, token: u32, first: u32, holders: &FxHashMap<Name, Holder>) -> bool {
    let text = file.text(token);
    let before = if token > first { file.text(token - 1) } else { b"" };
    let is_value = |token: u32| {
        matches!(file.tokens[token as usize].kind(), TokenKind::Identifier | TokenKind::Number)
            || file.text(token) == b")"
    };
    match file.tokens[token as usize].kind() {
        TokenKind::Number => true,
        TokenKind::Identifier => match text {
            b"threadIdx" | b"blockIdx" | b"blockDim" | b"gridDim" => file.text(token + 1) == b".",
            b"x" | b"y" | b"z" if before == b"." => true,
            b"warpSize" | b"true" | b"false" | b"nullptr" | b"int" | b"unsigned" | b"bool" => true,
            // A variable by value: nothing is called or reached through it, and it is no macro.
            name => {
                std::str::from_utf8(name).is_ok_and(|name| holders.get(name) == Some(&Holder::Thread))
                    && session.tree.files.macro_name(name).is_none()
                    && !matches!(file.text(token + 1), b"(" | b"." | b"->" | b"[" | b"::")
            }
        },
        TokenKind::Punctuator => match text {
            b"<" | b">" | b"<=" | b">=" | b"==" | b"!=" | b"&&" | b"||" | b"!" | b"+" | b"-" | b"/" | b"%" | b"|"
            | b"^" | b"~" | b"<<" | b">>" => true,
            // Between two values; before one they follow or make a pointer, as behind a cast.
            b"*" | b"&" => {
                let is_cast = before == b")" && matches!(file.text(token - 2), b"int" | b"unsigned" | b"bool" | b"*");
                token > first && is_value(token - 1) && !is_cast
            }
            b"." => matches!(before, b"threadIdx" | b"blockIdx" | b"blockDim" | b"gridDim"),
            // No call.
            b"(" => token == first || !is_value(token - 1),
            b")" => true,
            _ => false,
        },
        _ => false,
    }
}

/// Who has what a name stands for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Holder {
    /// A plain variable or parameter of the thread's own.
    Thread,
    /// An object in the memory of the block.
    Block,
    /// Anything else, or now the one, now the other.
    Unknown,
}

/// Names that the function declares.
fn holders(function: &Function) -> FxHashMap<Name, Holder> {
    let mut names: FxHashMap<Name, Holder> = FxHashMap::default();
    let mut add = |name: &Name, holder: Holder| {
        let known = names.entry(name.clone()).or_insert(holder);
        if *known != holder {
            *known = Holder::Unknown;
        }
    };
    let own = |is_own: bool| if is_own { Holder::Thread } else { Holder::Unknown };
    for param in &function.params {
        if let Some(name) = &param.name {
            add(name, own(is_plain(&param.ty) && !param.pack));
        }
    }
    let mut work: Vec<&Stmt> = vec![&function.body];
    while let Some(stmt) = work.pop() {
        let mut declare = |each: &Declaration| {
            let storage = &each.storage;
            let is_own =
                !(storage.shared || storage.constant || storage.device || storage.is_static || storage.is_extern);
            let initialised = !matches!(&each.init, Init::Arguments { braces: false, args } if args.is_empty());
            let holder = match storage.shared {
                true if matches!(each.ty.kind, TypeKind::Array { .. }) => Holder::Block,
                _ => own(is_own && initialised && is_plain(&each.ty)),
            };
            add(&each.name, holder);
            each.bindings.iter().for_each(|name| add(name, Holder::Unknown));
        };
        match &stmt.kind {
            StmtKind::Declare(list) => list.iter().for_each(&mut declare),
            StmtKind::Block(list) => work.extend(list),
            StmtKind::If { arms, otherwise } => {
                for arm in arms {
                    work.extend(arm.init.as_deref());
                    work.push(&arm.then);
                    if let crate::program::Condition::Declare(each) = &arm.condition {
                        declare(each);
                    }
                }
                work.extend(otherwise.as_deref());
            }
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => work.push(body),
            StmtKind::For { init, body, .. } => {
                work.extend(init.as_deref());
                work.push(body);
            }
            StmtKind::RangeFor { init, variable, body, .. } => {
                work.extend(init.as_deref());
                declare(variable);
                work.push(body);
            }
            StmtKind::Switch { init, body, .. } => {
                work.extend(init.as_deref());
                work.push(body);
            }
            StmtKind::Try { body, handlers } => {
                work.push(body);
                work.extend(handlers);
            }
            _ => {}
        }
    }
    names
}

/// A number or a pointer by value.
fn is_plain(ty: &Type) -> bool {
    const NUMBERS: [&str; 18] = [
        "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "size_t", "int8_t", "uint8_t",
        "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
    ];
    if ty.is_volatile {
        return false;
    }
    match &ty.kind {
        TypeKind::Pointer(_) => true,
        TypeKind::Named(path) => path.segments.last().is_some_and(|segment| {
            segment.args.is_none() && segment.name.split(' ').all(|word| NUMBERS.contains(&word))
        }),
        _ => false,
    }
}
