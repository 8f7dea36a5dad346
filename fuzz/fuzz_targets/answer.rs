//! A model's answer from bytes to reply. However the bytes are split, the outcome is the same, and every call in a reply
//! has an id of its own and a name.
#![no_main]

use std::collections::HashSet;

use buddy_model::{Chat, DecoderContext, Framing, Ids, Protocol, Reply, ReplyItem};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first byte says how the rest is split.
    let Some((&size, bytes)) = bytes.split_first() else { return };
    let whole = read(std::iter::once(bytes));
    let split = read(bytes.chunks(usize::from(size).max(1)));
    assert_eq!(whole.is_ok(), split.is_ok());
    if let (Ok(whole), Ok(split)) = (whole, split) {
        assert_eq!(whole.items, split.items);
        let mut ids = HashSet::new();
        for item in whole.items {
            if let ReplyItem::ToolCall { id, name, .. } = item {
                assert!(!name.is_empty() && !id.is_empty() && ids.insert(id));
            }
        }
    }
});

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Reply, ()> {
    let context = DecoderContext { ids: Ids::counting(), ..DecoderContext::default() };
    let (mut framer, mut decoder) = (Framing::Sse.framer(), Chat.decoder(context));
    let mut frames = Vec::new();
    for piece in pieces {
        framer.push(piece, &mut frames).map_err(drop)?;
        for frame in frames.drain(..) {
            decoder.step(frame).map_err(drop)?;
        }
    }
    decoder.finish().map_err(drop)
}
