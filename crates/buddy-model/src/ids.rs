//! Ids for calls that came without one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of call ids. They must be unique in a conversation that outlives the process, hence random by default.
#[derive(Clone)]
pub struct Ids(Arc<dyn Fn() -> String + Send + Sync>);

impl Ids {
    /// Ids from any function.
    pub fn new(next: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(next))
    }

    /// `call_` and 64 random bits.
    pub fn random() -> Self {
        Self::new(|| format!("call_{:016x}", rand::random::<u64>()))
    }

    /// `call_1`, `call_2`, …: for tests.
    pub fn counting() -> Self {
        let count = AtomicU64::new(0);
        Self::new(move || format!("call_{}", count.fetch_add(1, Ordering::Relaxed) + 1))
    }

    /// The next one.
    pub fn next(&self) -> String {
        (self.0)()
    }
}

impl Default for Ids {
    fn default() -> Self {
        Self::random()
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Ids")
    }
}
