//! Which bracket closes which, over a list of tokens.

use crate::source::lexer::{Token, TokenKind};

/// What a token spells; the tokens were made from `text`.
pub fn word(text: &str, token: Token) -> &str {
    text.get(token.start() as usize..token.end() as usize).unwrap_or_default()
}

#[derive(Clone, Debug)]
pub struct Brackets {
    partners: Vec<u32>,
    /// The innermost bracket that is open at each token, itself not counted.
    around: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Brackets {
    pub fn new(tokens: &[Token]) -> Brackets {
        let mut partners = vec![NONE; tokens.len()];
        let mut around = vec![NONE; tokens.len()];
        let mut open: Vec<u32> = Vec::new();
        let mut braces = 0usize;
        for (at, token) in tokens.iter().enumerate() {
            if token.kind() == TokenKind::Punctuator && token.end() - token.start() == 1 {
                match token.first() {
                    b'(' | b'[' | b'{' => {
                        around[at] = open.last().copied().unwrap_or(NONE);
                        open.push(at as u32);
                        braces += usize::from(token.first() == b'{');
                        continue;
                    }
                    b')' | b']' | b'}' => {
                        let opening = match token.first() {
                            b')' => b'(',
                            b']' => b'[',
                            _ => b'{',
                        };
                        let opens = |index: &u32| tokens[*index as usize].first() == opening;
                        // A brace closes what was left open in it.
                        let found = match token.first() {
                            b'}' if braces == 0 => None,
                            b'}' => open.iter().rposition(opens),
                            _ => open.last().filter(|last| opens(last)).map(|_| open.len() - 1),
                        };
                        if let Some(found) = found {
                            let opener = open[found];
                            open.truncate(found);
                            braces -= usize::from(opening == b'{');
                            partners[at] = opener;
                            partners[opener as usize] = at as u32;
                        }
                    }
                    _ => {}
                }
            }
            around[at] = open.last().copied().unwrap_or(NONE);
        }
        Brackets { partners, around }
    }

    pub fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).filter(|partner| **partner != NONE).map(|partner| *partner as usize)
    }

    pub fn around(&self, at: usize) -> Option<usize> {
        self.around.get(at).filter(|open| **open != NONE).map(|open| *open as usize)
    }
}
