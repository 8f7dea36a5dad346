//! A shell on the host that is started ahead of the next call: it has the functions that supervise a command,
//! and waits for the command itself. The time it takes to reach a host is then spent before a call waits for
//! it.

use std::io::{self, Write as _};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::script::prelude;
use crate::transport::Client;

/// A shell on the host, and whether it has read the prelude.
pub(super) struct Shell {
    pub(super) child: Child,
    pub(super) is_prepared: bool,
}

impl Shell {
    /// Starts one.
    pub(super) fn start(client: &Client) -> io::Result<Self> {
        let mut command = client.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self { child: command.spawn()?, is_prepared: false })
    }

    /// Sends it the prelude. That fits into its pipe, so this does not wait.
    fn prepare(mut self) -> io::Result<Self> {
        if let Some(stdin) = &mut self.child.stdin {
            stdin.write_all(prelude().as_bytes())?;
        }
        Ok(Self { is_prepared: true, ..self })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it.
    pub(super) fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The place of one such shell.
pub(super) struct Spare {
    /// Locked for a check, a change, or the start of a program.
    place: Mutex<Option<Shell>>,
    is_kept: AtomicBool,
}

impl Spare {
    /// A place that is filled ahead of each call.
    pub(super) fn one() -> Arc<Self> {
        Arc::new(Self { place: Mutex::default(), is_kept: AtomicBool::new(true) })
    }

    /// No place: each call starts its own shell.
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self { place: Mutex::default(), is_kept: AtomicBool::new(false) })
    }

    /// The shell, if a live one is there. Only one call gets it.
    pub(super) fn take(&self) -> Option<Shell> {
        let mut shell = self.place().take()?;
        if shell.is_alive() {
            return Some(shell);
        }
        shell.end();
        None
    }

    /// Starts the next shell, unless a live one is there. A failure shows in the next call.
    pub(super) fn fill(&self, client: &Client) {
        let mut place = self.place();
        if self.is_kept.load(Ordering::SeqCst) && !place.as_mut().is_some_and(Shell::is_alive) {
            let dead = place.take();
            *place = Shell::start(client).and_then(Shell::prepare).ok();
            drop(place);
            if let Some(dead) = dead {
                dead.end();
            }
        }
    }

    /// Ends the shell, and starts none any more.
    pub(super) fn close(&self) {
        self.is_kept.store(false, Ordering::SeqCst);
        let shell = self.place().take();
        if let Some(shell) = shell {
            shell.end();
        }
    }

    fn place(&self) -> MutexGuard<'_, Option<Shell>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(shell) = self.place().take() {
            shell.end();
        }
    }
}
