//! Inline assembly: the pieces of the template joined, operands numbered.

use crate::lower::expressions::expression;
use crate::lower::literals::string;
use crate::lower::reader::Reader;
use crate::lower::tree::{Field, Id, Kind};
use crate::program::{Asm, Expr};

/// `%[name]` becomes the operand's number, `%%` a per cent sign.
pub fn assembly(reader: &mut Reader, id: Id) -> Asm {
    let mut names: Vec<Option<&str>> = Vec::new();
    let mut outputs = Vec::new();
    let mut inputs = Vec::new();
    let template = reader.child(id, Field::AssemblyCode).map(|code| joined(reader, code)).unwrap_or_default();
    if let Some(list) = reader.child(id, Field::OutputOperands) {
        operands(reader, list, &mut outputs, &mut names);
    }
    if let Some(list) = reader.child(id, Field::InputOperands) {
        operands(reader, list, &mut inputs, &mut names);
    }
    Asm { text: numbered(&template, &names), outputs, inputs, span: reader.span(id) }
}

/// `"a" "b" R"(c)"` as one string.
pub fn joined(reader: &Reader, id: Id) -> String {
    match reader.kind(id) {
        Kind::ConcatenatedString => {
            let pieces = reader.tree.children(id).filter(|piece| reader.kind(*piece) != Kind::Error);
            pieces.map(|piece| string(reader.text(piece))).collect()
        }
        _ => string(reader.text(id)),
    }
}

fn operands<'a>(
    reader: &mut Reader<'a>,
    list: Id,
    operands: &mut Vec<(String, Expr)>,
    names: &mut Vec<Option<&'a str>>,
) {
    for operand in reader.tree.children(list) {
        if let Kind::GnuAsmOutputOperand | Kind::GnuAsmInputOperand = reader.kind(operand) {
            let constraint = reader.child(operand, Field::Constraint).map(|text| joined(reader, text));
            let value = reader.child(operand, Field::Value);
            names.push(reader.child(operand, Field::Symbol).map(|symbol| reader.text(symbol)));
            let value = match value {
                Some(value) => expression(reader, value),
                None => reader.unreadable(operand),
            };
            operands.push((constraint.unwrap_or_default(), value));
        }
    }
}

fn numbered(template: &str, names: &[Option<&str>]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let named = rest.strip_prefix("%[").and_then(|tail| tail.split_once(']'));
        if let Some((name, tail)) = named
            && let Some(number) = names.iter().position(|known| *known == Some(name))
        {
            out.push_str(&format!("%{number}"));
            rest = tail;
        } else {
            out.push('%');
            rest = rest.strip_prefix("%%").unwrap_or(&rest[1..]);
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn operands_are_numbered() {
        let names = [None, Some("sum"), Some("lane")];
        assert_eq!(
            super::numbered("mov.u32 %[sum], %%laneid; add %0, %[lane], %[what];", &names),
            "mov.u32 %1, %laneid; add %0, %2, %[what];"
        );
    }
}
