//! Pure judgement: what would this do, and may it?
//!
//! A tool says what it would do as an [`Intent`]; [`decide`] holds that against the [`Rules`] and answers allow, ask
//! or deny, with reasons. Nothing here does I/O, reads a clock or knows who executes.

mod decide;
mod intent;

pub use decide::{Approvals, Decision, Rules, Verdict, decide};
pub use intent::{Action, Claims, Intent, Tier};
