//! Parses the commonest event, more of a block's text, without a tree of values.
//!
//! Any other shape is left to the general parser, which gives the same result for this shape too.

use serde::Deserialize;

use crate::protocol::borrowed::Text;
use crate::protocol::messages::blocks::Piece;

/// A `content_block_delta` and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    r#type: Text<'a>,
    index: u64,
    #[serde(borrow)]
    delta: Fields<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    #[serde(borrow)]
    r#type: Text<'a>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    partial_json: Option<Text<'a>>,
}

/// Parses an event of this shape.
pub(super) fn read(data: &str) -> Option<Event<'_>> {
    serde_json::from_str(data).ok()
}

impl Event<'_> {
    /// The block that grows, and the text to append.
    pub(super) fn piece(&self) -> Option<(u64, Piece<'_>)> {
        if &*self.r#type != "content_block_delta" {
            return None;
        }
        let delta = &self.delta;
        let piece = match &*delta.r#type {
            "text_delta" => Piece::Text(delta.text.as_deref()?),
            "thinking_delta" => Piece::Thinking(delta.thinking.as_deref()?),
            "input_json_delta" => Piece::Input(delta.partial_json.as_deref()?),
            _ => return None,
        };
        Some((self.index, piece))
    }
}
