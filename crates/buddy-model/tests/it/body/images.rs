//! Images in prompts, in each wire's own form.

use buddy_model::{Chat, Messages, Ollama, Prompt, PromptItem, Protocol, Responses};
use buddy_protocol::{Base64, Image, ImageType};
use buddy_testkit::model::check_history;
use serde_json::{Value, json};

use super::{assistant, call, options, prompt, result, user};

fn image(name: &str, data: &str) -> Image {
    let data = Base64::from(data.to_owned());
    Image { name: Some(name.to_owned()), media_type: ImageType::Png, width: 20, height: 10, data }
}

/// The user attaches an image; one call returns an image, and another returns none.
fn conversation() -> Prompt {
    let output = "{}".to_owned();
    let (id, name, images) = ("a".to_owned(), "read_file".to_owned(), vec![image("b.png", "BBBB")]);
    prompt(vec![
        PromptItem::User { text: "What is it?".to_owned(), images: vec![image("a.png", "AAAA")] },
        call("a", "{}"),
        call("b", "{}"),
        PromptItem::ToolResult { id, name, output, images },
        result("b"),
        assistant("A square."),
        PromptItem::User { text: String::new(), images: vec![image("c.png", "CCCC")] },
    ])
}

/// The messages of the conversation, checked to begin with those of one that stops before the answer.
fn rendered(protocol: &dyn Protocol, list: &str) -> Value {
    let whole = conversation();
    let shorter = Prompt { items: whole.items.get(..5).unwrap().to_vec(), ..whole.clone() };
    let messages = |prompt: &Prompt| protocol.body("m", prompt, &options())[list].clone();
    let (messages, shorter) = (messages(&whole), messages(&shorter));
    let count = shorter.as_array().unwrap().len();
    if protocol.wire() != "messages" {
        // On that wire the breakpoints of the prompt cache move.
        assert_eq!(messages.as_array().unwrap()[..count], *shorter.as_array().unwrap());
    }
    messages
}

#[test]
fn chat_takes_data_urls_before_the_words_and_those_of_results_behind_them_all() {
    let messages = rendered(&Chat, "messages");
    let shown = |data: &str| {
        let url = format!("data:image/png;base64,{data}");
        json!({"type": "image_url", "image_url": {"url": url}})
    };
    let words = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(messages[0], json!({"role": "user", "content": [shown("AAAA"), words("What is it?")]}));
    assert_eq!((&messages[2]["role"], &messages[3]["role"]), (&json!("tool"), &json!("tool")));
    let told = words("Images that the calls above gave: b.png, 20×10.");
    assert_eq!(messages[4], json!({"role": "user", "content": [shown("BBBB"), told]}));
    assert_eq!(messages[6], json!({"role": "user", "content": [shown("CCCC")]}));
    assert_eq!(check_history(&Chat.body("m", &conversation(), &options())), Ok(()));
}

#[test]
fn responses_takes_input_images() {
    let input = rendered(&Responses, "input");
    let shown = |data: &str| {
        let url = format!("data:image/png;base64,{data}");
        json!({"type": "input_image", "image_url": url})
    };
    assert_eq!(input[0]["content"], json!([shown("AAAA"), {"type": "input_text", "text": "What is it?"}]));
    assert_eq!(input[4]["type"], "function_call_output");
    assert_eq!((&input[5]["role"], &input[5]["content"][0]), (&json!("user"), &shown("BBBB")));
    assert_eq!(input[7]["content"], json!([shown("CCCC")]));
}

#[test]
fn messages_takes_blocks_with_a_source_and_in_results_too() {
    let messages = rendered(&Messages, "messages");
    let shown = |data: &str| {
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        json!({"type": "image", "source": source})
    };
    assert_eq!(messages[0]["content"][0], shown("AAAA"));
    assert_eq!(messages[0]["content"][1]["text"], "What is it?");
    let results = &messages[2]["content"];
    assert_eq!(results[0]["content"], json!([{"type": "text", "text": "{}"}, shown("BBBB")]));
    assert_eq!(results[1]["content"], "text");
    assert_eq!(messages[4]["content"][0]["source"]["data"], "CCCC");
    assert_eq!(messages[4]["content"].as_array().unwrap().len(), 1);
}

#[test]
fn ollama_takes_a_list_beside_the_content() {
    let messages = rendered(&Ollama, "messages");
    assert_eq!(messages[0], json!({"role": "user", "content": "What is it?", "images": ["AAAA"]}));
    assert_eq!((&messages[3]["role"], &messages[4]["images"]), (&json!("tool"), &json!(["BBBB"])));
    assert_eq!(messages[6], json!({"role": "user", "content": "", "images": ["CCCC"]}));
}

#[test]
fn text_replaces_hidden_images() {
    let mut item = PromptItem::User {
        text: "See?".to_owned(),
        images: vec![image("a.png", "AAAA"), image("b.png", "BBBB")],
    };
    item.hide_images(|image| image.name.as_deref() == Some("a.png"));
    let text = "See?\n[image: a.png, 20×10; it cannot be shown to you]".to_owned();
    assert_eq!(item, PromptItem::User { text, images: vec![image("b.png", "BBBB")] });
    let mut words = user("only words");
    words.hide_images(|_| true);
    assert_eq!(words, user("only words"));
}
