//! An item's tokens -> the text that the C++ parser is to see, each byte knowing where it came from.
//!
//! Functions become `template <..> RESULT NAME(PARAMS) : INITIALISERS { BODY }` with a plain identifier for a name; classes keep
//! their members and lose the bodies of their methods.

use super::extract::extract_expanded;
use super::view::View;
use super::{FileItems, Found, FunctionParts, ItemKind, Made, Role, Tokens};
use crate::source::expand::{Dropped, Expansion, Unit, expand};
use crate::source::lexer::{TokenKind, lex};
use crate::source::select::Selection;
use crate::text::{Expanded, Invocation, Segment};
use std::ops::Range;

/// What the parser is to see of one item.
#[derive(Clone, Debug, Default)]
pub struct ItemText {
    pub expanded: Expanded,
    /// Attributes taken out (`__shared__`), by where they stood in the text.
    pub dropped: Vec<Dropped>,
    /// Something of it is missing: macros made more text than is sensible, or the file ends inside the body.
    pub is_cut: bool,
}

/// Where an item's token ranges count.
pub(crate) enum Source<'a, 'f> {
    File { unit: &'a Unit<'f>, selection: &'a Selection },
    Made(&'a Made),
}

pub(crate) fn function_text(source: &Source, found: &Found, parts: &FunctionParts) -> ItemText {
    let mut text = Composer::default();
    match source {
        Source::Made(made) => {
            let view = View::all(made.expansion.expanded.text.as_bytes(), &made.tokens);
            let invocations = text.bring(&made.expansion);
            text.function(Origin { expansion: &made.expansion, view: &view, invocations }, found, parts);
        }
        // A function that has the name of a macro known from elsewhere.
        Source::File { unit, .. } if unit.is_macro(found.name_token) => text.function_in_pieces(source, found, parts),
        Source::File { unit, selection } => {
            let expansion = expand(unit, selection, found.tokens.clone());
            let lexed = lex(expansion.expanded.text.as_bytes());
            let view = View::all(expansion.expanded.text.as_bytes(), &lexed.tokens);
            let again: FileItems = extract_expanded(&view, &[]);
            let function = again.found.iter().find_map(|again| match &again.kind {
                ItemKind::Function(parts) => Some((again, parts)),
                _ => None,
            });
            match function {
                Some((again, expanded_parts)) if expanded_parts.body.is_some() == parts.body.is_some() => {
                    let again = Found { name: found.name.clone(), ..again.clone() };
                    let parts = FunctionParts { role: parts.role, ..expanded_parts.clone() };
                    let invocations = text.bring(&expansion);
                    text.function(Origin { expansion: &expansion, view: &view, invocations }, &again, &parts);
                }
                // Expansion made something else of it: the header by its tokens, the body as it comes.
                _ => text.function_in_pieces(source, found, parts),
            }
        }
    }
    text.done
}

/// `hidden` are the ranges left out: the initialisers and bodies of its methods.
pub(crate) fn class_text(source: &Source, found: &Found, hidden: &[Tokens]) -> ItemText {
    let ItemKind::Class(parts) = &found.kind else { return ItemText::default() };
    let mut text = Composer::default();
    let own_header = found.templates.last();
    if let Some(header) = own_header {
        text.add(source, header.clone());
        text.literal(" ");
    }
    text.literal(if parts.is_union { "union " } else { "struct " });
    text.name_of(source, found.name_token, &found.name);
    if let Some(arguments) = &parts.arguments {
        text.literal("<");
        text.add(source, arguments.clone());
        text.literal(closing_brackets(source, arguments.end));
    }
    text.literal(" ");
    if let Some(bases) = &parts.bases {
        text.add(source, bases.clone());
        text.literal(" ");
    }
    if let Some(body) = &parts.body {
        let mut from = body.start;
        for range in hidden {
            if range.start >= from && range.end <= body.end {
                text.add(source, from..range.start);
                text.literal(";");
                from = range.end;
            }
        }
        text.add(source, from..body.end);
    }
    text.literal(";");
    text.done
}

/// `typedef struct Tag { .. } Name;` where the class is an item of its own.
pub(crate) fn alias_text(source: &Source, found: &Found, class: &str) -> ItemText {
    let mut text = Composer::default();
    text.literal("using ");
    text.name_of(source, found.name_token, &found.name);
    text.literal(" = ");
    text.literal(class);
    text.literal(";");
    text.done
}

/// A declaration as it stands, expanded.
pub(crate) fn plain_text(source: &Source, tokens: Tokens) -> ItemText {
    let mut text = Composer::default();
    text.add(source, tokens);
    text.done
}

/// An expansion whose pieces are put together anew.
#[derive(Copy, Clone)]
struct Origin<'a, 'v> {
    expansion: &'a Expansion,
    /// Over the whole of it.
    view: &'a View<'v>,
    /// Where its invocations begin in the table of the text made.
    invocations: u32,
}

#[derive(Default)]
struct Composer {
    done: ItemText,
}

impl Composer {
    fn function(&mut self, from: Origin, found: &Found, parts: &FunctionParts) {
        let view = from.view;
        for header in found.templates.iter().skip(parts.class_headers as usize) {
            self.tokens(from, header.clone());
            self.literal(" ");
        }
        match converted_to(&found.name, parts.role) {
            Some(written) => self.literal(written),
            None => self.result(from, parts),
        }
        self.literal(" ");
        let place = view.token(found.name_token as usize).map_or(0, |token| token.start());
        if let (Some(arguments), Some(class)) = (&parts.class_arguments, found.qualifier.last()) {
            self.name_at(from, place, class);
            self.literal("<");
            self.tokens(from, arguments.clone());
            self.literal(">::");
        }
        self.name_at(from, place, &plain_name(&found.name, parts.role));
        if let Some(arguments) = parts.arguments.as_ref().filter(|_| parts.role == Role::Plain) {
            self.literal("<");
            self.tokens(from, arguments.clone());
            self.literal(">");
        }
        self.literal("(");
        self.tokens(from, parts.params.clone());
        self.literal(")");
        let mut behind = parts.params.end as usize + 1;
        if view.is(behind, b"const") {
            self.literal(" const");
            behind += 1;
        }
        for qualifier in ["&", "&&"] {
            if view.is(behind, qualifier.as_bytes()) {
                self.literal(" ");
                self.literal(qualifier);
            }
        }
        self.requirements(from, parts);
        if let Some(initialisers) = &parts.initialisers {
            self.literal(" ");
            self.tokens(from, initialisers.clone());
        }
        match &parts.body {
            Some(body) => {
                self.literal(" ");
                self.tokens(from, body.clone());
                let is_open = |at: &u32| view.byte(*at as usize, b'{') && !view.is_closed(*at as usize);
                let left = if view.is_closed(body.start as usize) { 0 } else { body.clone().filter(is_open).count() };
                self.literal(&"}".repeat(left));
                self.done.is_cut |= left > 0;
            }
            None => self.literal(";"),
        }
        self.done.is_cut |= from.expansion.overflowed;
    }

    /// All `requires` clauses as one behind the parameters; those that look into types are left out.
    fn requirements(&mut self, from: Origin, parts: &FunctionParts) {
        let view = from.view;
        let plain = |range: &&Tokens| !(range.start..range.end).any(|at| view.byte(at as usize, b'{'));
        for (index, range) in parts.requirements.iter().filter(plain).enumerate() {
            self.literal(if index == 0 { " requires ((" } else { " && (" });
            self.tokens(from, range.clone());
            self.literal(")");
        }
        if parts.requirements.iter().any(|range| plain(&range)) {
            self.literal(")");
        }
    }

    /// The header by its tokens in the file, and the body as it comes.
    fn function_in_pieces(&mut self, source: &Source, found: &Found, parts: &FunctionParts) {
        for header in found.templates.iter().skip(parts.class_headers as usize) {
            self.add(source, header.clone());
            self.literal(" ");
        }
        let mut result = Composer::default();
        result.add(source, parts.trailing.clone().unwrap_or(parts.result.clone()));
        let result = result.done.expanded.text;
        let simple = result.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:<>,*& ".contains(&byte));
        self.literal(match (result.trim(), converted_to(&found.name, parts.role)) {
            (_, Some(written)) => written,
            ("", _) => "void",
            (written, _) if simple && !written.contains("decltype") => written,
            _ => "auto",
        });
        self.literal(" ");
        self.name_of(source, found.name_token, &plain_name(&found.name, parts.role));
        self.literal("(");
        self.add(source, parts.params.clone());
        self.literal(")");
        if let Some(initialisers) = &parts.initialisers {
            self.add(source, initialisers.clone());
        }
        match &parts.body {
            Some(body) => self.add(source, body.clone()),
            None => self.literal(";"),
        }
    }

    /// The result type where it is made of simple tokens, else `auto`; `void` where none is written.
    fn result(&mut self, from: Origin, parts: &FunctionParts) {
        let view = from.view;
        let written = parts.trailing.as_ref().unwrap_or(&parts.result);
        let mut words: Vec<usize> =
            (written.start as usize..written.end as usize).filter(|at| !is_dropped_word(view.text(*at))).collect();
        // `decltype(of.count, void())` asks what `decltype(of.count)` does, and no grammar reads the rest.
        let spelled: Vec<&[u8]> = words.iter().map(|at| view.text(*at)).collect();
        if let [b"decltype", .., b",", b"void", b"(", b")", b")"] = spelled[..] {
            words.drain(words.len() - 5..words.len() - 1);
        }
        let simple = words.iter().all(|at| match view.kind(*at) {
            Some(TokenKind::Identifier) => {
                !matches!(view.text(*at), b"decltype" | b"requires" | b"noexcept" | b"operator" | b"typeof")
            }
            Some(TokenKind::Number) => true,
            _ => matches!(view.text(*at), b"::" | b"<" | b">" | b">>" | b"," | b"*" | b"&" | b"&&"),
        });
        if parts.initialisers.is_some() {
            // The grammar takes initialisers only where no type stands before the name.
            return;
        }
        if words.is_empty() || matches!(parts.role, Role::Constructor | Role::Destructor) {
            return self.literal("void");
        }
        if let [word, _, auto, _] = words[..]
            && (view.text(word), view.text(auto)) == (b"decltype", b"auto")
        {
            // What is returned may be a reference.
            return self.literal("auto &&");
        }
        // `enable_if_t<!is_same<T, int>::value>` decides whether the function is there at all.
        let decides = |at: &usize| matches!(view.text(*at), b"enable_if_t" | b"enable_if");
        let readable = |at: &usize| !matches!(view.text(*at), b"decltype" | b"requires" | b"{" | b"}" | b"operator");
        let decided = words.iter().any(decides) && words.iter().all(readable);
        // So does `decltype(of.count)`, if what it asks of is plain enough to be read before the parameters.
        let asks = words.first().is_some_and(|at| view.is(*at, b"decltype"))
            && words.iter().all(|at| match view.kind(*at) {
                Some(TokenKind::Identifier) => {
                    !matches!(view.text(*at), b"requires" | b"noexcept" | b"operator" | b"typeof" | b"new" | b"sizeof")
                }
                Some(TokenKind::Number) => true,
                _ => !matches!(view.text(*at), b"{" | b"}" | b"[" | b"]" | b"=" | b"?" | b"..."),
            });
        if !(simple || decided || asks) {
            return self.literal("auto");
        }
        for (index, at) in words.into_iter().enumerate() {
            if index > 0 && view.token(at).is_some_and(|token| token.space_before()) {
                self.literal(" ");
            }
            self.tokens(from, at as u32..at as u32 + 1);
        }
    }

    /// Tokens of the source, expanded.
    fn add(&mut self, source: &Source, tokens: Tokens) {
        match source {
            Source::File { unit, selection } => {
                let expansion = expand(unit, selection, tokens);
                let invocations = self.bring(&expansion);
                self.piece(&expansion, invocations, 0..expansion.expanded.text.len() as u32);
                self.done.is_cut |= expansion.overflowed;
            }
            Source::Made(made) => {
                let invocations = self.bring(&made.expansion);
                let bounds = made.bytes_of(&tokens);
                self.piece(&made.expansion, invocations, bounds);
            }
        }
    }

    fn tokens(&mut self, from: Origin, range: Tokens) {
        let first = from.view.token(range.start as usize);
        let last = range.end.checked_sub(1).and_then(|last| from.view.token(last as usize));
        if let (Some(first), Some(last)) = (first, last)
            && range.start < range.end
        {
            self.piece(from.expansion, from.invocations, first.start()..last.end());
        }
    }

    /// A name, possibly not spelled so in the source, at the place of the token that it stands for.
    fn name_of(&mut self, source: &Source, token: u32, name: &str) {
        match source {
            Source::Made(made) => {
                let view = View::all(&[], &[]);
                let invocations = self.bring(&made.expansion);
                let from = Origin { expansion: &made.expansion, view: &view, invocations };
                self.name_at(from, made.bytes_of(&(token..token + 1)).start, name);
            }
            Source::File { unit, .. } => {
                let file = unit.files.get(unit.file);
                let start = file.tokens.get(token as usize).map_or(0, |token| token.start());
                let out = self.done.expanded.text.len() as u32;
                let verbatim = file.bytes.get(start as usize..).is_some_and(|bytes| bytes.starts_with(name.as_bytes()));
                self.segment(Segment { out, file: unit.file, source: start, invocation: None, verbatim });
                self.done.expanded.text.push_str(name);
            }
        }
    }

    fn name_at(&mut self, from: Origin, place: u32, name: &str) {
        let expanded = &from.expansion.expanded;
        let index = expanded.segments.partition_point(|segment| segment.out <= place).saturating_sub(1);
        if let Some(segment) = expanded.segments.get(index) {
            let offset = if segment.verbatim { place - segment.out } else { 0 };
            let out = self.done.expanded.text.len() as u32;
            let spelled = expanded.text.get(place as usize..).is_some_and(|text| text.starts_with(name));
            let invocation = segment.invocation.map(|invocation| invocation + from.invocations);
            let source = segment.source + offset;
            self.segment(Segment { out, source, invocation, verbatim: segment.verbatim && spelled, ..*segment });
        }
        self.done.expanded.text.push_str(name);
    }

    /// Text that stands nowhere; it takes the place of what was written last.
    fn literal(&mut self, text: &str) {
        let out = self.done.expanded.text.len() as u32;
        if let Some(last) = self.done.expanded.segments.last().copied() {
            let offset = if last.verbatim { (out - last.out).saturating_sub(1) } else { 0 };
            self.segment(Segment { out, source: last.source + offset, verbatim: false, ..last });
        }
        self.done.expanded.text.push_str(text);
    }

    /// The first segment covers what was written before anything had a place.
    fn segment(&mut self, segment: Segment) {
        let segments = &mut self.done.expanded.segments;
        match segments.last_mut() {
            None if segment.out > 0 => {
                segments.push(Segment { out: 0, verbatim: false, ..segment });
                segments.push(segment);
            }
            Some(last) if last.out == segment.out => *last = segment,
            _ => segments.push(segment),
        }
    }

    fn piece(&mut self, expansion: &Expansion, invocations: u32, bytes: Range<u32>) {
        let from = &expansion.expanded;
        let Some(text) = from.text.get(bytes.start as usize..bytes.end as usize) else { return };
        let base = self.done.expanded.text.len() as u32;
        let first = from.segments.partition_point(|segment| segment.out <= bytes.start).saturating_sub(1);
        for segment in from.segments.iter().skip(first).take_while(|segment| segment.out < bytes.end) {
            let cut = bytes.start.saturating_sub(segment.out);
            let source = segment.source + if segment.verbatim { cut } else { 0 };
            let invocation = segment.invocation.map(|invocation| invocation + invocations);
            self.segment(Segment { out: base + (segment.out + cut - bytes.start), source, invocation, ..*segment });
        }
        for dropped in &expansion.dropped {
            if dropped.out >= bytes.start && dropped.out <= bytes.end {
                self.done.dropped.push(Dropped { out: base + (dropped.out - bytes.start), ..dropped.clone() });
            }
        }
        self.done.expanded.text.push_str(text);
    }

    /// Takes over an expansion's table of invocations; where it begins.
    fn bring(&mut self, expansion: &Expansion) -> u32 {
        let table = &mut self.done.expanded.invocations;
        let base = table.len() as u32;
        table.extend(expansion.expanded.invocations.iter().map(|invocation| {
            let parent = invocation.parent.map(|parent| parent + base);
            Invocation { parent, ..invocation.clone() }
        }));
        base
    }
}

impl Made {
    pub(crate) fn bytes_of(&self, tokens: &Tokens) -> Range<u32> {
        let first = self.tokens.get(tokens.start as usize);
        let last = tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last as usize));
        match (first, last) {
            (Some(first), Some(last)) if tokens.start < tokens.end => first.start()..last.end(),
            _ => 0..0,
        }
    }
}

/// The lexer takes `>>` for one token, the last bracket of the arguments inside and the one that closes them.
fn closing_brackets(source: &Source, at: u32) -> &'static str {
    let bytes = match source {
        Source::File { unit, .. } => unit.files.get(unit.file).text(at),
        Source::Made(made) => {
            let token = made.tokens.get(at as usize);
            token.map_or(&[][..], |token| token.bytes(made.expansion.expanded.text.as_bytes()))
        }
    };
    match bytes {
        b">>" => ">>",
        b">>>" => ">>>",
        _ => ">",
    }
}

fn is_dropped_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"inline"
            | b"__inline__"
            | b"constexpr"
            | b"consteval"
            | b"virtual"
            | b"explicit"
            | b"friend"
            | b"extern"
            | b"typename"
            | b"template"
            | b"struct"
            | b"class"
            | b"union"
            | b"enum"
            | b"register"
    ) || super::attributes::is_attribute(word)
}

/// What a conversion function gives, which its name tells: `operator const T *`.
fn converted_to(name: &str, role: Role) -> Option<&str> {
    let written = name.strip_prefix("operator ").filter(|_| role == Role::Conversion)?;
    let simple = written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:<>,*& ".contains(&byte));
    Some(if simple && !written.contains("decltype") { written } else { "auto" })
}

/// `operator()` -> `operator__`, `~Tile` -> `destroy_Tile`: an identifier for the parser; the item knows the real name.
fn plain_name(name: &str, role: Role) -> String {
    let name = if role == Role::Destructor { name.replace('~', "destroy_") } else { name.to_string() };
    name.chars().map(|c| if c.is_alphanumeric() || c == '_' || c == '$' { c } else { '_' }).collect()
}
