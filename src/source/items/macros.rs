//! What a name in a declaration is to the preprocessor, as far as declarations care: which attributes and braces it brings.

use super::attributes::is_specifier;
use super::declaration::MacroUse;
use crate::source::expand::Unit;
use crate::source::expand::unit::Definition;
use crate::source::index::MacroName;
use crate::source::lexer::TokenKind;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Macros whose replacement is reached over more macros than this are taken to bring nothing.
const MAX_MACROS: usize = 200;

/// Remembers what each definition brings.
#[derive(Default)]
pub(super) struct MacroUses {
    known: RefCell<FxHashMap<Definition, MacroUse>>,
}

impl MacroUses {
    /// For a token of the unit's own file.
    pub fn of(&self, unit: &Unit, token: u32) -> MacroUse {
        let file = unit.files.get(unit.file);
        let name = match file.tokens.get(token as usize) {
            Some(found) if found.kind() == TokenKind::Identifier => unit.files.macro_name(&found.spelling(&file.bytes)),
            _ => None,
        };
        name.map_or(MacroUse::default(), |name| self.of_name(unit, name, token))
    }

    fn of_name(&self, unit: &Unit, name: MacroName, asked_at: u32) -> MacroUse {
        let moment = unit.moment(unit.file, asked_at);
        let Some(first) = unit.definition(name, moment, Some(asked_at)) else { return MacroUse::default() };
        if let Some(known) = self.known.borrow().get(&first) {
            return *known;
        }
        let well_known = first.file == unit.files.well_known();
        let mut brings = MacroUse { is_macro: true, well_known, ..MacroUse::default() };
        let mut reached = vec![first];
        // Which of them stand outside all parentheses.
        let mut outside = vec![true];
        let mut next = 0;
        while let Some(definition) = reached.get(next).copied() {
            let is_outside = outside[next];
            next += 1;
            let file = unit.files.get(definition.file);
            let define = &file.macros[definition.index as usize];
            if next == 1 {
                brings.function_like = define.params.is_some();
            }
            let mut depth = 0usize;
            // Whether parentheses that open now are arguments of the word before.
            let mut takes_them = false;
            for token in define.body.clone().filter_map(|at| file.tokens.get(at as usize)) {
                let takes = std::mem::take(&mut takes_them);
                match token.kind() {
                    TokenKind::Punctuator => match token.first() {
                        b'(' | b'[' => {
                            brings.parentheses |= token.first() == b'(' && depth == 0 && is_outside && !takes;
                            depth += 1;
                        }
                        b')' | b']' => depth = depth.saturating_sub(1),
                        b'{' | b'}' | b';' => brings.braces = true,
                        _ => {}
                    },
                    TokenKind::Identifier => {
                        let word = token.spelling(&file.bytes);
                        match &*word {
                            b"__global__" => brings.kernel = true,
                            b"__device__" => brings.device = true,
                            b"__host__" => brings.host = true,
                            b"_Pragma" | b"__pragma" | b"final" | b"override" => takes_them = true,
                            word if is_specifier(word) => takes_them = true,
                            word => {
                                takes_them = matches!(word, b"decltype" | b"typeof" | b"sizeof" | b"alignof");
                                let inner = unit.files.macro_name(word);
                                let inner = inner.and_then(|name| unit.definition(name, moment, Some(asked_at)));
                                match inner {
                                    Some(inner) => {
                                        takes_them = true;
                                        if reached.len() < MAX_MACROS && !reached.contains(&inner) {
                                            reached.push(inner);
                                            outside.push(is_outside && depth == 0);
                                        }
                                    }
                                    None => brings.names |= depth == 0,
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        self.known.borrow_mut().insert(first, brings);
        brings
    }
}
