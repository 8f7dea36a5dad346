//! The reason why an answer ended, from the words that servers use.
//!
//! One table for the wires that name their reason in one word. The calls of an answer run only if its model
//! is known to have ended it on purpose, so an unknown word never lets them run.

use crate::StopReason;

/// The content before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Text only.
    Words,
    /// At least one call.
    Calls,
    /// A refusal, whatever else came.
    Refusal,
}

/// The stop reason that a word stands for.
pub(crate) fn stop_reason(word: String, before: Before) -> StopReason {
    match (word.to_ascii_lowercase().as_str(), before) {
        (
            "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded",
            _,
        ) => StopReason::Length,
        ("content_filter", _) => StopReason::Filter,
        ("refusal", _) | (_, Before::Refusal) => StopReason::Refusal,
        ("pause_turn", _) => StopReason::Paused,
        // Several servers send `stop` or `end_turn` although there are calls.
        (
            "tool_calls" | "tool_use" | "function_call" | "stop" | "end_turn" | "eos" | "eos_token",
            Before::Calls,
        ) => StopReason::ToolUse,
        // A stop sequence inside a call would cut it, and buddy sends none.
        ("stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence", Before::Words) => StopReason::End,
        _ => StopReason::Other(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_run_after_a_proper_end_only() {
        let runs = |word: &str| stop_reason(word.to_owned(), Before::Calls).lets_calls_run();
        for word in ["tool_calls", "tool_use", "function_call", "stop", "STOP", "end_turn", "eos_token"] {
            assert!(runs(word), "{word}");
        }
        for word in [
            "length",
            "MAX_TOKENS",
            "model_length",
            "content_filter",
            "safety",
            "recitation",
            "refusal",
            "pause_turn",
            "stop_sequence",
            "incomplete",
            "error",
            "cancelled",
            "abort",
            "load",
            "whatever",
        ] {
            assert!(!runs(word), "{word}");
        }
        assert_eq!(stop_reason("stop".to_owned(), Before::Refusal), StopReason::Refusal);
    }
}
