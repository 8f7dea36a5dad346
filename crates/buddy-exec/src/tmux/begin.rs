//! The start of a command in a pane: typed, and known to run before a caller waits for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::follow::{Done, Order, Seen, Watch};
use super::link::{Link, Typed, TypedLine};
use super::nonce::{nonce, tag};
use super::probe::{State, probe};
use super::run::{Begun, call_off, out_of_reach, strangers};
use super::scripts;
use crate::drain::Output;
use crate::running::QUEUED_CHUNKS;
use crate::{Chunk, PaneCommand, PaneError, PaneText, Stdin, TargetError, quote};

/// The time limit for a shell at its prompt to begin a command.
const BEGIN_LIMIT: Duration = Duration::from_secs(5);
/// The time that another program may occupy a pane before the call gives up.
const BUSY_LIMIT: Duration = Duration::from_secs(3);
/// The pause between two checks of a busy pane; most are seen to be free by their prompt.
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// The number of tries to begin a command: once more after a new shell, once more after a new setup.
const ATTEMPTS: usize = 3;
/// The longest part of a command that people see above its output.
const SHOWN_CHARS: usize = 2_000;

/// Types a command and waits until it runs.
pub(super) async fn begin(
    link: Arc<Link>,
    command: &PaneCommand,
    turn: OwnedSemaphorePermit,
    mut notes: Vec<String>,
) -> Result<Begun, TargetError> {
    let busy_until = Instant::now() + BUSY_LIMIT;
    let mut attempts = 0;
    while attempts < ATTEMPTS {
        let mut attempt = Attempt::watched(&link, command).await?;
        let before = attempt.before.clone();
        let typed = type_command(&link, command, &attempt.nonce, attempt.tag).await;
        if may_be_typed(&typed) {
            let limit = if typed.is_ok() { BEGIN_LIMIT } else { within(&link) };
            match attempt.start(&link, limit).await {
                Start::Begun => {
                    notes.extend(strangers(&link));
                    return Ok(attempt.into_run(link, turn, notes));
                }
                Start::Late => return Err(attempt.into_run(link, turn, notes).unsure().await),
                Start::Unsure(error) => {
                    call_off(&link, &attempt.nonce).await;
                    return Err(error);
                }
                Start::Never => {}
            }
        }
        call_off(&link, &attempt.nonce).await;
        let typed = match typed {
            // It is certain by now that it has not begun and never will.
            Err(error) if is_unheard(&error) => Typed::Yes,
            typed => typed?,
        };
        match typed {
            Typed::Yes => {
                attempts += 1;
                // The interrupt made a prompt that belongs to no command.
                link.told_prompts.store(link.seen().strange_prompts, Ordering::Relaxed);
                notes.push("the shell in the pane had lost its hooks; they were set up again".to_owned());
            }
            Typed::Dead => {
                attempts += 1;
                if is_lost(&link).await? {
                    return Err(PaneError::Vanished.into());
                }
                link.respawn().await?;
                notes.push("the shell in the pane had ended; a new one was started".to_owned());
            }
            Typed::Busy(program) => {
                if Instant::now() >= busy_until {
                    return Err(PaneError::Busy { program }.into());
                }
                let mut seen = link.follower.seen.clone();
                let is_free = |seen: &Seen| seen.prompts != before.prompts || seen.is_closed;
                let _ = timeout(BUSY_PAUSE, seen.wait_for(is_free)).await;
            }
            Typed::BadCwd => {
                let source = std::io::ErrorKind::NotADirectory.into();
                return Err(TargetError::CwdUnusable { cwd: command.cwd.clone(), source });
            }
            Typed::Refused => return Err(link.refused()),
        }
    }
    Err(PaneError::NoHooks.into())
}

/// One try to begin a command.
struct Attempt {
    nonce: String,
    tag: u32,
    before: Seen,
    begun: oneshot::Receiver<()>,
    done: oneshot::Receiver<Done>,
    live: mpsc::Receiver<Chunk>,
}

/// The outcome of a line that was typed, or may have been.
enum Start {
    Begun,
    /// It has not begun, and never will.
    Never,
    /// It began after it was taken back, so that other text was typed into it.
    Late,
    /// The outcome is unknown, for this reason.
    Unsure(TargetError),
}

impl Attempt {
    /// A new try, whose marks are watched for from now on.
    async fn watched(link: &Link, command: &PaneCommand) -> Result<Self, TargetError> {
        let (nonce, tag) = (nonce()?, tag()?);
        let (begun_sender, begun) = oneshot::channel();
        let (done_sender, done) = oneshot::channel();
        let (chunks, live) = mpsc::channel(QUEUED_CHUNKS);
        let output = Output::sampled(command.output.clone(), chunks);
        let begun_sender = Some(begun_sender);
        let watch = Watch { nonce: nonce.clone(), output, begun: begun_sender, done: done_sender };
        if link.follower.orders.send(Order::Watch(Box::new(watch))).await.is_err() {
            // Its stream has ended since the pane was looked up, so nothing was typed in this try.
            return Err(PaneError::Vanished.into());
        }
        Ok(Self { nonce, tag, before: link.seen(), begun, done, live })
    }

    fn into_run(self, link: Arc<Link>, turn: OwnedSemaphorePermit, notes: Vec<String>) -> Begun {
        let Self { nonce, tag, before, done, live, .. } = self;
        Begun {
            link,
            nonce,
            tag,
            began: Instant::now(),
            before,
            has_shell_ended: false,
            done,
            live,
            notes,
            _turn: turn,
        }
    }

    /// Whether the command begins. One that does not is taken out of the shell's reach.
    async fn start(&mut self, link: &Link, limit: Duration) -> Start {
        if let Ok(begun) = timeout(limit, &mut self.begun).await {
            return started(link, begun.is_ok());
        }
        let file = link.command_file();
        let arguments = [file.as_str(), &link.spool, &self.nonce];
        match link.host.run(scripts::TAKE_BACK, &arguments, Stdin::Null).await {
            Ok(said) if said.text.is_empty() => self.never(link).await,
            // It runs, and only its stream is late.
            Ok(_) => match timeout(within(link), &mut self.begun).await {
                Ok(begun) => started(link, begun.is_ok()),
                Err(_) => Start::Unsure(out_of_reach(link)),
            },
            Err(error) => Start::Unsure(unsure(link, &error)),
        }
    }

    /// Makes sure that the command never begins. A shell that had read the command before it was taken back
    /// does begin it, however late. But it works in order: once it has carried out a setup that was typed
    /// afterwards, it is done with the command too.
    async fn never(&mut self, link: &Link) -> Start {
        let next = async {
            // Unfinished input, such as an open quote, would swallow the next line too.
            link.interrupt().await?;
            link.set_up().await
        };
        let next = tokio::select! {
            biased;
            begun = &mut self.begun => return if begun.is_ok() { Start::Late } else { started(link, false) },
            next = next => next,
        };
        match (self.begun.try_recv(), next) {
            (Ok(()), _) => Start::Late,
            (Err(_), Ok(())) => Start::Never,
            (Err(_), Err(error)) => Start::Unsure(unsure(link, &error)),
        }
    }
}

fn started(link: &Link, is_begun: bool) -> Start {
    if is_begun { Start::Begun } else { Start::Unsure(gone(link)) }
}

/// The error for a command that may still begin.
pub(super) fn unsure(link: &Link, error: &TargetError) -> TargetError {
    if error.is_connection() {
        out_of_reach(link)
    } else {
        PaneError::Unsure { why: error.to_string() }.into()
    }
}

async fn type_command(
    link: &Link,
    command: &PaneCommand,
    nonce: &str,
    tag: u32,
) -> Result<Typed, TargetError> {
    let text = match &command.text {
        PaneText::Shell(text) => text.clone(),
        PaneText::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            format!("/usr/bin/env -- {}", words.join(" "))
        }
    };
    let cwd = command.cwd.to_str().ok_or(TargetError::BadPath { why: "is not text" })?;
    if text.contains('\0') || cwd.contains('\0') {
        return Err(TargetError::BadPath { why: "has a zero byte in it" });
    }
    let content = scripts::command(&text, &shown(&text), cwd, nonce, tag);
    let line = TypedLine { text: scripts::COMMAND_LINE, file: link.command_file(), content, cwd };
    link.type_line(line).await
}

/// A command as people see it above its output: nothing in it moves the cursor.
fn shown(text: &str) -> String {
    let is_quiet = |letter: &char| !letter.is_control() || *letter == '\n';
    let shown: String = text.trim_end().chars().filter(is_quiet).take(SHOWN_CHARS).collect();
    if shown.len() < text.trim_end().len() { format!("{shown} …") } else { shown }
}

/// Whether the pane of a dead shell is gone too. Its stream reports that a little later.
async fn is_lost(link: &Link) -> Result<bool, TargetError> {
    let state = probe(link, 0).await?.state;
    let is_lost = matches!(state, State::ServerGone | State::Closed);
    link.is_gone.store(is_lost, Ordering::Relaxed);
    Ok(is_lost)
}

/// Whether a line is in the pane, or may be.
fn may_be_typed(typed: &Result<Typed, TargetError>) -> bool {
    match typed {
        Ok(typed) => *typed == Typed::Yes,
        Err(error) => is_unheard(error),
    }
}

/// Whether an error leaves the outcome open, such as a lost connection or silence.
fn is_unheard(error: &TargetError) -> bool {
    let is_silent = matches!(error, TargetError::SupervisorLost | TargetError::Pane(PaneError::Silent));
    is_silent || error.is_connection()
}

/// The time limit for a command to begin if the connection may be away.
fn within(link: &Link) -> Duration {
    BEGIN_LIMIT + link.host.reconnect_within
}

/// The reason why a stream has ended.
fn gone(link: &Link) -> TargetError {
    if link.seen().is_out_of_reach { out_of_reach(link) } else { PaneError::Closed.into() }
}
