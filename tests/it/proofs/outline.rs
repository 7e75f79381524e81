//! Moves a run of a kernel's statements into a `__device__` function that takes all it speaks of by reference.

use super::kernel::{Function, Kernel, S, inner, rename};
use super::random::Random;
use super::shrink::{is_whole, names};
use std::collections::BTreeSet;

pub struct Outlined {
    pub kernel: Kernel,
    /// Numbers of the barriers that moved.
    pub moved: BTreeSet<u32>,
    /// The number of the new call.
    pub call: u32,
}

const CALL: u32 = 90_000;

/// `None`: there is no run with a barrier that can move.
pub fn outline(kernel: &Kernel) -> Option<Outlined> {
    let mut random = Random::new(kernel.seed ^ 0xabc);
    let mut copy = kernel.clone();
    let mut lists = Vec::new();
    gather(&mut copy.kernel.body, &mut Vec::new(), &mut lists);
    random.shuffle(&mut lists);
    for path in lists {
        let length = at(&mut copy.kernel.body, &path).len();
        let mut runs: Vec<(usize, usize)> =
            (0..length).flat_map(|start| (start + 1..=length.min(start + 5)).map(move |end| (start, end))).collect();
        random.shuffle(&mut runs);
        for (start, end) in runs {
            if let Some(outlined) = try_run(kernel, &path, start, end) {
                return Some(outlined);
            }
        }
    }
    None
}

fn try_run(kernel: &Kernel, path: &[(usize, usize)], start: usize, end: usize) -> Option<Outlined> {
    let mut copy = kernel.clone();
    let list = at(&mut copy.kernel.body, path);
    let run: Vec<S> = list[start..end].to_vec();
    let mut moved = BTreeSet::new();
    marks(&mut run.clone(), &mut moved);
    let mut texts = Vec::new();
    all_texts(&mut run.clone(), &mut texts);
    let leaves = texts.iter().any(|text| {
        text.starts_with("return") || text == "break;" || text == "continue;" || text.starts_with("__shared__")
    });
    if moved.is_empty() || leaves {
        return None;
    }
    let declared: BTreeSet<String> = run.iter().filter_map(declares).collect();
    let mut after = Vec::new();
    all_texts(&mut list[end..].to_vec(), &mut after);
    if after.iter().flat_map(|text| names(text)).any(|name| declared.contains(&name)) {
        return None;
    }
    let mut inside = BTreeSet::new();
    all_declared(&mut run.clone(), &mut inside);
    let used: BTreeSet<String> =
        texts.iter().flat_map(|text| names(text)).filter(|name| !inside.contains(name)).collect();
    let mut given = Vec::new();
    let mut taken = Vec::new();
    for name in used {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let taking = match letters {
            "v" | "i" => format!("int &{name}"),
            "pair" => format!("Pair &{name}"),
            "local" => format!("int *{name}"),
            "mask" => format!("unsigned &{name}"),
            "helper" => continue,
            _ => return None,
        };
        given.push(name);
        taken.push(taking);
    }
    let speaks =
        |word: &str| texts.iter().any(|text| rename(text, &|found| (found == word).then(String::new)) != *text);
    if speaks("flag") {
        given.push("flag".to_string());
        taken.push("int &flag".to_string());
    }
    if speaks("slots") {
        given.push("slots".to_string());
        taken.push("int *slots".to_string());
    }
    given.extend(["n", "m", "p", "q"].map(String::from));
    taken.extend(["int n", "int m", "int *p", "const int *q"].map(String::from));
    let call = S::Mark(CALL, format!("outlined1({});", given.join(", ")));
    list.splice(start..end, [call]);
    copy.functions.push(Function { head: format!("__device__ void outlined1({})", taken.join(", ")), body: run });
    is_whole(&copy).then_some(Outlined { kernel: copy, moved, call: CALL })
}

/// Ways to all statement lists: statement and which of its lists, again and again.
fn gather(body: &mut [S], path: &mut Vec<(usize, usize)>, found: &mut Vec<Vec<(usize, usize)>>) {
    found.push(path.clone());
    for (index, statement) in body.iter_mut().enumerate() {
        if matches!(statement, S::Lambda(..)) {
            continue;
        }
        for (number, list) in inner(statement).into_iter().enumerate() {
            path.push((index, number));
            gather(list, path, found);
            path.pop();
        }
    }
}

fn at<'a>(body: &'a mut Vec<S>, path: &[(usize, usize)]) -> &'a mut Vec<S> {
    match path.split_first() {
        None => body,
        Some(((index, number), rest)) => at(inner(&mut body[*index]).swap_remove(*number), rest),
    }
}

fn marks(body: &mut [S], found: &mut BTreeSet<u32>) {
    for statement in body {
        if let S::Mark(number, _) = statement {
            found.insert(*number);
        }
        for list in inner(statement) {
            marks(list, found);
        }
    }
}

fn all_texts(body: &mut [S], found: &mut Vec<String>) {
    for statement in body {
        match statement {
            S::Line(text) | S::Mark(_, text) => found.push(text.clone()),
            S::If(condition, ..) | S::While(condition, _) | S::DoWhile(_, condition) => found.push(condition.clone()),
            S::For { init, condition, step, .. } => found.extend([init.clone(), condition.clone(), step.clone()]),
            S::Switch(on, _) => found.push(on.clone()),
            S::Lambda(head, _) => found.push(head.clone()),
            S::Block(_) => {}
        }
        for list in inner(statement) {
            all_texts(list, found);
        }
    }
}

fn all_declared(body: &mut [S], found: &mut BTreeSet<String>) {
    for statement in body {
        found.extend(declares(statement));
        if let S::For { init, .. } = statement {
            found.extend(declares(&S::Line(init.clone())));
        }
        if let S::Lambda(head, _) = statement {
            found.extend(names(head));
        }
        for list in inner(statement) {
            all_declared(list, found);
        }
    }
}

/// The name that a line brings into its list's scope.
fn declares(statement: &S) -> Option<String> {
    let (S::Line(text) | S::Mark(_, text)) = statement else { return None };
    let types = ["int *", "int &", "int ", "unsigned ", "Pair ", "auto ", "bool "];
    let rest = types.iter().find_map(|start| text.strip_prefix(start))?;
    names(rest).first().filter(|name| rest.starts_with(name.as_str())).cloned()
}
