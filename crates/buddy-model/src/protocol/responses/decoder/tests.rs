//! Parsing deltas without a tree gives the same result as parsing them as trees.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Map;

use super::*;
use crate::protocol::testing::fixture_frames;

fn check(frames: &[Frame]) {
    let context = || DecoderContext { ids: crate::Ids::counting(), ..DecoderContext::default() };
    let (mut fast, mut general) = (ResponsesDecoder::new(context()), ResponsesDecoder::new(context()));
    for frame in frames {
        assert_eq!(fast.step(frame.clone()), general.step_general(frame), "{frame:?}");
        assert_eq!(fast.progress(), general.progress(), "{frame:?}");
    }
    assert_eq!(fast.finish(), general.finish());
}

#[test]
fn the_fixtures_are_read_alike() {
    for frames in fixture_frames("responses") {
        check(&frames);
    }
}

#[test]
fn deltas_need_no_tree() {
    let frames = fixture_frames("responses").concat();
    let deltas = frames.iter().filter(|frame| frame.event.strip_suffix(".delta").is_some());
    let (fast, general): (Vec<_>, Vec<_>) = deltas.partition(|frame| DeltaEvent::read(&frame.data).is_some());
    assert!(fast.len() > 50 && general.is_empty(), "{general:?}");
}

fn event() -> impl Strategy<Value = String> {
    let kinds = select(vec![
        "response.output_text.delta",
        "response.refusal.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
        "response.hologram.delta",
        "response.output_item.done",
        "response.completed",
        "error",
    ]);
    let names = select(vec![
        "delta",
        "delta",
        "output_index",
        "content_index",
        "item_id",
        "logprobs",
        "obfuscation",
        "error",
        "item",
        "response",
        "other",
    ]);
    let values = select(vec![
        json!(null),
        json!(""),
        json!("x"),
        json!("ü\n\"🦀"),
        json!(0),
        json!(1),
        json!(2.0),
        json!([]),
        json!([1]),
        json!({}),
        json!({"type": "message", "content": [{"type": "output_text", "text": "whole"}]}),
        json!({"status": "completed", "output": []}),
    ]);
    (prop::option::of(kinds), prop::collection::vec((names, values), 0..5)).prop_map(|(kind, fields)| {
        let mut event = Map::new();
        event.extend(kind.map(|kind| ("type".to_owned(), json!(kind))));
        event.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        json!(event).to_string()
    })
}

proptest! {
    #[test]
    fn any_events_are_read_alike(
        events in prop::collection::vec((event(), select(vec!["", "response.output_text.delta", "error"])), 1..6),
        damage in prop::option::of((any::<prop::sample::Index>(), select(vec!["", "\"", "{", "\\ud800", " ", "9"]))),
    ) {
        let mut frames: Vec<Frame> =
            events.into_iter().map(|(data, event)| Frame { event: event.to_owned(), data }).collect();
        if let (Some((place, patch)), Some(last)) = (damage, frames.last_mut()) {
            let letters: Vec<char> = last.data.chars().collect();
            let (head, tail) = letters.split_at(place.index(letters.len()));
            last.data = head.iter().collect::<String>() + patch + &tail[1..].iter().collect::<String>();
        }
        check(&frames);
    }
}
