//! The start of a command: in a jail if it has bounds, with its limits, and in a group of its own.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::Pid;

use crate::cgroup::Group;
use crate::control::{Report, Spec};
use crate::given::Given;
use crate::jail::{self, Jail, SweepNote};
use crate::rlimits::{self, Memory};
use crate::terminal;

/// A command that runs.
pub(crate) struct Started {
    pub(crate) main: Pid,
    pub(crate) jail: Option<Jail>,
    /// Removed when this is dropped, so it is kept until the last process of the command is gone.
    pub(crate) group: Option<Group>,
}

impl Started {
    /// Moves away files that the command left where programs would take orders from them.
    pub(crate) fn sweep(&mut self) -> Vec<SweepNote> {
        self.jail.as_mut().map(Jail::sweep).unwrap_or_default()
    }
}

/// Starts a command in a group of its own, where this machine has them, and with limits for each process.
pub(crate) fn start(spec: &Spec, given: Given) -> Result<Started, Report> {
    let mut group = Group::make(spec.limits);
    let is_kept = group.as_ref().is_some_and(Group::keeps_memory);
    let memory = if is_kept { Memory::Group } else { Memory::EachProcess };
    rlimits::lower(spec.limits, memory).map_err(|error| Report::NotStarted(error.into()))?;
    let started = match &mut group {
        Some(group) => group.with(|| start_here(spec, given)),
        None => start_here(spec, given),
    };
    started.map(|started| Started { group, ..started })
}

#[expect(clippy::disallowed_methods, reason = "this is where commands are started")]
fn start_here(spec: &Spec, given: Given) -> Result<Started, Report> {
    let cwd = Path::new(OsStr::from_bytes(&spec.cwd));
    // The error of a start does not tell a missing directory from a missing program.
    match cwd.metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(Report::BadCwd(io::Error::from(Errno::NOTDIR).into())),
        Err(error) => return Err(Report::BadCwd(error.into())),
    }
    let Some((program, arguments)) = spec.argv.split_first() else {
        return Err(Report::NotStarted(io::Error::from(Errno::INVAL).into()));
    };
    if !spec.bounds.is_open() {
        return jail::start(spec, cwd, given).map(|jail| Started {
            main: jail.main,
            jail: Some(jail),
            group: None,
        });
    }
    let not_started = |error: io::Error| Report::NotStarted(error.into());
    if spec.has_terminal {
        terminal::take(io::stdout()).map_err(not_started)?;
    }
    let mut command = if spec.has_terminal { terminal::held(program) } else { Command::new(program) };
    command.args(arguments).current_dir(cwd).process_group(0);
    command.env_clear().envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::from(given.stdin));
    let child = terminal::with_signals(|| command.spawn()).flatten().map_err(not_started)?;
    let main = Pid::from_child(&child);
    if spec.has_terminal {
        terminal::give(io::stdout(), main).map_err(not_started)?;
    }
    Ok(Started { main, jail: None, group: None })
}
