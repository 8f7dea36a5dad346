//! Wall-clock time as it stands in the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

/// Where wall-clock time comes from: the system in service, a value that stands still in tests.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> UnixMillis;

    /// The time now in nanoseconds since the Unix epoch, as fine as the source has it.
    fn nanos(&self) -> u128 {
        u128::from(self.now().0) * 1_000_000
    }
}
