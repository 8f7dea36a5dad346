//! `process_stop`: ends a managed process with all that it started.

use async_trait::async_trait;
use buddy_exec::managed::Force;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::shown::shown;
use super::{failure, find, with_managed};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct ProcessStop;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessStopInput {
    /// The id of the process.
    id: String,
    /// Why, in one sentence.
    why: String,
    /// Kill it at once instead of asking first.
    #[serde(default)]
    force: bool,
}

#[async_trait]
impl Tool for ProcessStop {
    type Input = ProcessStopInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "process_stop",
        aliases: &[],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: include_str!("stop.md"),
        text: TextClass::Command,
    };

    fn title(input: &ProcessStopInput) -> String {
        format!("stop {}", input.id)
    }

    fn why(input: &ProcessStopInput) -> Option<&str> {
        Some(&input.why)
    }

    fn intent(_: &ProcessStopInput, _: &CallPlace) -> Intent {
        // It touches processes that buddy started, and nothing else on the host.
        Intent::nothing()
    }

    fn question(input: &ProcessStopInput, _: &CallPlace) -> Option<String> {
        let how = if input.force { ", at once" } else { "" };
        Some(format!("End the process {}, with all that it started{how}", input.id))
    }

    fn stops(input: &ProcessStopInput) -> Option<&str> {
        Some(&input.id)
    }

    async fn run(input: ProcessStopInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let person = context.owner.person.clone();
        // A command of this session that was moved to the background has its supervisor here.
        if context.background.stop(&input.id, input.force).await {
            if let Some((shown, _)) = context.background.pane(&input.id) {
                return Ok(shown);
            }
            return with_managed(context, move |managed| Ok(shown(&find(managed, &input.id, &person)?)))
                .await;
        }
        let force = if input.force { Force::Now } else { Force::Gentle };
        with_managed(context, move |managed| {
            let id = find(managed, &input.id, &person)?.record.id;
            let status = managed.stop(&id, force).map_err(|error| failure(&error))?;
            Ok(shown(&status))
        })
        .await
    }
}
