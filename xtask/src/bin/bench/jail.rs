//! A command that does nothing, in a jail and next to the same command without one.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use buddy_exec::{
    Bounds, DEFAULT_GRACE, Description, Exec, HostMeans, LocalSettings, LocalTarget, OutputLimits, Reach,
    Stdin, SupervisorCommand, Target,
};
use tokio::runtime::Runtime;

use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of runs of each, alternating.
const RUNS: usize = 101;

/// The protected names of a typical workspace, which do not exist.
const GUARDED: [&str; 4] = [".buddy/config.toml", ".git/hooks", ".git/config", ".mcp.json"];

/// Measures the cost of the jail in addition to a command's own time.
pub(crate) fn measure(buddy: &Path, folder: &Path, table: &mut Table) -> Result<()> {
    let runtime = Runtime::new()?;
    let workspace = folder.join("workspace");
    std::fs::create_dir_all(&workspace)?;
    let target = target(buddy, &workspace);
    let jailed = Bounds {
        write: Reach::Beneath(vec![workspace.clone()]),
        guarded: GUARDED.map(Into::into).to_vec(),
        network: false,
        ..Bounds::open()
    };
    let (mut open, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        open.push(run(&runtime, &target, Bounds::open())?);
        confined.push(run(&runtime, &target, jailed.clone())?);
    }
    let (open, confined) = (median(open), median(confined));
    table.add(Row {
        what: "true in a jail, wall",
        figure: shown(confined),
        beside: format!("without a jail {}", shown(open)),
        ratio: Some(millis(confined) / millis(open)),
        goal: None,
    });
    Ok(())
}

fn target(buddy: &Path, workspace: &Path) -> LocalTarget {
    LocalTarget::new(LocalSettings {
        supervisor: SupervisorCommand { program: buddy.to_owned(), args: vec!["__supervise".to_owned()] },
        description: Description {
            name: "local".to_owned(),
            user: "bench".to_owned(),
            host: "here".to_owned(),
            os: "linux".to_owned(),
            shell: "/bin/sh".to_owned(),
            cwd: workspace.to_owned(),
            means: HostMeans::default(),
        },
        grace: DEFAULT_GRACE,
    })
}

fn run(runtime: &Runtime, target: &LocalTarget, bounds: Bounds) -> Result<Duration> {
    let exec = Exec {
        argv: vec!["/bin/true".to_owned()],
        cwd: target.describe().cwd.clone(),
        env: Vec::new(),
        stdin: Stdin::Null,
        pty: None,
        timeout: None,
        output: OutputLimits::default(),
        bounds,
        way_out: None,
        end_mark: None,
    };
    let (exit, time) = timed(|| runtime.block_on(async { target.start(exec).await?.wait().await }));
    ensure!(exit?.code == Some(0), "the command failed");
    Ok(time)
}
