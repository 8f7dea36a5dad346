//! What a model and its server can do, found out by asking: the checks of `buddy doctor provider`.
//!
//! [`diagnose`] makes about ten small calls over a [`Route`](crate::Route) and says of each [`Check`] how it went, by
//! what it is known and what to do next. A call is made once and has a bound, as all have together;
//! nothing is stored here.

mod ask;
mod check;
mod examination;
mod judge;
mod prompts;
mod run;

pub use check::{Check, Verdict};
pub use run::{CHECKS, DIAGNOSIS_TIME, Diagnosis, Subject, diagnose};
