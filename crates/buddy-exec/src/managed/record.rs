//! The record of a managed process: `meta.json` in its directory, and its status now.

use buddy_protocol::{PrincipalId, UserId};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Health, Identity};
use crate::{Ended, Reach};

/// The properties of a managed process and its outcome. Values of variables are not in it, as they may be
/// secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its id, such as `proc-1f00a2c4`.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// The owner who started it.
    pub owner: Owner,
    /// The command as people read it.
    pub command: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The directory it runs in.
    pub cwd: String,
    /// The names of the variables in its environment.
    pub env_names: Vec<String>,
    /// Whether it could read files that hold secrets, so that its output can hold them too.
    #[serde(default)]
    pub had_secrets: bool,
    /// The places that it can change although nobody was asked about it.
    #[serde(default = "anywhere")]
    pub unasked_writes: Reach,
    /// The time of its start, in milliseconds since the epoch.
    pub started_unix_ms: u64,
    /// Whether it is restarted.
    pub restart: Restart,
    /// The number of restarts.
    pub restarts: u32,
    /// The check that it does its work.
    pub health: Option<Health>,
    /// Whether the line that `health` waits for was printed since the last start.
    pub has_printed_line: bool,
    /// The keeper.
    pub keeper: Identity,
    /// The command itself, or the outermost process of its jail; `None` between two starts and after the end.
    pub process: Option<Identity>,
    /// Its state, as the keeper last said.
    pub state: State,
}

/// The places of a process whose record does not say them.
fn anywhere() -> Reach {
    Reach::Anywhere
}

/// The owner of a managed process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The id of the principal whose session it was. An older record has the name of the account.
    #[serde(deserialize_with = "principal_id")]
    pub person: String,
    /// The session.
    pub session: String,
}

fn principal_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_id = PrincipalId::try_from(text.clone()).is_ok();
    Ok(if is_id { text } else { UserId::of_account(&text).to_string() })
}

/// Whether a command that ended is restarted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// Never.
    #[default]
    Never,
    /// When it ended with an exit code other than 0 or by a signal, a bounded number of times and later each
    /// time.
    OnFailure,
}

/// The state of a managed process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The command runs.
    Running,
    /// It failed, and will be restarted soon.
    Restarting,
    /// It has ended for good.
    Ended {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// The cause of its end.
        by: Ended,
        /// The time of its end, in milliseconds since the epoch.
        unix_ms: u64,
        /// Processes that could not be killed.
        survivors: u32,
    },
    /// Its keeper was lost, and its remaining processes were killed when that was found.
    Lost,
}

/// A managed process as it is at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its record.
    pub record: Record,
    /// Its condition now.
    pub condition: Condition,
    /// The result of its health check: true, false, or `None` if there is no check or it does not
    /// run.
    pub is_healthy: Option<bool>,
}

/// The condition of a managed process now, which the record of a lost keeper cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The command runs.
    Running,
    /// It will be restarted soon.
    Restarting,
    /// It has ended.
    Ended,
    /// Its keeper is gone without a report: it was killed, or the machine was restarted.
    Lost,
}

impl Record {
    /// Its condition now.
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
