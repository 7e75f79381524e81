//! `check --shard I/N` and `check --join PART..`: a run in parts on several machines, and their report.

use super::output::to_stdout;
use super::progress::watched;
use super::{Exit, Failure};
use crate::session::{self, Outcome, Part, Request, Shard};
use crate::settings::{self, Settings};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default)]
pub struct Sharding {
    /// Analyses one of N parts, from 1, and prints its answers for `--join`
    #[arg(
        long,
        value_name = "I/N",
        conflicts_with_all = ["join", "format", "output", "statistics", "fix", "diff", "fail_on"],
        help_heading = "Several machines"
    )]
    pub shard: Option<Shard>,
    /// Reports what the parts found, as one run would have; of the same paths and options
    #[arg(
        long,
        value_name = "PART",
        num_args = 1..,
        conflicts_with = "fix",
        help_heading = "Several machines"
    )]
    pub join: Vec<PathBuf>,
}

/// Analyses a part and prints it. Found or not: that is for the whole to say.
pub fn print_part(settings: &Settings, request: &Request, shard: Shard, quiet: bool) -> Result<Exit, Failure> {
    let part = watched(!quiet, |progress| session::run_shard(settings, request, progress, shard));
    let text = part.and_then(|part| part.to_json()).map_err(|error| Failure::line(error.0))?;
    to_stdout(|out| out.write_all(&text).and_then(|()| out.write_all(b"\n")))?;
    Ok(Exit::Clean)
}

/// What the run of which these are the parts found.
pub fn joined(settings: &Settings, request: &Request, files: &[PathBuf]) -> Result<Outcome, Failure> {
    let mut parts = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let bytes =
            settings::own_file(file).map_err(|error| Failure::line(format!("{name}: {}", settings::reason(&error))))?;
        parts.push(Part::parse(&name, &bytes).map_err(|error| Failure::line(error.0))?);
    }
    session::join(settings, request, parts).map_err(|error| Failure::line(error.0))
}
