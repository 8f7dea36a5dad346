//! How patient a login is. Every wait has its bound here.

use std::time::Duration;

/// The waits of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginTiming {
    /// Until a connection stands.
    pub connect: Duration,
    /// One request with its answer.
    pub request: Duration,
    /// Between two questions whether a code was confirmed, when the provider names no pace (RFC 8628, 3.2).
    pub interval: Duration,
    /// What is added when the provider wants to be asked less often (RFC 8628, 3.5).
    pub slow_down: Duration,
    /// The longest pause, whatever the provider asks for.
    pub longest_interval: Duration,
    /// The longest that a code is waited for, whatever the provider says.
    pub device: Duration,
    /// The longest that a browser is waited for.
    pub browser: Duration,
}

impl Default for LoginTiming {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            request: Duration::from_secs(30),
            interval: Duration::from_secs(5),
            slow_down: Duration::from_secs(5),
            longest_interval: Duration::from_mins(1),
            device: Duration::from_mins(30),
            browser: Duration::from_mins(10),
        }
    }
}
