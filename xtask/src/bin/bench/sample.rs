//! Repetition and medians.

use std::time::{Duration, Instant};

/// The median of some times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The run time of a function, with its result.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed())
}

/// Milliseconds, for arithmetic.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Milliseconds, for display.
pub(crate) fn shown(time: Duration) -> String {
    format!("{:.2} ms", millis(time))
}

/// The rate per second.
pub(crate) fn rate(count: u32, time: Duration) -> f64 {
    f64::from(count) / time.as_secs_f64()
}
