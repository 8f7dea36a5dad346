//! A length of time as an argument.

use std::time::Duration;

use crate::config::Wait;

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    Wait::parse(text).map(|wait| wait.0)
}
