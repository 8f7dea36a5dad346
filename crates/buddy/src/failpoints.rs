//! Points at which a test can stop the process dead, as `kill -9` would, or make it panic. They exist in builds for tests only: a
//! development dependency turns them on, and without it `fail` compiles every point to nothing.

/// Arms the point that `BUDDY_KILL_AT` names, as `POINT` or `POINT:N` for its N-th time, and the one of `BUDDY_PANIC_AT`.
#[expect(clippy::disallowed_methods, reason = "the binary reads the environment")]
pub(crate) fn arm() {
    if let Ok(point) = std::env::var("BUDDY_PANIC_AT") {
        let _ = fail::cfg(point, "panic");
    }
    let Ok(wish) = std::env::var("BUDDY_KILL_AT") else { return };
    let (point, times) = wish.split_once(':').unwrap_or((&wish, "1"));
    let times: usize = times.parse().unwrap_or(1);
    let reached = std::sync::atomic::AtomicUsize::new(0);
    let kill = move || {
        if reached.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 == times {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    };
    let _ = fail::cfg_callback(point, kill);
}
