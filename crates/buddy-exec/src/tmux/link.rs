//! The link to one pane: its id, its shell, its stream, and the typing of lines into it.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::follow::{Follower, Seen, follow};
use super::host::Host;
use super::nonce::nonce;
use super::scripts;
use super::sessions::{self, PanePlace};
use super::shells::{Seat, Shell};
use super::source::Source;
use super::spool::RELAY;
use crate::{CaptureOptions, PaneError, Stdin, SweepNote, TargetError};

/// The time limit for a shell to carry out its setup: far more than a loaded machine, with a loaded host
/// behind it, needs.
const SETUP_LIMIT: Duration = Duration::from_secs(15);

/// The number of checks of a new shell, 50 a second.
const SETTLE_LOOKS: &str = "150";

/// A pane that is followed.
pub(super) struct Link {
    pub(super) host: Arc<Host>,
    /// As tmux numbers it, such as `%3`.
    pub(super) id: String,
    pub(super) session: String,
    /// The value that tmux is asked for before anything is done to the pane.
    pub(super) seal: String,
    /// The name of the pane.
    name: String,
    /// The command line of the pane's shell, and its place. Both change when it is restarted.
    shell: Mutex<(Shell, Seat)>,
    /// The process that tmux started.
    pid: AtomicI32,
    /// The directory that its stream goes through.
    pub(super) spool: String,
    pub(super) follower: Follower,
    /// One command at a time.
    pub(super) turn: Arc<Semaphore>,
    /// Whether a command was left to itself and still runs.
    pub(super) is_dispatched: AtomicBool,
    /// The outcomes of commands that were left to themselves, until the agent is told.
    news: Mutex<Option<String>>,
    /// Strange prompts that the agent was told of.
    pub(super) told_prompts: AtomicU64,
    /// Whether the shell was set up by this process.
    is_set_up: AtomicBool,
    /// The number of the last setup that was carried out.
    setup: Mutex<String>,
    /// Whether a check found that the pane is gone, which the stream may report a little later.
    pub(super) is_gone: AtomicBool,
    /// The last capture and its options.
    pub(super) captured: Mutex<Option<(CaptureOptions, String)>>,
}

/// A line to type.
pub(super) struct TypedLine<'a> {
    pub(super) text: &'a str,
    /// The file that the line reads, and its content.
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
    /// Another program is in the foreground.
    Busy(String),
    BadCwd,
    /// tmux found that this is not the right pane.
    Refused,
}

impl Link {
    /// Follows a pane and sets its shell up, which may fail if another program runs in it.
    pub(super) async fn open(
        host: Arc<Host>,
        (session, name): (&str, &str),
        place: &PanePlace,
        shell: Shell,
    ) -> Result<Self, TargetError> {
        let id = place.id.as_str();
        let spools = host.path(&format!("{}.spool", number(id)));
        let spool_nonce = nonce()?;
        let spool = format!("{spools}.{spool_nonce}");
        let (socket, seal) = (host.socket(), sessions::seal(&host, session)?);
        let stream = format!("{}{}", scripts::FORGET, scripts::STREAM);
        let relay = Stdin::Bytes(RELAY.as_bytes().to_vec());
        let said = host.run(&stream, &[&socket, id, &seal, &spool, &spools], relay).await?;
        if !said.text.is_empty() {
            return Err(PaneError::Foreign { name: session.to_owned() }.into());
        }
        let follower = follow(Source::open(host.clone(), spool.clone()).await?, spool_nonce)?;
        let seat = shell.seat(&host, (session, name), number(id), place.pid).await?;
        Ok(Self {
            host,
            id: id.to_owned(),
            session: session.to_owned(),
            seal,
            name: name.to_owned(),
            shell: Mutex::new((shell, seat)),
            pid: AtomicI32::new(place.pid),
            spool,
            follower,
            turn: Arc::new(Semaphore::new(1)),
            is_dispatched: AtomicBool::new(false),
            news: Mutex::default(),
            told_prompts: AtomicU64::new(0),
            is_set_up: AtomicBool::new(false),
            setup: Mutex::default(),
            is_gone: AtomicBool::new(false),
            captured: Mutex::default(),
        })
    }

    /// The process that tmux started: the shell, or its warden.
    pub(super) fn owner(&self) -> String {
        self.pid.load(Ordering::Relaxed).to_string()
    }

    /// The process of the shell.
    pub(super) fn pid(&self) -> String {
        self.seat().shell.to_string()
    }

    fn seat(&self) -> Seat {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    fn shell(&self) -> Shell {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    pub(super) fn seen(&self) -> Seen {
        self.follower.seen.borrow().clone()
    }

    /// Whether the pane exists and is followed, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.follower.seen.borrow().is_closed && !self.is_gone.load(Ordering::Relaxed)
    }

    /// The file that commands are read from.
    pub(super) fn command_file(&self) -> String {
        format!("{}command", self.seat().outside)
    }

    /// Types a line, after tmux has checked that the pane is still the right one.
    pub(super) async fn type_line(&self, line: TypedLine<'_>) -> Result<Typed, TargetError> {
        let (socket, pid, owner) = (self.host.socket(), self.pid(), self.owner());
        let arguments = [&socket, &self.id, &self.seal, &pid, line.text, &line.file, line.cwd, &owner];
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

    /// Makes the shell report where commands begin and end.
    pub(super) async fn set_up(&self) -> Result<(), TargetError> {
        let nonce = nonce()?;
        let Seat { outside, inside, .. } = self.seat();
        let file = format!("{outside}setup");
        let content = scripts::setup(&format!("{inside}command"), &nonce).into_bytes();
        let line = scripts::setup_line(&format!("{inside}setup"));
        let typed = self.type_line(TypedLine { text: &line, file, content, cwd: "/" }).await?;
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
                *self.setup.lock().unwrap_or_else(PoisonError::into_inner) = nonce;
                Ok(())
            }
            _ => Err(PaneError::NoHooks.into()),
        }
    }

    /// The number of the last setup. A program that took the place of the shell since has it in its
    /// environment.
    pub(super) fn setup(&self) -> String {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Restarts the shell, with the program in the pane ended, and sets it up.
    pub(super) async fn respawn(&self) -> Result<(), TargetError> {
        let shell = self.shell();
        let pid = sessions::respawn(&self.host, &self.session, &self.id, &shell).await?;
        self.pid.store(pid, Ordering::Relaxed);
        self.is_set_up.store(false, Ordering::Relaxed);
        let seat = shell.seat(&self.host, (&self.session, &self.name), number(&self.id), pid).await?;
        self.shell.lock().unwrap_or_else(PoisonError::into_inner).1 = seat;
        self.settle().await?;
        self.set_up().await
    }

    /// Waits until a new shell has taken the foreground, before which nothing is typed. A shell that does not
    /// is found busy.
    pub(super) async fn settle(&self) -> Result<(), TargetError> {
        self.host.run(scripts::FOREGROUND, &[&self.pid(), SETTLE_LOOKS], Stdin::Null).await.map(drop)
    }

    /// The end of the shell as its warden reported it: code and signal.
    pub(super) async fn end(&self) -> Result<Option<(Option<i32>, Option<i32>)>, TargetError> {
        self.shell().end(&self.host, self.pid.load(Ordering::Relaxed)).await
    }

    /// The notes of the sweep in the shell's jail since the last call.
    pub(super) async fn swept(&self, has_ended: bool) -> Result<Vec<SweepNote>, TargetError> {
        self.shell().swept(&self.host, self.pid.load(Ordering::Relaxed), has_ended).await
    }

    /// Whether the shell is in a jail that confines it to some directories.
    pub(super) fn is_confined(&self) -> bool {
        self.shell().is_confined()
    }

    /// Whether the shell has the same bounds as this one.
    pub(super) fn fits(&self, shell: &Shell) -> bool {
        self.shell().bounds == shell.bounds
    }

    /// Stores how to restart its shell, which has the same bounds.
    pub(super) fn adopt(&self, shell: Shell) {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner).0 = shell;
    }

    /// Takes another shell with other bounds, unless a program runs in the present one.
    pub(super) async fn change(&self, shell: Shell) -> Result<(), TargetError> {
        let said = self.host.run(scripts::FOREGROUND, &[&self.pid(), "0"], Stdin::Null).await?;
        if let ["busy", program @ ..] = said.words().as_slice() {
            return Err(PaneError::OtherBounds { program: program.join(" ") }.into());
        }
        self.adopt(shell);
        self.respawn().await
    }

    /// Kills the remaining processes of the stopped command with this tag. Returns how many could not be
    /// killed.
    pub(super) async fn sweep(&self, tag: u32) -> Result<u32, TargetError> {
        let (pid, tag, stop_file) = (self.pid(), tag.to_string(), self.stop_file());
        let said = self.host.run(scripts::SWEEP, &[&pid, &tag, &stop_file], Stdin::Null).await?;
        Ok(said.text.trim().parse().unwrap_or_default())
    }

    /// Interrupts the program in the foreground, so that the shell prompts.
    pub(super) async fn interrupt(&self) -> Result<(), TargetError> {
        self.signal("INT", "").await
    }

    /// Signals a command that is being stopped. The shell mends the terminal after it.
    pub(super) async fn signal_stopped(&self, signal: &str) -> Result<(), TargetError> {
        self.signal(signal, &self.stop_file()).await
    }

    /// The file that tells the shell that a command is being stopped.
    fn stop_file(&self) -> String {
        format!("{}.stop", self.command_file())
    }

    async fn signal(&self, signal: &str, stop_file: &str) -> Result<(), TargetError> {
        let (socket, pid, owner) = (self.host.socket(), self.pid(), self.owner());
        let arguments = [&socket, &self.id, &self.seal, &pid, signal, &owner, stop_file];
        self.host.run(scripts::SIGNAL, &arguments, Stdin::Null).await.map(drop)
    }

    pub(super) fn refused(&self) -> TargetError {
        PaneError::Foreign { name: format!("{} {}", self.session, self.id) }.into()
    }

    /// Keeps the outcome of a command that was left to itself, and lets others in.
    pub(super) fn keep_news(&self, news: String) {
        let mut kept = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(match kept.take() {
            Some(earlier) => format!("{earlier}; {news}"),
            None => news,
        });
        drop(kept);
        self.is_dispatched.store(false, Ordering::Relaxed);
    }

    /// The outcomes of commands that were left to themselves, once.
    pub(super) fn take_news(&self) -> Option<String> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The last capture, held for a look or a change only.
    pub(super) fn captured(&self) -> MutexGuard<'_, Option<(CaptureOptions, String)>> {
        self.captured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number in the id of a pane.
fn number(id: &str) -> &str {
    id.trim_start_matches('%')
}
