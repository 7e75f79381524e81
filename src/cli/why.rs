//! The verb `why`: for each barrier on a line, which branches guard it and how far each agrees.

use super::arguments;
use super::output::{stdout_style, to_stdout};
use super::plan::{Plan, is_stdin, plan, round, stdin_name};
use super::progress::watched;
use super::{Exit, Failure};
use crate::checks::why::Explanation;
use crate::finding::{Role, Severity};
use crate::report::human::{self, Mark, Picture};
use crate::report::{Style, plural};
use crate::session::{self, Explained};
use crate::settings;
use crate::text::{LineIndex, Source};

pub fn why(arguments: &arguments::Why) -> Result<Exit, Failure> {
    let (named, line) = &arguments.place;
    let from_stdin = is_stdin(named);
    let path = &if from_stdin { stdin_name(&arguments.input) } else { named.clone() };
    if !from_stdin && let Err(error) = std::fs::metadata(path) {
        return Err(Failure::line(format!("{}: {}", path.display(), settings::reason(&error))));
    }
    if let Some((path, error)) = arguments
        .input
        .paths
        .iter()
        .find_map(|path| Some((path, std::fs::metadata(path).err().filter(|_| !is_stdin(path))?)))
    {
        return Err(Failure::line(format!("{}: {}", path.display(), settings::reason(&error))));
    }
    let Plan { settings, request, .. } = plan(&round(named, path, &arguments.input), &arguments.color)?;
    let explained = watched(true, |progress| session::why(&settings, &request, progress, path, *line))
        .map_err(|error| Failure::line(error.0))?;
    if let Some(why) = &explained.missing {
        return Err(Failure::line(format!("{}: {why}", path.display())));
    }
    if let Some(name) = explained.never_runs.as_ref().filter(|_| explained.explanations.is_empty()) {
        return Err(Failure::line(format!(
            "`{name}` on line {line} of {} cannot run: `#if`, or a condition that is known before the program runs, leaves it out",
            path.display()
        )));
    }
    if explained.explanations.is_empty() {
        return Err(Failure::line(format!(
            "no barrier, and no call that leads to one, is analysed on line {line} of {}{}",
            path.display(),
            elsewhere(&explained.elsewhere, *line)
        )));
    }
    let style = stdout_style(&arguments.color);
    let text: String = explained.explanations.iter().map(|it| explanation(it, &explained, style)).collect();
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Clean)
}

/// `; the nearest are on lines 3 and 17`
fn elsewhere(lines: &[u32], line: u32) -> String {
    const LISTED: usize = 4;
    let mut near = lines.to_vec();
    near.sort_by_key(|other| other.abs_diff(line));
    near.truncate(LISTED);
    near.sort_unstable();
    let words: Vec<String> = near.iter().map(u32::to_string).collect();
    match words.as_slice() {
        [] => ", nor anywhere else in it".to_string(),
        [only] => format!("; the nearest is on line {only}"),
        [first @ .., last] => format!("; the nearest are on lines {} and {last}", first.join(", ")),
    }
}

fn explanation(explanation: &Explanation, explained: &Explained, style: Style) -> String {
    let Explanation { asks, at, calls, guards, decided, fault, .. } = explanation;
    let verdict = match fault {
        Some((rule, message)) => format!("{message} [{rule}]"),
        None => explanation.verdict(),
    };
    let mut marks: Vec<Mark> = Vec::new();
    for (name, call) in calls {
        if let Some(call) = call {
            marks.push(Mark { at: *call, number: None, role: Role::Step, message: format!("calls `{name}`") });
        }
    }
    for (index, guard) in guards.iter().enumerate() {
        let role = if guard.enough { Role::Source } else { Role::Branch };
        marks.push(Mark { at: guard.at, number: Some(index + 1), role, message: guard.agreement() });
    }
    for (at, why) in decided {
        marks.push(Mark { at: *at, number: None, role: Role::Branch, message: why.clone() });
    }
    marks.push(Mark { at: *at, number: None, role: Role::Barrier, message: format!("asks for {asks}") });
    let severity = if fault.is_some() { Severity::Error } else { Severity::Note };
    let mut text = human::picture(
        &Picture { message: verdict, severity, file: at.file, marks, is_story: false },
        &explained.sources,
        style,
    );
    if guards.is_empty() && decided.is_empty() {
        text.push_str("  nothing guards it: whoever runs the function comes to it\n");
    }
    if let Some(name) = explanation.uncalled() {
        text.push_str(&format!(
            "  no caller of `{name}` is in view: what guards its calls is not known; name the folders that hold them\n"
        ));
    }
    for (index, guard) in guards.iter().enumerate() {
        if guard.chain.is_empty() {
            continue;
        }
        text.push_str(&format!("  {}. comes from\n", index + 1));
        let mut lines: Vec<String> = Vec::new();
        for note in &guard.chain {
            let line = format!("     {}: {}\n", place(note.at, &explained.sources), note.message);
            // `int i = 0` and `++i` of one loop are one line to the reader.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        text.push_str(&lines.concat());
    }
    if calls.len() > 1 {
        let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
        text.push_str(&format!("  reached through {}: {}\n", plural(calls.len() - 1, "call"), names.join(" > ")));
    }
    text.push('\n');
    text
}

fn place(at: crate::text::Range, sources: &[Source]) -> String {
    let Some(source) = sources.get(at.file.0 as usize) else { return String::new() };
    let place = LineIndex::new(&source.bytes).place(at.start.min(source.bytes.len() as u32));
    format!("{}:{}", source.path, place.line)
}
