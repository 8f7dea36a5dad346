//! Repetition and medians.

use std::time::{Duration, Instant};

/// The middle of some times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// How long something takes, with what it gives.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed())
}

/// Milliseconds, for arithmetic.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Milliseconds, for people.
pub(crate) fn shown(time: Duration) -> String {
    format!("{:.2} ms", millis(time))
}

/// How many a second.
pub(crate) fn rate(count: u32, time: Duration) -> f64 {
    f64::from(count) / time.as_secs_f64()
}
