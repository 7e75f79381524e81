//! Makes a kernel that fails small: takes statements out and simplifies what is left, as long as it still fails.

use super::kernel::{Kernel, S, inner};
use std::collections::BTreeSet;
use std::time::Instant;

/// The smallest kernel found for which `fails` still holds, by the time given.
pub fn shrink(kernel: &Kernel, until: Instant, fails: &dyn Fn(&Kernel) -> bool) -> Kernel {
    let mut best = kernel.clone();
    loop {
        let mut smaller = false;
        let mut number = 0;
        while Instant::now() < until {
            let Some(candidate) = edit(&best, number) else { break };
            if size(&candidate) < size(&best) && is_whole(&candidate) && fails(&candidate) {
                best = candidate;
                smaller = true;
                continue;
            }
            number += 1;
        }
        if !smaller || Instant::now() >= until {
            return best;
        }
    }
}

fn size(kernel: &Kernel) -> usize {
    let mut total = 0;
    let mut copy = kernel.clone();
    copy.texts(&mut |text| total += 1 + text.len());
    copy.lists(&mut |list| total += 4 * list.len());
    total
}

/// The `number`th of all simple changes.
fn edit(kernel: &Kernel, number: usize) -> Option<Kernel> {
    let mut copy = kernel.clone();
    let mut left = number;
    let mut done = false;
    if left < copy.functions.len() {
        copy.functions.remove(left);
        return Some(copy);
    }
    left -= copy.functions.len();
    copy.lists(&mut |list| {
        if done {
            return;
        }
        for index in 0..list.len() {
            if left == 0 {
                list.remove(index);
                done = true;
                return;
            }
            left -= 1;
            let count = inner(&mut list[index]).len();
            if left < count {
                let taken = std::mem::take(inner(&mut list[index])[left]);
                let _ = list.splice(index..index + 1, taken);
                done = true;
                return;
            }
            left -= count;
        }
    });
    if done {
        return Some(copy);
    }
    copy.texts(&mut |text| {
        if done {
            return;
        }
        let parts = groups(text);
        for (start, end) in parts {
            for simple in ["0", "n", "threadIdx.x"] {
                if left == 0 {
                    text.replace_range(start..end, simple);
                    done = true;
                    return;
                }
                left -= 1;
            }
        }
        if let Some(at) = text.find(" = ").filter(|_| text.starts_with("int ") && text.ends_with(';')) {
            for simple in ["0;", "n;", "threadIdx.x;"] {
                if left == 0 {
                    text.replace_range(at + 3.., simple);
                    done = true;
                    return;
                }
                left -= 1;
            }
        }
        for simple in ["n", "threadIdx.x < 5", "n < 5"] {
            if !text.contains([';', '{']) && !text.contains("__") && !text.starts_with("int") {
                if left == 0 {
                    *text = simple.to_string();
                    done = true;
                    return;
                }
                left -= 1;
            }
        }
    });
    done.then_some(copy)
}

/// What stands in parentheses, with them, but for arguments.
fn groups(text: &str) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (index, character) in text.char_indices() {
        match character {
            '(' => open.push(index),
            ')' => {
                if let Some(start) = open.pop() {
                    let before = text[..start].chars().next_back();
                    if !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') && &text[start..=index] != "(int)"
                    {
                        found.push((start, index + 1));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Every name that is used is declared before, in a scope round it.
pub fn is_whole(kernel: &Kernel) -> bool {
    let mut known: Vec<BTreeSet<String>> = vec![BTreeSet::new()];
    for function in kernel.functions.iter().chain([&kernel.kernel]) {
        known.push(BTreeSet::new());
        declare(&function.head, &mut known);
        if !body(&function.body, &mut known) {
            return false;
        }
        known.pop();
        known[0].extend(
            names(&function.head).into_iter().filter(|name| name.starts_with("helper") || name.starts_with("outlined")),
        );
    }
    true
}

fn body(list: &[S], known: &mut Vec<BTreeSet<String>>) -> bool {
    known.push(BTreeSet::new());
    let whole = list.iter().all(|statement| match statement {
        S::Line(text) | S::Mark(_, text) => declare(text, known),
        S::If(condition, yes, no) => uses(condition, known) && body(yes, known) && body(no, known),
        S::Block(inner) => body(inner, known),
        S::While(condition, inner) => uses(condition, known) && body(inner, known),
        S::DoWhile(inner, condition) => uses(condition, known) && body(inner, known),
        S::For { init, condition, step, body: inner } => {
            known.push(BTreeSet::new());
            let whole = declare(init, known) && uses(condition, known) && uses(step, known) && body(inner, known);
            known.pop();
            whole
        }
        S::Switch(on, cases) => uses(on, known) && cases.iter().all(|(_, inner)| body(inner, known)),
        S::Lambda(head, inner) => {
            known.push(BTreeSet::new());
            let whole = declare(head, known) && body(inner, known);
            let declared = known.pop().unwrap_or_default();
            let top = known.len() - 1;
            known[top].extend(declared.into_iter().filter(|name| name.starts_with("lambda")));
            whole
        }
    });
    known.pop();
    whole
}

/// Names that the generator made: a word of letters and a number.
pub fn names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_made = |word: &&str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        letters.len() < word.len() && MADE.contains(&letters)
    };
    words.filter(is_made).map(String::from).collect()
}

pub const MADE: [&str; 12] =
    ["v", "i", "a", "pair", "local", "ref", "mask", "t", "lambda", "helper", "outlined", "fresh"];

fn uses(text: &str, known: &[BTreeSet<String>]) -> bool {
    names(text).iter().all(|name| known.iter().any(|scope| scope.contains(name)))
}

/// Takes in what a line declares; `false` if it uses something unknown.
fn declare(text: &str, known: &mut [BTreeSet<String>]) -> bool {
    let top = known.len() - 1;
    let types = ["int ", "unsigned ", "Pair ", "auto ", "int *", "int &", "Pair &", "void "];
    let mut declared = Vec::new();
    for start in types {
        for (at, _) in text.match_indices(start) {
            let rest = text[at + start.len()..].trim_start_matches(['*', '&']);
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            declared.push(rest[..end].to_string());
        }
    }
    let first = declared.clone();
    let before: Vec<String> = names(text).into_iter().filter(|name| !first.contains(name)).collect();
    let whole = before.iter().all(|name| known.iter().any(|scope| scope.contains(name)));
    known[top].extend(declared);
    whole
}
