//! A gigabyte of output of one command, read live, next to the same through a bare pipe; and its memory use.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use buddy_exec::{Bounds, Exec, OutputLimits, Stdin, Target};
use tokio::runtime::Runtime;

use crate::panes::local;
use crate::sample::timed;
use crate::table::{Row, Table};

/// The size of the output.
const BYTES: u64 = 1024 * 1024 * 1024;
/// The command that prints it: a program that writes as fast as it is read.
const ARGV: [&str; 4] = ["head", "-c", "1073741824", "/dev/zero"];
/// The size of the head and of the tail that are kept.
const KEEP: usize = 64 * 1024;
/// The required rate in megabytes per second, and the permitted extra memory.
const GOAL_RATE: f64 = 200.0;
const GOAL_GROWTH_KB: u64 = 32 * 1024;

/// Measures the rate of reading output.
pub(crate) fn measure(buddy: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let target = local(buddy, folder);
    let bare = rate(bare()?);
    std::fs::write("/proc/self/clear_refs", "5").context("cannot forget the peak of memory")?;
    let before = peak_kilobytes()?;
    let taken = rate(taken(&runtime, &target, folder)?);
    let growth = peak_kilobytes()?.saturating_sub(before);
    table.add(Row {
        what: "1 GiB of output, taken in",
        figure: format!("{taken:.0} MB/s"),
        beside: format!("a bare pipe {bare:.0} MB/s; {growth} KB more memory"),
        ratio: Some(taken / bare),
        goal: Some(("200 MB/s, 32 MB", taken >= GOAL_RATE && growth <= GOAL_GROWTH_KB)),
    });
    Ok(())
}

fn taken(runtime: &Runtime, target: &dyn Target, folder: &Path) -> Result<Duration> {
    let exec = Exec {
        argv: ARGV.map(str::to_owned).to_vec(),
        cwd: folder.to_owned(),
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        stdin: Stdin::Null,
        pty: None,
        timeout: None,
        output: OutputLimits { keep_head: KEEP, keep_tail: KEEP, log: None },
        bounds: Bounds::open(),
        way_out: None,
        end_mark: None,
    };
    let (exit, time) = timed(|| {
        runtime.block_on(async {
            let mut running = target.start(exec).await?;
            while running.next().await.is_some() {}
            running.wait().await
        })
    });
    ensure!(exit?.stdout.total == BYTES, "not everything came");
    Ok(time)
}

fn bare() -> Result<Duration> {
    let [program, arguments @ ..] = ARGV;
    let (bytes, time) = timed(|| -> Result<u64> {
        let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut stream = child.stdout.take().context("there is no stream")?;
        let (mut buffer, mut total) = (vec![0; 128 * 1024], 0);
        loop {
            match stream.read(&mut buffer)? {
                0 => break,
                length => total += length as u64,
            }
        }
        child.wait()?;
        Ok(total)
    });
    ensure!(bytes? == BYTES, "not everything came");
    Ok(time)
}

fn rate(time: Duration) -> f64 {
    1024.0 * 1.048_576 / time.as_secs_f64()
}

/// The peak memory of this process.
fn peak_kilobytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak of memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
