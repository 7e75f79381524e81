//! How long each stage of a run took, for `--verbose`.

use std::time::{Duration, Instant};

/// The stages in order, each with its time by the clock.
#[derive(Clone, Debug, Default)]
pub struct Stages(pub Vec<(&'static str, Duration)>);

impl Stages {
    /// Does a stage's work.
    pub fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.0.push((name, started.elapsed()));
        result
    }
}
