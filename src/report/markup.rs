//! Text -> text that stands for itself in HTML and XML, elements and attributes alike.

/// Characters that XML does not allow, not even escaped, are replaced.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Bare, it would be a blank in an attribute.
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push(character),
            _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
