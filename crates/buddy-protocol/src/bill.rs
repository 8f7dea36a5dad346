//! A bill: the tokens and the cost of a number of model calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MicroUsd, Usage};

/// The sum of model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bill {
    /// The number of calls.
    pub calls: u64,
    /// The tokens that they consumed.
    pub usage: Usage,
    /// The cost of the calls with a known price.
    pub cost: MicroUsd,
    /// The number of calls without a known price.
    pub unpriced: u64,
}

impl std::ops::AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.usage += other.usage;
        self.cost += other.cost;
        self.unpriced += other.unpriced;
    }
}

impl Bill {
    /// Adds one call.
    pub fn add(&mut self, usage: Usage, cost: Option<MicroUsd>) {
        self.calls += 1;
        self.usage += usage;
        match cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
    }

    /// The cost of all calls; `None` if any price is unknown.
    pub fn total(&self) -> Option<MicroUsd> {
        (self.unpriced == 0).then_some(self.cost)
    }

    /// All tokens, in and out.
    pub fn tokens(&self) -> u64 {
        self.usage.input.saturating_add(self.usage.output)
    }
}
