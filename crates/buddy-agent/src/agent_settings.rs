//! The settings of buddy's own agent, the same for all its sessions.

use std::sync::Arc;
use std::time::Duration;

use buddy_calls::CallSettings;
use buddy_model::{FamilyGates, ModelFamily};
use buddy_policy::Attendance;
use buddy_protocol::{ApprovalPolicy, Ledger};

use crate::budget::Budget;
use crate::model_source::ModelSource;
use crate::turn::LoopGates;

/// The means of the agent in all its sessions.
pub struct AgentSettings {
    /// The means of calls.
    pub calls: Arc<CallSettings>,
    /// The models.
    pub models: Arc<dyn ModelSource>,
    /// How far commands are kept, as the log has it: `development`, `production` or `throwaway`.
    pub mode: String,
    /// The policy for calls that need an approval.
    pub approvals: ApprovalPolicy,
    /// Whether a session in which somebody chose to be asked goes on asking, as nobody said otherwise for this run.
    pub keeps_asking: bool,
    /// For how long what is not dangerous is taken as approved, from the start of a session.
    pub window: Option<Duration>,
    /// The cap on model calls in one turn.
    pub max_steps: u32,
    /// The time that the run may take, which its face keeps.
    pub time_limit: Option<Duration>,
    /// The name of the agent.
    pub name: String,
    /// Standing instructions of the user, added to the built-in ones.
    pub instructions: Option<String>,
    /// The gates of the control loop that the user switched on or off.
    pub gates: GateSwitches,
    /// The most that may be spent.
    pub budget: Budget,
    /// The expenses.
    pub ledger: Arc<dyn Ledger>,
}

/// The gates of the control loop that a user switched on or off, whatever suits the family of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GateSwitches {
    /// Ask once to check the changes of a turn before it ends. By itself only where nobody watches.
    pub finish: Option<bool>,
    /// Tell a model that repeats itself, then end the turn.
    pub stuck: Option<bool>,
    /// Ask once for a complete answer after one that is empty or cut off.
    pub retry: Option<bool>,
    /// Ask for a report when a limit ends the turn.
    pub report: Option<bool>,
    /// Repeat the plan in a long turn.
    pub recite: Option<bool>,
}

impl GateSwitches {
    /// The gates for a model of a family.
    pub(crate) fn gates(self, family: &ModelFamily, attendance: Attendance) -> LoopGates {
        let FamilyGates { finish, stuck, retry, report, recite } = &family.gates;
        LoopGates {
            finish: self.finish.unwrap_or(finish.on && attendance == Attendance::Nobody),
            stuck: self.stuck.unwrap_or(stuck.on),
            retry: self.retry.unwrap_or(retry.on),
            report: self.report.unwrap_or(report.on),
            recite: self.recite.unwrap_or(recite.on),
        }
    }
}
