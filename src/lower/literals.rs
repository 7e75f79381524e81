//! Numbers, characters and strings as written, into values.

use crate::program::{ExprKind, IntType};

/// Integers wrap beyond 64 bits; what is no number is an unknown value.
pub fn number(text: &str) -> ExprKind {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text[1..].trim_start()),
        Some(b'+') => (false, text[1..].trim_start()),
        _ => (false, text),
    };
    let digits: String = digits.chars().filter(|c| *c != '\'').map(|c| c.to_ascii_lowercase()).collect();
    let (base, rest) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, &digits[2..]),
        [b'0', b'b', ..] => (2, &digits[2..]),
        [b'0', b'0'..=b'9', ..] => (8, &digits[1..]),
        _ => (10, digits.as_str()),
    };
    let is_float = rest.contains('.')
        || (base == 16 && rest.contains('p'))
        || (matches!(base, 8 | 10) && rest.contains('e'))
        || (base == 10 && rest.ends_with('f'));
    if is_float {
        let value = if base == 16 { hexadecimal_float(rest) } else { decimal_float(&digits) };
        let is_single = base == 10 && rest.ends_with('f') || base == 16 && rest.contains('p') && rest.ends_with('f');
        let bits = if is_single { 32 } else { 64 };
        return ExprKind::Float { value: if negative { -value } else { value }, bits };
    }
    let end = rest.find(|c: char| !c.is_digit(base)).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let magnitude = digits.chars().fold(0u64, |value, c| {
        value.wrapping_mul(u64::from(base)).wrapping_add(u64::from(c.to_digit(base).unwrap_or(0)))
    });
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    ExprKind::Int { value: value as i64, ty: type_of(magnitude, base, suffix) }
}

/// The first type that the suffix allows and that holds the value; only what is not decimal becomes unsigned unasked.
fn type_of(magnitude: u64, base: u32, suffix: &str) -> IntType {
    use IntType::{Int, Long, Unsigned, UnsignedLong};
    let is_unsigned = suffix.contains('u');
    let is_long = suffix.contains('l') || suffix.contains('z');
    let fits = |ty: &IntType| match ty {
        Int => i32::try_from(magnitude).is_ok(),
        Unsigned => u32::try_from(magnitude).is_ok(),
        Long => i64::try_from(magnitude).is_ok(),
        _ => true,
    };
    let allowed = |ty: &IntType| match ty {
        Int => !is_unsigned && !is_long,
        Unsigned => !is_long && (is_unsigned || base != 10),
        Long => !is_unsigned,
        _ => is_unsigned || base != 10,
    };
    [Int, Unsigned, Long, UnsignedLong].into_iter().find(|ty| allowed(ty) && fits(ty)).unwrap_or(Long)
}

fn decimal_float(text: &str) -> f64 {
    let end = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '_');
    end.trim_end_matches('.').parse().unwrap_or(0.0)
}

fn hexadecimal_float(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once('p').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = whole.chars().filter_map(|c| c.to_digit(16)).fold(0.0, |sum, digit| sum * 16.0 + f64::from(digit));
    let mut scale = 1.0 / 16.0;
    for digit in fraction.chars().filter_map(|c| c.to_digit(16)) {
        value += f64::from(digit) * scale;
        scale /= 16.0;
    }
    let exponent: i32 = exponent.trim_end_matches(['f', 'l']).parse().unwrap_or(0);
    value * 2f64.powi(exponent)
}

/// `'a'`, `L'\n'`, `'ab'`
pub fn character(text: &str) -> ExprKind {
    let open = text.find('\'').map_or(0, |at| at + 1);
    let inside = text.get(open..).unwrap_or_default();
    let inside = &inside[..inside.rfind('\'').unwrap_or(inside.len())];
    let value = unescaped(inside).chars().fold(0i64, |value, c| value.wrapping_mul(256).wrapping_add(c as i64));
    // `L'a'`, `'ab'`
    let is_char = matches!(text.as_bytes().first(), Some(b'\'')) && (0..256).contains(&value);
    ExprKind::Int { value, ty: if is_char { IntType::Char } else { IntType::Int } }
}

/// What stands between the quotes of a string literal, raw or not, escapes resolved.
pub fn string(text: &str) -> String {
    let Some(open) = text.find('"') else { return String::new() };
    let inside = &text[open + 1..];
    let inside = &inside[..inside.rfind('"').unwrap_or(inside.len())];
    if text[..open].ends_with('R') {
        let body = inside.split_once('(').map_or("", |(_, body)| body);
        return body.rsplit_once(')').map_or(body, |(body, _)| body).to_string();
    }
    unescaped(inside)
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escape) = chars.next() else { break };
        let mut digits = |base: u32, most: usize, first: u32| {
            let mut value = first;
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(base)) else { break };
                value = value.wrapping_mul(base).wrapping_add(digit);
                chars.next();
            }
            char::from_u32(value).unwrap_or('\u{fffd}')
        };
        match escape {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\x07'),
            'b' => out.push('\x08'),
            'f' => out.push('\x0c'),
            'v' => out.push('\x0b'),
            'x' => out.push(digits(16, 8, 0)),
            'u' => out.push(digits(16, 4, 0)),
            'U' => out.push(digits(16, 8, 0)),
            '0'..='7' => out.push(digits(8, 2, escape.to_digit(8).unwrap_or(0))),
            // A spliced line
            '\n' => {}
            '\r' => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(text: &str) -> (i64, IntType) {
        match number(text) {
            ExprKind::Int { value, ty } => (value, ty),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn integers() {
        use IntType::{Int, Long, Unsigned, UnsignedLong};
        for (text, value, ty) in [
            ("1'000", 1000, Int),
            ("0x7F", 127, Int),
            ("0xFFFFFFFF", 0xFFFF_FFFF, Unsigned),
            ("0xFFFFFFFFFFFFFFFF", -1, UnsignedLong),
            ("0x00000000FFFFFFFFll", 0xFFFF_FFFF, Long),
            ("4294967295", 4294967295, Long),
            ("0b101u", 5, Unsigned),
            ("017", 15, Int),
            ("0", 0, Int),
            ("0xfUL", 15, UnsignedLong),
            ("1l", 1, Long),
            ("1uz", 1, UnsignedLong),
            ("5000000000u", 5000000000, UnsignedLong),
            ("-1", -1, Int),
            ("18446744073709551617", 1, Int),
        ] {
            assert_eq!(integer(text), (value, ty), "{text}");
        }
    }

    #[test]
    fn floats() {
        for (text, value, bits) in [
            ("1.5f", 1.5, 32),
            (".5", 0.5, 64),
            ("1.", 1.0, 64),
            ("1e3F", 1000.0, 32),
            ("0x1.8p3", 12.0, 64),
            ("0x1.8p3f", 12.0, 32),
            ("2.0_km", 2.0, 64),
            ("-1.f", -1.0, 32),
            ("1e-2L", 0.01, 64),
        ] {
            let got = number(text);
            let matches = matches!(got, ExprKind::Float { value: got, bits: of } if got == value && of == bits);
            assert!(matches, "{text}: {got:?}");
        }
    }

    #[test]
    fn characters_and_strings() {
        for (text, value) in
            [("'a'", 97), ("L'\\n'", 10), ("'\\x41'", 65), ("'\\0'", 0), ("'\\''", 39), ("'ab'", 97 * 256 + 98)]
        {
            assert!(matches!(character(text), ExprKind::Int { value: got, .. } if got == value), "{text}");
        }
        assert_eq!(string(r#""a\"b\n""#), "a\"b\n");
        assert_eq!(string("u8R\"x(a\\n)\")x\""), "a\\n)\"");
    }
}
