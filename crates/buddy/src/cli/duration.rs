//! A length of time as an argument.

use std::time::Duration;

use crate::config::WaitTime;

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    WaitTime::parse(text).map(|wait| wait.0)
}
