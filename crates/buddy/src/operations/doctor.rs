//! Checks of this machine, and of a model over its real route.

mod jail;
pub(super) mod machine;
mod programs;
pub(super) mod provider;

use buddy_model::diagnose::{Check, Verdict};
use buddy_protocol::operations::{CheckVerdict, DoctorCheck};

fn doctor_check(check: Check) -> DoctorCheck {
    let Check { name, verdict, evidence, next } = check;
    let verdict = match verdict {
        Verdict::Ok => CheckVerdict::Ok,
        Verdict::Warn => CheckVerdict::Warn,
        Verdict::Fail => CheckVerdict::Fail,
        Verdict::Skipped => CheckVerdict::Skipped,
    };
    DoctorCheck { name: name.to_owned(), verdict, evidence, next }
}
