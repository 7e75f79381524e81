//! The head of a class: which name, which template arguments, which bases, and whether a body follows.

use super::attributes::{Attributes, takes_arguments};
use super::declaration::MacroUse;
use super::view::View;
use crate::source::lexer::TokenKind;
use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct ClassHead {
    pub name: Option<usize>,
    /// Without brackets.
    pub arguments: Option<Range<usize>>,
    /// From the colon on.
    pub bases: Option<Range<usize>>,
    /// The opening brace.
    pub body: Option<usize>,
    pub is_union: bool,
    /// A macro behind the name that is no attribute: bases, the body, the brace that opens it.
    pub hidden: Option<usize>,
}

/// The class that the declaration at `start` defines or declares forward; none if it declares anything else.
pub(super) fn class_head(view: &View, start: usize, macro_use: &dyn Fn(usize) -> MacroUse) -> Option<ClassHead> {
    let mut at = behind_specifiers(view, start, macro_use);
    let mut head = ClassHead { is_union: view.is(at, b"union"), ..ClassHead::default() };
    if !matches!(view.text(at), b"class" | b"struct" | b"union") {
        return None;
    }
    at += 1;
    while let Some(token) = view.token(at) {
        let text = view.text(at);
        match token.kind() {
            TokenKind::Identifier if takes_arguments(text) => {
                at += 1;
                if view.byte(at, b'(') {
                    at = view.behind(at);
                }
            }
            TokenKind::Identifier if head.name.is_some() && brings_more(view, at, &macro_use(at)) => {
                head.hidden = Some(at);
                return Some(head);
            }
            TokenKind::Identifier if view.byte(at + 1, b'(') => {
                // `struct ALIGN(8) Name {`, but not `struct Result make(int) {`.
                if head.name.is_some_and(|name| !macro_use(name).is_macro) {
                    return None;
                }
                at = view.behind(at + 1);
            }
            TokenKind::Identifier if text == b"final" && head.name.is_some() => at += 1,
            TokenKind::Identifier => {
                head.name = Some(at);
                head.arguments = None;
                at += 1;
            }
            TokenKind::Punctuator => match text {
                b"::" => at += 1,
                b"<" => {
                    let end = view.behind_angle(at)?;
                    head.arguments = Some(at + 1..end - 1);
                    at = end;
                }
                b"[" if view.is(at + 1, b"[") => at = view.behind(at).max(at + 1),
                b"{" => {
                    head.body = Some(at);
                    return Some(head);
                }
                b":" => {
                    let colon = at;
                    while !view.byte(at, b'{') {
                        if at >= view.len() || view.byte(at, b';') || view.byte(at, b'}') {
                            return None;
                        }
                        at = view.step(at);
                    }
                    head.bases = Some(colon..at);
                    head.body = Some(at);
                    return Some(head);
                }
                b";" => return head.name.is_some().then_some(head),
                _ => return None,
            },
            _ => return None,
        }
    }
    None
}

fn brings_more(view: &View, at: usize, use_of: &MacroUse) -> bool {
    let is_use = use_of.is_macro && (!use_of.function_like || view.byte(at + 1, b'('));
    is_use && !use_of.well_known && (use_of.names || use_of.braces)
}

fn behind_specifiers(view: &View, start: usize, macro_use: &dyn Fn(usize) -> MacroUse) -> usize {
    let mut at = start;
    let mut words = Attributes::default();
    while let Some(word) = view.identifier(at) {
        if takes_arguments(word) {
            at += 1;
            if view.byte(at, b'(') {
                at = view.behind(at);
            }
        } else if word == b"const"
            || word == b"volatile"
            || words.word(word)
            || (!matches!(word, b"class" | b"struct" | b"union") && macro_use(at).is_macro && !view.byte(at + 1, b'('))
        {
            at += 1;
        } else {
            break;
        }
        while view.byte(at, b'[') && view.is(at + 1, b"[") {
            at = view.behind(at).max(at + 1);
        }
    }
    at
}
