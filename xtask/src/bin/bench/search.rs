//! Searching a large tree, next to ripgrep on the same tree.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use buddy_exec::{
    Bounds, Description, GrepQuery, HostMeans, LocalSettings, LocalTarget, SupervisorCommand, Target,
};

use crate::programs::wall;
use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of directories in the tree.
const DIRECTORIES: usize = 1_000;
/// The number of files in each of them.
const FILES: usize = 100;
/// The number of runs of each, alternating.
const RUNS: usize = 7;
/// The permitted run time relative to ripgrep.
const MOST: f64 = 1.2;

/// Measures a pattern that few lines match, over 100,000 files.
pub(crate) fn measure(folder: &Path, table: &mut Table) -> Result<()> {
    let tree = folder.join("tree");
    make(&tree)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let target = Arc::new(target(&tree));
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut ripgrep = Command::new("rg");
        ripgrep.args(["--no-messages", "--hidden", "--sort", "none", "needle_\\d+"]).arg(&tree);
        other.push(wall(&mut ripgrep).context("ripgrep is needed to compare with")?);
        let (found, time) = timed(|| runtime.block_on(target.grep(&Bounds::open(), Path::new(""), query())));
        ensure!(found?.files.len() == DIRECTORIES / 10, "the search must find what is there");
        own.push(time);
    }
    let (own, other) = (median(own), median(other));
    let ratio = millis(own) / millis(other);
    table.add(Row {
        what: "grep over 100,000 files",
        figure: shown(own),
        beside: format!("rg {}", shown(other)),
        ratio: Some(ratio),
        goal: Some(("< 1.2 times rg", ratio < MOST)),
    });
    fs::remove_dir_all(&tree)?;
    Ok(())
}

fn query() -> GrepQuery {
    GrepQuery {
        pattern: "needle_\\d+".to_owned(),
        ignore_case: false,
        names: None,
        context: 0,
        limit: 1_000,
        max_line: 200,
        files_only: false,
        with_ignored: false,
    }
}

fn make(tree: &Path) -> Result<()> {
    let text = "some line of an ordinary file, as there are many of them\n".repeat(30);
    for directory in 0..DIRECTORIES {
        let path = tree.join(format!("{:02}", directory / 100)).join(format!("{directory:04}"));
        fs::create_dir_all(&path)?;
        for file in 0..FILES {
            fs::write(path.join(format!("{file:03}.txt")), &text)?;
        }
        if directory % 10 == 0 {
            fs::write(path.join("050.txt"), format!("{text}needle_{directory}\n"))?;
        }
    }
    Ok(())
}

fn target(cwd: &Path) -> LocalTarget {
    let description = Description {
        name: "local".to_owned(),
        user: String::new(),
        host: String::new(),
        os: String::new(),
        shell: "/bin/sh".to_owned(),
        cwd: cwd.to_owned(),
        means: HostMeans::default(),
    };
    let supervisor = SupervisorCommand { program: "/bin/false".into(), args: Vec::new() };
    LocalTarget::new(LocalSettings { supervisor, description, grace: std::time::Duration::ZERO })
}
