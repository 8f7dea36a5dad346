//! The token usage of a model call, in one format for every provider.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MicroUsd;

/// Tokens of one model call or a sum of calls.
///
/// `input` is the whole prompt: `cached_input` and `cache_write` are parts of it, never additions to it.
/// `output` is the whole answer: `reasoning_output` is a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the whole prompt.
    pub input: u64,
    /// Part of `input` that was read from the provider's prompt cache.
    pub cached_input: u64,
    /// Part of `input` that was written to the provider's prompt cache.
    pub cache_write: u64,
    /// Tokens of the whole answer.
    pub output: u64,
    /// Part of `output` that was reasoning.
    pub reasoning_output: u64,
    /// The cost of the call as the provider reports it, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_cost: Option<MicroUsd>,
    /// True if any of the numbers is an estimate because the provider did not report it.
    pub estimated: bool,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning_output = self.reasoning_output.saturating_add(other.reasoning_output);
        self.reported_cost = match (self.reported_cost, other.reported_cost) {
            (Some(MicroUsd(mine)), Some(MicroUsd(theirs))) => Some(MicroUsd(mine.saturating_add(theirs))),
            (mine, theirs) => mine.or(theirs),
        };
        self.estimated = self.estimated || other.estimated;
    }
}
