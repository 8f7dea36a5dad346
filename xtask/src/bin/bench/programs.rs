//! Programs measured from outside: their run time and memory.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of runs of each program. They alternate, so that load on the machine affects both alike.
const RUNS: usize = 101;

/// The goal for the size of the release program.
const MAX_BYTES: u64 = 30_000_000;

/// Measures `buddy --version` next to a program that does nothing, and the size of the program.
pub(crate) fn measure(buddy: &Path, table: &mut Table) -> Result<()> {
    let (mut version, mut nothing) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        nothing.push(wall(&mut Command::new("/bin/true"))?);
        version.push(wall(Command::new(buddy).arg("--version"))?);
    }
    let (version, nothing) = (median(version), median(nothing));
    table.add(Row {
        what: "buddy --version, wall",
        figure: shown(version),
        beside: format!("/bin/true {}", shown(nothing)),
        ratio: Some(millis(version) / millis(nothing)),
        goal: Some(("<= 3 ms", version <= Duration::from_millis(3))),
    });
    let bytes = fs::metadata(buddy)?.len();
    table.add(Row {
        what: "size of buddy",
        figure: format!("{} kB", bytes / 1_000),
        beside: String::new(),
        ratio: None,
        goal: Some(("<= 30 MB", bytes <= MAX_BYTES)),
    });
    Ok(())
}

/// The run time of a program, from its start until it has been waited for.
pub(crate) fn wall(command: &mut Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (status, time) = timed(|| command.status());
    ensure!(status?.success(), "{command:?} failed");
    Ok(time)
}

/// The peak memory of a program in kilobytes, polled without a pause until it ends.
pub(crate) fn peak(command: &mut Command) -> Result<u64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        let status = fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let figure = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(figure.unwrap_or(0));
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(peak)
}
