//! A terminal for one command: a pair of which the target reads one end and the command has the other.
//!
//! The command's side becomes the controlling terminal of a session of its own, with the command in its
//! foreground. It is not the user's terminal, and nothing that the command does to it reaches that one.

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

/// The most bytes that are typed ahead: a terminal holds a line of 4096 bytes, and more would be
/// lost.
pub(crate) const MAX_TYPED_BYTES: u64 = 4000;

/// The key that ends the input (Control-D).
const END_OF_INPUT: u8 = 4;

/// The size of a terminal.
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
    /// Reading gives the command's output, and writing types.
    pub(crate) near: PipeReader,
    /// The command's end.
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

/// A shell that stops itself and, once continued, becomes the program. A shell of the command's own that
/// finds itself in the background at its start gives up job control for good. So nothing may start before it
/// has the foreground.
#[expect(clippy::disallowed_methods, reason = "this is where commands with a terminal are started")]
pub(crate) fn held(program: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "kill -STOP $$; exec \"$@\"", "sh", program]);
    command
}

/// Puts a held child that leads a process group into the foreground and continues it.
pub(crate) fn give(terminal: impl AsFd, child: Pid) -> io::Result<()> {
    match waitpid(Some(child), WaitOptions::UNTRACED)? {
        Some((_, status)) if status.stopped() => {}
        _ => return Err(io::Error::other("the shell that was to start the command has ended")),
    }
    tcsetpgrp(terminal, child)?;
    Ok(kill_process_group(child, Signal::CONT)?)
}

/// Makes this process ignore the signals that a terminal sends to its session, such as the hang-up: it has to
/// clean up then.
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

/// Calls `work`, such as starting a command, which inherits this, with no signal blocked.
pub(crate) fn with_signals<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let before = SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let done = work();
    before.thread_set_mask()?;
    Ok(done)
}
