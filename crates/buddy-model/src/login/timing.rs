//! The timeouts of a login. Every wait has its bound here.

use std::time::Duration;

/// The waits of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginTiming {
    /// The timeout for connecting.
    pub connect: Duration,
    /// The timeout for one request with its answer.
    pub request: Duration,
    /// The polling interval for the confirmation of a code, if the provider names none (RFC 8628, 3.2).
    pub interval: Duration,
    /// The increase of the interval if the provider asks to slow down (RFC 8628, 3.5).
    pub slow_down: Duration,
    /// The maximum interval, whatever the provider asks for.
    pub longest_interval: Duration,
    /// The maximum wait for a code, whatever the provider says.
    pub device: Duration,
    /// The maximum wait for a browser.
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
