//! The link to one pane: its id, its shell, its stream, and the typing of lines into it.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::follow::{Follower, Seen, follow};
use super::host::Host;
use super::scripts;
use super::source::Source;
use super::spool::RELAY;
use crate::{CaptureOptions, PaneError, Stdin, TargetError};

/// How long a shell may take to carry out its setup: far more than a loaded machine, with a loaded host behind it, needs.
const SETUP_LIMIT: Duration = Duration::from_secs(15);

/// A pane that is followed.
pub(super) struct Link {
    pub(super) host: Arc<Host>,
    /// As tmux numbers it, such as `%3`.
    pub(super) id: String,
    pub(super) session: String,
    /// What the shell of the pane is started with.
    shell: Vec<String>,
    /// The process of the shell; changes when it is started again.
    pid: AtomicI32,
    /// The directory that its stream goes through.
    pub(super) spool: String,
    pub(super) follower: Follower,
    /// One command at a time.
    pub(super) turn: Arc<Semaphore>,
    /// Whether a command was left to itself and still runs.
    pub(super) is_dispatched: AtomicBool,
    /// Strange prompts that the agent was told of.
    pub(super) told_prompts: AtomicU64,
    /// Whether the shell was set up by this process.
    is_set_up: AtomicBool,
    /// Whether a look found that the pane is not there any more, which the stream may tell a little later.
    pub(super) is_gone: AtomicBool,
    /// The last capture and how it was made.
    pub(super) captured: Mutex<Option<(CaptureOptions, String)>>,
}

/// What a line was typed with.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// The file that the line reads, and what is put into it.
    pub(super) file: String,
    pub(super) content: Vec<u8>,
    pub(super) cwd: &'a str,
}

/// Whether a line was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Yes,
    /// The shell has ended.
    Dead,
    /// Something else is in the foreground.
    Busy(String),
    BadCwd,
    /// tmux found that this is not the pane that it should be.
    Refused,
}

impl Link {
    /// Follows a pane and sets its shell up, which may fail where something else runs in it.
    pub(super) async fn open(
        host: Arc<Host>,
        id: &str,
        session: &str,
        pid: i32,
        shell: Vec<String>,
    ) -> Result<Self, TargetError> {
        let spools = host.path(&format!("{}.spool", number(id)));
        let spool = format!("{spools}.{}", nonce()?);
        let socket = host.socket();
        let relay = Stdin::Bytes(RELAY.as_bytes().to_vec());
        let said = host.run(scripts::STREAM, &[&socket, id, session, &spool, &spools], relay).await?;
        if !said.text.is_empty() {
            return Err(PaneError::Foreign { name: session.to_owned() }.into());
        }
        let follower = follow(Source::open(host.clone(), spool.clone()).await?)?;
        Ok(Self {
            host,
            id: id.to_owned(),
            session: session.to_owned(),
            shell,
            pid: AtomicI32::new(pid),
            spool,
            follower,
            turn: Arc::new(Semaphore::new(1)),
            is_dispatched: AtomicBool::new(false),
            told_prompts: AtomicU64::new(0),
            is_set_up: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            captured: Mutex::default(),
        })
    }

    pub(super) fn pid(&self) -> String {
        self.pid.load(Ordering::Relaxed).to_string()
    }

    pub(super) fn seen(&self) -> Seen {
        self.follower.seen.borrow().clone()
    }

    /// Whether the pane is there and followed, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.follower.seen.borrow().is_closed && !self.is_gone.load(Ordering::Relaxed)
    }

    /// The file that commands are read from.
    pub(super) fn command_file(&self) -> String {
        self.host.path(&format!("{}.command", number(&self.id)))
    }

    /// Types a line, after tmux has looked whether the pane is still the right one.
    pub(super) async fn type_line(&self, line: Line<'_>) -> Result<Typed, TargetError> {
        let (socket, pid) = (self.host.socket(), self.pid());
        let arguments = [&socket, &self.id, &self.session, &pid, line.text, &line.file, line.cwd];
        let said = self.host.run(scripts::TYPE, &arguments, Stdin::Bytes(line.content)).await?;
        Ok(match said.words().as_slice() {
            [] => Typed::Yes,
            ["dead", ..] => Typed::Dead,
            ["busy", program @ ..] => Typed::Busy(program.join(" ")),
            ["cwd", ..] => Typed::BadCwd,
            _ => Typed::Refused,
        })
    }

    /// Sets the shell up unless that was done before.
    pub(super) async fn ready(&self) -> Result<(), TargetError> {
        if self.is_set_up.load(Ordering::Relaxed) { Ok(()) } else { self.set_up().await }
    }

    /// Tells the shell to say where commands begin and end.
    pub(super) async fn set_up(&self) -> Result<(), TargetError> {
        let nonce = nonce()?;
        let file = self.host.path(&format!("{}.setup", number(&self.id)));
        let content = scripts::setup(&self.command_file(), &nonce).into_bytes();
        let line = scripts::setup_line(&file);
        let typed = self.type_line(Line { text: &line, file, content, cwd: "/" }).await?;
        match typed {
            Typed::Yes => {}
            Typed::Busy(program) => return Err(PaneError::Busy { program }.into()),
            Typed::Dead | Typed::BadCwd => return Err(PaneError::NoHooks.into()),
            Typed::Refused => return Err(self.refused()),
        }
        let mut seen = self.follower.seen.clone();
        let is_ready = |seen: &Seen| seen.is_closed || seen.ready == nonce;
        match timeout(SETUP_LIMIT, seen.wait_for(is_ready)).await {
            Ok(Ok(seen)) if !seen.is_closed => {
                self.is_set_up.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(PaneError::NoHooks.into()),
        }
    }

    /// Starts the shell again, with what runs in the pane ended, and sets it up.
    pub(super) async fn respawn(&self) -> Result<(), TargetError> {
        let socket = self.host.socket();
        let mut arguments = vec![socket.as_str(), &self.id, &self.session];
        arguments.extend(self.shell.iter().map(String::as_str));
        let said = self.host.run(scripts::RESPAWN, &arguments, Stdin::Null).await?;
        let pid = said.words().first().and_then(|pid| pid.parse().ok()).ok_or_else(|| self.refused())?;
        self.pid.store(pid, Ordering::Relaxed);
        self.set_up().await
    }

    /// Signals what runs in the foreground.
    pub(super) async fn signal(&self, signal: &str) -> Result<(), TargetError> {
        let (socket, pid) = (self.host.socket(), self.pid());
        let arguments = [&socket, &self.id, &self.session, &pid, signal];
        self.host.run(scripts::SIGNAL, &arguments, Stdin::Null).await.map(drop)
    }

    pub(super) fn refused(&self) -> TargetError {
        PaneError::Foreign { name: format!("{} {}", self.session, self.id) }.into()
    }

    /// What was captured last, held for a look or a change only.
    pub(super) fn captured(&self) -> MutexGuard<'_, Option<(CaptureOptions, String)>> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number in the id of a pane.
fn number(id: &str) -> &str {
    id.trim_start_matches('%')
}

/// A number that nobody can guess.
pub(super) fn nonce() -> Result<String, TargetError> {
    let mut bytes = [0_u8; 16];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    match filled {
        Ok(length) if length == bytes.len() => Ok(format!("{:032x}", u128::from_ne_bytes(bytes))),
        Ok(_) => Err(TargetError::Io {
            action: "read",
            path: "/dev/urandom".into(),
            source: std::io::ErrorKind::UnexpectedEof.into(),
        }),
        Err(error) => {
            Err(TargetError::Io { action: "read", path: "/dev/urandom".into(), source: error.into() })
        }
    }
}
