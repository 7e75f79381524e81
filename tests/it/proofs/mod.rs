//! What the analysis promises, shown on programs by the thousand: a second oracle that runs them, laws that hold under
//! changes, and a table of what each kind of condition does to each kind of barrier.

pub mod analyse;
mod gather;
mod generate;
mod interpreter;
mod kernel;
mod laws;
mod memory;
mod outline;
mod oracle;
mod product;
mod product_parts;
mod random;
mod shrink;

/// How many programs to try: `SYNCLINT_CASES`, or so many as fit into a run of all tests.
fn cases(few: u64) -> u64 {
    std::env::var("SYNCLINT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}
