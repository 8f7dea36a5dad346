//! Parses the commonest line, more of the answer, without a tree of values.
//!
//! Any other shape is left to the general parser, which gives the same result for this shape too.

use serde::Deserialize;

use crate::protocol::borrowed::{Skipped, Text};

/// A line that is not the last and has no calls.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(rename = "created_at")]
    _created_at: Option<Skipped>,
    #[serde(borrow)]
    message: Message<'a>,
    done: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    #[serde(rename = "role")]
    _role: Option<Skipped>,
    #[serde(borrow)]
    content: Text<'a>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
}

/// Parses a line of this shape.
pub(super) fn read(data: &str) -> Option<Line<'_>> {
    serde_json::from_str(data).ok().filter(|line: &Line<'_>| !line.done)
}

impl Line<'_> {
    pub(super) fn model(&self) -> Option<&str> {
        Some(&*self.model).filter(|text| !text.is_empty())
    }

    pub(super) fn content(&self) -> Option<&str> {
        Some(&*self.message.content).filter(|text| !text.is_empty())
    }

    pub(super) fn thinking(&self) -> Option<&str> {
        self.message.thinking.as_deref().filter(|text| !text.is_empty())
    }
}
