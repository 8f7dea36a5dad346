//! Money, in whole millionths of a US dollar, so that sums are exact.

use std::fmt;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Millionths of a US dollar.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    /// The amount in dollars, for display.
    pub fn dollars(self) -> f64 {
        // Exact up to nine billion dollars.
        #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
        let micros = self.0 as f64;
        micros / 1_000_000.0
    }

    /// An amount in dollars; `None` if it is negative or not a number.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1_000_000.0).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        (0.0..9e15).contains(&micros).then_some(Self(micros as u64))
    }
}

impl AddAssign for MicroUsd {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.0 >= 1_000_000 { 2 } else { 4 };
        write!(formatter, "${:.digits$}", self.dollars())
    }
}
