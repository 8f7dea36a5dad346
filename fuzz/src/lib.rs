//! Properties of a model's answer on every wire, from bytes to reply: however the bytes are split, the
//! outcome is the same, and every call in a reply has a unique id and a name. A body in one piece never
//! panics either.

use std::collections::HashSet;

use buddy_model::{Decoder, DecoderContext, Framing, Ids, Protocol, Reply, ReplyItem};

/// Checks one input. Its first byte determines how the rest is split.
pub fn check(framing: Framing, protocol: &dyn Protocol, bytes: &[u8]) {
    let Some((&size, bytes)) = bytes.split_first() else { return };
    let whole = read(framing, protocol, std::iter::once(bytes));
    let split = read(framing, protocol, bytes.chunks(usize::from(size).max(1)));
    assert_eq!(whole.is_ok(), split.is_ok());
    if let (Ok(whole), Ok(split)) = (whole, split) {
        assert_eq!(whole, split);
        check_calls(&whole);
    }
    if let Some(reply) = read_body(protocol, bytes) {
        check_calls(&reply);
    }
}

fn check_calls(reply: &Reply) {
    let mut ids = HashSet::new();
    for item in &reply.items {
        if let ReplyItem::ToolCall { id, name, .. } = item {
            assert!(!name.is_empty() && !id.is_empty() && ids.insert(id));
        }
    }
}

/// Decodes like the driver reads a stream.
fn read<'a>(
    framing: Framing,
    protocol: &dyn Protocol,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Reply, ()> {
    let (mut framer, mut decoder) = (framing.framer(), decoder(protocol));
    let mut frames = Vec::new();
    for piece in pieces {
        framer.push(piece, &mut frames).map_err(drop)?;
        for frame in frames.drain(..) {
            decoder.step(frame).map_err(drop)?;
        }
    }
    framer.finish(&mut frames);
    for frame in frames {
        decoder.step(frame).map_err(drop)?;
    }
    decoder.finish().map_err(drop)
}

/// Decodes like the driver reads the answer to a request without a stream; `None` if it is not such an
/// answer.
fn read_body(protocol: &dyn Protocol, bytes: &[u8]) -> Option<Reply> {
    let body = serde_json::from_slice(bytes).ok()?;
    let mut decoder = decoder(protocol);
    decoder.whole(&body).ok()?;
    decoder.finish().ok()
}

fn decoder(protocol: &dyn Protocol) -> Box<dyn Decoder> {
    protocol.decoder(DecoderContext { ids: Ids::counting(), ..DecoderContext::default() })
}
