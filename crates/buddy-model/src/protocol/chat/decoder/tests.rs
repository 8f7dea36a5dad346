//! Reasons for an end, from the provider and from the one behind a gateway.

use serde_json::json;

use super::*;

#[test]
fn a_reason_that_says_cut_stands_above_any_other() {
    let frame = |reason: &str| Frame {
        data: json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}).to_string(),
        event: String::new(),
    };
    for (reasons, is_meant) in [
        (&["tool_calls"][..], true),
        (&["tool_calls", "stop"], true),
        (&["tool_calls", "length"], false),
        (&["length", "tool_calls"], false),
        (&["stop", "content_filter"], false),
    ] {
        let frames: Vec<Frame> = reasons.iter().map(|reason| frame(reason)).collect();
        let mut decoder = ChatDecoder::new(DecoderContext::default());
        for frame in frames {
            decoder.step(frame).unwrap();
        }
        let reason = decoder.finish_reason.unwrap();
        assert_eq!(["stop", "tool_calls"].contains(&reason.as_str()), is_meant, "{reasons:?}");
    }
}

#[test]
fn what_the_provider_behind_a_gateway_says_of_a_cut_counts() {
    for (choice, is_meant) in [
        (json!({"native_finish_reason": "STOP"}), true),
        (json!({"native_finish_reason": "completed"}), true),
        (json!({"native_finish_reason": "MAX_TOKENS"}), false),
        (json!({"native_finish_reason": "SAFETY"}), false),
        (json!({"native_finish_reason": "refusal"}), false),
        (json!({"content_filter_results": {"hate": {"filtered": false, "severity": "safe"}}}), true),
        (json!({"content_filter_results": {"hate": {"filtered": true, "severity": "high"}}}), false),
    ] {
        let mut whole = json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"});
        let fields = choice.as_object().unwrap().clone();
        whole.as_object_mut().unwrap().extend(fields);
        let frame = Frame { data: json!({ "choices": [whole] }).to_string(), event: String::new() };
        let mut decoder = ChatDecoder::new(DecoderContext::default());
        decoder.step(frame).unwrap();
        let reason = decoder.finish_reason.unwrap();
        assert_eq!(reason == "tool_calls", is_meant, "{choice}: {reason}");
    }
}

#[test]
fn a_refusal_counts_wherever_a_choice_carries_it() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]});
    for (choice, expected) in [
        (json!({"delta": call}), StopReason::ToolUse),
        (json!({"delta": call, "message": {"refusal": ""}}), StopReason::ToolUse),
        (json!({"delta": call, "message": {"refusal": "no"}}), StopReason::Refusal),
        (
            json!({"delta": call, "message": {"content": [{"type": "refusal", "refusal": "no"}]}}),
            StopReason::Refusal,
        ),
        (json!({"delta": call, "refusal": true}), StopReason::Refusal),
        (
            json!({"delta": {"tool_calls": call["tool_calls"], "refusal": {"text": "no"}}}),
            StopReason::Refusal,
        ),
    ] {
        let mut decoder = ChatDecoder::new(DecoderContext::default());
        let frame = Frame { data: json!({ "choices": [choice] }).to_string(), event: String::new() };
        decoder.step(frame).unwrap();
        assert_eq!(decoder.stop("tool_calls".to_owned()), expected, "{choice}");
    }
}
