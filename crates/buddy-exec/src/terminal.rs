//! A terminal for one command: a pair of which the target reads one end and the command has the other.
//!
//! The command's side becomes the controlling terminal of a session that nobody else is in, with the command in its
//! foreground. It is not the person's terminal, and nothing that the command does to it reaches that one.

use std::fs::File;
use std::io::{self, PipeReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;

use nix::sys::signal::{SigSet, SigmaskHow, Signal as NixSignal};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, ioctl_tiocsctty, kill_process_group, setpgid, waitpid,
};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetpgrp, tcsetwinsize};
use serde::{Deserialize, Serialize};

/// What is typed ahead at most: a terminal holds a line of 4096 bytes, and more would be lost.
pub(crate) const MAX_TYPED_BYTES: u64 = 4000;

/// The key that ends the input (Control-D).
const END_OF_INPUT: u8 = 4;

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for TerminalSize {
    /// Wide enough for most tables, and as high as most windows.
    fn default() -> Self {
        Self { columns: 120, rows: 40 }
    }
}

/// Both ends of a new terminal.
pub(crate) struct Terminal {
    /// What the command prints comes out here, and what is written here is typed.
    pub(crate) near: PipeReader,
    /// The command's.
    pub(crate) far: OwnedFd,
}

impl Terminal {
    /// Makes one, with this typed into it and the end of the input after that.
    pub(crate) fn open(size: TerminalSize, typed: &[u8]) -> io::Result<Self> {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&near)?;
        unlockpt(&near)?;
        let name = ptsname(&near, Vec::new())?;
        let far = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&near, size)?;
        let mut keys = File::from(near.try_clone()?);
        keys.write_all(typed)?;
        // In the middle of a line the key only sends the line.
        let ends = if typed.is_empty() || typed.ends_with(b"\n") { 1 } else { 2 };
        keys.write_all(&[END_OF_INPUT; 2][..ends])?;
        Ok(Self { near: PipeReader::from(near), far })
    }
}

/// Makes a terminal the controlling one of this process, which must lead a session that has none.
pub(crate) fn take(terminal: impl AsFd) -> io::Result<()> {
    Ok(ioctl_tiocsctty(terminal)?)
}

/// Makes this process lead a group of its own, in the foreground of the terminal that its session has.
pub(crate) fn come_forward(terminal: impl AsFd) -> io::Result<()> {
    ignore_its_signals()?;
    setpgid(None, None)?;
    Ok(tcsetpgrp(terminal, getpid())?)
}

/// A shell that stops itself and, once it is let go on, becomes the program. A shell of the command's own that finds itself
/// in the background at its start gives up job control for good, so nothing may start before the foreground is its.
#[expect(clippy::disallowed_methods, reason = "this is where commands with a terminal are started")]
pub(crate) fn held(program: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "kill -STOP $$; exec \"$@\"", "sh", program]);
    command
}

/// Puts a held child that leads a process group into the foreground and lets it go on.
pub(crate) fn give(terminal: impl AsFd, child: Pid) -> io::Result<()> {
    match waitpid(Some(child), WaitOptions::UNTRACED)? {
        Some((_, status)) if status.stopped() => {}
        _ => return Err(io::Error::other("the shell that was to start the command has ended")),
    }
    tcsetpgrp(terminal, child)?;
    Ok(kill_process_group(child, Signal::CONT)?)
}

/// Makes this process deaf to what a terminal sends to its session, such as the hang-up: it has to clean up then.
pub(crate) fn ignore_its_signals() -> io::Result<()> {
    let mut signals = SigSet::empty();
    for signal in [
        NixSignal::SIGHUP,
        NixSignal::SIGINT,
        NixSignal::SIGQUIT,
        NixSignal::SIGTSTP,
        NixSignal::SIGTTIN,
        NixSignal::SIGTTOU,
    ] {
        signals.add(signal);
    }
    Ok(signals.thread_block()?)
}

/// Does something, such as starting a command, which inherits this, with all signals let through.
pub(crate) fn with_signals<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let before = SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let done = work();
    before.thread_set_mask()?;
    Ok(done)
}
