//! What is known of a managed process: `meta.json` in its directory, and how things stand now.

use serde::{Deserialize, Serialize};

use super::{Health, Identity};
use crate::Ended;

/// What a managed process is and what became of it. Values of variables are not in it, as they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its id, such as `proc-1f00a2c4`.
    pub id: String,
    /// What it is called.
    pub name: Option<String>,
    /// Who started it.
    pub owner: Owner,
    /// The command as people read it.
    pub command: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The directory it runs in.
    pub cwd: String,
    /// The names of the variables in its environment.
    pub env_names: Vec<String>,
    /// When it was started, in milliseconds since the epoch.
    pub started_unix_ms: u64,
    /// Whether it is started again.
    pub restart: Restart,
    /// How often it was started again.
    pub restarts: u32,
    /// How to tell that it does its work.
    pub health: Option<Health>,
    /// Whether the line that `health` waits for was printed since the last start.
    pub has_printed_line: bool,
    /// The keeper.
    pub keeper: Identity,
    /// The command itself, or the outermost process of its jail; none between two starts and after the end.
    pub process: Option<Identity>,
    /// Where it stands, as the keeper last said.
    pub state: State,
}

/// Who started a managed process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The person whose session it was.
    pub person: String,
    /// The session.
    pub session: String,
}

/// Whether a command that ended is started again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// Never.
    #[default]
    Never,
    /// When it ended with another code than 0 or by a signal, a bounded number of times and later each time.
    OnFailure,
}

/// Where a managed process stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The command runs.
    Running,
    /// It failed, and will be started again soon.
    Restarting,
    /// It has ended for good.
    Ended {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Who ended it.
        by: Ended,
        /// When, in milliseconds since the epoch.
        unix_ms: u64,
        /// Processes that could not be killed.
        survivors: u32,
    },
    /// Its keeper was lost, and what was left of it was ended when that was found.
    Lost,
}

/// A managed process as it is at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// What is known of it.
    pub record: Record,
    /// Where it stands now.
    pub condition: Condition,
    /// What its health check says: true, false, or none where there is none or it does not run.
    pub is_healthy: Option<bool>,
}

/// Where a managed process stands now, which the record of a keeper that was lost cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The command runs.
    Running,
    /// It will be started again soon.
    Restarting,
    /// It has ended.
    Ended,
    /// Its keeper is gone without a word: it was killed, or the machine was restarted.
    Lost,
}

impl Record {
    /// Where it stands now.
    pub(super) fn condition(&self) -> Condition {
        match self.state {
            State::Ended { .. } => Condition::Ended,
            State::Running if self.keeper.is_alive() => Condition::Running,
            State::Restarting if self.keeper.is_alive() => Condition::Restarting,
            State::Running | State::Restarting | State::Lost => Condition::Lost,
        }
    }
}

impl Condition {
    /// Whether it has not ended.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Running | Self::Restarting)
    }
}
