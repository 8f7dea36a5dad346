//! `tmux_send_keys`: keys for whatever runs in a pane.

use async_trait::async_trait;
use buddy_exec::Keys;
use buddy_policy::{Action, Claims, Intent, Tier};
use buddy_protocol::{Risk, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::typed::{is_unfinished, text};
use super::{panes, put_off, selector};
use crate::tools::failure::target_failure;
use crate::tools::tool::{Place, Spec, TextClass, Tool, ToolContext};
use crate::tools::wait::Wait;

pub(crate) struct SendKeys;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendKeysInput {
    /// Text that is typed as it is, before the keys.
    #[serde(default)]
    literal_text: Option<String>,
    /// Keys by the names that tmux has for them, such as "C-c", "Up", "Escape".
    #[serde(default)]
    keys: Vec<String>,
    /// Press Enter at the end.
    #[serde(default)]
    enter: bool,
    /// How long to wait before typing, such as "1s".
    #[serde(default)]
    delay: Wait,
    /// The session, the shared one by default.
    #[serde(default)]
    session: Option<String>,
    /// The pane, the shared one by default.
    #[serde(default)]
    pane: Option<String>,
    /// What it is for, in one sentence for the person who approves it.
    why: String,
    /// How risky it is.
    risk: Risk,
    /// Whether it changes anything.
    mutation: bool,
    /// Whether it needs more rights, as with sudo.
    privesc: bool,
}

impl SendKeysInput {
    fn text(&self) -> String {
        text(self.literal_text.as_deref(), &self.keys, self.enter)
    }
}

#[async_trait]
impl Tool for SendKeys {
    type Input = SendKeysInput;

    const SPEC: Spec = Spec {
        name: "tmux_send_keys",
        aliases: &["send-keys", "tmux-send-keys"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: include_str!("send_keys.md"),
        text: TextClass::Command,
    };

    fn title(input: &SendKeysInput) -> String {
        let mut parts: Vec<String> = input.literal_text.iter().cloned().chain(input.keys.clone()).collect();
        parts.extend(input.enter.then(|| "Enter".to_owned()));
        format!("type {}", parts.join(" "))
    }

    fn why(input: &SendKeysInput) -> Option<&str> {
        Some(&input.why)
    }

    /// What is typed is judged like a command. What is typed and not sent is judged by nobody afterwards, so a person
    /// looks at it.
    fn intent(input: &SendKeysInput, place: &Place) -> Intent {
        let text = input.text();
        let risk = if is_unfinished(&text) { Risk::High } else { input.risk };
        let claims = Claims { risk, mutation: input.mutation, privesc: input.privesc };
        let typed = Some(text).filter(|text| !text.trim().is_empty());
        let line = typed.clone().unwrap_or_else(|| Self::title(input));
        let action = Action::Terminal { line, typed, cwd: place.cwd.clone() };
        Intent { claims: Some(claims), ..Intent::of(action) }
    }

    async fn run(input: SendKeysInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        if input.literal_text.is_none() && input.keys.is_empty() && !input.enter {
            return Err(ToolFailure::new("invalid_input", "there is nothing to type")
                .hint("give `literal_text`, `keys` or `enter`"));
        }
        let panes = panes(context)?;
        put_off(input.delay, context).await?;
        let selector = selector(input.session.as_ref(), input.pane.as_ref());
        let keys = Keys { literal_text: input.literal_text, keys: input.keys, enter: input.enter };
        let sent = panes.send_keys(&context.bounds, &selector, &keys);
        context.until_cancelled(sent).await?.map_err(|error| target_failure(&error))?;
        Ok(json!({"sent": true, "note": "see what it did with tmux_capture_pane"}))
    }
}

#[cfg(test)]
mod tests {
    use buddy_web::Endpoints;

    use super::*;

    fn judged(fields: &Value) -> (String, Risk) {
        let mut input = json!({"why": "w", "risk": "low", "mutation": false, "privesc": false});
        for (name, value) in fields.as_object().unwrap() {
            input[name] = value.clone();
        }
        let input: SendKeysInput = serde_json::from_value(input).unwrap();
        let place = Place { cwd: "/w".into(), home: None, endpoints: Endpoints::usual().unwrap() };
        let intent = SendKeys::intent(&input, &place);
        match intent.actions.as_slice() {
            [Action::Terminal { line, .. }] => (line.clone(), intent.claims.unwrap().risk),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_typed_is_what_is_judged() {
        let whole =
            judged(&json!({"literal_text": "ls", "keys": [";", "r", "m", "Space", "-rf x"], "enter": true}));
        assert_eq!(whole, ("ls;rm -rf x\n".to_owned(), Risk::Low));
        assert_eq!(judged(&json!({"keys": ["C-c"]})), ("type C-c".to_owned(), Risk::Low));
    }

    #[test]
    fn a_line_that_is_not_sent_is_looked_at_by_a_person() {
        assert_eq!(judged(&json!({"literal_text": "rm"})), ("rm".to_owned(), Risk::High));
        assert_eq!(judged(&json!({"literal_text": "ls\nrm"})).1, Risk::High);
    }
}
