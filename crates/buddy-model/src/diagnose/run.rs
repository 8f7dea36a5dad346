//! A run of all checks, with a timeout.

use std::time::Duration;

use tokio::time::timeout;

use crate::ModelError;
use crate::diagnose::diagnosis::Diagnosis;
use crate::diagnose::examination::Examination;
use crate::diagnose::subject::Subject;

/// The timeout of all checks of one model together. Ten small calls to a slow local server fit; a server that
/// hangs blocks the user no longer than this.
pub const DIAGNOSIS_TIME: Duration = Duration::from_mins(5);

/// Runs all checks within the subject's time limit. Dropping the future ends the call in progress. An error
/// means that not even a client could be created.
pub async fn diagnose(subject: &Subject) -> Result<Diagnosis, ModelError> {
    let mut examination = Examination::new(subject)?;
    let made = timeout(subject.time_limit, examination.make()).await;
    let mut diagnosis = examination.end();
    match made {
        Ok(made) => made?,
        Err(_) => diagnosis.out_of_time(subject.time_limit),
    }
    diagnosis.sort();
    Ok(diagnosis)
}
