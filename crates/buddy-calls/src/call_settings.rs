//! The settings of calls, the same for all sessions of an agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use buddy_policy::Attendance;
use buddy_protocol::{Clock, Ids};
use buddy_web::Web;

use crate::hosts::Hosts;
use crate::tools::{EditCheck, TextLimits, ToolSource};

/// The means of calls in all sessions.
pub struct CallSettings {
    /// The hosts.
    pub hosts: Arc<dyn Hosts>,
    /// The web.
    pub web: Arc<Web>,
    /// Where the logs of calls go.
    pub logs: PathBuf,
    /// Whether a user can be asked.
    pub attendance: Attendance,
    /// How long a user has to answer; none means for ever.
    pub ask_within: Option<Duration>,
    /// Tools that do not come with buddy.
    pub tools: Arc<dyn ToolSource>,
    /// Names of tools that are switched off: the model is not told of them, and calls of them are refused.
    pub tools_off: Vec<String>,
    /// Checks of edited files.
    pub checks: Vec<EditCheck>,
    /// How much of a tool's texts the model is given.
    pub texts: TextLimits,
    /// Wall-clock time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
}
