//! The system's clock and fresh ids.

use std::time::{SystemTime, UNIX_EPOCH};

use buddy_protocol::{Clock, Ids, UnixMillis};

/// The clock of the machine.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(u64::try_from(self.nanos() / 1_000_000).unwrap_or(u64::MAX))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Clock that everything else uses")]
    fn nanos(&self) -> u128 {
        // A clock before 1970 reads as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
    }
}

/// Version 7 UUIDs: they grow with time and do not repeat.
pub(crate) struct SystemIds;

impl Ids for SystemIds {
    fn next(&self) -> u128 {
        uuid::Uuid::now_v7().as_u128()
    }
}
