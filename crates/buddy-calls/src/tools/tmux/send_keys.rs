//! `tmux_send_keys`: keys for whatever runs in a pane.

use async_trait::async_trait;
use buddy_exec::{Key, Keys, PaneError, TargetError};
use buddy_policy::{Action, Claims, Intent, Tier, Typing};
use buddy_protocol::{Risk, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{pane_place, panes, put_off, selector};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::snapshot::start_unfollowed;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;
use crate::tools::wait::Wait;

pub(crate) struct SendKeys;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendKeysInput {
    /// Text that is typed as it is, before the keys.
    #[serde(default)]
    literal_text: Option<String>,
    /// Keys by the names that tmux has for them, such as "C-c", "Up", "Escape". What is no name is typed as it is.
    #[serde(default, deserialize_with = "read_keys")]
    #[schemars(with = "Vec<String>")]
    keys: Vec<Key>,
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
    /// The purpose, in one sentence.
    why: String,
    /// How risky it is.
    risk: Risk,
    /// Whether it changes anything.
    mutation: bool,
    /// Whether it needs more rights, as with sudo.
    privesc: bool,
}

impl SendKeysInput {
    fn keys(&self) -> Keys {
        Keys { literal_text: self.literal_text.clone(), keys: self.keys.clone(), enter: self.enter }
    }
}

fn read_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Key>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    let read = |word: String| word.parse().map_err(|error| D::Error::custom(format!("`{word}`: {error}")));
    words.into_iter().map(read).collect()
}

/// The intent of the keys, for the judgement. A line that is not sent becomes what is typed after it.
fn typing(keys: &Keys) -> Typing {
    match keys.plain_text() {
        Some(text) if text.ends_with('\n') => Typing::Lines(text),
        _ => Typing::Keys,
    }
}

#[async_trait]
impl Tool for SendKeys {
    type Input = SendKeysInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "tmux_send_keys",
        aliases: &["send-keys", "tmux-send-keys"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: include_str!("send_keys.md"),
        text: TextClass::Command,
    };

    fn title(input: &SendKeysInput) -> String {
        format!("type {}", input.keys())
    }

    fn why(input: &SendKeysInput) -> Option<&str> {
        Some(&input.why)
    }

    /// Whole lines are judged like a command; all other keys are looked at by a user, who sees each of them.
    fn intent(input: &SendKeysInput, _: &CallPlace) -> Intent {
        let claims = Claims { risk: input.risk, mutation: Some(input.mutation), privesc: input.privesc };
        let typing = typing(&input.keys());
        let line = match &typing {
            Typing::Lines(text) if !text.trim().is_empty() => text.clone(),
            Typing::Lines(_) | Typing::Keys | Typing::Nothing => Self::title(input),
        };
        let place = pane_place(input.session.as_deref(), input.pane.as_deref());
        let action = Action::Terminal { line, place, typing };
        Intent { claims: Some(claims), ..Intent::of(action) }
    }

    /// Whole lines are shown as the command that they are.
    fn question(input: &SendKeysInput, _: &CallPlace) -> Option<String> {
        let place = pane_place(input.session.as_deref(), input.pane.as_deref());
        let is_line = matches!(typing(&input.keys()), Typing::Lines(text) if !text.trim().is_empty());
        (!is_line).then(|| format!("Type {} into {place}", input.keys()))
    }

    async fn run(input: SendKeysInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        if input.literal_text.is_none() && input.keys.is_empty() && !input.enter {
            return Err(ToolFailure::new("invalid_input", "there is nothing to type")
                .hint("give `literal_text`, `keys` or `enter`"));
        }
        let panes = panes(context)?;
        put_off(input.delay, context).await?;
        let selector = selector(input.session.as_ref(), input.pane.as_ref());
        let keys = input.keys();
        let sending = async {
            let sent = context.until_cancelled(panes.send_keys(&context.bounds, &selector, &keys)).await?;
            let sent = match sent {
                // Keys that a user allowed may go to a program that was started with less.
                Err(TargetError::Pane(PaneError::OtherBounds { .. } | PaneError::Busy { .. })) => {
                    let narrower = panes.send_keys(&context.unasked_bounds, &selector, &keys);
                    context.until_cancelled(narrower).await?
                }
                sent => sent,
            };
            sent.map_err(|error| target_failure(&error))
        };
        start_unfollowed(context, sending).await?;
        Ok(json!({"sent": true, "note": "see what it did with tmux_capture_pane"}))
    }
}

#[cfg(test)]
mod tests {
    use buddy_web::Endpoints;

    use super::*;

    fn read(fields: &Value) -> Result<SendKeysInput, String> {
        let mut input = json!({"why": "w", "risk": "low", "mutation": false, "privesc": false});
        for (name, value) in fields.as_object().unwrap() {
            input[name] = value.clone();
        }
        serde_json::from_value(input).map_err(|error| error.to_string())
    }

    fn check(fields: &Value, shown: &str, expected: Typing) {
        let place = CallPlace {
            cwd: "/w".into(),
            home: None,
            endpoints: Endpoints::usual().unwrap(),
            links: buddy_exec::link_lookup(),
            has_panes: false,
        };
        let intent = SendKeys::intent(&read(fields).unwrap(), &place);
        let (line, place) = (shown.to_owned(), "the pane shared".to_owned());
        assert_eq!(intent.actions, [Action::Terminal { line, place, typing: expected }], "{fields}");
    }

    #[test]
    fn what_is_typed_is_what_is_judged() {
        let lines = |text: &str| Typing::Lines(text.to_owned());
        let whole = json!({"literal_text": "ls", "keys": [";", "r", "m", "SPACE", "-rf x"], "enter": true});
        check(&whole, "ls;rm -rf x\n", lines("ls;rm -rf x\n"));
        check(&json!({"keys": ["rm x", "enter"]}), "rm x\n", lines("rm x\n"));
        check(&json!({"enter": true}), "type <Enter>", lines("\n"));
    }

    #[test]
    fn keys_that_make_another_line_of_it_are_looked_at_by_a_person() {
        check(&json!({"keys": ["C-c"]}), "type <C-c>", Typing::Keys);
        check(
            &json!({"literal_text": "-rf x", "keys": ["home", "rm "], "enter": true}),
            "type \"-rf x\" <Home> \"rm \" <Enter>",
            Typing::Keys,
        );
        check(&json!({"keys": ["Up"], "enter": true}), "type <Up> <Enter>", Typing::Keys);
        check(&json!({"literal_text": "rm"}), "type \"rm\"", Typing::Keys);
        check(&json!({"literal_text": "ls\nrm"}), "type \"ls\\nrm\"", Typing::Keys);
    }

    #[test]
    fn keys_that_tmux_reads_in_ways_of_its_own_are_refused_before_anybody_is_asked() {
        for key in ["0x72", "^U", "KPEnter", ""] {
            let error = read(&json!({"keys": [key]})).map(drop).unwrap_err();
            assert!(error.contains(&format!("`{key}`: ")), "{error}");
        }
    }

    #[test]
    fn the_pane_is_named() {
        let input = read(&json!({"enter": true, "session": "other", "pane": "build"})).unwrap();
        let place = pane_place(input.session.as_deref(), input.pane.as_deref());
        assert_eq!(place, "the pane build of the tmux session other");
    }
}
