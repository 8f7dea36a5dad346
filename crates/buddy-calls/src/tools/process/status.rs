//! `process_status`: how managed processes stand.

use async_trait::async_trait;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shown::shown;
use super::{failure, find, with_managed};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// The most processes in one answer, the newest first.
const MAX_LISTED: usize = 50;

pub(crate) struct ProcessStatus;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessStatusInput {
    /// The id of a process; without it all are listed.
    #[serde(default)]
    id: Option<String>,
}

#[async_trait]
impl Tool for ProcessStatus {
    type Input = ProcessStatusInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "process_status",
        aliases: &[],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("status.md"),
        text: TextClass::Command,
    };

    fn title(input: &ProcessStatusInput) -> String {
        format!("check {}", input.id.as_deref().unwrap_or("all processes"))
    }

    fn intent(_: &ProcessStatusInput, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(input: ProcessStatusInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        if let Some((shown, _)) = input.id.as_deref().and_then(|id| context.background.pane(id)) {
            return Ok(shown);
        }
        let person = context.owner.person.clone();
        with_managed(context, move |managed| {
            if let Some(id) = &input.id {
                return Ok(shown(&find(managed, id, &person)?));
            }
            let all = managed.list().map_err(|error| failure(&error))?;
            let own: Vec<_> = all.iter().filter(|status| status.record.owner.person == person).collect();
            let listed: Vec<Value> = own.iter().take(MAX_LISTED).map(|status| shown(status)).collect();
            Ok(json!({"processes": listed, "left_out": own.len().saturating_sub(MAX_LISTED)}))
        })
        .await
    }
}
