//! Rules: what people allow, want to be asked about, or deny.
//!
//! Every tier may tighten what is above it and none may loosen it: a denial anywhere stands, then a wish to be asked,
//! and only then what is allowed. A project allows nothing: its rules ask and deny.

mod guard;
mod path_pattern;
mod pattern;
mod rule;
mod set;

pub use guard::{GuardError, guards_from_json};
pub use pattern::{CommandPattern, PatternError};
pub use rule::{Action as RuleAction, Rule};
pub use set::{RuleSet, RuleTier, Rules};

pub(crate) use pattern::Match;
pub(crate) use set::Thing;
