//! Arguments -> all of it -> exit code: 0 nothing found, 1 findings, 2 the job could not be done.

mod arguments;
mod check;
mod explain;
mod fix;
mod graph;
mod output;
mod plan;
mod progress;
mod summary;
mod shard;
mod why;

use arguments::{Arguments, Verb};
use clap::Parser;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// What a verb ends with.
enum Exit {
    Clean,
    Found,
    /// Something that the user named could not be read, as was told; the rest was done.
    Unread,
}

/// Why a verb could not do its job: text for the user, complete.
struct Failure(String);

impl Failure {
    /// One line behind `error:`.
    fn line(message: impl std::fmt::Display) -> Failure {
        Failure(format!("error: {message}\n"))
    }
}

pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let parsed = match arguments::expand(arguments) {
        Ok(arguments) => Arguments::try_parse_from(arguments),
        Err(message) => return fail(&Failure::line(message)),
    };
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            return match printed {
                _ if error.use_stderr() => ExitCode::from(2),
                // A reader that went away has seen enough.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                    let reason = crate::settings::reason(&error);
                    fail(&Failure::line(format!("cannot write to standard output: {reason}")))
                }
                _ => ExitCode::SUCCESS,
            };
        }
    };
    // Where what panicked cannot be left out, the run has failed; the panic itself is on standard error.
    let done = catch_unwind(AssertUnwindSafe(|| run(arguments)))
        .unwrap_or_else(|_| Err(Failure::line("a fault of synclint itself, told above; please report it")));
    match done {
        Ok(Exit::Clean) => ExitCode::SUCCESS,
        Ok(Exit::Found) => ExitCode::from(1),
        Ok(Exit::Unread) => ExitCode::from(2),
        Err(failure) => fail(&failure),
    }
}

fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let Arguments { verb, check } = arguments;
    match verb.unwrap_or(Verb::Check(check)) {
        Verb::Check(check) => check::check(&check),
        Verb::Baseline(baseline) => check::baseline(&baseline),
        Verb::Why(arguments) => why::why(&arguments),
        Verb::Graph(arguments) => graph::graph(&arguments),
        Verb::Explain { rule, color } => match rule {
            Some(rule) => explain::explain(rule, color),
            None => explain::rules(arguments::ListFormat::Text),
        },
        Verb::Rules { format } => explain::rules(format),
        Verb::Config(verb) => explain::config(&verb),
        Verb::Lsp { .. } => lsp(),
        Verb::Completions { shell } => explain::completions(shell),
        Verb::Man { verb } => explain::man(verb.as_deref()),
    }
}

/// Serves an editor on standard input and output. Ends with 1 where the editor went without a goodbye, as the protocol asks.
fn lsp() -> Result<Exit, Failure> {
    let input = std::io::BufReader::new(std::io::stdin());
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    match crate::lsp::serve(input, &mut output) {
        Ok(true) => Ok(Exit::Clean),
        Ok(false) => Ok(Exit::Found),
        Err(error) => Err(Failure::line(format!("the editor is gone: {}", crate::settings::reason(&error)))),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    // Nobody is left to hear of an error on standard error.
    let _ = std::io::stderr().write_all(failure.0.as_bytes());
    ExitCode::from(2)
}
