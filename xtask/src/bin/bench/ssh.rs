//! A command that does nothing on a host over SSH, next to a bare `ssh` over the same connection.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use buddy_exec::{
    Bounds, DEFAULT_GRACE, Exec, OutputLimits, RemoteSettings, RemoteTarget, SshSettings, SshTransport,
    Stdin, Target, Transport,
};
use buddy_testkit::ssh_host::SshHost;
use tokio::runtime::Runtime;

use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of runs of each, alternating.
const RUNS: usize = 101;
/// The permitted cost of remote supervision in addition to `ssh` itself, in milliseconds.
const GOAL_MS: f64 = 10.0;

/// Measures the cost of buddy in addition to `ssh`.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let host = SshHost::start()?;
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let settings = SshSettings { config: Some(host.config()), ..SshSettings::new("machine", env) };
    let transport = Arc::new(runtime.block_on(SshTransport::attach(settings))?);
    let settings = RemoteSettings { cwd: None, grace: DEFAULT_GRACE };
    let target = runtime.block_on(RemoteTarget::attach(transport.clone(), settings))?;
    let (mut bare, mut supervised) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        bare.push(run_bare(&*transport)?);
        supervised.push(run(&runtime, &target)?);
    }
    let (bare, supervised) = (median(bare), median(supervised));
    let added = millis(supervised) - millis(bare);
    table.add(Row {
        what: "true over ssh, wall",
        figure: shown(supervised),
        beside: format!("bare ssh, same connection {}", shown(bare)),
        ratio: Some(millis(supervised) / millis(bare)),
        goal: Some(("at most 10 ms more", added <= GOAL_MS)),
    });
    Ok(())
}

fn run_bare(transport: &dyn Transport) -> Result<Duration> {
    let client = transport.client(&["true"]);
    let mut command = Command::new(&client.program);
    command.args(&client.args).env_clear().envs(client.env).stdin(Stdio::null());
    let (status, time) = timed(|| command.status());
    ensure!(status.context("cannot start ssh")?.success(), "ssh failed");
    Ok(time)
}

fn run(runtime: &Runtime, target: &RemoteTarget) -> Result<Duration> {
    let exec = Exec {
        argv: vec!["/bin/true".to_owned()],
        cwd: target.describe().cwd.clone(),
        env: Vec::new(),
        stdin: Stdin::Null,
        timeout: None,
        output: OutputLimits::default(),
        bounds: Bounds::open(),
        pty: None,
        way_out: None,
        end_mark: None,
    };
    let (exit, time) = timed(|| runtime.block_on(async { target.start(exec).await?.wait().await }));
    ensure!(exit?.code == Some(0), "the command failed");
    Ok(time)
}
