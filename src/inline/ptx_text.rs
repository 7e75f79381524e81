//! The text of inline PTX -> instructions, each with predicate, opcode and operands.

use crate::program::BinaryOp;

/// One instruction.
pub struct Instruction<'t> {
    /// `@p`, and whether negated.
    pub predicate: Option<(&'t str, bool)>,
    pub opcode: &'t str,
    pub parts: Vec<&'t str>,
    pub operands: Vec<&'t str>,
}

/// Whether the assembly waits for other threads, talks to them, or ends the thread.
pub fn waits(text: &str) -> bool {
    let text = without_comments(text);
    text.split(';').filter_map(read).any(|instruction| {
        matches!(
            instruction.parts.first().copied(),
            Some("bar" | "barrier" | "exit" | "vote" | "shfl" | "match" | "redux" | "elect")
        )
    })
}

/// A label, or the text of an instruction or directive.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    Label(&'t str),
    Text(&'t str),
}

/// The pieces of an assembly without comments, in order.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for piece in text.split(';') {
        let mut rest = piece;
        while let Some((label, behind)) = labelled(rest) {
            pieces.push(Piece::Label(label));
            rest = behind;
        }
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// `DONE: ..`, also behind a brace.
fn labelled(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '}');
    let (label, behind) = inner.split_once(':')?;
    let is_label = !label.is_empty() && !label.contains(|c: char| c.is_whitespace() || c == '.' || c == '@');
    (is_label && !behind.starts_with(':')).then_some((label, behind))
}

/// Registers that the assembly declares: `.reg .pred p, q`.
pub fn declared_registers<'t>(pieces: &[Piece<'t>]) -> Vec<&'t str> {
    let mut names = Vec::new();
    for piece in pieces {
        let Piece::Text(text) = piece else { continue };
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '{' || c == '}');
        let Some(rest) = text.strip_prefix(".reg") else { continue };
        let Some((_, list)) = rest.trim_start().split_once(char::is_whitespace) else { continue };
        names.extend(list.split(',').map(str::trim).filter(|name| !name.is_empty()));
    }
    names
}

/// The label an instruction branches to.
pub fn branch_target<'t>(instruction: &Instruction<'t>) -> Option<&'t str> {
    match (instruction.parts.first(), &instruction.operands[..]) {
        (Some(&"bra"), [label]) => Some(label),
        _ => None,
    }
}

pub fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let line = rest.find("//");
        let block = rest.find("/*");
        match (line, block) {
            (Some(at), other) if other.is_none_or(|block| at < block) => {
                clean.push_str(&rest[..at]);
                rest = rest[at..].find('\n').map_or("", |end| &rest[at + end..]);
            }
            (_, Some(at)) => {
                clean.push_str(&rest[..at]);
                clean.push(' ');
                rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
            }
            _ => break,
        }
    }
    clean.push_str(rest);
    clean
}

pub fn read(piece: &str) -> Option<Instruction<'_>> {
    let mut rest = piece.trim_matches(|c: char| c.is_whitespace() || c == '{' || c == '}');
    // A closing brace may belong to a vector operand at the end.
    if piece.contains('{') && rest.contains('{') && !rest.contains('}') {
        let end = piece.rfind('}').map_or(piece.len(), |at| at + 1);
        let start = piece.find(rest)?;
        rest = piece.get(start..end)?.trim();
    }
    if let Some((_, behind)) = labelled(rest) {
        rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '{');
    }
    if rest.is_empty() || rest.starts_with('.') {
        return None;
    }
    let mut predicate = None;
    if let Some(behind) = rest.strip_prefix('@') {
        let (name, after) = behind.split_once(char::is_whitespace)?;
        predicate = match name.strip_prefix('!') {
            Some(name) => Some((name, true)),
            None => Some((name, false)),
        };
        rest = after.trim_start();
    }
    let (opcode, operands) = match rest.split_once(char::is_whitespace) {
        Some((opcode, operands)) => (opcode, operands.trim()),
        None => (rest, ""),
    };
    // `barrier.cta::...` and the like: qualifiers with `::` are one part.
    let parts = opcode.split('.').filter(|part| !part.is_empty()).collect();
    Some(Instruction { predicate, opcode, parts, operands: split_operands(operands) })
}

pub fn split_operands(text: &str) -> Vec<&str> {
    let mut operands = Vec::new();
    let (mut depth, mut start) = (0usize, 0usize);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                operands.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        operands.push(text[start..].trim());
    }
    operands
}

/// `{%0, %1}` is two, everything else one.
pub fn vector_parts(operand: &str) -> Vec<&str> {
    match operand.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => inner.split(',').map(str::trim).collect(),
        None => vec![operand],
    }
}

pub fn operand_number(name: &str) -> Option<usize> {
    name.strip_prefix('%').filter(|rest| rest.bytes().next().is_some_and(|byte| byte.is_ascii_digit()))?.parse().ok()
}

pub fn number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = digits.trim_end_matches(['U', 'u']);
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16).ok()?
    } else if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() {
        digits.parse().ok()?
    } else {
        return None;
    };
    Some(if negative { -value } else { value })
}

/// Instructions without effects besides their result.
pub fn is_plain(opcode: &str) -> bool {
    matches!(
        opcode,
        "mov"
            | "cvt"
            | "cvta"
            | "mapa"
            | "add"
            | "sub"
            | "mul"
            | "mad"
            | "fma"
            | "div"
            | "rem"
            | "abs"
            | "min"
            | "max"
            | "neg"
            | "not"
            | "sqrt"
            | "rsqrt"
            | "rcp"
            | "sin"
            | "cos"
            | "lg2"
            | "ex2"
            | "tanh"
            | "bfe"
            | "bfi"
            | "bfind"
            | "brev"
            | "clz"
            | "popc"
            | "prmt"
            | "lop3"
            | "shf"
            | "shl"
            | "shr"
            | "sad"
            | "dp4a"
            | "dp2a"
            | "set"
            | "slct"
            | "addc"
            | "subc"
            | "madc"
            | "testp"
            | "copysign"
            | "isspacep"
            | "fns"
            | "mma"
            | "ldmatrix"
            | "mbarrier"
            | "tex"
            | "suld"
    )
}

pub fn comparison(parts: &[&str]) -> Option<BinaryOp> {
    Some(match *parts.get(1)? {
        "eq" | "equ" => BinaryOp::Eq,
        "ne" | "neu" => BinaryOp::Ne,
        "lt" | "lo" | "ltu" => BinaryOp::Lt,
        "le" | "ls" | "leu" => BinaryOp::Le,
        "gt" | "hi" | "gtu" => BinaryOp::Gt,
        "ge" | "hs" | "geu" => BinaryOp::Ge,
        _ => return None,
    })
}
