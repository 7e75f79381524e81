//! `a.f<3>(x)`, `p->f<&g>(x)`: calls of member templates, which the grammar takes for two comparisons unless `template` stands
//! before the name. It reads `template` only there: with types for arguments it goes without.

use super::pieces::Piece;
use super::replace::Machine;
use crate::source::lexer::TokenKind;

/// How many pieces the arguments may have.
const LOOK_AHEAD: usize = 64;

/// Whether the name at `name`, behind `.` or `->`, is given one value that is no name, and then called with something.
///
/// Without `template`, what may as well be two comparisons of a condition is taken for that: `a.x < 3 && b.y > (z)`.
pub fn are_given(machine: &Machine, pieces: &[Piece], name: usize, is_said: bool) -> bool {
    let is = |at: usize, text: &[u8]| pieces.get(at).is_some_and(|piece| machine.bytes(piece) == text);
    let named = pieces.get(name).is_some_and(|piece| piece.kind == TokenKind::Identifier);
    if !named || !pieces.get(name + 1).is_some_and(|open| open.is_byte(b'<')) || !is(name + 1, b"<") {
        return false;
    }
    let first = name + 2;
    let (mut angles, mut others, mut is_value) = (1i32, 0i32, false);
    for (at, piece) in pieces.iter().enumerate().skip(first).take(LOOK_AHEAD) {
        let text = machine.bytes(piece);
        match piece.kind {
            TokenKind::Number | TokenKind::Character | TokenKind::String => is_value = true,
            TokenKind::Identifier => {
                is_value |= matches!(text, b"true" | b"false" | b"nullptr" | b"sizeof" | b"alignof" | b"noexcept");
            }
            _ => match text {
                b"(" | b"[" | b"{" => {
                    others += 1;
                    is_value |= at == first || text == b"{";
                }
                b")" | b"]" | b"}" => others -= 1,
                b"<" if others == 0 => angles += 1,
                b">" if others == 0 => angles -= 1,
                b">>" if others == 0 => angles -= 2,
                b">>>" if others == 0 => angles -= 3,
                b";" => return false,
                b"," if others == 0 && angles == 1 => return false,
                b"&&" | b"||" | b"?" | b"=" if others == 0 && !is_said => return false,
                b"*" | b"&" => is_value |= at == first,
                b"::" | b"," | b"..." | b"<" | b">" | b">>" => {}
                b"&&" => is_value |= !is(at + 1, b">"),
                _ => is_value = true,
            },
        }
        if others < 0 || angles < 0 {
            return false;
        }
        if angles == 0 {
            return is_value && is(at + 1, b"(") && !is(at + 2, b")");
        }
    }
    false
}
