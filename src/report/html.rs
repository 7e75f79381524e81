//! html
use super::Report;
use std::io::{self, Write};
pub fn render(_report: &Report, _out: &mut dyn Write) -> io::Result<()> {
    Ok(())
}
