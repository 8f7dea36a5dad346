//! A picture in a prompt, in each wire's own form.
//!
//! Prompts have no pictures yet, so the body of a wire is made as usual and its last user message changed afterwards.

use std::sync::Arc;

use serde_json::{Value, json};
use url::Url;

use crate::protocol::{Decoder, DecoderContext, Objection, Protocol};
use crate::{Endpoint, Options, Prompt};

/// A red square, 32 by 32: some providers refuse smaller ones.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";

/// A wire that puts the picture into the last user message of every body.
pub(super) struct WithImage(pub(super) Arc<dyn Protocol>);

impl Protocol for WithImage {
    fn wire(&self) -> &'static str {
        self.0.wire()
    }

    fn path(&self) -> &'static str {
        self.0.path()
    }

    fn url(&self, endpoint: &Endpoint) -> Url {
        self.0.url(endpoint)
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        self.0.headers()
    }

    fn body(&self, model: &str, prompt: &Prompt, options: &Options) -> Value {
        let mut body = self.0.body(model, prompt, options);
        if let Some(patch) = patch(self.wire()) {
            patch(&mut body);
        }
        body
    }

    fn amend(&self, body: &mut Value, refused: &[String]) {
        self.0.amend(body, refused);
    }

    fn optional_fields(&self) -> &'static [&'static str] {
        self.0.optional_fields()
    }

    fn uses(&self, body: &Value, field: &str) -> bool {
        self.0.uses(body, field)
    }

    fn alias(&self, field: &str) -> Option<&'static str> {
        self.0.alias(field)
    }

    fn objection(&self, words: &str) -> Option<Objection> {
        self.0.objection(words)
    }

    fn decoder(&self, context: DecoderContext) -> Box<dyn Decoder> {
        self.0.decoder(context)
    }
}

/// How a wire carries a picture; none for a wire that is not known here.
pub(super) fn patch(wire: &str) -> Option<fn(&mut Value)> {
    match wire {
        "chat" => Some(chat),
        "messages" => Some(messages),
        "responses" => Some(responses),
        "ollama" => Some(ollama),
        _ => None,
    }
}

fn chat(body: &mut Value) {
    let part = json!({ "type": "image_url", "image_url": { "url": data_url() } });
    let Some(message) = last_user(body, "messages") else { return };
    add(message, &json!({ "type": "text" }), part);
}

fn messages(body: &mut Value) {
    let source = json!({ "type": "base64", "media_type": "image/png", "data": PNG });
    let Some(message) = last_user(body, "messages") else { return };
    add(message, &json!({ "type": "text" }), json!({ "type": "image", "source": source }));
}

fn responses(body: &mut Value) {
    let part = json!({ "type": "input_image", "image_url": data_url() });
    let Some(message) = last_user(body, "input") else { return };
    add(message, &json!({ "type": "input_text" }), part);
}

fn ollama(body: &mut Value) {
    if let Some(message) = last_user(body, "messages").and_then(Value::as_object_mut) {
        message.insert("images".to_owned(), json!([PNG]));
    }
}

fn data_url() -> String {
    format!("data:image/png;base64,{PNG}")
}

fn last_user<'a>(body: &'a mut Value, list: &str) -> Option<&'a mut Value> {
    let messages = body.get_mut(list)?.as_array_mut()?;
    messages.iter_mut().rev().find(|message| message.get("role").is_some_and(|role| role == "user"))
}

/// Adds a part; content that is plain text becomes a list of parts first. The picture comes before the words, as
/// providers advise, and so that a cache mark on the last part stays on the last part.
fn add(message: &mut Value, text_part: &Value, part: Value) {
    let Some(content) = message.get_mut("content") else { return };
    if let Value::String(text) = content {
        let mut words = text_part.clone();
        words["text"] = json!(text);
        *content = json!([words]);
    }
    if let Some(parts) = content.as_array_mut() {
        parts.insert(0, part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chat, Messages, Ollama, PromptItem, Responses};

    /// The last message of a body with the picture in it.
    fn patched(protocol: impl Protocol + 'static, list: &str) -> Value {
        let items = vec![PromptItem::User { text: "What is it?".to_owned() }];
        let prompt = Prompt { system: "See.".to_owned(), items, ..Prompt::default() };
        let body = WithImage(Arc::new(protocol)).body("m", &prompt, &Options::default());
        body[list].as_array().unwrap().last().unwrap().clone()
    }

    #[test]
    fn chat_takes_a_data_url_beside_the_words() {
        let url = data_url();
        let picture = json!({ "type": "image_url", "image_url": { "url": url } });
        let words = json!({ "type": "text", "text": "What is it?" });
        assert_eq!(patched(Chat, "messages"), json!({ "role": "user", "content": [picture, words] }));
    }

    #[test]
    fn messages_takes_a_block_with_a_source_and_keeps_its_cache_mark() {
        let message = patched(Messages, "messages");
        let source = json!({ "type": "base64", "media_type": "image/png", "data": PNG });
        assert_eq!(message["content"][0], json!({ "type": "image", "source": source }));
        assert_eq!(message["content"][1]["text"], "What is it?");
        assert_eq!(message["content"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn responses_takes_an_input_image() {
        let message = patched(Responses, "input");
        assert_eq!(message["content"][0], json!({ "type": "input_image", "image_url": data_url() }));
        assert_eq!(message["content"][1], json!({ "type": "input_text", "text": "What is it?" }));
    }

    #[test]
    fn ollama_takes_a_list_beside_the_content() {
        let message = patched(Ollama, "messages");
        assert_eq!(message, json!({ "role": "user", "content": "What is it?", "images": [PNG] }));
    }

    #[test]
    fn a_body_without_a_user_message_stays_as_it_is() {
        for wire in ["chat", "messages", "responses", "ollama"] {
            for mut body in [json!({}), json!({ "messages": [], "input": [] }), json!({ "messages": 3 })] {
                let before = body.clone();
                patch(wire).unwrap()(&mut body);
                assert_eq!(body, before, "{wire}");
            }
        }
        assert!(patch("other").is_none());
    }
}
