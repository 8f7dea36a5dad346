//! Finds the processes of this machine that belong to a test, by their working directory or their
//! environment. It also finds a process that forks twice and starts its own session.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The interval between reads of the process list while waiting.
const PAUSE: Duration = Duration::from_millis(10);

/// A process that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its command line, for messages.
    pub command: String,
}

impl Process {
    /// Kills it at once.
    pub fn kill(&self) {
        signal(self.pid, Signal::KILL);
    }
}

/// Sends a signal; a process that is gone is ignored.
pub fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _gone = kill_process(pid, signal);
    }
}

/// The living processes that work in this directory or below, or have it in their environment, except this
/// process.
pub fn of(directory: &Path) -> Vec<Process> {
    let own = std::process::id().cast_signed();
    let entries = fs::read_dir("/proc").expect("a list of processes");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let found = pids.filter(|pid| *pid != own && belongs(*pid, directory));
    found.map(|pid| Process { pid, command: command(pid) }).collect()
}

/// Waits until no process of this directory lives; returns those that are left after the timeout.
pub fn wait_until_gone(directory: &Path, within: Duration) -> Vec<Process> {
    let until = Instant::now() + within;
    loop {
        let left = of(directory);
        if left.is_empty() || Instant::now() >= until {
            return left;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The peak memory of a process so far, in bytes; `None` if it is gone.
pub fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// A zombie process has neither directory nor environment, and so is not found.
fn belongs(pid: i32, directory: &Path) -> bool {
    let needle = directory.as_os_str().as_bytes();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let is_named = environment.windows(needle.len()).any(|window| window == needle);
    is_named || fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
}

fn command(pid: i32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}
