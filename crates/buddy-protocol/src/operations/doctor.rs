//! Checks of this machine, or of a model over its real route.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Checks this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExamineMachine {
    /// Whether the user who asks is at a terminal.
    pub has_terminal: bool,
}

/// Checks a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExamineProvider {
    /// A profile, `profile/model`, or a model of the active profile [default: the active one].
    pub name: Option<String>,
    /// When all checks stop, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// A step of the examination of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum DoctorStep {
    /// Something that the user should know before.
    Warning {
        /// The warning.
        message: String,
    },
    /// The calls begin.
    Asking {
        /// The model.
        model: String,
        /// The address of its server.
        base_url: String,
    },
    /// The examination has ended.
    Done {
        /// The report.
        report: DoctorReport,
    },
}

/// The examined parts and the outcome.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// The examined parts, as names and values.
    pub facts: Vec<DoctorFact>,
    /// The checks.
    pub checks: Vec<DoctorCheck>,
    /// Notes for people.
    pub notes: Vec<String>,
    /// The same for programs.
    pub more: Map<String, Value>,
}

/// A fact about what was examined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DoctorFact {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// A check with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorCheck {
    /// The name of the check; stable, for scripts.
    pub name: String,
    /// The verdict.
    pub verdict: CheckVerdict,
    /// The evidence for the verdict, or the reason for skipping it; one line.
    pub evidence: String,
    /// The next step for the user.
    pub next: Option<String>,
}

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// It works.
    Ok,
    /// It works, with limitations.
    Warn,
    /// It does not work.
    Fail,
    /// It was not run.
    Skipped,
}

impl fmt::Display for CheckVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skipped => "skipped",
        })
    }
}
