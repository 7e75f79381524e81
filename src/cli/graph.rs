//! The verb `graph`: a kernel's control flow as a picture.

use super::arguments::{self, ColorArguments};
use super::output::{spare, to_file, to_stderr, to_stdout};
use super::plan::{Plan, is_stdin, plan, round, stdin_name};
use super::{Exit, Failure};
use crate::report::chart::{self, ChartFormat};
use crate::rules;
use crate::session::{self, Drawn};
use crate::settings;
use std::path::Path;

/// Names that are listed where several would do.
const LISTED: usize = 30;

pub fn graph(arguments: &arguments::Graph) -> Result<Exit, Failure> {
    let from_stdin = is_stdin(&arguments.file);
    let path = &if from_stdin { stdin_name(&arguments.reading) } else { arguments.file.clone() };
    let (format, fenced) = format(arguments)?;
    match std::fs::metadata(path) {
        _ if from_stdin => {}
        Err(error) => return Err(Failure::line(format!("{}: {}", path.display(), settings::reason(&error)))),
        Ok(data) if data.is_dir() => {
            return Err(Failure::line(format!("{} is a folder; name the file that holds the kernel", path.display())));
        }
        Ok(_) => {}
    }
    let input = round(&arguments.file, path, &arguments.reading);
    let Plan { settings, request, .. } = plan(&input, &ColorArguments::default())?;
    let drawn = session::graph(&settings, &request, path, arguments.kernel.as_deref())
        .map_err(|error| Failure::line(error.0))?;
    let chart = match &drawn.chart {
        Some(Ok(chart)) => chart,
        Some(Err(0)) => return Err(Failure::line("its graph is too large for a picture")),
        Some(Err(blocks)) => {
            return Err(Failure::line(format!("its graph has {blocks} blocks: too large for a picture")));
        }
        None => return Err(Failure(unknown(arguments, path, &drawn))),
    };
    if let [first, _, ..] = drawn.meant[..] {
        let lines: Vec<String> = drawn.meant.iter().map(|index| drawn.functions[*index].1.to_string()).collect();
        let (name, line) = &drawn.functions[first];
        to_stderr(&format!(
            "synclint: {} functions are called so, on lines {}; this is `{name}:{line}`\n",
            lines.len(),
            lines.join(", ")
        ));
    }
    let mut text = chart::render(chart, format);
    if fenced {
        text = format!("```mermaid\n{text}```\n");
    }
    match &arguments.output {
        Some(file) => {
            spare([file.as_path()].into_iter(), settings.file.as_deref().into_iter().chain([path.as_path()]))?;
            to_file(file, |out| out.write_all(text.as_bytes()))?;
        }
        None => to_stdout(|out| out.write_all(text.as_bytes()))?,
    }
    Ok(Exit::Clean)
}

/// What is asked for, or what the output file's name ends with; and whether it stands in a page of Markdown.
fn format(arguments: &arguments::Graph) -> Result<(ChartFormat, bool), Failure> {
    let ending = arguments.output.as_deref().and_then(Path::extension);
    let ending = ending.map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let is_page = matches!(ending.as_deref(), Some("md" | "markdown"));
    let format = match (arguments.format, ending.as_deref()) {
        (Some(format), _) => format,
        (None, Some("svg")) => ChartFormat::Svg,
        // Without an ending it may be a pipe or a device.
        (None, Some("dot" | "gv") | None) => ChartFormat::Dot,
        (None, Some("mmd" | "mermaid" | "md" | "markdown")) => ChartFormat::Mermaid,
        (None, Some(other)) => {
            return Err(Failure::line(format!(
                "no picture is written as `.{other}`; there are .svg, .dot and .gv (Graphviz), .mmd and .mermaid, .md \
                 (Mermaid in Markdown); --format tells what to write whatever the name"
            )));
        }
    };
    Ok((format, is_page && format == ChartFormat::Mermaid))
}

/// Why there is nothing to draw, and what there is.
fn unknown(arguments: &arguments::Graph, path: &Path, drawn: &Drawn) -> String {
    let path = path.display();
    if let Some(why) = &drawn.missing {
        return format!("error: {path}: {why}\n");
    }
    if drawn.functions.is_empty() {
        return format!("error: {path} holds no kernel\n");
    }
    let names = drawn.functions.iter().map(|(name, _)| name.as_str());
    let mut text = match &arguments.kernel {
        None => format!("error: {path} holds {} functions; choose one with --kernel\n", drawn.functions.len()),
        Some(wanted) => {
            let bare = names.clone().map(|name| name.rsplit("::").next().unwrap_or(name));
            let near = rules::nearest(wanted, names.clone()).or_else(|| rules::nearest(wanted, bare));
            let hint = near.map(|index| format!("; did you mean `{}`?", drawn.functions[index].0));
            format!("error: {path} holds no kernel `{wanted}`{}\n", hint.unwrap_or_default())
        }
    };
    for (name, line) in drawn.functions.iter().take(LISTED) {
        text.push_str(&format!("  {name}:{line}\n"));
    }
    if drawn.functions.len() > LISTED {
        text.push_str(&format!("  and {} more\n", drawn.functions.len() - LISTED));
    }
    text
}
