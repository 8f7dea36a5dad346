//! A command that does nothing, typed into a shared pane and next to the same command without one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use buddy_exec::{
    Bounds, DEFAULT_GRACE, Description, Exec, HostMeans, LocalSettings, LocalTarget, OutputLimits,
    PaneCommand, PaneSelector, PaneText, Panes, Stdin, SupervisorCommand, Target, TmuxSettings, TmuxTarget,
    Way,
};
use tokio::runtime::Runtime;

use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of runs of each, alternating.
const RUNS: usize = 101;
/// The permitted cost of a pane in addition to a command, in milliseconds.
const GOAL_MS: f64 = 15.0;
/// The `PATH` of both commands.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Measures the cost of a pane in addition to a command's own time.
pub(crate) fn measure(buddy: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let workspace = folder.join("panes");
    std::fs::create_dir_all(&workspace)?;
    let below: Arc<dyn Target> = Arc::new(local(buddy, &workspace));
    let settings = TmuxSettings {
        directory: workspace.join("run"),
        locks: workspace.join("run"),
        session: "buddy-bench".to_owned(),
        max_sessions: 1,
        max_panes: 1,
        shell: "/bin/bash".to_owned(),
        env: vec![("PATH".to_owned(), PATH.to_owned())],
        own_env: vec![("PATH".to_owned(), PATH.to_owned())],
        warden: None,
        reconnect_within: Duration::ZERO,
        way: Way::Here,
    };
    let panes = TmuxTarget::new(below.clone(), settings)?;
    let measured = by_turns(&runtime, &*below, &panes, &workspace);
    let socket = workspace.join("run/socket");
    std::process::Command::new("tmux")
        .arg("-S")
        .arg(socket)
        .arg("kill-server")
        .status()
        .context("cannot run tmux")?;
    let (plain, typed) = measured?;
    let over = millis(typed) - millis(plain);
    table.add(Row {
        what: "true in a shared pane, wall",
        figure: shown(typed),
        beside: format!("without a pane {}, so {over:.1} ms more", shown(plain)),
        ratio: Some(millis(typed) / millis(plain)),
        goal: Some(("at most 15 ms more", over <= GOAL_MS)),
    });
    Ok(())
}

fn by_turns(
    runtime: &Runtime,
    below: &dyn Target,
    panes: &TmuxTarget,
    workspace: &Path,
) -> Result<(Duration, Duration)> {
    // The first command creates the server and the pane.
    in_pane(runtime, panes, workspace)?;
    let (mut plain, mut typed) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        plain.push(beside(runtime, below, workspace)?);
        typed.push(in_pane(runtime, panes, workspace)?);
    }
    Ok((median(plain), median(typed)))
}

fn in_pane(runtime: &Runtime, panes: &TmuxTarget, workspace: &Path) -> Result<Duration> {
    let command = PaneCommand {
        text: PaneText::Shell("true".to_owned()),
        cwd: workspace.to_owned(),
        timeout: None,
        output: OutputLimits::default(),
        bounds: Bounds::open(),
    };
    let (exit, time) = timed(|| {
        runtime.block_on(async {
            Panes::start(panes, &PaneSelector::default(), command).await?.running.wait().await
        })
    });
    ensure!(exit?.code == Some(0), "the command failed");
    Ok(time)
}

fn beside(runtime: &Runtime, target: &dyn Target, workspace: &Path) -> Result<Duration> {
    let exec = Exec {
        argv: ["/bin/bash", "-c", "true"].map(str::to_owned).to_vec(),
        cwd: workspace.to_owned(),
        env: vec![("PATH".to_owned(), PATH.to_owned())],
        stdin: Stdin::Null,
        pty: None,
        timeout: None,
        output: OutputLimits::default(),
        bounds: Bounds::open(),
        way_out: None,
        end_mark: None,
    };
    let (exit, time) = timed(|| runtime.block_on(async { target.start(exec).await?.wait().await }));
    ensure!(exit?.code == Some(0), "the command failed");
    Ok(time)
}

pub(crate) fn local(buddy: &Path, workspace: &Path) -> LocalTarget {
    LocalTarget::new(LocalSettings {
        supervisor: SupervisorCommand { program: buddy.to_owned(), args: vec!["__supervise".to_owned()] },
        description: Description {
            name: "local".to_owned(),
            user: "bench".to_owned(),
            host: "here".to_owned(),
            os: "linux".to_owned(),
            shell: "/bin/bash".to_owned(),
            cwd: workspace.to_owned(),
            means: HostMeans::default(),
        },
        grace: DEFAULT_GRACE,
    })
}
