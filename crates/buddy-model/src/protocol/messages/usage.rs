//! Token counts on this wire: they come twice, grow, and leave the cached part out of the input.

use buddy_protocol::Usage;
use serde_json::Value;

use crate::protocol::tokens::{bounded, count};

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    output: Option<u64>,
}

impl Counts {
    /// Takes cumulative counts. Some servers send zero after a larger number, so the larger one is right.
    pub(super) fn take(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        for (known, field) in [
            (&mut self.input, "input_tokens"),
            (&mut self.cache_read, "cache_read_input_tokens"),
            (&mut self.cache_creation, "cache_creation_input_tokens"),
            (&mut self.output, "output_tokens"),
        ] {
            *known = (*known).max(count(usage.get(field)));
        }
    }

    /// The usage, if there was any: the input is the whole prompt.
    pub(super) fn usage(&self) -> Option<Usage> {
        let (cached_input, cache_write) = (self.cache_read.unwrap_or(0), self.cache_creation.unwrap_or(0));
        let input = self.input.unwrap_or(0).saturating_add(cached_input).saturating_add(cache_write);
        let output = self.output.unwrap_or(0);
        (input > 0 || output > 0)
            .then(|| bounded(Usage { input, cached_input, cache_write, output, ..Usage::default() }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_cached_part_is_added_and_the_last_counts_win() {
        let mut counts = Counts::default();
        assert_eq!(counts.usage(), None);
        counts.take(Some(&json!({"input_tokens": 5, "cache_read_input_tokens": 90, "output_tokens": 1})));
        counts.take(Some(&json!({"input_tokens": 0, "cache_creation_input_tokens": 7, "output_tokens": 12})));
        let usage = counts.usage().unwrap();
        assert_eq!((usage.input, usage.cached_input, usage.cache_write, usage.output), (102, 90, 7, 12));
    }
}
