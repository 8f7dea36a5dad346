//! Framing and decoding give the same whatever the network makes of the bytes, and never panic.

use std::fmt::Write;
use std::time::Instant;

use buddy_model::{Arguments, DecoderContext, Framing, Protocol, ReplyItem};
use proptest::prelude::*;

use crate::fixtures::{all, read_chat};

proptest! {
    #[test]
    fn every_fixture_at_any_split(
        fixture in prop::sample::select(all()),
        sizes in prop::collection::vec(1_usize..40, 1..32),
    ) {
        let (mut chunks, mut rest) = (Vec::new(), fixture.bytes);
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(head);
            rest = tail;
        }
        prop_assert_eq!(fixture.read(chunks), fixture.read([fixture.bytes]));
    }

    /// A stream that is cut anywhere gives either the whole reply or none: never a call with half its arguments.
    #[test]
    fn a_cut_never_shows_a_call(fixture in prop::sample::select(all()), part in 0.0_f64..1.0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "a position in a small file")]
        let cut = (fixture.bytes.len() as f64 * part) as usize;
        if let (_, Ok(reply)) = fixture.read([&fixture.bytes[..cut]]) {
            let whole = fixture.read([fixture.bytes]).1;
            prop_assert_eq!(Ok(&reply.items), whole.as_ref().map(|whole| &whole.items), "{:?}", fixture);
        }
    }

    #[test]
    fn damaged_bytes_do_not_panic(
        fixture in prop::sample::select(all()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = fixture.bytes.to_vec();
        for (place, value) in damage {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
        }
        let _survived = fixture.read([&bytes[..]]);
    }

    /// Whatever the pieces of a call say, arguments that are passed on are an object, and ids are unique.
    #[test]
    fn calls_are_sane(pieces in prop::collection::vec((0_u64..3, 0_u8..4, 0_u8..3, "[{}\",:a1\\[\\]]{0,6}"), 0..12)) {
        let mut bytes = String::new();
        for (index, id, name, arguments) in pieces {
            let id = ["", "a", "b", "c"][usize::from(id)];
            let name = ["", "x", "y"][usize::from(name)];
            let function = serde_json::json!({"name": name, "arguments": arguments});
            let piece = serde_json::json!({"index": index, "id": id, "function": function});
            let chunk = serde_json::json!({"choices": [{"delta": {"tool_calls": [piece]}}]});
            write!(bytes, "data: {chunk}\n\n").unwrap();
        }
        bytes += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
        let reply = read_chat(bytes.as_bytes()).1.unwrap();
        let mut ids = std::collections::HashSet::new();
        for item in reply.items {
            let ReplyItem::ToolCall { id, name, arguments, .. } = item else { continue };
            prop_assert!(!id.is_empty() && !name.is_empty());
            prop_assert!(ids.insert(id));
            if let Arguments::Broken { error, .. } = arguments {
                prop_assert!(!error.is_empty());
            }
        }
    }
}

/// Prints how fast a long stream is read; run it in release with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a check"]
fn throughput() {
    let chunk = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-test","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}"#;
    let bytes = format!("{chunk}\n\n").repeat(200_000);
    let started = Instant::now();
    let (mut parser, mut decoder) =
        (Framing::Sse.framer(), buddy_model::Chat.decoder(DecoderContext::default()));
    let (mut frames, mut deltas) = (Vec::new(), 0);
    for piece in bytes.as_bytes().chunks(16 * 1024) {
        parser.push(piece, &mut frames).unwrap();
        for frame in frames.drain(..) {
            deltas += decoder.step(frame).unwrap().len();
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rough number")]
    let megabytes = bytes.len() as f64 / 1e6;
    println!("{megabytes:.0} MB, {deltas} deltas: {:.0} MB/s", megabytes / seconds);
}
