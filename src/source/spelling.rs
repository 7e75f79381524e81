//! Odd spellings, written as they are meant: digraphs as the brackets they stand for, a token that a line splice cuts
//! in two whole, with the splice behind it. As many bytes as before, so that places in the file stay.

use super::lexer::{TokenKind, lex};
use memchr::{memchr, memmem};

const DIGRAPHS: [(&[u8; 2], u8); 5] = [(b"<%", b'{'), (b"%>", b'}'), (b"<:", b'['), (b":>", b']'), (b"%:", b'#')];
/// Assignments by name. The grammar takes `x or_eq y` for a declaration.
const NAMES: [(&[u8], &[u8]); 3] = [(b"and_eq", b"&=    "), (b"or_eq", b"|=   "), (b"xor_eq", b"^=    ")];

pub fn plain(mut bytes: Vec<u8>) -> Vec<u8> {
    join_tokens(&mut bytes);
    let holds = |word: &[u8]| memmem::find(&bytes, word).is_some();
    if DIGRAPHS.iter().any(|(digraph, _)| holds(&digraph[..])) || NAMES.iter().any(|(name, _)| holds(name)) {
        respell(&mut bytes);
    }
    bytes
}

/// Moves each splice inside a token behind it.
fn join_tokens(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &bytes[at..]) {
        let start = at + found;
        at = start + 1;
        let blanks = bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        if bytes.get(at + blanks) != Some(&b'\n') || start == 0 {
            continue;
        }
        let next = at + blanks + 1;
        at = next;
        let Some(second) = bytes.get(next).copied() else { break };
        let first = bytes[start - 1];
        let rest = match (is_word(first), is_word(second)) {
            (true, true) => bytes[next..].iter().take_while(|byte| is_word(**byte)).count(),
            (false, false) if joins(first, second) => 1,
            _ => continue,
        };
        bytes[start..next + rest].rotate_left(next - start);
        at = start + rest;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// The two begin one punctuator, or a comment begins or ends.
fn joins(first: u8, second: u8) -> bool {
    match (first, second) {
        (b'/', b'/' | b'*') | (b'*', b'/') | (b'-', b'>') | (b':', b':') | (b'#', b'#') => true,
        (b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'&' | b'|' | b'!' | b'=' | b'<' | b'>', b'=') => true,
        (b'+' | b'-' | b'&' | b'|' | b'<' | b'>', again) => first == again,
        _ => false,
    }
}

/// Writes digraphs and names of assignments otherwise, but for those in literals and comments.
fn respell(bytes: &mut [u8]) {
    let tokens = lex(bytes).tokens;
    let mut done = 0;
    for (index, token) in tokens.iter().enumerate() {
        let (start, end) = (token.start() as usize, token.end() as usize);
        match token.kind() {
            TokenKind::Identifier => {
                if let Some((_, operator)) = NAMES.iter().find(|(name, _)| *name == &bytes[start..end]) {
                    bytes[start..end].copy_from_slice(operator);
                }
            }
            // A digraph is no token here: two that stand side by side, or the beginning of a longer one.
            TokenKind::Punctuator | TokenKind::Directive if start >= done => {
                let goes_on = end - start > 1 || tokens.get(index + 1).is_some_and(|next| next.start() as usize == end);
                let Some(pair) = bytes.get(start..start + 2).filter(|_| goes_on) else { continue };
                let found = DIGRAPHS.iter().find(|(digraph, _)| &digraph[..] == pair);
                // `<::` is `<` and `::`, unless `:` or `>` follows.
                let is_scope = bytes[start..].starts_with(b"<::") && !matches!(bytes.get(start + 3), Some(b':' | b'>'));
                if bytes[start..].starts_with(b"%:%:") {
                    bytes[start..start + 4].copy_from_slice(b"##  ");
                    done = start + 4;
                } else if let Some((_, meant)) = found.filter(|_| !is_scope) {
                    bytes[start..start + 2].copy_from_slice(&[*meant, b' ']);
                    done = start + 2;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    fn spelled(text: &str) -> String {
        String::from_utf8(plain(text.into())).expect("what was text stays text")
    }

    #[test]
    fn digraphs() {
        assert_eq!(spelled("%: define A\nint a<:3:>; <% x %>"), "#  define A\nint a[ 3] ; {  x } ");
        assert_eq!(spelled("f<::std::x> a ? b<c:d"), "f<::std::x> a ? b<c:d");
        assert_eq!(spelled("a<:::b:>"), "a[ ::b] ");
        assert_eq!(spelled("\"<%\" // <%\n'%:'"), "\"<%\" // <%\n'%:'");
        assert_eq!(spelled("x or_eq y; color_eq and_eq 3"), "x |=    y; color_eq &=     3");
    }

    #[test]
    fn splices() {
        assert_eq!(spelled("__sync\\\nthreads();"), "__syncthreads\\\n();");
        assert_eq!(spelled("a <\\\n= b &\\\r\n& c"), "a <=\\\n b &&\\\r\n c");
        assert_eq!(spelled("/\\\n* c *\\\n/ d"), "/*\\\n c */\\\n d");
        assert_eq!(spelled("#define A x;\\\ny\\\n  z"), "#define A x;\\\ny\\\n  z");
    }
}
