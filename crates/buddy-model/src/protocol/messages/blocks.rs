//! Assembles the content blocks of one answer from their pieces.
//!
//! A block is kept as the object it came as; deltas grow its fields. At the end text, thinking and calls
//! become items of their own kind. Everything else that the provider sent (redacted thinking, its own tools
//! and their results) becomes an item that only carries the block back to it.

use serde_json::{Map, Value, json};

use crate::protocol::bounded::{grow, weight};
use crate::protocol::call_list::CallList;
use crate::protocol::speaker::Speaker;
use crate::protocol::wire_name::MESSAGES_WIRE;
use crate::protocol::{DecoderContext, MAX_ANSWER_BYTES, WireError};
use crate::{Arguments, Delta, ReplyItem};

/// Key of private data: the whole block, to be sent back as it is.
pub(super) const BLOCK: &str = "block";

/// Key of private data: fields to be put back into the block.
pub(super) const EXTRA: &str = "extra";

/// The maximum number of blocks in one answer, far beyond what a provider sends.
const MAX_BLOCKS: usize = 4096;

/// The blocks of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    bytes: usize,
    speaker: Speaker,
}

#[derive(Debug)]
struct Block {
    /// The server's number for it, if there is one.
    index: Option<u64>,
    fields: Map<String, Value>,
    /// JSON text of the input so far.
    input: String,
    closed: bool,
}

impl Block {
    fn kind(&self) -> &str {
        self.fields.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn grow(&mut self, field: &str, more: &str) {
        match self.fields.get_mut(field) {
            Some(Value::String(text)) => text.push_str(more),
            _ => _ = self.fields.insert(field.to_owned(), json!(more)),
        }
    }

    /// The input as text: the streamed pieces, else the initial value in the block.
    fn input_text(&self) -> String {
        match self.fields.get("input") {
            Some(Value::Object(whole)) if self.input.is_empty() && !whole.is_empty() => {
                Value::Object(whole.clone()).to_string()
            }
            _ => self.input.clone(),
        }
    }
}

/// A piece of a block's text.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Signature(&'a str),
    Input(&'a str),
}

impl Blocks {
    /// Starts a block, which may already have content.
    pub(super) fn start(&mut self, index: Option<u64>, block: &Value) -> Result<Vec<Delta>, WireError> {
        let Some(fields) = block.as_object() else {
            return Err(WireError::Malformed("a content block is not an object".to_owned()));
        };
        if self.list.len() >= MAX_BLOCKS {
            return Err(WireError::TooLarge);
        }
        self.count(weight(block))?;
        let block = Block { index, fields: fields.clone(), input: String::new(), closed: false };
        let place = self.list.len();
        let deltas = match block.kind() {
            "text" => self.take_text(place, block.text("text"), Delta::Text),
            "thinking" => self.take_text(place, block.text("thinking"), Delta::Reasoning),
            "tool_use" => {
                let text = block.input_text();
                vec![Delta::ToolArguments { index: self.calls(), name: name_of(&block), text }]
            }
            _ => Vec::new(),
        };
        self.list.push(block);
        Ok(deltas)
    }

    /// Applies a delta to a block; deltas of unknown kinds and for unknown blocks are ignored.
    pub(super) fn grow(&mut self, index: Option<u64>, delta: &Value) -> Result<Vec<Delta>, WireError> {
        let piece = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text_delta" => self.grow_piece(index, Piece::Text(piece("text"))),
            "thinking_delta" => self.grow_piece(index, Piece::Thinking(piece("thinking"))),
            "signature_delta" => self.grow_piece(index, Piece::Signature(piece("signature"))),
            "input_json_delta" => self.grow_piece(index, Piece::Input(piece("partial_json"))),
            "citations_delta" => {
                let block = self.position(index).and_then(|position| self.list.get_mut(position));
                let bytes = block.map_or(0, |block| cite(block, delta.get("citation")));
                self.count(bytes)?;
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Appends text of any kind to a block.
    fn grow_piece(&mut self, index: Option<u64>, piece: Piece<'_>) -> Result<Vec<Delta>, WireError> {
        let Some(position) = self.position(index) else { return Ok(Vec::new()) };
        let call = self.calls_before(position);
        let Some(block) = self.list.get_mut(position) else { return Ok(Vec::new()) };
        let (bytes, shown) = match piece {
            Piece::Text(text) => {
                block.grow("text", text);
                (text.len(), self.take_text(position, text, Delta::Text))
            }
            Piece::Thinking(text) => {
                block.grow("thinking", text);
                (text.len(), self.take_text(position, text, Delta::Reasoning))
            }
            Piece::Signature(text) => {
                block.fields.insert("signature".to_owned(), json!(text));
                (text.len(), Vec::new())
            }
            Piece::Input(text) => {
                block.input.push_str(text);
                let is_call = block.kind() == "tool_use" && !text.is_empty();
                let (name, bytes, text) = (name_of(block), text.len(), text.to_owned());
                let shown = is_call.then_some(Delta::ToolArguments { index: call, name, text });
                (bytes, shown.into_iter().collect())
            }
        };
        self.count(bytes)?;
        Ok(shown)
    }

    /// Counts bytes against the bound of an answer.
    fn count(&mut self, bytes: usize) -> Result<(), WireError> {
        grow(&mut self.bytes, bytes, MAX_ANSWER_BYTES)
    }

    /// The deltas for new text of the block at this position, if there is any.
    fn take_text(&mut self, place: usize, text: &str, delta: impl Fn(String) -> Delta) -> Vec<Delta> {
        if text.is_empty() {
            return Vec::new();
        }
        self.speaker.say(u64::try_from(place).ok(), delta(text.to_owned()))
    }

    /// Marks a block as complete.
    pub(super) fn stop(&mut self, index: Option<u64>) {
        if let Some(position) = self.position(index)
            && let Some(block) = self.list.get_mut(position)
        {
            block.closed = true;
        }
    }

    /// Whether any call was made.
    pub(super) fn has_calls(&self) -> bool {
        self.calls() > 0
    }

    /// The blocks as items. `is_cut` means that the model did not end the answer on purpose.
    pub(super) fn finish(self, is_cut: bool, context: &mut DecoderContext) -> Vec<ReplyItem> {
        let last = self.list.len().saturating_sub(1);
        let mut finish = Finish { context, items: Vec::new(), calls: CallList::default() };
        for (position, block) in self.list.into_iter().enumerate() {
            let may_lack_its_end = !block.closed || (is_cut && position == last);
            match block.kind() {
                "text" => finish.text(&block),
                "tool_use" => finish.call(&block, may_lack_its_end),
                _ => finish.opaque(block, may_lack_its_end),
            }
        }
        finish.items
    }

    fn calls(&self) -> usize {
        self.calls_before(self.list.len())
    }

    fn calls_before(&self, position: usize) -> usize {
        self.list.iter().take(position).filter(|block| block.kind() == "tool_use").count()
    }

    fn position(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(_) => self.list.iter().rposition(|block| block.index == index),
            None => self.list.len().checked_sub(1),
        }
    }
}

/// Items under construction.
struct Finish<'a> {
    context: &'a mut DecoderContext,
    items: Vec<ReplyItem>,
    calls: CallList,
}

impl Finish<'_> {
    fn text(&mut self, block: &Block) {
        let text = block.text("text").to_owned();
        if !text.is_empty() {
            let private = extra_fields(&block.fields, &["type", "text"]);
            let private = private.map(|extra| self.context.private(MESSAGES_WIRE, json!({ EXTRA: extra })));
            self.items.push(ReplyItem::Text { text, private });
        }
    }

    fn call(&mut self, block: &Block, may_lack_its_end: bool) {
        let raw = block.input_text();
        let arguments = match name_of(block) {
            None => Arguments::Broken { raw, error: "the call does not name a tool".to_owned() },
            Some(_) if may_lack_its_end => Arguments::parse_cut(&raw),
            Some(_) => Arguments::parse(&raw),
        };
        let name = name_of(block).unwrap_or_else(|| "unnamed".to_owned());
        let private = extra_fields(&block.fields, &["type", "id", "name", "input"]);
        let private = private.map(|extra| self.context.private(MESSAGES_WIRE, json!({ EXTRA: extra })));
        let id = Some(block.text("id").to_owned());
        self.items.extend(self.calls.admit(id, name, arguments, private, self.context));
    }

    /// Adds thinking, or a block that only the provider understands. The provider would refuse a cut block
    /// when it is sent back, so only its readable part is kept.
    fn opaque(&mut self, mut block: Block, may_lack_its_end: bool) {
        let text = if block.kind() == "thinking" { block.text("thinking").to_owned() } else { String::new() };
        if !block.input.is_empty()
            && let Ok(input) = serde_json::from_str(&block.input)
        {
            block.fields.insert("input".to_owned(), input);
        }
        let is_whole = !may_lack_its_end || block.kind() == "redacted_thinking";
        let private = is_whole.then(|| self.context.private(MESSAGES_WIRE, json!({ BLOCK: block.fields })));
        if private.is_some() || !text.is_empty() {
            self.items.push(ReplyItem::Reasoning { text, private });
        }
    }
}

fn name_of(block: &Block) -> Option<String> {
    Some(block.text("name").to_owned()).filter(|name| !name.is_empty())
}

/// Adds a citation to a block; returns its size.
fn cite(block: &mut Block, citation: Option<&Value>) -> usize {
    let Some(citation) = citation else { return 0 };
    match block.fields.get_mut("citations") {
        Some(Value::Array(citations)) => citations.push(citation.clone()),
        _ => _ = block.fields.insert("citations".to_owned(), json!([citation])),
    }
    citation.to_string().len()
}

/// Fields of a block that its item cannot represent.
fn extra_fields(block: &Map<String, Value>, usual: &[&str]) -> Option<Value> {
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let extra: Map<String, Value> = block
        .iter()
        .filter(|(name, value)| !usual.contains(&name.as_str()) && !is_empty(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!extra.is_empty()).then_some(Value::Object(extra))
}
