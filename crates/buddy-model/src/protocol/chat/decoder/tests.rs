//! Parsing common chunks without a tree gives the same result as parsing them as trees.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};

use super::*;
use crate::protocol::testing::fixture_frames;

fn check(frames: &[Frame]) {
    let context = || DecoderContext { ids: crate::Ids::counting(), ..DecoderContext::default() };
    let (mut fast, mut general) = (ChatDecoder::new(context()), ChatDecoder::new(context()));
    for frame in frames {
        assert_eq!(fast.step(frame.clone()), general.step_general(frame), "{frame:?}");
        assert_eq!(fast.progress(), general.progress(), "{frame:?}");
    }
    assert_eq!(fast.finish(), general.finish());
}

#[test]
fn the_fixtures_are_read_alike() {
    for frames in fixture_frames("chat") {
        check(&frames);
    }
}

#[test]
fn the_usual_chunks_need_no_tree() {
    let mut frames = fixture_frames("chat");
    let text = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","usage":null,
        "choices":[{"index":0,"delta":{"role":"assistant","content":"a\nb"},"logprobs":null,"finish_reason":null}]}"#;
    assert!(Chunk::read(text).is_some());
    frames.retain(|frames| frames.iter().any(|frame| Chunk::read(&frame.data).is_some()));
    assert!(frames.len() > 20, "only {} fixtures have a usual chunk", frames.len());
}

/// Values that a field may have, valid and invalid.
fn value() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(""),
        json!("x"),
        json!("ü\n\"🦀"),
        json!("stop"),
        json!("tool_calls"),
        json!("error"),
        json!(0),
        json!(1),
        json!(0.0),
        json!(-1),
        json!(true),
        json!([]),
        json!({}),
        json!([{"type": "text", "text": "part"}]),
        json!({"message": "no"}),
    ])
}

fn object(names: &'static [&'static str]) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((select(names), value()), 0..4)
        .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn piece() -> impl Strategy<Value = Value> {
    let function = object(&["name", "arguments", "other"]);
    (object(&["index", "id", "type", "extra_content"]), prop::option::of(function)).prop_map(
        |(mut piece, function)| {
            piece.extend(function.map(|function| ("function".to_owned(), json!(function))));
            json!(piece)
        },
    )
}

fn chunk() -> impl Strategy<Value = String> {
    let fields: &[&str] = &["id", "object", "created", "model", "usage", "error", "timings", "other"];
    let message: &[&str] =
        &["role", "content", "reasoning", "reasoning_content", "refusal", "function_call", "extra_content"];
    let choice: &[&str] = &["index", "finish_reason", "logprobs", "other"];
    let pieces = prop::collection::vec(piece(), 0..3);
    (object(fields), object(choice), object(message), prop::option::of(pieces), 0_usize..3).prop_map(
        |(mut chunk, mut choice, mut message, pieces, choices)| {
            message.extend(pieces.map(|pieces| ("tool_calls".to_owned(), json!(pieces))));
            choice.insert("delta".to_owned(), json!(message));
            chunk.insert("choices".to_owned(), json!(vec![choice; choices]));
            json!(chunk).to_string()
        },
    )
}

proptest! {
    #[test]
    fn any_chunks_are_read_alike(
        chunks in prop::collection::vec((chunk(), select(vec!["", "", "", "error"])), 1..6),
        damage in prop::option::of((any::<prop::sample::Index>(), select(vec!["", "\"", "{", "\\ud800", " ", "9"]))),
    ) {
        let mut frames: Vec<Frame> =
            chunks.into_iter().map(|(data, event)| Frame { event: event.to_owned(), data }).collect();
        if let (Some((place, patch)), Some(last)) = (damage, frames.last_mut()) {
            let letters: Vec<char> = last.data.chars().collect();
            let (head, tail) = letters.split_at(place.index(letters.len()));
            last.data = head.iter().collect::<String>() + patch + &tail[1..].iter().collect::<String>();
        }
        check(&frames);
    }
}

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
        check(&frames);
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
        check(std::slice::from_ref(&frame));
        let mut decoder = ChatDecoder::new(DecoderContext::default());
        decoder.step(frame).unwrap();
        let reason = decoder.finish_reason.unwrap();
        assert_eq!(reason == "tool_calls", is_meant, "{choice}: {reason}");
    }
}
