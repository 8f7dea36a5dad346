//! Programs that buddy can make use of, asked for their versions.

use std::path::PathBuf;
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, OutputLimits, Stdin, Target};
use buddy_model::diagnose::Check;
use futures::future::join_all;

use crate::environment::Environment;

/// How long a program may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(5);
/// The most of what it says.
const MAX_VERSION_BYTES: usize = 4096;

struct WantedProgram {
    name: &'static str,
    /// Any of these will do, the first one best.
    commands: &'static [[&'static str; 2]],
    purpose: &'static str,
}

const WANTED: [WantedProgram; 4] = [
    WantedProgram { name: "tmux", commands: &[["tmux", "-V"]], purpose: "shared terminals" },
    WantedProgram { name: "git", commands: &[["git", "--version"]], purpose: "work on repositories" },
    WantedProgram {
        name: "containers",
        commands: &[["podman", "--version"], ["docker", "--version"]],
        purpose: "work in containers (podman or docker)",
    },
    WantedProgram { name: "ssh", commands: &[["ssh", "-V"]], purpose: "work on other machines" },
];

/// Looks for all of them at once.
pub(super) async fn look(environment: &Environment, target: &dyn Target) -> Vec<Check> {
    join_all(WANTED.iter().map(|wanted| find(wanted, environment, target))).await
}

async fn find(wanted: &WantedProgram, environment: &Environment, target: &dyn Target) -> Check {
    let programs = environment.programs(None);
    let mut skipped = None;
    for [name, option] in wanted.commands {
        match programs.find(name) {
            Ok(program) => {
                let env = programs.applied_to(&environment.command_env);
                if let Some(version) = version([program, (*option).to_owned()], env, target).await {
                    return Check::ok(wanted.name, version);
                }
            }
            Err(error) => skipped = skipped.or(Some(error)),
        }
    }
    if let Some(error) = skipped {
        return Check::warn(wanted.name, "not used", error.to_string());
    }
    Check::warn(wanted.name, "not found", format!("install it for {}", wanted.purpose))
}

/// The first line that a program says about its version; ssh says it on the standard error.
async fn version(command: [String; 2], env: Vec<(String, String)>, target: &dyn Target) -> Option<String> {
    let exec = Exec {
        argv: command.to_vec(),
        // Not the directory to work in: a program of a stranger's repository must not be found first.
        cwd: PathBuf::from("/"),
        env,
        stdin: Stdin::Null,
        pty: None,
        timeout: Some(VERSION_TIME),
        output: OutputLimits { keep_head: MAX_VERSION_BYTES, keep_tail: 0, log: None },
        bounds: Bounds::open(),
        way_out: None,
        end_mark: None,
    };
    let exit = target.start(exec).await.ok()?.wait().await.ok()?;
    if exit.ended != Ended::Exited || exit.code != Some(0) {
        return None;
    }
    let said = [exit.stdout.text(), exit.stderr.text()];
    said.iter().flat_map(|text| text.lines()).map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
