//! The report of a rule.

/// A violation of a rule: the place, and the problem.
pub(crate) type Offence = String;
