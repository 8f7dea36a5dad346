//! Items as alternating messages of content blocks.
//!
//! Blocks of an answer keep their order. Results come first in the message that follows their calls, all of
//! them in one message. Thinking and other provider data go back exactly as they came, but only to the
//! provider and model they came from. Blocks that cannot go back are left out, and the conversation remembers
//! where.

use std::collections::HashSet;

use buddy_protocol::Image;
use serde_json::{Value, json};

use crate::Private;
use crate::PromptItem;
use crate::protocol::history::{safe_arguments, safe_id, safe_name};
use crate::protocol::messages::blocks::{BLOCK, EXTRA};
use crate::protocol::messages::thinking::Thinking;
use crate::protocol::wire_name::MESSAGES_WIRE;

/// The first message if a conversation begins with a message of the model, which the provider refuses.
const OPENING: &str = "(The conversation so far is not shown.)";

/// The provider and model that provider data may go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replay<'a> {
    pub(super) provider: &'a str,
    pub(super) model: &'a str,
}

/// The messages, and the gaps in the tool loop they end in.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Value>,
    /// The answers that left out thinking, as positions in `messages`.
    lost_thoughts: HashSet<usize>,
}

impl Conversation {
    pub(super) fn of(items: &[PromptItem], replay: Replay<'_>) -> Self {
        let mut writer = Writer { replay, messages: Vec::new(), lost_thoughts: HashSet::new() };
        for item in items {
            writer.write(item);
        }
        if let Some(last) = writer.messages.last_mut().filter(|last| last.role == "assistant") {
            last.trim_end();
        }
        let messages = writer.messages.into_iter().map(Message::into_value).collect();
        Self { messages, lost_thoughts: writer.lost_thoughts }
    }

    /// Whether the provider would accept this setting: within an open tool loop it requires the loop's own
    /// thinking.
    pub(super) fn allows(&self, wish: &Thinking) -> bool {
        let Some(start) = self.open_loop() else { return true };
        if self.lost_thoughts.iter().any(|position| *position >= start) {
            return false;
        }
        let first = self.messages.get(start).map(|message| &message["content"][0]["type"]);
        let begins_with_thought = first.is_some_and(|kind| kind == "thinking" || kind == "redacted_thinking");
        matches!(wish, Thinking::Effort(_)) || begins_with_thought
    }

    /// The start of the tool loop that the last message continues, if it does.
    fn open_loop(&self) -> Option<usize> {
        let mut start = None;
        let mut end = self.messages.len();
        while let Some([answer, results]) = end.checked_sub(2).and_then(|from| self.messages.get(from..end)) {
            if results["content"][0]["type"] != "tool_result" || answer["role"] != "assistant" {
                break;
            }
            end -= 2;
            start = Some(end);
        }
        start
    }
}

#[derive(Debug)]
struct Message {
    role: &'static str,
    blocks: Vec<Value>,
}

impl Message {
    /// Trims white space at the end of an answer to be continued, which the provider refuses.
    fn trim_end(&mut self) {
        if let Some(Value::String(text)) = self.blocks.last_mut().and_then(|block| block.get_mut("text")) {
            text.truncate(text.trim_end().len());
        }
    }

    fn into_value(self) -> Value {
        json!({ "role": self.role, "content": self.blocks })
    }
}

struct Writer<'a> {
    replay: Replay<'a>,
    messages: Vec<Message>,
    lost_thoughts: HashSet<usize>,
}

impl Writer<'_> {
    fn write(&mut self, item: &PromptItem) {
        match item {
            PromptItem::User { text, images } => {
                self.show(images);
                self.say("user", text, None);
            }
            PromptItem::Assistant { text, private } => self.say("assistant", text, private.as_ref()),
            PromptItem::Reasoning { private, .. } => self.think(private.as_ref()),
            PromptItem::ToolCall { id, name, arguments, private } => {
                self.call(id, name, arguments, private.as_ref());
            }
            PromptItem::ToolResult { id, output, images, .. } => self.answer(id, output, images),
        }
    }

    /// Images come before the text about them, as the provider advises.
    fn show(&mut self, images: &[Image]) {
        if !images.is_empty() {
            self.blocks("user").extend(images.iter().map(shown));
        }
    }

    /// Adds text; the provider refuses blocks without any.
    fn say(&mut self, role: &'static str, text: &str, private: Option<&Private>) {
        if !text.trim().is_empty() {
            let block = self.with_extra(json!({ "type": "text", "text": text }), private);
            self.blocks(role).push(block);
        }
    }

    fn think(&mut self, private: Option<&Private>) {
        if let Some(block) = self.own(private).and_then(|own| own.data.get(BLOCK)).cloned() {
            self.blocks("assistant").push(block);
            return;
        }
        // A thinking block opens its answer, which may not have begun.
        let last_is_answer = self.messages.last().is_some_and(|last| last.role == "assistant");
        let position = self.messages.len().max(1) - usize::from(last_is_answer);
        self.lost_thoughts.insert(position);
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str, private: Option<&Private>) {
        let input: Value = serde_json::from_str(safe_arguments(arguments)).unwrap_or_else(|_| json!({}));
        let block = json!({ "type": "tool_use", "id": safe_id(id), "name": safe_name(name), "input": input });
        let block = self.with_extra(block, private);
        self.blocks("assistant").push(block);
    }

    /// Adds a result, before anything else in the user's message.
    fn answer(&mut self, id: &str, output: &str, images: &[Image]) {
        let mut block = json!({ "type": "tool_result", "tool_use_id": safe_id(id) });
        if !images.is_empty() {
            let words = (!output.is_empty()).then(|| json!({ "type": "text", "text": output }));
            block["content"] = words.into_iter().chain(images.iter().map(shown)).collect();
        } else if !output.is_empty() {
            block["content"] = json!(output);
        }
        let blocks = self.blocks("user");
        let place = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        blocks.insert(place, block);
    }

    /// The blocks of the current message in this role.
    fn blocks(&mut self, role: &'static str) -> &mut Vec<Value> {
        if self.messages.is_empty() && role == "assistant" {
            let opening = json!({ "type": "text", "text": OPENING });
            self.messages.push(Message { role: "user", blocks: vec![opening] });
        }
        if self.messages.last().is_none_or(|last| last.role != role) {
            self.messages.push(Message { role, blocks: Vec::new() });
        }
        let last = self.messages.len() - 1;
        &mut self.messages[last].blocks
    }

    fn own<'p>(&self, private: Option<&'p Private>) -> Option<&'p Private> {
        private.filter(|own| own.belongs_to(self.replay.provider, self.replay.model, MESSAGES_WIRE))
    }

    /// The block with the extra fields that the provider had put into it.
    fn with_extra(&self, mut block: Value, private: Option<&Private>) -> Value {
        let extra = self.own(private).and_then(|own| own.data.get(EXTRA)).and_then(Value::as_object);
        if let (Some(fields), Some(extra)) = (block.as_object_mut(), extra) {
            fields.extend(extra.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        block
    }
}

fn shown(image: &Image) -> Value {
    let source =
        json!({ "type": "base64", "media_type": image.media_type.name(), "data": image.data.text() });
    json!({ "type": "image", "source": source })
}
