//! The tokens that one configuration sees of a text -> positions with matched brackets.
//!
//! Positions here (`usize`) count seen tokens; `View::position` gives back those of the whole token list.

use crate::source::lexer::{Token, TokenKind, lex};
use std::borrow::Cow;
use std::ops::Range;

/// Brackets deeper than template argument lists ever get; beyond it `<` is taken for less-than.
const MAX_ANGLE_TOKENS: usize = 2048;
const UNMATCHED: u32 = 1 << 31;

pub(crate) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    tokens: Cow<'a, [Token]>,
    seen: Vec<u32>,
    /// For an opening bracket its closing one, or, with `UNMATCHED`, where what it opens ends; for a closing one its opening one.
    partner: Vec<u32>,
    /// The innermost bracket open at each token, and one more; 0 where there is none.
    round: Vec<u32>,
    cuts: Vec<Cut>,
}

/// The use of a macro that brings brackets without their partners.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// Its name and, with arguments, their closing parenthesis: what it opens begins at the one, what it closes ends at the other.
    pub at: usize,
    pub last: usize,
    /// What has no partner inside, in order: first closing ones, then opening ones.
    pub brackets: Vec<u8>,
}

impl Cut {
    fn opens(&self) -> bool {
        self.brackets.last().is_some_and(|bracket| matches!(bracket, b'(' | b'[' | b'{'))
    }
}

impl<'a> View<'a> {
    /// `seen` are ascending positions in `tokens`.
    pub fn new(bytes: &'a [u8], tokens: &'a [Token], seen: Vec<u32>) -> View<'a> {
        View::matched(bytes.into(), tokens.into(), seen, Vec::new())
    }

    /// The same where macros, in order, bring some of the brackets.
    pub fn cut(bytes: &'a [u8], tokens: &'a [Token], seen: Vec<u32>, cuts: Vec<Cut>) -> View<'a> {
        View::matched(bytes.into(), tokens.into(), seen, cuts)
    }

    /// Over all tokens of a text that the view keeps.
    pub fn owned(text: String) -> View<'static> {
        let tokens = lex(text.as_bytes()).tokens;
        let seen: Vec<u32> = (0..tokens.len() as u32).collect();
        View::matched(text.into_bytes().into(), tokens.into(), seen, Vec::new())
    }

    fn matched(bytes: Cow<'a, [u8]>, tokens: Cow<'a, [Token]>, seen: Vec<u32>, cuts: Vec<Cut>) -> View<'a> {
        let (partner, round) = (vec![0; seen.len()], vec![0; seen.len()]);
        let mut view = View { bytes, tokens, seen, partner, round, cuts };
        view.match_brackets();
        view.enclose();
        view
    }

    pub fn all(bytes: &'a [u8], tokens: &'a [Token]) -> View<'a> {
        View::new(bytes, tokens, (0..tokens.len() as u32).collect())
    }

    pub fn len(&self) -> usize {
        self.seen.len()
    }

    pub fn token(&self, at: usize) -> Option<Token> {
        self.tokens.get(*self.seen.get(at)? as usize).copied()
    }

    /// The token's bytes; empty beyond the end.
    pub fn text(&self, at: usize) -> &[u8] {
        self.token(at).map_or(&[][..], |token| token.bytes(&self.bytes))
    }

    pub fn is(&self, at: usize, text: &[u8]) -> bool {
        self.text(at) == text
    }

    /// Whether the token is the one-byte punctuator `byte`.
    pub fn byte(&self, at: usize, byte: u8) -> bool {
        self.token(at).is_some_and(|token| token.is_byte(byte))
    }

    pub fn identifier(&self, at: usize) -> Option<&[u8]> {
        let token = self.token(at)?;
        (token.kind() == TokenKind::Identifier).then(|| token.bytes(&self.bytes))
    }

    /// The bytes that a range of seen tokens spans.
    pub fn span(&self, range: Range<usize>) -> Range<u32> {
        match (self.token(range.start), range.end.checked_sub(1).and_then(|last| self.token(last))) {
            (Some(first), Some(last)) if range.start < range.end => first.start()..last.end(),
            (Some(first), _) => first.start()..first.start(),
            _ => 0..0,
        }
    }

    /// What stands in the text over a range of seen tokens. Of `>>` behind it the range has what closes its brackets:
    /// the last argument of `f<A<1>>` is `A<1>`.
    pub fn spelled(&self, range: Range<usize>) -> String {
        self.spelled_with(range, &|_| None)
    }

    /// The same, with other text for some of its tokens.
    pub fn spelled_with(&self, range: Range<usize>, instead: &dyn Fn(usize) -> Option<String>) -> String {
        let span = self.span(range.clone());
        let bytes = |from: u32, to: u32| {
            String::from_utf8_lossy(self.bytes.get(from as usize..to as usize).unwrap_or_default()).into_owned()
        };
        let mut text = String::new();
        let mut from = span.start;
        for (token, other) in range.clone().filter_map(|at| Some((self.token(at)?, instead(at)?))) {
            text.push_str(&bytes(from, token.start()));
            text.push_str(&other);
            from = token.end();
        }
        text.push_str(&bytes(from, span.end));
        let behind = self.text(range.end);
        if behind.starts_with(b">>") {
            let opens = |at: &usize| self.is(*at, b"<") && self.behind_angle(*at).is_some();
            let open = range.clone().filter(opens).count();
            let closed: usize = range.map(|at| self.text(at).iter().filter(|byte| **byte == b'>').count()).sum();
            text.extend(std::iter::repeat_n('>', open.saturating_sub(closed).min(behind.len() - 1)));
        }
        text
    }

    pub fn kind(&self, at: usize) -> Option<TokenKind> {
        self.token(at).map(|token| token.kind())
    }

    /// Position in the whole token list of a seen token, or of its end.
    pub fn position(&self, at: usize) -> u32 {
        match self.seen.get(at) {
            Some(position) => *position,
            None => self.seen.last().map_or(0, |last| last + 1),
        }
    }

    /// The seen token at a position in the whole token list.
    pub fn index_of(&self, position: u32) -> Option<usize> {
        self.seen.binary_search(&position).ok()
    }

    /// The range of the whole token list that seen tokens `from..to` span.
    pub fn range(&self, range: Range<usize>) -> Range<u32> {
        let start = self.position(range.start);
        match range.end.checked_sub(1) {
            Some(last) if range.end > range.start => start..self.position(last) + 1,
            _ => start..start,
        }
    }

    /// Behind the group that the opening bracket at `open` begins.
    pub fn behind(&self, open: usize) -> usize {
        match self.partner.get(open) {
            Some(partner) if partner & UNMATCHED != 0 => (partner & !UNMATCHED) as usize,
            Some(partner) => *partner as usize + 1,
            None => self.len(),
        }
    }

    /// What the opening bracket at `open` encloses.
    pub fn inside(&self, open: usize) -> Range<usize> {
        let end = match self.partner.get(open) {
            Some(partner) => (partner & !UNMATCHED) as usize,
            None => self.len(),
        };
        open + 1..end.max(open + 1)
    }

    pub fn is_closed(&self, open: usize) -> bool {
        self.partner.get(open).is_some_and(|partner| partner & UNMATCHED == 0)
    }

    /// The opening bracket of the closing one at `at`; itself for a stray one.
    pub fn opener(&self, at: usize) -> usize {
        self.partner.get(at).map_or(at, |partner| (partner & !UNMATCHED) as usize)
    }

    /// The innermost open bracket round a token.
    pub fn bracket_round(&self, at: usize) -> Option<usize> {
        match self.round.get(at) {
            Some(round) => round.checked_sub(1).map(|open| open as usize),
            // Behind the end: what the last token leaves open.
            None => self.len().checked_sub(1).filter(|_| at == self.len()).and_then(|last| self.open_behind(last)),
        }
    }

    /// Whether what opens at `open`, a bracket or a macro, ends at a bracket of its own.
    pub fn is_closed_in_plain(&self, open: usize) -> bool {
        self.is_closed(open) && self.byte(self.inside(open).end, b'}')
    }

    /// The macro used at `at`, if it brings brackets without their partners.
    pub fn cut_at(&self, at: usize) -> Option<&Cut> {
        let index = self.cuts.partition_point(|cut| cut.at < at);
        self.cuts.get(index).filter(|cut| cut.at == at)
    }

    /// The brackets that have no partner, in order.
    pub fn brackets_left(&self) -> Vec<u8> {
        let is_left = |at: &usize| match self.text(*at) {
            b"(" | b"[" | b"{" => !self.is_closed(*at),
            b")" | b"]" | b"}" => self.opener(*at) == *at,
            _ => false,
        };
        (0..self.len()).filter(is_left).filter_map(|at| self.text(at).first().copied()).collect()
    }

    pub fn opens_brace(&self, at: usize) -> bool {
        self.byte(at, b'{') || self.cut_at(at).is_some_and(|cut| cut.brackets.contains(&b'{'))
    }

    pub fn is_open_bracket(&self, at: usize) -> bool {
        if self.cut_at(at).is_some_and(Cut::opens) {
            return true;
        }
        self.token(at).and_then(bracket).is_some_and(|byte| matches!(byte, b'(' | b'[' | b'{'))
    }

    /// Behind the template brackets that open at `open`, or `None` where `<` is no bracket.
    pub fn behind_angle(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut at = open;
        let limit = open.saturating_add(MAX_ANGLE_TOKENS).min(self.len());
        while at < limit {
            let token = self.token(at)?;
            match (token.kind(), token.first()) {
                (TokenKind::LaunchClose, _) => depth = depth.saturating_sub(3),
                (TokenKind::LaunchOpen, _) => return None,
                (TokenKind::Punctuator, b'<') if self.is(at, b"<") => {
                    let opens = at == open || self.identifier(at - 1).is_some();
                    depth += usize::from(opens);
                }
                (TokenKind::Punctuator, b'>') => match self.text(at) {
                    b">" | b">=" => depth -= 1,
                    _ => depth = depth.saturating_sub(2),
                },
                (TokenKind::Punctuator, b'(' | b'[' | b'{') => {
                    at = self.behind(at);
                    continue;
                }
                (TokenKind::Punctuator, b';' | b')' | b']' | b'}') => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Behind `at` with what it opens: a bracket, or template brackets after a name.
    pub fn step(&self, at: usize) -> usize {
        if self.is_open_bracket(at) {
            return self.behind(at).max(at + 1);
        }
        if at > 0 && self.is(at, b"<") && self.identifier(at - 1).is_some() {
            return self.behind_angle(at).unwrap_or(at + 1);
        }
        at + 1
    }

    /// Behind the statement that goes on at `from`: behind its semicolon, or at the brace that ends what it stands in.
    pub fn behind_statement(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.len() {
            match self.text(at) {
                b";" => return at + 1,
                b"}" => return at,
                _ => at = if self.is_open_bracket(at) { self.behind(at).max(at + 1) } else { at + 1 },
            }
        }
        at
    }

    /// The top-level pieces of `range` between commas.
    pub fn split_at_commas(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            if self.byte(at, b',') {
                pieces.push(start..at);
                start = at + 1;
            }
            at = self.step(at);
        }
        if start < range.end || !pieces.is_empty() {
            pieces.push(start..range.end);
        }
        pieces
    }

    /// The innermost bracket open behind a token of which `round` is known.
    fn open_behind(&self, at: usize) -> Option<usize> {
        let before = match self.token(at).and_then(bracket) {
            Some(b'(' | b'[' | b'{') => return Some(at),
            Some(_) => self.opener(at).min(at),
            None => at,
        };
        self.round[before].checked_sub(1).map(|open| open as usize)
    }

    fn enclose(&mut self) {
        for at in 1..self.len() {
            self.round[at] = self.open_behind(at - 1).map_or(0, |open| open as u32 + 1);
        }
    }

    fn match_brackets(&mut self) {
        let mut open = Open { stack: Vec::new(), braces: vec![(0, [0; 2])] };
        let cuts = std::mem::take(&mut self.cuts);
        let mut next_cut = cuts.iter().peekable();
        for at in 0..self.seen.len() {
            if let Some(cut) = next_cut.next_if(|cut| cut.at <= at) {
                for bracket in &cut.brackets {
                    match bracket {
                        b'(' | b'[' | b'{' => open.open(*bracket, at),
                        _ => drop(self.close(*bracket, cut.last, &mut open)),
                    }
                }
                continue;
            }
            match bracket(self.tokens[self.seen[at] as usize]) {
                Some(opening @ (b'(' | b'[' | b'{')) => open.open(opening, at),
                Some(closing) => {
                    self.partner[at] = at as u32;
                    if let Some(opening) = self.close(closing, at, &mut open) {
                        self.partner[at] = opening;
                    }
                }
                None => {}
            }
        }
        for (_, unmatched) in open.stack {
            self.partner[unmatched as usize] = self.seen.len() as u32 | UNMATCHED;
        }
        self.cuts = cuts;
    }

    /// What the closing bracket at `at` closes, if anything; all that was opened since then stays unmatched.
    fn close(&mut self, bracket: u8, at: usize, open: &mut Open) -> Option<u32> {
        let (inside, counts) = open.braces.last()?;
        let opening = match kind(bracket) {
            BRACE if open.braces.len() > 1 => inside - 1,
            BRACE => return None,
            kind if counts[kind as usize] == 0 => return None,
            kind => inside + open.stack[*inside..].iter().rposition(|(opened, _)| *opened == kind)?,
        };
        if kind(bracket) == BRACE {
            // A brace ends whatever is still open inside it.
            open.braces.pop();
        } else if let Some((_, counts)) = open.braces.last_mut() {
            for (kind, _) in &open.stack[opening..] {
                counts[*kind as usize] = counts[*kind as usize].saturating_sub(1);
            }
        }
        let mut closed = open.stack.drain(opening..).map(|(_, bracket)| bracket);
        let partner = closed.next()?;
        closed.for_each(|unmatched| self.partner[unmatched as usize] = at as u32 | UNMATCHED);
        self.partner[partner as usize] = at as u32;
        Some(partner)
    }
}

/// Brackets that are open.
struct Open {
    stack: Vec<(u8, u32)>,
    /// For each open brace where its inside begins in the stack, and how many `(` and `[` are open there.
    braces: Vec<(usize, [u32; 2])>,
}

impl Open {
    fn open(&mut self, bracket: u8, at: usize) {
        let kind = kind(bracket);
        self.stack.push((kind, at as u32));
        if kind == BRACE {
            self.braces.push((self.stack.len(), [0; 2]));
        } else if let Some((_, counts)) = self.braces.last_mut() {
            counts[kind as usize] += 1;
        }
    }
}

const BRACE: u8 = 2;

fn kind(bracket: u8) -> u8 {
    match bracket {
        b'(' | b')' => 0,
        b'[' | b']' => 1,
        _ => BRACE,
    }
}

/// The token's byte if it is a bracket; template brackets are none.
fn bracket(token: Token) -> Option<u8> {
    let byte = token.first();
    (matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}') && token.is_byte(byte)).then_some(byte)
}
