//! One running command in a pane: watched until it has ended, or is to end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::follow::{Done, Order, Seen};
use super::link::Link;
use super::probe::{State, probe};
use super::sessions;
use super::wish::{KILLING, STOPPING, Wish};
use crate::drain::Taken;
use crate::{Chunk, Ended, Exit, PaneError, TargetError};

/// The silence of a pane before it is checked; doubled each time.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LAST_LOOK: Duration = Duration::from_secs(30);
/// The least time between two checks, regardless of hints in the stream.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// The notice for the agent when a part of the stream was lost.
const GAP: &str =
    "a part of the output is missing in the middle: it came faster than the connection could carry it";
/// The notice about the streams of a command that printed something.
const TOGETHER: &str = "stdout and stderr came as one stream, which is `stdout`";
/// The notice when the connection was away for a while.
const RETURN: &str =
    "the connection to the pane was lost while the command ran, and was made again; nothing is missing";

/// A running command.
pub(super) struct Begun {
    pub(super) link: Arc<Link>,
    pub(super) nonce: String,
    /// The tag by which the processes of the command are found.
    pub(super) tag: u32,
    pub(super) began: Instant,
    /// Whether its shell has ended with it.
    pub(super) has_shell_ended: bool,
    /// The counts when it began.
    pub(super) before: Seen,
    pub(super) done: oneshot::Receiver<Done>,
    pub(super) live: mpsc::Receiver<Chunk>,
    pub(super) notes: Vec<String>,
    /// The pane is this run's until it ends.
    pub(super) _turn: OwnedSemaphorePermit,
}

pub(super) fn out_of_reach(link: &Link) -> TargetError {
    PaneError::OutOfReach { attach: sessions::attach(&link.host, &link.session) }.into()
}

pub(super) async fn call_off(link: &Link, nonce: &str) {
    // A follower that is gone has no watch to call off.
    let _ = link.follower.orders.send(Order::CallOff(nonce.to_owned())).await;
}

/// The notice for the agent about other users' actions in the pane since the last notice.
pub(super) fn strangers(link: &Link) -> Option<String> {
    let prompts = link.seen().strange_prompts;
    let told = link.told_prompts.swap(prompts, Ordering::Relaxed);
    (prompts > told).then(|| {
        format!(
            "somebody else used the pane {} time(s) since the last command; capture it to see what they did",
            prompts - told
        )
    })
}

impl Begun {
    /// Waits until the command has ended, and ends it on request.
    pub(super) async fn see_out(
        mut self,
        limit: Option<Duration>,
        mut wish: watch::Receiver<Wish>,
    ) -> (Result<Exit, TargetError>, Vec<String>) {
        let mut result = self.until_end(limit, &mut wish).await;
        if let Ok(exit) = &mut result {
            // Notes that cannot be fetched now come with the next command.
            exit.swept = self.link.swept(self.has_shell_ended).await.unwrap_or_default();
        }
        if result.is_err() {
            // The outcome of the command does not matter now: no caller waits for it any more.
            call_off(&self.link, &self.nonce).await;
        }
        if self.began.elapsed() >= Duration::from_secs(1) && result.is_ok() {
            self.notes.extend(self.typing().await);
        }
        self.notes.extend(strangers(&self.link));
        let seen = self.link.seen();
        if seen.gaps > self.before.gaps {
            self.notes.push(GAP.to_owned());
        } else if seen.returns > self.before.returns {
            self.notes.push(RETURN.to_owned());
        }
        if result.as_ref().is_ok_and(|exit| exit.stdout.total > 0) {
            self.notes.push(TOGETHER.to_owned());
        }
        (result, self.notes)
    }

    async fn until_end(
        &mut self,
        limit: Option<Duration>,
        wish: &mut watch::Receiver<Wish>,
    ) -> Result<Exit, TargetError> {
        let deadline = limit.and_then(|limit| self.began.checked_add(limit));
        let link = self.link.clone();
        let mut seen = link.follower.seen.clone();
        let mut deaths = 0;
        let mut look_after = FIRST_LOOK;
        loop {
            tokio::select! {
                biased;
                turn = turn(&mut self.done, wish, deadline) => return self.take(turn).await,
                () = died(&mut seen, deaths) => {}
                () = sleep(look_after) => look_after = (look_after * 2).min(LAST_LOOK),
            }
            deaths = seen.borrow().deaths;
            let found = tokio::select! {
                // News from the stream needs no check, which may take long if the connection is bad.
                biased;
                turn = turn(&mut self.done, wish, deadline) => return self.take(turn).await,
                found = probe(&link, 0) => found,
            };
            // A check that fails is no news: the follower of the stream finds out whether the host comes
            // back, and the timeout still applies.
            if let Ok(found) = found
                && let Some(exit) = self.judge(found.state).await?
            {
                return Ok(exit);
            }
            tokio::select! {
                biased;
                turn = turn(&mut self.done, wish, deadline) => return self.take(turn).await,
                () = sleep(LOOK_PAUSE) => {}
            }
        }
    }

    /// Acts on the end of a run, or ends the run.
    async fn take(&mut self, turn: Turn) -> Result<Exit, TargetError> {
        match turn {
            Turn::Done(Some(done)) => Ok(self.exit(*done, Ended::Exited)),
            Turn::Done(None) => Err(self.lost().await),
            Turn::Wished(Wish::Kill) => self.stop(KILLING, Ended::Stopped).await,
            Turn::Wished(Wish::GoOn | Wish::Stop) => self.stop(STOPPING, Ended::Stopped).await,
            Turn::TimeUp => self.stop(STOPPING, Ended::TimedOut).await,
        }
    }

    /// Adds a note about the run.
    pub(super) fn tell(&mut self, note: Option<String>) {
        self.notes.extend(note);
    }

    /// The reason why the stream has ended.
    async fn lost(&self) -> TargetError {
        if self.link.seen().is_out_of_reach {
            return out_of_reach(&self.link);
        }
        match probe(&self.link, 0).await {
            Ok(found) if found.state == State::ServerGone => PaneError::ServerLost.into(),
            _ => PaneError::Closed.into(),
        }
    }

    /// The exit of the command, if the state of the pane ends it.
    async fn judge(&mut self, state: State) -> Result<Option<Exit>, TargetError> {
        self.link.is_gone.store(matches!(state, State::ServerGone | State::Closed), Ordering::Relaxed);
        match state {
            State::Alive | State::Unknown => Ok(None),
            State::ServerGone => Err(PaneError::ServerLost.into()),
            State::Closed => Err(PaneError::Closed.into()),
            State::Dead { code, signal } => {
                self.has_shell_ended = true;
                self.notes.push(
                    "the command ended the shell of the pane; the next command gets a new one".to_owned(),
                );
                let exit = self.taken(Ended::Exited).await?;
                let code = code.or(exit.code.filter(|_| signal.is_none()));
                Ok(Some(Exit { code, signal, ..exit }))
            }
            State::Replaced => {
                let exit = self.taken(Ended::Exited).await?;
                let set_up = self.link.set_up().await;
                self.notes.push(match set_up {
                    Ok(()) => {
                        "the command replaced the shell of the pane, so there is no exit code; the new one \
                               was set up"
                            .to_owned()
                    }
                    Err(error) => format!(
                        "the command replaced the shell of the pane, so there is no exit code; {error}"
                    ),
                });
                Ok(Some(exit))
            }
        }
    }

    /// The output so far, when no prompt will report the end.
    pub(super) async fn taken(&mut self, ended: Ended) -> Result<Exit, TargetError> {
        call_off(&self.link, &self.nonce).await;
        match (&mut self.done).await {
            Ok(done) => Ok(self.exit(done, ended)),
            Err(_) => Err(PaneError::Closed.into()),
        }
    }

    pub(super) fn exit(&self, done: Done, ended: Ended) -> Exit {
        let Done { status: code, taken } = done;
        let Taken { stdout, stderr, log, chunks_dropped } = taken;
        let duration = self.began.elapsed();
        Exit { code, ended, duration, stdout, stderr, log, chunks_dropped, ..Exit::default() }
    }

    /// Whether a user typed while the command ran.
    async fn typing(&self) -> Option<String> {
        // tmux reports whole seconds, so a part of one counts as one.
        let seconds = self.began.elapsed().as_millis().div_ceil(1000);
        let found = probe(&self.link, u64::try_from(seconds).ok()?).await.ok()?;
        (found.typing > 0).then(|| "somebody typed into the pane while the command ran".to_owned())
    }
}

/// The next event of a run.
enum Turn {
    /// Its end, or `None` if the stream has ended.
    Done(Option<Box<Done>>),
    /// It is to stop.
    Wished(Wish),
    /// Its time is up.
    TimeUp,
}

/// Waits for the end of a run, or for an event that is to end it.
async fn turn(
    done: &mut oneshot::Receiver<Done>,
    wish: &mut watch::Receiver<Wish>,
    deadline: Option<Instant>,
) -> Turn {
    tokio::select! {
        biased;
        done = done => Turn::Done(done.ok().map(Box::new)),
        wish = wished(wish) => Turn::Wished(wish),
        () = until(deadline) => Turn::TimeUp,
    }
}

/// Waits until the run is to stop.
async fn wished(wish: &mut watch::Receiver<Wish>) -> Wish {
    let wanted = wish.wait_for(|wish| *wish != Wish::GoOn).await.map(|wish| *wish);
    match wanted {
        Ok(wanted) => wanted,
        // No handle is left that could stop it.
        Err(_) => std::future::pending().await,
    }
}

/// Waits for a hint that the shell has ended.
async fn died(seen: &mut watch::Receiver<Seen>, known: u64) {
    if seen.wait_for(|seen| seen.deaths > known).await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
