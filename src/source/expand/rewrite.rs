//! CUDA's own syntax, and C++ that the grammar does not read, into C++ that it does. What becomes of what stands in `expand`.
//!
//! One pass over the pieces with a stack of open brackets; look-ahead is capped, so that the pass stays linear.

use super::pieces::{Piece, SPACE};
use super::replace::Machine;
use super::value_arguments;
use crate::source::lexer::TokenKind;

/// How far ahead the end of an attribute, a type's name or a `decltype` is looked for.
const LOOK_AHEAD: usize = 512;

pub struct Rewritten {
    /// An empty piece is none.
    pub pieces: Vec<Piece>,
    /// Attributes taken out: the index in `pieces` they stood before, and their own pieces.
    pub dropped: Vec<(usize, Vec<Piece>)>,
}

pub fn rewrite(machine: &mut Machine, pieces: Vec<Piece>) -> Rewritten {
    let mut rewriter =
        Rewriter { out: Vec::with_capacity(pieces.len()), dropped: Vec::new(), open: Vec::new(), machine };
    let mut at = 0;
    while at < pieces.len() {
        at += rewriter.step(&pieces, at);
    }
    Rewritten { pieces: rewriter.out, dropped: rewriter.dropped }
}

struct Rewriter<'m, 'u, 'f> {
    machine: &'m mut Machine<'u, 'f>,
    out: Vec<Piece>,
    dropped: Vec<(usize, Vec<Piece>)>,
    open: Vec<Bracket>,
}

struct Bracket {
    kind: BracketKind,
    /// In `out`.
    at: usize,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum BracketKind {
    Round,
    Square,
    Brace,
    /// `{` after a name or `>`.
    BraceAfterName,
    /// `{` after `=`.
    BraceAfterEquals,
    Launch,
}

impl Rewriter<'_, '_, '_> {
    /// Writes what becomes of the piece at `at`, and tells how many pieces that took.
    fn step(&mut self, pieces: &[Piece], at: usize) -> usize {
        let piece = pieces[at];
        match piece.kind {
            TokenKind::Identifier => self.word(pieces, at),
            TokenKind::Punctuator | TokenKind::LaunchOpen | TokenKind::LaunchClose => self.punctuator(pieces, at),
            TokenKind::Unknown | TokenKind::Directive => 1,
            _ => {
                self.out.push(piece);
                1
            }
        }
    }

    fn word(&mut self, pieces: &[Piece], at: usize) -> usize {
        let piece = pieces[at];
        // Nearly every word begins with a letter that none of these does.
        if !matches!(piece.first, b'_' | b'd' | b'e' | b'l' | b'n' | b'o' | b'r' | b's' | b't' | b'u') {
            self.out.push(piece);
            return 1;
        }
        let next = pieces.get(at + 1);
        let text = self.machine.spelling(&piece).into_owned();
        match text.as_slice() {
            b"__host__" | b"__global__" | b"__forceinline__" | b"__noinline__" | b"__grid_constant__"
            | b"__nv_pure__" | b"__extension__" | b"__noreturn__" => self.drop(&pieces[at..at + 1]),
            b"__launch_bounds__" | b"__cluster_dims__" | b"__block_size__" | b"__maxnreg__" | b"__local_maxnreg__"
            | b"__align__" | b"__attribute__" | b"__attribute" | b"__declspec" | b"_Pragma" | b"__pragma" => {
                let end = self.after_parentheses(pieces, at + 1);
                self.drop(&pieces[at..end])
            }
            b"__shared__" | b"__constant__" | b"__managed__" if !self.after(&[b"(", b"<", b","]) => {
                self.mark(piece, &text)
            }
            b"__shared__" | b"__constant__" | b"__managed__" => self.drop(&pieces[at..at + 1]),
            b"__device__" if self.heads_variable(pieces, at) => self.mark(piece, &text),
            b"__device__" => self.drop(&pieces[at..at + 1]),
            b"__restrict__" | b"__restrict" | b"restrict"
                if self.after(&[b"&", b"&&"]) || self.is_text(next, b"...") =>
            {
                self.drop(&pieces[at..at + 1])
            }
            b"typename" if self.makes_value(pieces, at) => 1,
            b"template"
                if self.after(&[b".", b"->"]) && !value_arguments::are_given(self.machine, pieces, at + 1, true) =>
            {
                1
            }
            b"template" if self.after(&[b"::"]) && self.is_text(next, b"operator") => 1,
            b"typeof" | b"__typeof__" | b"__typeof" if next.is_some_and(|next| next.is_byte(b'(')) => {
                self.invent(b"decltype", TokenKind::Identifier, &piece);
                1
            }
            b"decltype" => {
                let end = self.after_parentheses(pieces, at + 1);
                let makes_value = pieces.get(end).is_some_and(|next| next.is_byte(b'{') || next.is_byte(b'('));
                // `auto f() -> decltype(e) {` makes none.
                if makes_value && end > at + 1 && !self.after(&[b"->"]) {
                    self.invent(b"decltype_", TokenKind::Identifier, &piece);
                    return end - at;
                }
                self.out.push(piece);
                1
            }
            b"enum" if next.is_some_and(|next| next.is_byte(b':')) => {
                self.out.push(piece);
                self.invent(b" unnamed_", TokenKind::Identifier, &piece);
                1
            }
            b"unsigned" | b"signed" | b"long" | b"short" if self.is_cast(pieces, at) => {
                let fixed: &[u8] = match text.as_slice() {
                    b"unsigned" => b"uint32_t",
                    b"long" => b"int64_t",
                    b"short" => b"int16_t",
                    _ => b"int32_t",
                };
                self.invent(fixed, TokenKind::Identifier, &piece);
                1
            }
            b"new" => self.new_expression(pieces, at),
            b"operator" if self.is_operator_call(pieces, at) => self.operator(pieces, at),
            b"operator" => match self.conversion_call(pieces, at) {
                Some((name, length)) => {
                    self.invent(&name, TokenKind::Identifier, &piece);
                    length
                }
                None => {
                    self.out.push(piece);
                    1
                }
            },
            _ => {
                self.out.push(piece);
                1
            }
        }
    }

    fn punctuator(&mut self, pieces: &[Piece], at: usize) -> usize {
        let piece = pieces[at];
        let next = pieces.get(at + 1);
        match piece.kind {
            TokenKind::LaunchOpen => return self.launch_open(piece, 1),
            TokenKind::LaunchClose => return self.launch_close(piece, next, 1),
            _ => {}
        }
        match piece.first {
            b'(' => {
                self.push_bracket(BracketKind::Round, piece);
                if let Some(star) = self.member_pointer(pieces, at + 1) {
                    return star - at;
                }
            }
            b'[' if next.is_some_and(|next| next.is_byte(b'[')) => {
                if let Some(end) = self.attribute_end(pieces, at) {
                    return self.drop(&pieces[at..end]);
                }
                self.push_bracket(BracketKind::Square, piece);
            }
            b'[' => self.push_bracket(BracketKind::Square, piece),
            b'{' => {
                let kind = match self.out.last() {
                    Some(last) if last.is_byte(b'=') => BracketKind::BraceAfterEquals,
                    Some(last) if last.kind == TokenKind::Identifier || last.is_byte(b'>') => {
                        BracketKind::BraceAfterName
                    }
                    _ => BracketKind::Brace,
                };
                self.push_bracket(kind, piece);
            }
            b')' | b']' | b'}' => self.close(piece, next),
            b'<' if self.is_text(Some(&piece), b"<<") && next.is_some_and(|next| next.is_byte(b'<')) => {
                return self.launch_open(piece, 2);
            }
            b'>' if self.is_text(Some(&piece), b">>") && next.is_some_and(|next| next.is_byte(b'>')) => {
                return self.launch_close(piece, pieces.get(at + 2), 2);
            }
            b'-' if self.is_text(Some(&piece), b"->*") => {
                let named = next.is_some_and(|next| next.kind == TokenKind::Identifier);
                self.invent(if named { b".*" } else { b"<<" }, TokenKind::Punctuator, &piece);
            }
            // `#pragma` out of a macro ends with the macro's replacement.
            b'#' if self.is_text(next, b"pragma") => {
                let rest = pieces[at..].iter().take_while(|other| other.invocation == piece.invocation);
                return rest.count().max(2);
            }
            // `auto *...xs`
            b'*' if self.is_text(next, b"...")
                && pieces.get(at + 2).is_some_and(|name| name.kind == TokenKind::Identifier) => {}
            b'.' if self.is_text(Some(&piece), b"...") && self.in_case_range(next) => {
                self.invent(b" + case_range_ + ", TokenKind::Punctuator, &piece);
            }
            b'.' | b'-'
                if self.names_member(&piece) && value_arguments::are_given(self.machine, pieces, at + 1, false) =>
            {
                self.out.push(piece);
                self.invent(b"template ", TokenKind::Identifier, &piece);
            }
            _ => self.out.push(piece),
        }
        1
    }

    fn names_member(&self, piece: &Piece) -> bool {
        matches!(self.machine.bytes(piece), b"." | b"->")
    }

    fn push_bracket(&mut self, kind: BracketKind, piece: Piece) {
        self.open.push(Bracket { kind, at: self.out.len() });
        self.out.push(piece);
    }

    fn close(&mut self, piece: Piece, next: Option<&Piece>) {
        let at = self.out.len();
        self.out.push(piece);
        let fits = |kind: BracketKind| match piece.first {
            b')' => kind == BracketKind::Round,
            b']' => kind == BracketKind::Square,
            _ => matches!(kind, BracketKind::Brace | BracketKind::BraceAfterName | BracketKind::BraceAfterEquals),
        };
        while let Some(bracket) = self.open.pop() {
            if !fits(bracket.kind) {
                // A launch that never closed, or unbalanced text.
                if bracket.kind == BracketKind::Launch {
                    continue;
                }
                self.open.push(bracket);
                return;
            }
            let in_parentheses = self.open.last().is_some_and(|around| around.kind == BracketKind::Round);
            let ends_argument = next.is_some_and(|next| next.is_byte(b',') || next.is_byte(b')'));
            let opening = self.out[bracket.at];
            match bracket.kind {
                // A default argument `= {}`
                BracketKind::BraceAfterEquals if in_parentheses && ends_argument => {
                    self.out[bracket.at] = self.machine.invent(b" braced_{", TokenKind::Punctuator, &opening);
                }
                // `T<n>{x} += ..`
                BracketKind::BraceAfterName if self.is_assignment(next) => {
                    self.out[bracket.at] = self.machine.invent(b"(", TokenKind::Punctuator, &opening);
                    self.out[at] = self.machine.invent(b")", TokenKind::Punctuator, &piece);
                }
                _ => {}
            }
            return;
        }
    }

    fn launch_open(&mut self, piece: Piece, length: usize) -> usize {
        let follows_kernel = self.out.last().is_some_and(|last| {
            last.kind == TokenKind::Identifier
                || matches!(self.machine.bytes(last), b">" | b">>" | b">>>" | b")" | b"]")
        });
        if follows_kernel {
            self.open.push(Bracket { kind: BracketKind::Launch, at: self.out.len() });
        }
        self.out.push(piece);
        length
    }

    /// `k<<<g, b>>>(x)` becomes `k("<<<", g, b)(x)`: the string makes it a call to every reader.
    fn launch_close(&mut self, piece: Piece, next: Option<&Piece>, length: usize) -> usize {
        let calls = next.is_some_and(|next| next.is_byte(b'('));
        match self.open.last() {
            Some(bracket) if bracket.kind == BracketKind::Launch && calls => {
                let at = bracket.at;
                self.open.pop();
                let opening = self.out[at];
                self.out[at] = self.machine.invent(b"(\"<<<\", ", TokenKind::Punctuator, &opening);
                self.unwrap_kernel(at);
                self.invent(b")", TokenKind::Punctuator, &piece);
                length
            }
            _ => {
                self.out.push(piece);
                1
            }
        }
    }

    /// `(k<a, b>)<<<` becomes `k<a, b><<<`: in parentheses the grammar takes the brackets for comparisons.
    fn unwrap_kernel(&mut self, launch: usize) {
        let Some(close) = launch.checked_sub(1).filter(|close| self.out[*close].is_byte(b')')) else { return };
        let mut depth = 0;
        for at in (close.saturating_sub(LOOK_AHEAD)..=close).rev() {
            depth += i32::from(self.out[at].is_byte(b')')) - i32::from(self.out[at].is_byte(b'('));
            if depth > 0 {
                continue;
            }
            let begins = at == 0 || [b';', b'{', b'}', b')', b','].iter().any(|byte| self.out[at - 1].is_byte(*byte));
            let names =
                self.out.get(at + 1).is_some_and(|first| first.kind == TokenKind::Identifier || first.first == b':');
            // `(big ? k : l)<<<` stays what it is.
            let chooses = (at..close).any(|at| self.out[at].is_byte(b'?'));
            if begins && names && !chooses {
                self.out[at].end = self.out[at].start;
                self.out[close].end = self.out[close].start;
            }
            return;
        }
    }

    /// `a.operator()(..)`, `operator()(..)` as a call: not where a type stands before it.
    fn is_operator_call(&self, pieces: &[Piece], at: usize) -> bool {
        let Some(symbol) = pieces.get(at + 1).filter(|symbol| symbol.kind == TokenKind::Punctuator) else {
            return false;
        };
        if self.after(&[b".", b"->"]) {
            return true;
        }
        let starts = match self.out.last() {
            None => false,
            Some(last) if last.kind == TokenKind::Identifier => self.after(&[b"return", b"else", b"do"]),
            Some(_) => self.after(&[b"=", b"(", b",", b";", b"{", b"}", b"!", b"?", b"+", b"-"]),
        };
        starts && symbol.is_byte(b'(')
    }

    fn operator(&mut self, pieces: &[Piece], at: usize) -> usize {
        let closes = |open: usize| pieces.get(open + 1).is_some_and(|close| close.is_byte(b')') || close.is_byte(b']'));
        let is_pair = pieces[at + 1].is_byte(b'(') || pieces[at + 1].is_byte(b'[');
        let (name, length): (&[u8], usize) = match is_pair {
            true if !closes(at + 1) => {
                self.out.push(pieces[at]);
                return 1;
            }
            true if pieces[at + 1].is_byte(b'(') => (b"operator__", 3),
            true => (b"operator_index_", 3),
            false => {
                let sign = self.machine.bytes(&pieces[at + 1]).iter().map(|byte| format!("{byte:02x}"));
                let name = sign.fold("operator_sign_".to_string(), |name, byte| name + &byte);
                self.invent(name.as_bytes(), TokenKind::Identifier, &pieces[at]);
                return 2;
            }
        };
        self.invent(name, TokenKind::Identifier, &pieces[at]);
        length
    }

    /// `(Class::*m)(..)` declares `m` as `(*m)(..)` does, for all that matters here; where the star stands.
    fn member_pointer(&self, pieces: &[Piece], from: usize) -> Option<usize> {
        let star = self.after_name(pieces, from);
        let is_one = star > from + 1
            && self.is_text(pieces.get(star - 1), b"::")
            && pieces.get(star).is_some_and(|piece| piece.is_byte(b'*'));
        is_one.then_some(star)
    }

    /// The words of `a.operator unsigned int()` as one name.
    fn conversion_call(&self, pieces: &[Piece], at: usize) -> Option<(Vec<u8>, usize)> {
        let words = pieces[at + 1..].iter().take_while(|piece| piece.kind == TokenKind::Identifier).count();
        let end = at + 1 + words;
        if words == 0 || !self.after(&[b".", b"->"]) || !pieces.get(end).is_some_and(|open| open.is_byte(b'(')) {
            return None;
        }
        let mut name = b"operator_as".to_vec();
        for piece in &pieces[at + 1..end] {
            name.extend_from_slice(b"__");
            name.extend_from_slice(self.machine.bytes(piece));
        }
        Some((name, end - at))
    }

    /// `new const T *[n]` becomes `new T[n]`.
    fn new_expression(&mut self, pieces: &[Piece], at: usize) -> usize {
        self.out.push(pieces[at]);
        let mut end = at + 1;
        while self.is_text(pieces.get(end), b"const") || self.is_text(pieces.get(end), b"volatile") {
            end += 1;
        }
        let name = self.after_name(pieces, end);
        let mut stars = name;
        while pieces.get(stars).is_some_and(|piece| piece.is_byte(b'*')) {
            stars += 1;
        }
        if end == at + 1 && stars == name {
            return 1;
        }
        if stars > name && !pieces.get(stars).is_some_and(|piece| piece.is_byte(b'[')) {
            stars = name;
        }
        for piece in &pieces[end..name] {
            self.out.push(*piece);
        }
        stars - at
    }

    /// `unsigned(x)`, which the grammar takes for the head of a cast in parentheses.
    fn is_cast(&self, pieces: &[Piece], at: usize) -> bool {
        let starred = pieces.get(at + 2).is_some_and(|piece| piece.is_byte(b'*') || piece.is_byte(b'&'));
        let begins = match self.out.last() {
            Some(last) if last.kind == TokenKind::Identifier => self.after(&[b"return", b"case", b"else"]),
            _ => true,
        };
        pieces.get(at + 1).is_some_and(|next| next.is_byte(b'(')) && !starred && begins
    }

    /// Whether `typename` heads a value (`typename T::X{}`, `typename T::X(a)`), not a declaration.
    fn makes_value(&self, pieces: &[Piece], at: usize) -> bool {
        let name = self.after_name(pieces, at + 1);
        let starred = pieces.get(name + 1).is_some_and(|piece| piece.is_byte(b'*') || piece.is_byte(b'&'));
        match pieces.get(name) {
            Some(piece) if piece.is_byte(b'{') => name > at + 1,
            Some(piece) if piece.is_byte(b'(') => name > at + 1 && !starred,
            _ => false,
        }
    }

    /// Whether `__device__` stands before a variable: what comes first, a parenthesis or the end of a declarator?
    fn heads_variable(&self, pieces: &[Piece], at: usize) -> bool {
        if self.after(&[b")", b"]"]) {
            return false;
        }
        let mut next = at + 1;
        while let Some(piece) = pieces.get(next).filter(|_| next < at + LOOK_AHEAD) {
            let text = self.machine.bytes(piece);
            match text {
                b"(" | b"operator" | b"class" | b"struct" | b"union" | b"enum" => return false,
                b";" | b"=" | b"[" | b"{" => return true,
                b"__launch_bounds__" | b"__align__" | b"__attribute__" | b"alignas" | b"decltype" => {
                    next = self.after_parentheses(pieces, next + 1);
                }
                _ => next += 1,
            }
        }
        false
    }

    /// After `a::b<c>::d` from `at` on; `at` itself if no name stands there.
    fn after_name(&self, pieces: &[Piece], at: usize) -> usize {
        let mut end = at;
        let limit = pieces.len().min(at + LOOK_AHEAD);
        let mut wants_name = true;
        while end < limit {
            let piece = &pieces[end];
            if self.is_text(Some(piece), b"::") || self.is_text(Some(piece), b"template") {
                wants_name = true;
                end += 1;
            } else if piece.kind == TokenKind::Identifier && wants_name {
                wants_name = false;
                end += 1;
            } else if piece.is_byte(b'<') && !wants_name {
                match self.after_angles(pieces, end, limit) {
                    Some(after) => end = after,
                    None => return at,
                }
            } else {
                break;
            }
        }
        end
    }

    fn after_angles(&self, pieces: &[Piece], at: usize, limit: usize) -> Option<usize> {
        let (mut angles, mut others) = (0, 0);
        for (index, piece) in pieces.iter().enumerate().take(limit).skip(at) {
            match self.machine.bytes(piece) {
                b"(" | b"[" | b"{" => others += 1,
                b")" | b"]" | b"}" => others -= 1,
                b"<" if others == 0 => angles += 1,
                b">" if others == 0 => angles -= 1,
                b">>" if others == 0 => angles -= 2,
                b">>>" if others == 0 => angles -= 3,
                b";" => return None,
                _ => {}
            }
            if others < 0 {
                return None;
            }
            if angles <= 0 {
                return Some(index + 1);
            }
        }
        None
    }

    /// After the parenthesis that closes the one at `at`; `at` itself if none stands there.
    fn after_parentheses(&self, pieces: &[Piece], at: usize) -> usize {
        let mut depth = 0;
        for (index, piece) in pieces.iter().enumerate().take(at + LOOK_AHEAD).skip(at) {
            depth += i32::from(piece.is_byte(b'(')) - i32::from(piece.is_byte(b')'));
            if depth <= 0 {
                return if index == at { at } else { index + 1 };
            }
        }
        at
    }

    /// After `]]`, if an attribute opens at `at`.
    fn attribute_end(&self, pieces: &[Piece], at: usize) -> Option<usize> {
        pieces.get(at + 2).filter(|name| name.kind == TokenKind::Identifier)?;
        let mut depth = 0;
        for (index, piece) in pieces.iter().enumerate().take(at + LOOK_AHEAD).skip(at) {
            if piece.is_byte(b'{') || piece.is_byte(b';') {
                return None;
            }
            depth += i32::from(piece.is_byte(b'[')) - i32::from(piece.is_byte(b']'));
            if depth == 1 && index > at {
                return pieces.get(index + 1).filter(|close| close.is_byte(b']')).map(|_| index + 2);
            }
        }
        None
    }

    fn in_case_range(&self, next: Option<&Piece>) -> bool {
        let constant = |piece: &Piece| matches!(piece.kind, TokenKind::Number | TokenKind::Character);
        let in_braces =
            self.open.last().is_some_and(|open| matches!(open.kind, BracketKind::Brace | BracketKind::BraceAfterName));
        in_braces && next.is_some_and(constant) && self.out.last().is_some_and(constant)
    }

    fn is_assignment(&self, next: Option<&Piece>) -> bool {
        next.is_some_and(|next| {
            matches!(
                self.machine.bytes(next),
                b"=" | b"+=" | b"-=" | b"*=" | b"/=" | b"%=" | b"&=" | b"|=" | b"^=" | b"<<=" | b">>="
            )
        })
    }

    /// Whether the last piece written is one of these.
    fn after(&self, texts: &[&[u8]]) -> bool {
        self.out.last().is_some_and(|last| {
            let text = self.machine.bytes(last);
            texts.contains(&text)
        })
    }

    fn is_text(&self, piece: Option<&Piece>, text: &[u8]) -> bool {
        piece.is_some_and(|piece| self.machine.bytes(piece) == text)
    }

    /// A storage word, in the one form of C++ that may stand wherever CUDA allows the word.
    fn mark(&mut self, piece: Piece, word: &[u8]) -> usize {
        let text = [b"__declspec(", word, b")"].concat();
        self.invent(&text, TokenKind::Identifier, &piece);
        1
    }

    fn drop(&mut self, pieces: &[Piece]) -> usize {
        self.dropped.push((self.out.len(), pieces.to_vec()));
        pieces.len()
    }

    fn invent(&mut self, text: &[u8], kind: TokenKind, like: &Piece) {
        let piece = self.machine.invent(text, kind, like);
        self.out.push(Piece { flags: like.flags & SPACE, ..piece });
    }
}
