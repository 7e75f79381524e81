//! The command line's shape, nothing else.

use super::shard::Sharding;
use crate::finding::Rule;
use crate::report::{Format, chart::ChartFormat};
use crate::rules;
use crate::settings::{ExitedThreads, FailOn, MACRO_FORM, UNDEFINED_FORM, is_macro, is_name};
use clap::builder::{PossibleValue, PossibleValuesParser, Styles, TypedValueParser, styling::AnsiColor};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Finds each CUDA barrier that only part of its threads can reach, from source alone: no GPU, no toolkit, no build.
#[derive(Parser, Debug)]
#[command(name = "synclint", version, styles = STYLES, args_conflicts_with_subcommands = true)]
#[command(max_term_width = 110, subcommand_value_name = "VERB", args_override_self = true)]
#[command(subcommand_help_heading = "Verbs")]
#[command(override_usage = "synclint [check] [OPTIONS] [PATH]...\n       synclint VERB ...")]
#[command(after_help = "Exit codes: 0 nothing found, 1 findings, 2 the job could not be done.\n\
    An argument @FILE stands for the arguments in FILE: one a line, as it stands, without quotes; empty lines are skipped.")]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub check: Check,
}

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Reads CUDA source and reports what is wrong (what happens without a verb)
    Check(Check),
    /// Tells why the barriers on a line are safe, or what makes them diverge
    Why(Why),
    /// Draws a kernel's control flow: barriers, and what only some threads run
    Graph(Graph),
    /// Prints the page of a rule
    Explain {
        /// The rule [default: all are listed]
        #[arg(value_parser = rule_parser())]
        rule: Option<&'static Rule>,
        #[command(flatten)]
        color: ColorArguments,
    },
    /// Lists the rules
    Rules {
        /// How to list them
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: ListFormat,
    },
    /// Writes today's findings to a file; later runs report only new ones
    Baseline(Baseline),
    /// Shows, starts or describes synclint.toml
    #[command(subcommand)]
    Config(Config),
    /// Serves an editor: the Language Server Protocol on standard input and output
    Lsp {
        /// What many editors pass; there is no other way to talk
        #[arg(long)]
        stdio: bool,
    },
    /// Prints a script that completes arguments
    Completions { shell: clap_complete::Shell },
    /// Prints the manual page, or that of a verb
    Man { verb: Option<String> },
}

#[derive(Args, Clone, Debug, Default)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub sharding: Sharding,

    /// What is printed [default: that of SYNCLINT_FORMAT, in GitHub Actions `github`, else `human`]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<Format>,
    /// Writes the report to a file, too (`-`: standard output, instead of what is printed); may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = output_parser, help_heading = "Output")]
    pub output: Vec<(Format, PathBuf)>,
    /// Ends the standard error output with findings by rule, what was not understood, and calls that are not in view
    #[arg(long, help_heading = "Output")]
    pub statistics: bool,
    #[command(flatten)]
    pub color: ColorArguments,
    /// No summary line
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Tells what was skipped, and how long it took
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,

    /// Lists the files that would be read, and ends; with `--verbose` also those that would not
    #[arg(long, conflicts_with_all = ["format", "output", "statistics", "fix", "diff", "shard", "join"], help_heading = "Output")]
    pub show_files: bool,

    /// Makes the changes that are proven to be right, then reports the rest; standard input goes to standard output
    #[arg(long, conflicts_with = "diff", help_heading = "Fixes")]
    pub fix: bool,
    /// Prints these changes and makes none
    #[arg(long, conflicts_with_all = ["format", "output"], help_heading = "Fixes")]
    pub diff: bool,

    /// The lowest level that makes the exit code 1
    #[arg(long, value_name = "LEVEL", help_heading = "Verdict")]
    pub fail_on: Option<FailOn>,
    /// Exit code 0 whatever is found
    #[arg(long, conflicts_with = "fail_on", help_heading = "Verdict")]
    pub exit_zero: bool,
    /// Known findings [default: synclint-baseline.json beside synclint.toml, else in the working folder or above it in the repository]
    #[arg(long, value_name = "FILE", help_heading = "Verdict")]
    pub baseline: Option<PathBuf>,
    /// Reports known findings as well
    #[arg(long, conflicts_with = "baseline", help_heading = "Verdict")]
    pub no_baseline: bool,
}

/// What is read, and how.
#[derive(Args, Clone, Debug, Default)]
pub struct Input {
    /// Files and folders; `-` is standard input [default: .]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Only these rules; `*` stands for any letters, as in `divergent-*`
    #[arg(long, value_name = "RULE,..", value_delimiter = ',', value_parser = RulesParser, help_heading = "Rules")]
    pub select: Option<Vec<Rules>>,
    /// Not these rules
    #[arg(long, value_name = "RULE,..", value_delimiter = ',', value_parser = RulesParser, hide_possible_values = true, help_heading = "Rules")]
    pub ignore: Vec<Rules>,
    /// Whether a thread that has ended counts as arrived
    #[arg(long, value_name = "POLICY", help_heading = "Rules")]
    pub exited_threads: Option<ExitedThreads>,

    /// Defines a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define_parser, help_heading = "Source")]
    pub define: Vec<String>,
    /// Undefines a macro
    #[arg(short = 'U', value_name = "NAME", value_parser = undefine_parser, help_heading = "Source")]
    pub undefine: Vec<String>,
    /// Looks for included files in a folder
    #[arg(short = 'I', value_name = "DIR", help_heading = "Source")]
    pub include: Vec<PathBuf>,
    /// Takes macros and folders from a build folder's compile_commands.json
    #[arg(short = 'p', value_name = "BUILD_DIR", help_heading = "Source")]
    pub build: Option<PathBuf>,
    /// Reads this folder whole, reports what concerns the paths given [default: that of synclint.toml]
    #[arg(long, value_name = "DIR", help_heading = "Source")]
    pub root: Option<PathBuf>,
    /// The name that standard input goes by
    #[arg(long, value_name = "PATH", help_heading = "Source")]
    pub stdin_filename: Option<PathBuf>,
    /// Excludes what is excluded even where it is named by hand
    #[arg(long, help_heading = "Source")]
    pub force_exclude: bool,
    /// Reads hidden files and what .gitignore names
    #[arg(long, help_heading = "Source")]
    pub no_ignore: bool,

    /// Settings from this file [default: synclint.toml in the working folder or above]
    #[arg(long, value_name = "FILE", help_heading = "Settings")]
    pub config: Option<PathBuf>,
    /// No synclint.toml
    #[arg(long, conflicts_with = "config", help_heading = "Settings")]
    pub isolated: bool,
    /// Threads to work with [default: as many as cores]
    #[arg(short = 'j', long = "jobs", value_name = "N", value_parser = jobs_parser, help_heading = "Settings")]
    pub jobs: Option<u16>,
}

#[derive(Args, Clone, Debug, Default)]
pub struct ColorArguments {
    /// Colours; `auto` heeds the terminal and NO_COLOR
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true, help_heading = "Output")]
    pub color: ColorWhen,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    Text,
    Json,
}

#[derive(Args, Debug)]
pub struct Baseline {
    #[command(flatten)]
    pub input: Input,
    /// Where to [default: the baseline that `check` would read]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(mut_arg("paths", |it| it.help("More files and folders to read [default: what `check` would read if FILE lies in it, else the folder of FILE]")))]
pub struct Why {
    /// The barrier, or a call that leads to one; the file `-` is standard input
    #[arg(value_name = "FILE:LINE", value_parser = place_parser, allow_hyphen_values = true)]
    pub place: (PathBuf, u32),
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub color: ColorArguments,
}

#[derive(Args, Debug)]
#[command(mut_arg("paths", |it| it.help("More files and folders to read [default: what `check` would read if FILE lies in it, else the folder of FILE]")))]
pub struct Graph {
    /// The file that holds the kernel; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The kernel, as in `reduce`, `ns::reduce` or `reduce:42` for the one on line 42 [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// What is written [default: what the output file's name ends with, else `dot`]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ChartFormat>,
    /// Where to: a name in .svg, .dot, .gv, .mmd, .mermaid or .md [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Input,
}

#[derive(Subcommand, Debug)]
pub enum Config {
    /// Prints the settings in force, and where they come from
    Show {
        /// Settings from this file
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Writes a commented synclint.toml to the working folder
    Init,
    /// Prints the JSON schema of synclint.toml
    Schema,
}

/// Files that one argument `@FILE` leads to, one inside the other; more are a file that names itself.
const MAX_ARGUMENT_FILES: usize = 64;

/// Replaces each `@FILE` by the arguments in that file, one a line, and those in it likewise.
pub fn expand(mut arguments: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    let mut expanded: Vec<OsString> = arguments.next().into_iter().collect();
    for argument in arguments {
        let mut files = 0;
        let mut rest = vec![argument];
        while let Some(argument) = rest.pop() {
            let Some(file) = argument.to_str().and_then(|it| it.strip_prefix('@')).filter(|file| !file.is_empty())
            else {
                expanded.push(argument);
                continue;
            };
            let reason = match files < MAX_ARGUMENT_FILES {
                true => crate::settings::own_text(file.as_ref()).map_err(|error| crate::settings::reason(&error)),
                false => Err("too many such files lead here; does it name itself?".to_string()),
            };
            let text = reason.map_err(|reason| format!("the arguments in {file} cannot be read: {reason}"))?;
            files += 1;
            rest.extend(text.lines().rev().filter(|line| !line.is_empty()).map(OsString::from));
        }
    }
    Ok(expanded)
}

/// The rules that one name, or one pattern, stands for.
#[derive(Clone, Debug)]
pub struct Rules(pub Vec<&'static Rule>);

#[derive(Clone)]
struct RulesParser;

impl TypedValueParser for RulesParser {
    type Value = Rules;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Rules, clap::Error> {
        let pattern = value.to_str().filter(|text| text.contains('*'));
        match pattern.map(rules::fitting).filter(|fitting| !fitting.is_empty()) {
            Some(fitting) => Ok(Rules(fitting)),
            None => Ok(Rules(vec![rule_parser().parse_ref(command, argument, value)?])),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(rules::ALL.iter().map(|rule| PossibleValue::new(rule.name).help(rule.summary))))
    }
}

fn rule_parser() -> impl TypedValueParser<Value = &'static Rule> {
    let names = rules::ALL.iter().map(|rule| PossibleValue::new(rule.name).help(rule.summary));
    PossibleValuesParser::new(names).try_map(|name| rules::find(&name).ok_or("no such rule"))
}

fn define_parser(text: &str) -> Result<String, String> {
    if is_macro(text) { Ok(text.to_string()) } else { Err(MACRO_FORM.to_string()) }
}

fn undefine_parser(text: &str) -> Result<String, String> {
    if is_name(text) { Ok(text.to_string()) } else { Err(UNDEFINED_FORM.to_string()) }
}

fn jobs_parser(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(jobs) if jobs > 0 => Ok(jobs),
        _ => Err(format!("write a number from 1 to {}", u16::MAX)),
    }
}

fn place_parser(text: &str) -> Result<(PathBuf, u32), String> {
    // What a report prints has a column, too.
    let mut parts: Vec<&str> = text.rsplitn(3, ':').collect();
    parts.reverse();
    let (file, line) = match parts.as_slice() {
        [file, line, column] if column.parse::<u32>().is_ok() && line.parse::<u32>().is_ok() => {
            (file.to_string(), *line)
        }
        [file, more, line] => (format!("{file}:{more}"), *line),
        [file, line] => (file.to_string(), *line),
        _ => return Err("write FILE:LINE, as in src/reduce.cu:42".to_string()),
    };
    match line.parse() {
        Ok(_) if file.is_empty() => {
            Err("the file's name is missing: write FILE:LINE, as in src/reduce.cu:42".to_string())
        }
        Ok(line) if line > 0 => Ok((PathBuf::from(file), line)),
        _ => Err(format!("`{line}` is no number of a line")),
    }
}

fn output_parser(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("write FORMAT=FILE, as in sarif=out.sarif")?;
    let format = format_parser(format)?;
    if file.is_empty() { Err("the file's name is missing".to_string()) } else { Ok((format, PathBuf::from(file))) }
}

/// The format of a name that comes in a longer text, or from the environment.
pub fn format_parser(name: &str) -> Result<Format, String> {
    Format::from_str(name, false).map_err(|_| {
        let names: Vec<PossibleValue> = Format::value_variants().iter().filter_map(Format::to_possible_value).collect();
        let names: Vec<&str> = names.iter().map(PossibleValue::get_name).collect();
        let near = rules::nearest(name, names.iter().copied());
        let hint = near.map(|index| format!("; did you mean `{}`?", names[index])).unwrap_or_default();
        format!("`{name}` is none of {}{hint}", names.join(", "))
    })
}
