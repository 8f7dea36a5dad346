//! The capabilities of a model and its server, found by calling it: the checks of `buddy doctor provider`.
//!
//! [`diagnose`] makes about ten small calls over a [`Route`](crate::Route). For each [`Check`] it reports the
//! verdict, the evidence and the next step. It makes each call once. Each call has a timeout, and so do all
//! together. Nothing is stored here.

mod ask;
mod check;
mod diagnosis;
mod examination;
mod judge;
mod prompts;
mod run;
mod subject;

pub use check::{Check, Verdict};
pub use diagnosis::{CHECKS, Diagnosis};
pub use run::{DIAGNOSIS_TIME, diagnose};
pub use subject::Subject;
