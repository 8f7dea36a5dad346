//! Keeps the stderr of commands apart from the rest of a pane's stream: tmux starts a marker (see
//! `marker.rs`), so that it lives as long as the pane and not as long as buddy.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use super::follow::Seen;
use super::link::Link;
use super::marker::SECRET_PREFIX;
use super::scripts;
use crate::{Stdin, TargetError, quote};

/// The time limit for a marker to report that it runs: far more than a loaded machine needs.
const MARKER_LIMIT: Duration = Duration::from_secs(5);

/// The notice for the agent when it sees no stderr.
pub(super) const TOGETHER: &str = "standard output and standard error came as one stream, which is `stdout`";

/// The notice when a marker was killed during the command.
pub(super) const RESTARTED: &str = "what keeps standard error apart was killed and started again; a part of `stderr` may be \
                                    missing";

/// The notice when a marker did not answer at the end.
pub(super) const UNFINISHED: &str =
    "what keeps standard error apart did not answer; the end of `stderr` may be missing";

/// The destination of a command's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// stderr goes to the marker.
    Apart,
    /// All three are the terminal.
    Terminal,
}

/// The streams of a command that is waited for. One that may replace the shell by another program (`exec`)
/// gets the terminal: a shell whose stderr is no terminal does not take itself for an interactive one.
pub(super) fn streams(text: &str) -> Streams {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '=');
    let has_exec = text.split(|letter| !is_word(letter)).any(|word| word == "exec");
    if has_exec { Streams::Terminal } else { Streams::Apart }
}

impl Link {
    /// Makes sure that a marker serves the shell that is in a pane now. Without one, streams stay together.
    pub(super) async fn start_marker(&self) -> Result<(), TargetError> {
        let Some(marker) = &self.host.marker else { return Ok(()) };
        self.is_marked.store(false, Ordering::Relaxed);
        self.is_unmarkable.store(true, Ordering::Relaxed);
        let program = marker.program.to_str().ok_or(TargetError::BadPath { why: "is not text" })?;
        let words: Vec<String> =
            [program].into_iter().chain(marker.args.iter().map(String::as_str)).map(quote).collect();
        let guard =
            format!("{SECRET_PREFIX}{}\n{}", self.secret, scripts::GUARD.replace("MARKER", &words.join(" ")));
        let (socket, owner, file) =
            (self.host.socket(), self.owner(), self.host.path(&format!("{}.mark", self.number())));
        let errors = self.errors();
        let wish = if self.can_make_pipes() { "make" } else { "find" };
        let arguments = [socket.as_str(), &self.id, &self.seal, &owner, &file, &errors, wish];
        let before = self.seen().markers;
        let said = self.host.run(scripts::MARKER, &arguments, Stdin::Bytes(guard.into_bytes())).await?;
        match said.words().first() {
            None => {}
            // The jail of an earlier buddy, which has no way out for it.
            Some(&"missing") => return Ok(()),
            Some(_) => return Err(self.refused()),
        }
        let mut seen = self.follower.seen.clone();
        let is_there = |seen: &Seen| seen.is_closed || seen.markers != before;
        let found = timeout(MARKER_LIMIT, seen.wait_for(is_there)).await;
        let is_marked = matches!(found, Ok(Ok(seen)) if !seen.is_closed);
        self.is_marked.store(is_marked, Ordering::Relaxed);
        self.is_unmarkable.store(!is_marked, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_replace_the_shell_keeps_the_terminal() {
        for text in ["exec zsh", "true && exec 2>&1", "(exec ls)", "a;exec b", "if x\nthen exec y\nfi"] {
            assert_eq!(streams(text), Streams::Terminal, "{text}");
        }
        for text in ["ls", "find . -exec rm {} +", "./exec", "exec=1", "executor", "buddy-exec", "no_exec"] {
            assert_eq!(streams(text), Streams::Apart, "{text}");
        }
    }
}
