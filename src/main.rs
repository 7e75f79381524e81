//! Arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    synclint::cli::main(std::env::args_os())
}
