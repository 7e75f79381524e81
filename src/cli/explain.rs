//! The verbs that print what synclint knows of itself: rules, settings, completions, the manual.

use super::arguments::{Arguments, ColorArguments, Config, ListFormat};
use super::check::settings_failure;
use super::output::{stdout_style, to_file, to_stderr, to_stdout};
use super::{Exit, Failure};
use crate::finding::Rule;
use crate::rules;
use crate::settings::{self, Settings};
use clap::CommandFactory;
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn explain(rule: &Rule, color: ColorArguments) -> Result<Exit, Failure> {
    let text = page(rule, stdout_style(&color).color);
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Clean)
}

/// The page, its headings and code set off.
fn page(rule: &Rule, color: bool) -> String {
    let mut text = String::new();
    let mut in_code = false;
    for line in rule.page.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let heading = !in_code && line.starts_with('#');
        let line = if heading { line.trim_start_matches('#').trim_start() } else { line };
        let indent = if in_code && !line.is_empty() { "    " } else { "" };
        let (on, off) = match (color, heading, in_code) {
            (true, true, _) => ("\x1b[1m", "\x1b[0m"),
            (true, _, true) => ("\x1b[36m", "\x1b[0m"),
            _ => ("", ""),
        };
        text.push_str(&format!("{indent}{on}{line}{off}\n"));
    }
    text
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
            let rule = |rule: &&Rule| json!({ "name": rule.name, "severity": rule.severity.name(), "summary": rule.summary, "page": rule.page });
            serde_json::to_writer_pretty(&mut *out, &rules::ALL.iter().map(rule).collect::<Vec<_>>())?;
            writeln!(out)
        }
    })?;
    Ok(Exit::Clean)
}

pub fn config(verb: &Config) -> Result<Exit, Failure> {
    match verb {
        Config::Show { config } => {
            let file = config.clone().or_else(|| settings::find(Path::new("")));
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

pub fn man() -> Result<Exit, Failure> {
    to_stdout(|out| {
        let command = Arguments::command();
        clap_mangen::Man::new(command).render(out)
    })?;
    Ok(Exit::Clean)
}
