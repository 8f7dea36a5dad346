//! Token counts on this wire, in their several formats, made sane.

use buddy_protocol::{MicroUsd, Usage};
use serde_json::Value;

use crate::protocol::tokens::{bounded, count};

/// Reads the usage of a chunk or a whole answer: `usage`, or llama.cpp's `timings` if there is nothing else.
pub(super) fn read(chunk: &Value) -> Option<Usage> {
    let in_choice = || chunk.get("choices")?.get(0)?.get("usage");
    let usage = chunk.get("usage").filter(|usage| usage.is_object()).or_else(in_choice);
    usage.and_then(from_usage).or_else(|| from_timings(chunk.get("timings")?))
}

fn from_usage(usage: &Value) -> Option<Usage> {
    let input = count(usage.get("prompt_tokens"));
    let output = count(usage.get("completion_tokens"));
    if input.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
        return None;
    }
    let input_details = usage.get("prompt_tokens_details");
    let cached = count(input_details.and_then(|details| details.get("cached_tokens")))
        .or_else(|| count(usage.get("prompt_cache_hit_tokens")));
    let written = count(input_details.and_then(|details| details.get("cache_write_tokens")));
    let reasoning =
        usage.get("completion_tokens_details").and_then(|details| details.get("reasoning_tokens"));
    Some(bounded(Usage {
        input: input.unwrap_or(0),
        cached_input: cached.unwrap_or(0),
        cache_write: written.unwrap_or(0),
        output: output.unwrap_or(0),
        reasoning_output: count(reasoning).unwrap_or(0),
        reported_cost: usage.get("cost").and_then(Value::as_f64).and_then(MicroUsd::from_dollars),
        estimated: false,
    }))
}

fn from_timings(timings: &Value) -> Option<Usage> {
    let cached = count(timings.get("cache_n")).unwrap_or(0);
    let input = count(timings.get("prompt_n"))?.saturating_add(cached);
    let output = count(timings.get("predicted_n"))?;
    Some(bounded(Usage { input, cached_input: cached, output, ..Usage::default() }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(usage: &Value) -> Option<[u64; 5]> {
        let usage = read(&json!({ "usage": usage }))?;
        Some([usage.input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning_output])
    }

    #[test]
    fn dialects() {
        let openai = json!({"prompt_tokens": 100, "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 8}});
        assert_eq!(check(&openai), Some([100, 64, 0, 20, 8]));
        let hit = json!({"prompt_tokens": 100, "completion_tokens": 20, "prompt_cache_hit_tokens": 32});
        assert_eq!(check(&hit), Some([100, 32, 0, 20, 0]));
        let timings = json!({"timings": {"cache_n": 7, "prompt_n": 3, "predicted_n": 5}});
        assert_eq!(read(&timings).map(|usage| (usage.input, usage.cached_input)), Some((10, 7)));
        let in_choice = json!({"choices": [{"usage": {"prompt_tokens": 3, "completion_tokens": 1}}]});
        assert_eq!(read(&in_choice).map(|usage| usage.input), Some(3));
    }

    #[test]
    fn nonsense_is_kept_out() {
        assert_eq!(check(&Value::Null), None);
        assert_eq!(check(&json!({"prompt_tokens": 0, "completion_tokens": 0})), None);
        assert_eq!(check(&json!({"prompt_tokens": -5, "completion_tokens": 2.0})), Some([0, 0, 0, 2, 0]));
        assert_eq!(check(&json!({"prompt_tokens": u64::MAX, "completion_tokens": 2})), Some([0, 0, 0, 2, 0]));
        let too_much_cached = json!({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}});
        assert_eq!(check(&too_much_cached), Some([5, 5, 0, 1, 0]));
    }
}
