//! Arguments that say what the agent may do in this run.

use buddy_policy::{CommandPattern, Rule};
use buddy_protocol::ApprovalPolicy;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::duration::duration;
use super::project::RIGHTS;

/// Rules of this run. Not global, as `grants` has an `--allow` of its own; what stands before a command is added to what
/// stands after it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunRules {
    /// Allow a command pattern such as `cargo *`, or a rule such as `{ write = "target/**" }`, for this run
    ///
    /// It skips only the default prompt: deny rules, ask rules and guards still apply.
    #[arg(long, value_name = "PATTERN", value_parser = rule, help_heading = RIGHTS)]
    pub(crate) allow: Vec<Rule>,

    /// Deny a command pattern or a rule for this run
    #[arg(long, value_name = "PATTERN", value_parser = rule, help_heading = RIGHTS)]
    pub(crate) deny: Vec<Rule>,
}

impl RunRules {
    /// Adds others.
    pub(crate) fn extend(&mut self, other: Self) {
        self.allow.extend(other.allow);
        self.deny.extend(other.deny);
    }
}

/// How much runs without a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionMode {
    /// The agent only reads and plans.
    Plan,
    /// This policy, and no plan mode.
    Approve(ApprovalPolicy),
}

impl ValueEnum for PermissionMode {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Approve(ApprovalPolicy::Auto),
            Self::Approve(ApprovalPolicy::Ask),
            Self::Approve(ApprovalPolicy::Edits),
            Self::Plan,
            Self::Approve(ApprovalPolicy::None),
            Self::Approve(ApprovalPolicy::All),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Plan => ("plan", "Read and plan only"),
            Self::Approve(policy) => (policy.name(), help(*policy)?),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

fn help(policy: ApprovalPolicy) -> Option<&'static str> {
    match policy {
        ApprovalPolicy::Auto => Some("Run what the sandbox contains and undo can revert; ask about the rest"),
        ApprovalPolicy::Ask => Some("Ask before every change; deny if nobody can answer"),
        ApprovalPolicy::Edits => Some("Allow file edits in the workspace"),
        ApprovalPolicy::None => Some("Deny everything that would ask"),
        ApprovalPolicy::All => {
            Some("Allow everything inside the sandbox; in production everything that no rule denies")
        }
        ApprovalPolicy::Window { .. } => None,
    }
}

impl PermissionMode {
    /// The same in the words of `--approve` and `--plan`. Every mode says whether only plans are made.
    pub(crate) fn parts(self) -> (Option<ApprovalPolicy>, Option<bool>) {
        match self {
            Self::Plan => (None, Some(true)),
            Self::Approve(policy) => (Some(policy), Some(false)),
        }
    }
}

/// Reads the policy of `--approve`: its name, or a time.
pub(super) fn approve(text: &str) -> Result<ApprovalPolicy, String> {
    let window = || duration(text).map(|time| ApprovalPolicy::Window { seconds: time.as_secs() });
    ApprovalPolicy::from_name(text)
        .map_or_else(window, Ok)
        .map_err(|_| "must be auto, ask, edits, none, all or a time such as `10m`".to_owned())
}

/// A rule as a file of rules has it: a pattern of commands, or a table.
fn rule(text: &str) -> Result<Rule, String> {
    if !text.trim_start().starts_with('{') {
        return CommandPattern::parse(text).map(Rule::command).map_err(|error| error.to_string());
    }
    let table = toml::de::ValueDeserializer::parse(text.trim());
    table.and_then(Rule::deserialize).map_err(|error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::rule;

    #[test]
    fn a_rule_is_written_as_in_a_file_of_rules() {
        for text in ["cargo *", "{ write = \"target/**\" }", "{command = \"make *\", target = \"local\"}"] {
            assert!(rule(text).is_ok(), "{text}");
        }
        for text in ["", "a | b", "*", "{ write = 3 }", "{ paint = \"x\" }", "{ write = \"x\" } more", "{"] {
            assert!(rule(text).is_err(), "{text}");
        }
    }
}
