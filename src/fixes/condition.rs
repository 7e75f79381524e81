//! Whether a condition has no effect and nobody but the thread itself can change it: then a barrier may pass it.

use super::region::Chain;
use crate::analysis::Session;
use crate::graph::ItemId;
use crate::program::{Declaration, Function, Init, Name, Stmt, StmtKind, Type, TypeKind};
use crate::source::index::File;
use crate::source::lexer::TokenKind;
use rustc_hash::FxHashMap;

/// All conditions of an `if` are made of literals, thread indices and the function's own plain variables.
pub fn are_private(session: &Session, file: &File, item: ItemId, chain: &Chain) -> bool {
    let Some(function) = session.program.function(item) else { return false };
    let private = private_names(function);
    chain.conditions.iter().all(|condition| {
        condition.first <= condition.last
            && (condition.first..=condition.last)
                .all(|token| is_private(session, file, token, condition.first, &private))
    })
}

fn is_private(session: &Session, file: &File, token: u32, first: u32, private: &FxHashMap<Name, bool>) -> bool {
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
                std::str::from_utf8(name).is_ok_and(|name| private.get(name) == Some(&true))
                    && session.tree.files.macro_name(name).is_none()
                    && !matches!(file.text(token + 1), b"(" | b"." | b"->" | b"[" | b"::")
            }
        },
        TokenKind::Punctuator => match text {
            b"<" | b">" | b"<=" | b">=" | b"==" | b"!=" | b"&&" | b"||" | b"!" | b"+" | b"-" | b"/" | b"%" | b"|"
            | b"^" | b"~" | b"<<" | b">>" => true,
            // Between two values; before one they follow or make a pointer.
            b"*" | b"&" => token > first && is_value(token - 1),
            b"." => matches!(before, b"threadIdx" | b"blockIdx" | b"blockDim" | b"gridDim"),
            // No call.
            b"(" => token == first || !is_value(token - 1),
            b")" => true,
            _ => false,
        },
        _ => false,
    }
}

/// Names that the function declares; `true` if each declaration is of a plain variable or parameter of its own.
fn private_names(function: &Function) -> FxHashMap<Name, bool> {
    let mut names: FxHashMap<Name, bool> = FxHashMap::default();
    let mut add = |name: &Name, is_private: bool| {
        let known = names.entry(name.clone()).or_insert(true);
        *known &= is_private;
    };
    for param in &function.params {
        if let Some(name) = &param.name {
            add(name, is_plain(&param.ty) && !param.pack);
        }
    }
    let mut work: Vec<&Stmt> = vec![&function.body];
    while let Some(stmt) = work.pop() {
        let mut declare = |each: &Declaration| {
            let storage = &each.storage;
            let own = !(storage.shared || storage.constant || storage.device || storage.is_static || storage.is_extern);
            let initialised = !matches!(&each.init, Init::Arguments { braces: false, args } if args.is_empty());
            add(&each.name, own && initialised && is_plain(&each.ty));
            each.bindings.iter().for_each(|name| add(name, false));
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
