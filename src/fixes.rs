//! A finding -> changes that may mend it: a barrier at the edge of a guarded region moved out of the region.
//!
//! ```text
//! if (c) { a; sync; } else { b; sync; }   ──>   if (c) { a; } else { b; } sync;
//! if (c) { a; sync; }                     ──>   if (c) { a; } sync;
//! if (c) { sync; a; }                     ──>   sync; if (c) { a; }        where nobody else can change c, and those who
//!                                                                          skip a do nothing else that a could see
//! ```
//!
//! It works on the tokens as they stand in the file, so that comments and everything else stay. Nothing here is proven yet:
//! `session::fixes` analyses the changed text before a change is offered. What it leaves alone: loops, macros, `#if` inside
//! the region, regions without braces, regions at whose end a destructor runs.

mod condition;
mod edits;
mod region;

use crate::analysis::Session;
use crate::finding::{Finding, Fix};
use crate::graph::ItemId;
use crate::rules;
use crate::source::index::File;
use crate::source::lexer::TokenKind;
use crate::text::Range;
use region::{Chain, Edge, Statement};

/// Regions, one in the other, out of which a barrier is moved.
const MAX_DEPTH: usize = 4;

/// Bytes of a function that is changed.
const MAX_LENGTH: u32 = 512 << 10;

/// A change that may mend a finding.
pub struct Candidate {
    pub fix: Fix,
    /// Threads that came to no barrier here come to one more: those that ran past the code at these places. If they have
    /// another barrier of their own, the two were a pair, and it must not stay. Empty: for all as many as before.
    pub only_for: Vec<Range>,
}

/// Whether there may be a change at all, as far as the finding by itself tells.
pub fn may_mend(finding: &Finding) -> bool {
    let moves = [rules::DIVERGENT_BRANCH.name, rules::WARP_MASK.name];
    // What stands in a macro has a note that says so.
    let in_macro = finding.related.iter().any(|note| note.message.starts_with("in the replacement of macro"));
    moves.contains(&finding.rule.name) && !in_macro
}

/// Changes that may mend a finding, the smallest first; and the function that they change.
pub fn candidates(session: &Session, finding: &Finding) -> Option<(ItemId, Vec<Candidate>)> {
    if !may_mend(finding) {
        return None;
    }
    let file = session.tree.files.get(finding.at.file);
    let barrier = region::barrier_at(file, finding.at)?;
    if !is_plain(session, file, barrier, &finding.barrier) {
        return None;
    }
    let item = function_round(session, finding)?;
    let length = session.tree.item(item).range.end - session.tree.item(item).range.start;
    if length > MAX_LENGTH {
        return None;
    }
    let mut fixes = Vec::new();
    let id = finding.at.file;
    for edge in [Edge::End, Edge::Begin] {
        let mut inner = barrier;
        // What goes from its place: the barrier, or an `if` that guards nothing else.
        let mut taken = barrier;
        let mut own: Option<Range> = None;
        for _ in 0..MAX_DEPTH {
            let Some(chain) = Chain::round(file, inner, edge) else { break };
            if chain.holds_directive(file) || !region::names_are_from_outside(file, barrier, &chain) {
                break;
            }
            inner = chain.statement;
            let own =
                *own.get_or_insert_with(|| edits::range(id, file, Statement { first: chain.first, last: chain.last }));
            if chain.is_only(file, taken) {
                let whole = edits::unguarded(id, file, barrier, &chain);
                let Some(fix) = whole.filter(|_| condition::are_private(session, file, item, &chain)) else { break };
                if edge == Edge::End {
                    fixes.push(Candidate { fix, only_for: vec![own] });
                }
                taken = chain.statement;
                continue;
            }
            let mut gone = chain.same_at(file, edge, barrier);
            gone.push(taken);
            gone.sort_unstable_by_key(|statement| statement.first);
            gone.dedup();
            let is_sound = match edge {
                // What the other arms do was ordered with nothing in this one, and now is with what follows.
                Edge::End => !ends_a_life(session, file, &chain),
                Edge::Begin => {
                    condition::are_private(session, file, item, &chain)
                        && condition::may_go_before(session, item, file, barrier, &gone, &chain)
                }
            };
            if !is_sound {
                break;
            }
            let Some(fix) = edits::moved(id, file, barrier, &gone, &chain, edge) else { continue };
            let only_for = match chain.all_arms_lose_one(&gone, barrier) {
                true => Vec::new(),
                false => {
                    let arms = chain.arms.iter().map(|(first, last)| Statement { first: *first, last: *last });
                    let others = arms.filter(|arm| !arm.holds(barrier) && gone.iter().any(|each| arm.holds(*each)));
                    others.map(|arm| edits::range(id, file, arm)).chain([own]).collect()
                }
            };
            fixes.push(Candidate { fix, only_for });
        }
    }
    Some((item, fixes)).filter(|(_, fixes)| !fixes.is_empty())
}

/// The statement is a call of the barrier and nothing but: no macro, no value handed over that is made on the spot.
fn is_plain(session: &Session, file: &File, barrier: Statement, name: &str) -> bool {
    let mut words = (barrier.first..=barrier.last).map(|token| (file.tokens[token as usize].kind(), file.text(token)));
    let spelled: Vec<u8> = (barrier.first..=barrier.last).flat_map(|token| file.text(token).iter().copied()).collect();
    let name: String = name.chars().filter(|character| !character.is_whitespace()).collect();
    spelled.starts_with(name.as_bytes())
        && words.all(|(kind, text)| match kind {
            TokenKind::Identifier => session.tree.files.macro_name(text).is_none() && text != b"return",
            TokenKind::Number => true,
            TokenKind::Punctuator => matches!(text, b"(" | b")" | b";" | b"." | b"::" | b","),
            _ => false,
        })
}

/// The innermost function whose body holds a finding.
fn function_round(session: &Session, finding: &Finding) -> Option<ItemId> {
    let tree = session.tree;
    let holds = |item: &ItemId| {
        let range = tree.item(*item).range;
        tree.item(*item).is_definition() && range.start <= finding.at.start && finding.at.end <= range.end
    };
    let length = |item: &ItemId| tree.item(*item).range.end - tree.item(*item).range.start;
    tree.items_of(finding.at.file).filter(holds).min_by_key(length)
}

/// Something in the region may do something when the region ends: an object of a class with a destructor.
fn ends_a_life(session: &Session, file: &File, chain: &Chain) -> bool {
    let tree = session.tree;
    let has_destructor = |item: ItemId| {
        let known = tree.item(item);
        let text = tree.files.get(known.file).bytes.get(known.range.start as usize..known.range.end as usize);
        tree.members(item).iter().any(|member| tree.item(*member).name.starts_with('~'))
            || text.is_some_and(|text| memchr::memchr(b'~', text).is_some())
    };
    // Through aliases to the classes that they name.
    let mut work: Vec<Vec<u8>> = Vec::new();
    for token in chain.statement.first..=chain.statement.last {
        let text = file.text(token);
        if file.tokens[token as usize].kind() != TokenKind::Identifier {
            continue;
        }
        // What is behind `auto` cannot be told from here.
        if matches!(text, b"auto" | b"decltype") {
            return true;
        }
        work.push(text.to_vec());
    }
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(word) = work.pop() {
        let Ok(name) = std::str::from_utf8(&word) else { return true };
        if !seen.insert(name.to_string()) {
            continue;
        }
        for item in tree.named(name) {
            match &tree.item(*item).kind {
                crate::source::items::ItemKind::Class(_) if has_destructor(*item) => return true,
                crate::source::items::ItemKind::Alias => {
                    let known = tree.item(*item);
                    let bytes = &tree.files.get(known.file).bytes;
                    let text = bytes.get(known.range.start as usize..known.range.end as usize).unwrap_or_default();
                    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                    work.extend(text.split(|byte| !is_word(byte)).filter(|word| !word.is_empty()).map(<[u8]>::to_vec));
                }
                _ => {}
            }
        }
    }
    false
}
