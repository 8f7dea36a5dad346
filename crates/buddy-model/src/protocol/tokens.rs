//! Token counts made sane, whatever the wire calls them.

use buddy_protocol::Usage;
use serde_json::Value;

/// More tokens than any model will ever see; a larger number is a bug of the server and must not spoil sums.
const MAX_TOKENS: u64 = 1 << 40;

/// A count in any number format; negative counts are zero, and implausible ones are refused.
pub(crate) fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    if let Some(count) = value.as_u64() {
        return (count <= MAX_TOKENS).then_some(count);
    }
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped just before")]
    (number <= 1e12).then(|| number.max(0.0) as u64)
}

/// Limits parts to their whole.
pub(crate) fn bounded(usage: Usage) -> Usage {
    Usage {
        cached_input: usage.cached_input.min(usage.input),
        cache_write: usage.cache_write.min(usage.input),
        reasoning_output: usage.reasoning_output.min(usage.output),
        ..usage
    }
}
