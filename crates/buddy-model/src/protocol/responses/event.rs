//! Parses the events that make up nearly all of a stream, without building a tree.

use serde::Deserialize;

use crate::protocol::borrowed::{Skipped, Text};

/// A piece of text of any kind. An event with more than these fields is parsed as a tree instead, with the
/// same result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeltaEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) delta: Text<'a>,
    pub(super) output_index: Option<u64>,
    #[serde(rename = "sequence_number")]
    _sequence_number: Option<u64>,
    #[serde(rename = "content_index")]
    _content_index: Option<u64>,
    #[serde(rename = "summary_index")]
    _summary_index: Option<u64>,
    #[serde(rename = "item_id")]
    _item_id: Option<Skipped>,
    #[serde(rename = "obfuscation")]
    _obfuscation: Option<Skipped>,
    #[serde(rename = "logprobs")]
    _logprobs: Option<[(); 0]>,
}

impl<'a> DeltaEvent<'a> {
    /// The event, if it is one of these.
    pub(super) fn read(data: &'a str) -> Option<Self> {
        let event: Self = serde_json::from_str(data).ok()?;
        event.kind.ends_with(".delta").then_some(event)
    }
}
