//! Arguments that say what the agent may do in this run.

use buddy_policy::{CommandPattern, Rule};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::duration::duration;
use super::project::RIGHTS;

/// The policy for calls that need approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approve {
    Ask,
    None,
    All,
    Edits,
    Auto,
    For(std::time::Duration),
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionMode {
    /// Run what the sandbox contains and undo can revert; ask about the rest
    Auto,
    /// Ask before every change; deny if nobody can answer
    Ask,
    /// Allow file edits in the workspace
    Edits,
    /// Read and plan only
    Plan,
    /// Deny everything that would ask
    None,
    /// Allow everything inside the sandbox; in production everything that no rule denies
    All,
}

impl PermissionMode {
    /// The same in the words of `--approve` and `--plan`. Every mode says whether only plans are made.
    pub(crate) fn parts(self) -> (Option<Approve>, Option<bool>) {
        let approve = match self {
            Self::Auto => Some(Approve::Auto),
            Self::Ask => Some(Approve::Ask),
            Self::Edits => Some(Approve::Edits),
            Self::Plan => None,
            Self::None => Some(Approve::None),
            Self::All => Some(Approve::All),
        };
        (approve, Some(self == Self::Plan))
    }
}

pub(super) fn approve(text: &str) -> Result<Approve, String> {
    match text {
        "ask" => Ok(Approve::Ask),
        "none" => Ok(Approve::None),
        "all" => Ok(Approve::All),
        "edits" => Ok(Approve::Edits),
        "auto" => Ok(Approve::Auto),
        time => duration(time)
            .map(Approve::For)
            .map_err(|_| "must be auto, ask, edits, none, all or a time such as `10m`".to_owned()),
    }
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
