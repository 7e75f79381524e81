//! The verbs that print what synclint knows of itself: rules, settings, completions, the manual.

use super::arguments::{Arguments, ColorArguments, Config, ListFormat};
use super::output::{stdout_style, to_file, to_stderr, to_stdout};
use super::plan::{near, settings_failure};
use super::{Exit, Failure};
use crate::finding::Rule;
use crate::report::{Style, human};
use crate::rules;
use crate::settings::{self, Settings};
use clap::CommandFactory;
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn explain(rule: &Rule, color: ColorArguments) -> Result<Exit, Failure> {
    let text = page(&rules::page(rule), stdout_style(&color));
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Clean)
}

/// A page of Markdown for a terminal: headings and code set off, paragraphs and items filled to its width.
fn page(markdown: &str, style: Style) -> String {
    let width = style.width.min(100);
    let (bold, cyan, off) = if style.color { ("\x1b[1m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
    let mut text = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in markdown.lines() {
        let begins = in_code || line.is_empty() || ["#", "* ", "```"].iter().any(|mark| line.starts_with(mark));
        if begins {
            flow(&std::mem::take(&mut paragraph), width, style, &mut text);
        }
        match line.strip_prefix("```") {
            Some(_) => in_code = !in_code,
            None if line.is_empty() => text.push('\n'),
            None if in_code => text.push_str(&format!("    {cyan}{line}{off}\n")),
            None if line.starts_with('#') => {
                text.push_str(&format!("{bold}{}{off}\n", line.trim_start_matches(['#', ' '])))
            }
            None => {
                paragraph.push_str(line);
                paragraph.push(' ');
            }
        }
    }
    flow(&paragraph, width, style, &mut text);
    text
}

/// One paragraph or item of a list. Of a link its text is left, of emphasis the words; code keeps its marks.
fn flow(markdown: &str, width: usize, style: Style, text: &mut String) {
    if markdown.is_empty() {
        return;
    }
    let (lead, markdown, indent) = match markdown.strip_prefix("* ") {
        Some(item) => ("  * ", item, "    "),
        None => ("", markdown, ""),
    };
    let mut plain = String::new();
    for (index, piece) in markdown.split('`').enumerate() {
        match index % 2 {
            1 => plain.push_str(&format!("`{piece}`")),
            _ => {
                let words = |text: &str| text.replace(['[', '*'], "");
                let mut rest = piece;
                while let Some((before, after)) = rest.split_once("](") {
                    plain.push_str(&words(before));
                    rest = after.split_once(')').map_or("", |(_, rest)| rest);
                }
                plain.push_str(&words(rest));
            }
        }
    }
    let filled = human::wrap(&plain, width, indent);
    let (cyan, off) = if style.color { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
    text.push_str(lead);
    for (index, piece) in filled.split('`').enumerate() {
        match (index % 2, style.color) {
            (1, true) => text.push_str(&format!("{cyan}{piece}{off}")),
            (1, false) => text.push_str(&format!("`{piece}`")),
            _ => text.push_str(piece),
        }
    }
    text.push('\n');
}

pub fn rules(format: ListFormat) -> Result<Exit, Failure> {
    let width = rules::ALL.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    to_stdout(|out| match format {
        ListFormat::Text => {
            for rule in rules::ALL {
                writeln!(out, "{:width$}  {:7}  {}", rule.name, rule.severity.name(), rule.summary)?;
            }
            Ok(())
        }
        ListFormat::Json => {
            let rule = |rule: &&Rule| json!({ "name": rule.name, "severity": rule.severity.name(), "summary": rule.summary, "page": rules::page(rule) });
            serde_json::to_writer_pretty(&mut *out, &rules::ALL.iter().map(rule).collect::<Vec<_>>())?;
            writeln!(out)
        }
    })?;
    Ok(Exit::Clean)
}

pub fn config(verb: &Config) -> Result<Exit, Failure> {
    match verb {
        Config::Show { config } => {
            let file = config.clone().or_else(|| settings::find(Path::new("")).map(near));
            let settings = match &file {
                Some(file) => {
                    Settings::read(file).map_err(|error| settings_failure(&error, &ColorArguments::default()))?
                }
                None => Settings::default(),
            };
            let from =
                file.map_or("no synclint.toml: the defaults".to_string(), |file| format!("from {}", file.display()));
            let text = format!("# {from}\n{}", settings.to_toml());
            to_stdout(|out| out.write_all(text.as_bytes()))?;
        }
        Config::Schema => to_stdout(|out| out.write_all(settings::schema().as_bytes()))?,
        Config::Init => {
            let path = PathBuf::from(settings::FILE_NAMES[0]);
            if path.exists() {
                return Err(Failure::line(format!("{} is already there", path.display())));
            }
            to_file(&path, |out| out.write_all(settings::starter().as_bytes()))?;
            to_stderr(&format!("synclint: {} written\n", path.display()));
        }
    }
    Ok(Exit::Clean)
}

pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "synclint", &mut script);
    to_stdout(|out| out.write_all(&script))?;
    Ok(Exit::Clean)
}

pub fn man(verb: Option<&str>) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    if let Some(verb) = verb {
        // What the verb is called on its own is known when all is built.
        command.build();
        let found = command.find_subcommand(verb).cloned();
        command =
            found.ok_or_else(|| Failure::line(format!("there is no verb `{verb}`; `synclint help` lists them")))?;
    }
    // A long list of options without their values is no synopsis: they stand below.
    let usage = command.render_usage().to_string();
    let lines = usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|line| !line.is_empty());
    let synopsis = lines.map(|line| line.replace('-', "\\-")).collect::<Vec<_>>().join("\n.br\n");
    let mut page = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(command).source(format!("synclint {}", crate::VERSION)).render(&mut page);
    let page = String::from_utf8_lossy(&page);
    let rest = page.split_once(".SH SYNOPSIS\n").and_then(|(head, rest)| Some((head, rest.split_once(".SH ")?.1)));
    let page = rest.map_or(page.to_string(), |(head, rest)| format!("{head}.SH SYNOPSIS\n{synopsis}\n.SH {rest}"));
    to_stdout(|out| out.write_all(page.as_bytes()))?;
    Ok(Exit::Clean)
}
