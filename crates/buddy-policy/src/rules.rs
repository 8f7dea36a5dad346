//! Rules: commands, files and hosts that people allow, want to be asked about, or deny.
//!
//! Every tier may tighten the ones above it and none may loosen them: a deny rule anywhere stands, then an
//! ask rule, and only then an allow rule. A project allows nothing: its rules ask and deny.

mod guard;
mod path_pattern;
mod pattern;
mod rule;
mod set;

pub use guard::{GuardError, guards_from_json};
pub use path_pattern::PathPattern;
pub use pattern::{CommandPattern, PatternError};
pub use rule::{Action as RuleAction, Rule};
pub use set::{RuleSet, RuleTier, Rules};

pub(crate) use pattern::Match;
pub(crate) use rule::is_host;
pub(crate) use set::{Thing, is_from};
