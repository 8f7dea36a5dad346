//! Stops a command in a pane: with everything that it started, and so that the pane has a shell afterwards.

use std::time::Duration;

use tokio::time::timeout;

use super::begin::unsure;
use super::run::{Begun, call_off, out_of_reach};
use super::wish::KILLING;
use crate::{Ended, Exit, PaneError, TargetError};

impl Begun {
    /// Ends a command that began when it was no longer expected to, and returns what is known of
    /// it.
    pub(super) async fn unsure(self) -> TargetError {
        let link = self.link.clone();
        let why = "it began after it had been taken back, and was ended".to_owned();
        match self.end().await {
            Ok(_) => PaneError::Unsure { why }.into(),
            Err(error) => unsure(&link, &error),
        }
    }

    /// Ends a command that no caller waits for.
    pub(super) async fn end(mut self) -> Result<Exit, TargetError> {
        let ended = self.stop(KILLING, Ended::Stopped).await;
        if ended.is_err() {
            call_off(&self.link, &self.nonce).await;
        }
        ended
    }

    /// Ends the command with everything that it started, also processes that left its session. Background
    /// processes of earlier commands stay.
    pub(super) async fn stop(
        &mut self,
        steps: &[(&str, Duration)],
        ended: Ended,
    ) -> Result<Exit, TargetError> {
        let exit = self.end_foreground(steps, ended).await;
        match (exit, self.link.sweep(self.tag).await) {
            (Ok(exit), Ok(survivors)) => Ok(Exit { survivors, ..exit }),
            (Ok(exit), Err(error)) => {
                self.notes
                    .push(format!("it is not known whether all that the command started has ended: {error}"));
                Ok(exit)
            }
            (Err(error), _) => Err(error),
        }
    }

    async fn end_foreground(
        &mut self,
        steps: &[(&str, Duration)],
        ended: Ended,
    ) -> Result<Exit, TargetError> {
        for (signal, time) in steps {
            match self.link.signal_stopped(signal).await {
                Err(error) if error.is_connection() => return Err(out_of_reach(&self.link)),
                // The next signal may work, and at last there is a new shell.
                Ok(()) | Err(_) => {}
            }
            match timeout(*time, &mut self.done).await {
                Ok(Ok(done)) => return Ok(self.exit(done, ended)),
                Ok(Err(_)) => return Err(PaneError::Closed.into()),
                Err(_) => {}
            }
        }
        let exit = self.taken(ended).await?;
        self.link.respawn().await?;
        self.notes.push("the shell of the pane did not come back; a new one was started".to_owned());
        Ok(exit)
    }
}
