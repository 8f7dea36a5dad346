//! Arguments that say what the agent may do in this run.

use buddy_policy::{CommandPattern, Rule};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::duration;
use super::project::RIGHTS;

/// What becomes of calls that need an approval.
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
    /// Let commands of a pattern, such as `cargo *`, run without a question in this run, or what a rule such as
    /// `{ write = "target/**" }` is about. What is dangerous, or denied by anyone, stays so.
    #[arg(long, value_name = "PATTERN", value_parser = rule, help_heading = RIGHTS)]
    pub(crate) allow: Vec<Rule>,

    /// Let no command of a pattern run in this run, whoever would allow it, nor what such a rule is about.
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

/// How much goes on without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionMode {
    /// What the jail holds and undo takes back goes on without a question; the rest is asked for.
    Auto,
    /// What changes something is asked for; where nobody can be asked it is denied.
    Ask,
    /// Changes of files in the workspace go on without a question.
    Edits,
    /// Only read and plan.
    Plan,
    /// What would be asked for is denied.
    None,
    /// Allow everything inside the jail and the workspace; in production everything that no rule denies.
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
