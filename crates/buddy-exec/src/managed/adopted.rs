//! Commands that became managed processes because their caller no longer waits for them.
//!
//! Such a command has no keeper: its supervisor stands for one, and the process that started it writes the
//! record. So it does not outlive that process, and the record of one whose process was killed says that it
//! is lost.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use buddy_protocol::UnixMillis;

use super::output_log::log_link;
use super::{Identity, Launch, ManagedError, ManagedProcesses, Record, State, Status};
use crate::{Ended, Exit, Running, TargetError};

impl ManagedProcesses {
    /// Adds a running command to the managed processes, with the log that its output goes to.
    pub fn adopt(&self, wish: &Launch, running: &Running, log: &PathBuf) -> Result<Status, ManagedError> {
        let lost = || ManagedError::NotStarted(TargetError::SupervisorLost);
        let keeper = running.supervisor().and_then(Identity::of).ok_or_else(lost)?;
        let (id, directory) = self.make_room()?;
        let record = Record { process: Some(keeper.clone()), keeper, ..self.record(id.clone(), wish) };
        let made = symlink(log, log_link(directory.path())).and_then(|()| directory.write(&record));
        if let Err(error) = made {
            let _ = directory.remove();
            return Err(ManagedError::io("write the record in", directory.path())(error));
        }
        self.status(&id)
    }

    /// Records how an adopted command ended; `None` if that is not known.
    pub fn settle(&self, id: &str, exit: Option<&Exit>) -> Result<(), ManagedError> {
        let (directory, record) = self.find(id)?;
        let UnixMillis(unix_ms) = self.settings.clock.now();
        let state = State::Ended {
            code: exit.and_then(|exit| exit.code),
            signal: exit.and_then(|exit| exit.signal),
            by: exit.map_or(Ended::Stopped, |exit| exit.ended),
            unix_ms,
            survivors: exit.map_or(0, |exit| exit.survivors),
        };
        let ended = Record { state, process: None, ..record };
        directory.write(&ended).map_err(ManagedError::io("write the record in", directory.path()))
    }
}
