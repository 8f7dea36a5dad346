//! Framing and decoding give the same result however the network splits the bytes, and never panic.

use std::fmt::Write;

use buddy_model::{Arguments, ReplyItem};
use proptest::prelude::*;

use crate::fixtures::{ALL, Fixture, read};

proptest! {
    #[test]
    fn every_fixture_at_any_split(
        fixture in prop::sample::select(ALL),
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
        prop_assert_eq!(read(&fixture, chunks), read(&fixture, [fixture.bytes]));
    }

    /// A stream that is cut anywhere gives either the whole reply or none: never a call with half its
    /// arguments.
    #[test]
    fn a_cut_never_shows_a_call(fixture in prop::sample::select(ALL), part in 0.0_f64..1.0) {
        let bytes = fixture.bytes;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "a position in a small file")]
        let cut = (bytes.len() as f64 * part) as usize;
        if let (_, Ok(reply)) = read(&fixture, [&bytes[..cut]]) {
            let whole = read(&fixture, [bytes]).1;
            prop_assert_eq!(Ok(&reply.items), whole.as_ref().map(|whole| &whole.items));
        }
    }

    #[test]
    fn damaged_bytes_do_not_panic(
        fixture in prop::sample::select(ALL),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = fixture.bytes.to_vec();
        for (place, value) in damage {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
        }
        let _survived = read(&fixture, [&bytes[..]]);
    }

    /// For any pieces of a call, its arguments are an object, and ids are unique.
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
        let reply = read(&chat(), [bytes.as_bytes()]).1.unwrap();
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

fn chat() -> Fixture {
    *ALL.iter().find(|fixture| fixture.name == "chat_plain").unwrap()
}
