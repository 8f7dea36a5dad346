//! `ask_user`: a question to the user, which waits in the same inbox as approvals.

use async_trait::async_trait;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{Answer, Question, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;

use crate::tools::tool_spec::ToolSpec;

use crate::tools::clip::TextClass;

use crate::tools::tool::{Tool, ToolContext};

/// Answers to pick from.
const MAX_OPTIONS: usize = 9;
/// Bytes of a question with its options.
const MAX_BYTES: usize = 8 * 1024;

pub(crate) struct AskUser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskUserInput {
    /// The question, short and complete in itself.
    question: String,
    /// Up to nine answers to pick from, each with a few words about it after a colon where they help; the user can always say something else.
    #[serde(default)]
    options: Vec<String>,
}

#[async_trait]
impl Tool for AskUser {
    type Input = AskUserInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "ask_user",
        aliases: &[],
        kind: ToolKind::Other,
        tier: Tier::Auto,
        description: include_str!("ask_user.md"),
        text: TextClass::File,
    };

    fn title(input: &AskUserInput) -> String {
        format!("ask: {}", input.question)
    }

    fn intent(_: &AskUserInput, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(input: AskUserInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let AskUserInput { question, options } = input;
        let size = question.len() + options.iter().map(String::len).sum::<usize>();
        if question.trim().is_empty() || options.len() > MAX_OPTIONS || size > MAX_BYTES {
            let message =
                format!("a question has some text, at most {MAX_OPTIONS} options and {MAX_BYTES} bytes");
            return Err(ToolFailure::new("invalid_input", message));
        }
        let unanswered = |why: &str| {
            ToolFailure::new("unanswered", why)
                .hint("go on with what is most sensible, and say what you assumed")
        };
        match context.person.ask(Question::Text { text: question, options }).await {
            Some(Answer::Reply { text }) => Ok(json!({ "answer": text })),
            Some(Answer::Deny { reason: Some(reason) }) => Err(unanswered(&format!("no answer: {reason}"))),
            Some(Answer::Unanswered { reason }) => Err(unanswered(&format!("nobody answered: {reason}"))),
            Some(Answer::Expired) => Err(unanswered("nobody answered in time")),
            _ => Err(unanswered("the user did not answer")),
        }
    }
}
