//! Token counts on this wire.

use buddy_protocol::{MicroUsd, Usage};
use serde_json::Value;

use crate::protocol::tokens::{bounded, count};

/// Reads the `usage` of a response: cached and written tokens are inside the input, reasoning is inside the output.
pub(super) fn read(response: &Value) -> Option<Usage> {
    let usage = response.get("usage")?;
    let input = count(usage.get("input_tokens"));
    let output = count(usage.get("output_tokens"));
    if input.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
        return None;
    }
    let detail = |details: &str, name: &str| count(usage.get(details).and_then(|part| part.get(name)));
    Some(bounded(Usage {
        input: input.unwrap_or(0),
        cached_input: detail("input_tokens_details", "cached_tokens").unwrap_or(0),
        cache_write: detail("input_tokens_details", "cache_write_tokens").unwrap_or(0),
        output: output.unwrap_or(0),
        reasoning_output: detail("output_tokens_details", "reasoning_tokens").unwrap_or(0),
        reported_cost: usage.get("cost").and_then(Value::as_f64).and_then(MicroUsd::from_dollars),
        estimated: false,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn details_are_parts_of_their_whole() {
        let usage = json!({"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
            "output_tokens_details": {"reasoning_tokens": 80}});
        let usage = read(&json!({ "usage": usage })).unwrap();
        let numbers =
            [usage.input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning_output];
        assert_eq!(numbers, [100, 64, 30, 20, 20]);
        assert_eq!(read(&json!({ "usage": null })), None);
        assert_eq!(read(&json!({ "usage": {"input_tokens": 0, "output_tokens": 0} })), None);
    }
}
