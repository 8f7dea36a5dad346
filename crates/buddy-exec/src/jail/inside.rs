//! The process inside the jail: confines itself, starts the command, and in namespaces of its own looks after orphans.

use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Pid, WaitOptions, getpid, set_dumpable_behavior, wait};
use rustix::stdio::dup2_stdin;

use super::confine::confine;
use super::covers;
use super::overlays;
use super::refusal::{BUBBLEWRAP, PROCESS, Refusal, refused};
use super::way_out;
use super::words::{Place, Plan, Word};
use crate::control::{self, MAX_SPEC_BYTES, Reason};
use crate::descriptors::receive_descriptors;
use crate::given::null;
use crate::terminal;

/// The first argument under which this program becomes the process inside the jail.
pub const JAIL: &str = "__jail";

/// The first descriptor that is none of the standard streams.
const FIRST_OTHER: i32 = 3;

/// Becomes the process inside a jail: the whole `main` of that hidden mode. Only the supervisor uses it.
///
/// The exit code means nothing; the control stream has reported the outcome.
pub fn jail() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The error has no reader: the control stream is what failed.
        Err(_) => ExitCode::from(2),
    }
}

fn run() -> io::Result<()> {
    close_others()?;
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    control.peer_addr()?;
    let mut streams = receive_streams(&control)?;
    let plan = receive_plan(&mut control)?;
    // The command must not find the control stream at its stdin.
    dup2_stdin(&streams.stdin)?;
    let entered = way_out::open(&plan, streams.way_out.take())
        .map_err(Word::Refused)
        .and_then(|()| enter(&plan, streams.broker.take()));
    let word = match entered {
        Ok(()) => Word::Confined,
        Err(word) => word,
    };
    say(&mut control, &word)?;
    if !matches!(word, Word::Confined) {
        return Ok(());
    }
    let mut command = match command(&plan, streams) {
        Ok(command) => command,
        Err(error) => return say(&mut control, &Word::NotStarted(error.into())),
    };
    match plan.place {
        Place::Bare => {
            terminal::with_signals(|| say(&mut control, &Word::NotStarted(command.exec().into())))?
        }
        Place::Namespaces | Place::Light => look_after(command, &mut control, plan.has_terminal),
    }
}

/// Closes inherited descriptors. Nothing has been opened here yet, so none of them is in use.
fn close_others() -> io::Result<()> {
    let numbers: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number >= FIRST_OTHER)
        .collect();
    for number in numbers {
        // The listing's own descriptor is among them, and closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// What the command reads and where its errors go; its output is ours. And where its calls are handed over that somebody is asked about, and its way out, if it has
/// one.
struct Streams {
    stdin: OwnedFd,
    stderr: OwnedFd,
    broker: Option<OwnedFd>,
    way_out: Option<OwnedFd>,
}

fn receive_streams(control: &UnixStream) -> io::Result<Streams> {
    let mut received = receive_descriptors(control)?.into_iter();
    match (received.next(), received.next(), received.next()) {
        (Some(stdin), Some(stderr), broker) => {
            Ok(Streams { stdin, stderr, broker, way_out: received.next() })
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn receive_plan(control: &mut UnixStream) -> io::Result<Plan> {
    let mut line = Vec::new();
    let mut length = [0; size_of::<u64>()];
    control.read_exact(&mut length)?;
    let length = u64::from_ne_bytes(length).min(MAX_SPEC_BYTES * 2);
    BufReader::new(control.take(length)).read_to_end(&mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

/// Goes into the directory and then behind all walls.
fn enter(plan: &Plan, broker: Option<OwnedFd>) -> Result<(), Word> {
    if !plan.overlays.is_empty() {
        overlays::put(&plan.overlays, &plan.over).map_err(Word::Refused)?;
    }
    if let Some(covers) = &plan.covers {
        covers::put(covers, plan.network).map_err(Word::Refused)?;
    }
    std::env::set_current_dir(plan.cwd.to_path()).map_err(|error| Word::BadCwd(Reason::from(error)))?;
    if plan.place != Place::Bare {
        guard_self(plan).map_err(Word::Refused)?;
        if plan.place == Place::Light {
            covers::put_terminals().map_err(Word::Refused)?;
        }
        if plan.is_pane {
            terminal::come_forward(io::stdin()).map_err(|error| Word::NotStarted(error.into()))?;
        } else if plan.has_terminal && plan.place == Place::Namespaces {
            terminal::take(io::stdin()).map_err(|error| Word::NotStarted(error.into()))?;
        }
    }
    confine(plan, broker).map_err(Word::Refused)
}

/// The name of the namespace of mounts that this process is in. Empty if it cannot be told, which then does
/// not count as another one.
pub(super) fn own_mounts() -> PathBuf {
    fs::read_link("/proc/self/ns/mnt").unwrap_or_default()
}

/// Keeps the command from reading or changing this process, which speaks for it.
fn guard_self(plan: &Plan) -> Result<(), Refusal> {
    // The rules for these places rely on mounts, so they must not be applied where there are none.
    if own_mounts() == plan.mounts_outside.to_path() {
        return Err(Refusal::new(BUBBLEWRAP, "it has not made a namespace for the command's mounts"));
    }
    if plan.place == Place::Namespaces && getpid() != Pid::INIT {
        return Err(Refusal::new(BUBBLEWRAP, "it has not made a namespace for the command's processes"));
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(refused(PROCESS, "guard the first process"))
}

#[expect(clippy::disallowed_methods, reason = "this is where jailed commands are started")]
fn command(plan: &Plan, streams: Streams) -> io::Result<Command> {
    let (program, arguments) = plan.argv.split_first().ok_or(Errno::INVAL)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(plan.env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::from(streams.stdin)).stderr(Stdio::from(streams.stderr));
    Ok(command)
}

/// As the first process of its namespace this one inherits all orphans, and when it ends, so do they.
fn look_after(mut command: Command, control: &mut UnixStream, has_terminal: bool) -> io::Result<()> {
    // On a terminal it stays in the group of this process, which is in the foreground from the start and deaf to signals to that
    // group.
    if !has_terminal {
        command.process_group(0);
    }
    let started = terminal::with_signals(|| command.spawn()).flatten();
    drop(command);
    let child = match started {
        Ok(child) => Pid::from_child(&child),
        Err(error) => return say(control, &Word::NotStarted(error.into())),
    };
    if !has_terminal {
        // As long as this process could read it too, a writer would not learn that the command has closed it.
        let _ = null().and_then(|null| Ok(dup2_stdin(null)?));
    }
    say(control, &Word::Started(child.as_raw_pid()))?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => say(control, &Word::Exited(status.into()))?,
            Ok(_) | Err(Errno::INTR) => {}
            // No child is left.
            Err(_) => return Ok(()),
        }
    }
}

fn say(control: &mut UnixStream, word: &Word) -> io::Result<()> {
    control.write_all(&control::line(word)?)
}
