//! Wall-clock time as the log records it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

/// A source of wall-clock time: the system clock in service, a fixed value in tests.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> UnixMillis;

    /// The time now in nanoseconds since the Unix epoch, at the resolution of the source.
    fn nanos(&self) -> u128 {
        u128::from(self.now().0) * 1_000_000
    }
}
