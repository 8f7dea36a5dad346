//! Parses the chunks that make up nearly all of a stream, without building a tree.
//!
//! A chunk with anything else in it (usage, an error, signatures, several calls, unknown fields) does not fit
//! these types and is parsed as a tree, with the same result; a test compares both. Unused fields still have
//! their types, because a tree would refuse malformed values in them.

use serde::Deserialize;

use crate::protocol::borrowed::{Skipped, Text};

/// A chunk with one choice and only the usual fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) model: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) choices: (Choice<'a>,),
    #[serde(borrow)]
    object: Option<Text<'a>>,
    #[serde(rename = "id")]
    _id: Option<Skipped>,
    #[serde(rename = "created")]
    _created: Option<u64>,
    #[serde(rename = "system_fingerprint")]
    _system_fingerprint: Option<Skipped>,
    #[serde(rename = "service_tier")]
    _service_tier: Option<Skipped>,
    #[serde(rename = "provider")]
    _provider: Option<Skipped>,
    #[serde(rename = "obfuscation")]
    _obfuscation: Option<Skipped>,
    #[serde(rename = "usage")]
    _usage: Option<Nothing>,
    #[serde(rename = "error")]
    _error: Option<Nothing>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Message<'a>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) native_finish_reason: Option<Text<'a>>,
    #[serde(rename = "logprobs")]
    _logprobs: Option<Nothing>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<(Piece<'a>,)>,
    #[serde(rename = "role")]
    _role: Option<Skipped>,
    #[serde(rename = "refusal")]
    _refusal: Option<Nothing>,
    #[serde(rename = "function_call")]
    _function_call: Option<Nothing>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Piece<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    #[serde(rename = "type")]
    _type: Option<Skipped>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<Text<'a>>,
}

/// A type that no JSON value matches, for fields that may only be absent or null.
#[derive(Debug, Deserialize)]
enum Nothing {}

impl<'a> Chunk<'a> {
    /// The chunk, if it has only the usual fields.
    pub(super) fn read(data: &'a str) -> Option<Self> {
        let chunk: Self = serde_json::from_str(data).ok()?;
        let is_usual = chunk.object.as_deref() != Some("error") && chunk.choices.0.index.unwrap_or(0) == 0;
        is_usual.then_some(chunk)
    }
}
