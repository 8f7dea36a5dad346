//! `tmux_create_session` and `tmux_kill_session`.

use async_trait::async_trait;
use buddy_policy::{Action, Claims, Intent, Tier, Typing};
use buddy_protocol::{Risk, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::panes;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct CreateSession;
pub(crate) struct KillSession;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionInput {
    /// The name of the session: letters, digits, `-` and `_`.
    session: String,
    /// The purpose, in one sentence.
    why: String,
    /// How risky it is.
    risk: Risk,
    /// Whether it changes anything.
    mutation: bool,
    /// Whether it needs more rights, as with sudo.
    privesc: bool,
}

fn intent(input: &SessionInput, verb: &str) -> Intent {
    let claims = Claims { risk: input.risk, mutation: Some(input.mutation), privesc: input.privesc };
    let line = format!("tmux {verb} {}", input.session);
    let place = format!("the tmux session {}", input.session);
    let action = Action::Terminal { line, place, typing: Typing::Nothing };
    Intent { claims: Some(claims), ..Intent::of(action) }
}

#[async_trait]
impl Tool for CreateSession {
    type Input = SessionInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "tmux_create_session",
        aliases: &["tmux-create-session", "create-session"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: "Make a tmux session of its own with a shared pane, or use the one of this name that is \
                      there. There may be few of them; the shared session is always there and needs no making.",
        text: TextClass::Command,
    };

    fn title(input: &SessionInput) -> String {
        format!("make the tmux session {}", input.session)
    }

    fn why(input: &SessionInput) -> Option<&str> {
        Some(&input.why)
    }

    fn intent(input: &SessionInput, _: &CallPlace) -> Intent {
        intent(input, "new-session -d -s")
    }

    fn question(input: &SessionInput, _: &CallPlace) -> Option<String> {
        Some(format!("Make the tmux session {}", input.session))
    }

    async fn run(input: SessionInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let made = panes(context)?.create_session(&context.bounds, &input.session).await;
        let is_new = made.map_err(|error| target_failure(&error))?;
        Ok(json!({"session": input.session, "created": is_new}))
    }
}

#[async_trait]
impl Tool for KillSession {
    type Input = SessionInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "tmux_kill_session",
        aliases: &["tmux-kill-session", "kill-session"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: "End a tmux session that was made with tmux_create_session, with all that runs in it. The \
                      shared session stays.",
        text: TextClass::Command,
    };

    fn title(input: &SessionInput) -> String {
        format!("end the tmux session {}", input.session)
    }

    fn why(input: &SessionInput) -> Option<&str> {
        Some(&input.why)
    }

    fn intent(input: &SessionInput, _: &CallPlace) -> Intent {
        intent(input, "kill-session -t")
    }

    fn question(input: &SessionInput, _: &CallPlace) -> Option<String> {
        Some(format!("End the tmux session {}, with all that runs in it", input.session))
    }

    async fn run(input: SessionInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let ended = panes(context)?.kill_session(&context.bounds, &input.session).await;
        ended.map_err(|error| target_failure(&error))?;
        Ok(json!({"session": input.session, "ended": true}))
    }
}
