//! Where the grammar met what it has no rule for: `grammar-queries/broken.scm` asked of a tree with errors.

use crate::text::Span;
use rustc_hash::FxHashSet;
use tree_sitter::{Language, Query, QueryCursor, StreamingIterator, Tree};

const QUERY: &str = include_str!("../../grammar-queries/broken.scm");

pub struct Breaks {
    query: Query,
}

impl Breaks {
    /// Compiling the query takes some 15 ms, so it waits for the first tree with an error.
    pub fn new(language: &Language) -> Breaks {
        Breaks { query: Query::new(language, QUERY).expect("the query is part of the program and tested") }
    }

    /// The places that may have lost control flow, in source order.
    pub fn places(&self, tree: &Tree, text: &[u8]) -> Vec<Span> {
        if let Some(whole) = shapeless(tree) {
            return vec![whole];
        }
        let mut harmless = FxHashSet::default();
        let mut broken = Vec::new();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&self.query, tree.root_node(), text);
        while let Some(found) = matches.next() {
            for capture in found.captures() {
                match self.query.capture_names()[capture.index as usize] {
                    "harmless" => {
                        harmless.insert(capture.node.id());
                    }
                    "broken" => broken.push(capture.node),
                    _ => {}
                }
            }
        }
        broken.retain(|node| !harmless.contains(&node.id()));
        let mut places: Vec<Span> = broken.iter().map(|node| Span::new(node.start_byte(), node.end_byte())).collect();
        places.sort();
        places
    }
}

/// More tokens side by side without any structure than a query gets through: it looks at all that follow, at each.
const MOST_IN_ONE: usize = 4096;

/// The first error that is a heap of tokens.
fn shapeless(tree: &Tree) -> Option<Span> {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() && node.child_count() as usize > MOST_IN_ONE {
            return Some(Span::new(node.start_byte(), node.end_byte()));
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_known_on_both_sides() {
        let breaks = Breaks::new(&tree_sitter_cpp::LANGUAGE.into());
        let mut names = breaks.query.capture_names().to_vec();
        names.sort();
        assert_eq!(names, ["broken", "harmless"]);
    }

    #[test]
    fn a_heap_of_tokens_is_one_break() {
        let language = tree_sitter_cpp::LANGUAGE.into();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&language).unwrap();
        let text = format!("void f() {{ {}", "{".repeat(50_000));
        let places = Breaks::new(&language).places(&parser.parse(&text, None).unwrap(), text.as_bytes());
        assert_eq!(places.len(), 1);
    }

    #[test]
    fn harmless_breaks_are_left_out() {
        let language = tree_sitter_cpp::LANGUAGE.into();
        let breaks = Breaks::new(&language);
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&language).unwrap();
        let mut places = |text: &str| breaks.places(&parser.parse(text, None).unwrap(), text.as_bytes()).len();
        assert_eq!(places("void f() { g(a); } int x"), 0);
        assert_eq!(places("void f() { goto end; end: }"), 0);
        assert_eq!(places("void f() { auto l = [&...xs] {}; }"), 0);
        assert_eq!(places("void f() { goto *x; }"), 1);
        assert_ne!(places("void f() { if (x) else y; }"), 0);
    }
}
