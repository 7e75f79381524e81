//! A progress bar on a terminal, once a run takes more than a second.

use crate::session::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(100);

/// Runs `work`, and shows how far it is if somebody watches.
pub fn watched<T>(wanted: bool, work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    if !wanted || !std::io::stderr().is_terminal() {
        return work(&progress);
    }
    std::thread::scope(|scope| {
        let (finished, waiting) = mpsc::channel::<()>();
        let progress = &progress;
        scope.spawn(move || {
            if waiting.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let reading = ProgressStyle::with_template("{spinner} reading {elapsed}");
            bar.set_style(reading.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            while waiting.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                let total = progress.total.load(Ordering::Relaxed);
                if total > 0 && bar.length().is_none() {
                    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed}");
                    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                }
                if total > 0 {
                    bar.set_length(total as u64);
                    bar.set_position(progress.done.load(Ordering::Relaxed) as u64);
                }
                bar.tick();
            }
            bar.finish_and_clear();
        });
        let result = work(progress);
        drop(finished);
        result
    })
}
