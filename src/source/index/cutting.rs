//! Macros that may hold brackets without their partners: what they stand in cannot be cut into functions by its own tokens.

use super::{File, MacroName};
use crate::source::lexer::{Token, TokenKind};
use rustc_hash::FxHashMap;

/// How often the macros that name another one are looked for; those defined in order need no second time.
const MAX_ROUNDS: usize = 16;

/// Names for which some definition of the run has unbalanced brackets in its replacement, or names another one there.
#[derive(Default)]
pub struct CuttingMacros {
    names: Vec<bool>,
    /// For each first byte the lengths of those names, a bit each: nearly all words are told apart by that.
    lengths: Vec<u64>,
}

impl CuttingMacros {
    pub(super) fn new(files: &[File], names: &FxHashMap<Box<[u8]>, MacroName>) -> CuttingMacros {
        let mut found = CuttingMacros { names: vec![false; names.len()], lengths: vec![0; 256] };
        let definitions = || files.iter().flat_map(|file| file.macros.iter().map(move |define| (file, define)));
        let name_of = |file: &File, token: u32| {
            let token = file.tokens[token as usize];
            names.get(&*token.spelling(&file.bytes)).copied().map(|name| (token, name))
        };
        for (file, define) in definitions() {
            let body = &file.tokens[define.body.start as usize..define.body.end as usize];
            if !is_balanced(body) {
                found.add(name_of(file, define.name));
            }
        }
        let mut grown = found.names.contains(&true);
        for _ in 0..MAX_ROUNDS {
            if !std::mem::take(&mut grown) {
                break;
            }
            for (file, define) in definitions() {
                let mut names = define.body.clone().filter(|at| found.may_be(file.tokens[*at as usize]));
                if names.any(|at| name_of(file, at).is_some_and(|(_, name)| found.holds(name))) {
                    grown |= found.add(name_of(file, define.name));
                }
            }
        }
        found
    }

    /// Whether a token may spell such a name; for a quick no.
    pub fn may_be(&self, token: Token) -> bool {
        token.kind() == TokenKind::Identifier && self.lengths[token.first() as usize] & length_bit(token) != 0
    }

    pub fn holds(&self, name: MacroName) -> bool {
        self.names[name.0 as usize]
    }

    /// Whether it is new.
    fn add(&mut self, named: Option<(Token, MacroName)>) -> bool {
        let Some((token, name)) = named else { return false };
        self.lengths[token.first() as usize] |= length_bit(token);
        !std::mem::replace(&mut self.names[name.0 as usize], true)
    }
}

/// A name spelled over several lines is longer than it is: all those beyond the last bit share it.
fn length_bit(token: Token) -> u64 {
    match token.spliced() {
        true => u64::MAX,
        false => 1 << (token.end() - token.start()).min(63),
    }
}

fn is_balanced(body: &[Token]) -> bool {
    let mut open = Vec::new();
    for token in body.iter().filter(|token| token.kind() == TokenKind::Punctuator && token.end() - token.start() == 1) {
        match token.first() {
            opening @ (b'(' | b'[' | b'{') => open.push(opening),
            closing @ (b')' | b']' | b'}') => {
                let partner = match closing {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if open.pop() != Some(partner) {
                    return false;
                }
            }
            _ => {}
        }
    }
    open.is_empty()
}
