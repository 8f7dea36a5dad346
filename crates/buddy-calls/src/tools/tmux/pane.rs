//! `tmux_create_pane` and `tmux_kill_pane`.

use async_trait::async_trait;
use buddy_policy::{Action, Claims, Intent, Tier, Typing};
use buddy_protocol::{Risk, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{pane_place, panes, selector};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct CreatePane;
pub(crate) struct KillPane;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaneInput {
    /// The name of the pane: letters, digits, `-` and `_`.
    pane: String,
    /// The session, the shared one by default.
    #[serde(default)]
    session: Option<String>,
    /// The purpose, in one sentence.
    why: String,
    /// How risky it is.
    risk: Risk,
    /// Whether it changes anything.
    mutation: bool,
    /// Whether it needs more rights, as with sudo.
    privesc: bool,
}

fn intent(input: &PaneInput, verb: &str) -> Intent {
    let claims = Claims { risk: input.risk, mutation: Some(input.mutation), privesc: input.privesc };
    let line = format!("tmux {verb} {}", input.pane);
    let place = pane_place(input.session.as_deref(), Some(&input.pane));
    let action = Action::Terminal { line, place, typing: Typing::Nothing };
    Intent { claims: Some(claims), ..Intent::of(action) }
}

/// A pane as a question names it.
fn place_of(input: &PaneInput) -> String {
    let session = input.session.as_ref().map(|session| format!(" of the tmux session {session}"));
    format!("{}{}", input.pane, session.unwrap_or_default())
}

#[async_trait]
impl Tool for CreatePane {
    type Input = PaneInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "tmux_create_pane",
        aliases: &["tmux-create-pane", "create-pane"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: "Make another pane with a shell beside the shared one, or use the one of this name that is \
                      there, so that something can run on while commands run elsewhere. Name it in `pane` of \
                      run_shell, tmux_capture_pane and tmux_send_keys.",
        text: TextClass::Command,
    };

    fn title(input: &PaneInput) -> String {
        format!("make the pane {}", input.pane)
    }

    fn why(input: &PaneInput) -> Option<&str> {
        Some(&input.why)
    }

    fn intent(input: &PaneInput, _: &CallPlace) -> Intent {
        intent(input, "split-window -t")
    }

    fn question(input: &PaneInput, _: &CallPlace) -> Option<String> {
        Some(format!("Make the pane {}", place_of(input)))
    }

    async fn run(input: PaneInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let selector = selector(input.session.as_ref(), Some(&input.pane));
        let made = panes(context)?.create_pane(&context.bounds, &selector).await;
        let is_new = made.map_err(|error| target_failure(&error))?;
        Ok(json!({"pane": input.pane, "created": is_new}))
    }
}

#[async_trait]
impl Tool for KillPane {
    type Input = PaneInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "tmux_kill_pane",
        aliases: &["tmux-kill-pane", "kill-pane"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: "End a pane that was made with tmux_create_pane, with what runs in it. The shared pane stays.",
        text: TextClass::Command,
    };

    fn title(input: &PaneInput) -> String {
        format!("end the pane {}", input.pane)
    }

    fn why(input: &PaneInput) -> Option<&str> {
        Some(&input.why)
    }

    fn intent(input: &PaneInput, _: &CallPlace) -> Intent {
        intent(input, "kill-pane -t")
    }

    fn question(input: &PaneInput, _: &CallPlace) -> Option<String> {
        Some(format!("End the pane {}, with what runs in it", place_of(input)))
    }

    async fn run(input: PaneInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let selector = selector(input.session.as_ref(), Some(&input.pane));
        let ended = panes(context)?.kill_pane(&context.bounds, &selector).await;
        ended.map_err(|error| target_failure(&error))?;
        Ok(json!({"pane": input.pane, "ended": true}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_the_pane_and_what_becomes_of_it() {
        let asked = |session: Option<&str>| {
            let fields = json!({"pane": "build", "session": session, "why": "w", "risk": "low", "mutation": true, "privesc": false});
            let input: PaneInput = serde_json::from_value(fields).unwrap();
            let place = CallPlace {
                cwd: "/w".into(),
                home: None,
                endpoints: buddy_web::Endpoints::usual().unwrap(),
                links: buddy_exec::link_lookup(),
                has_panes: true,
            };
            [CreatePane::question(&input, &place), KillPane::question(&input, &place)].map(Option::unwrap)
        };
        assert_eq!(asked(None), ["Make the pane build", "End the pane build, with what runs in it"]);
        assert_eq!(asked(Some("ci"))[0], "Make the pane build of the tmux session ci");
    }
}
