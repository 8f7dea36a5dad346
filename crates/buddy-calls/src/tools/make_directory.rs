//! `make_directory`: a directory and those above it.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct MakeDirectory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MakeDirectoryInput {
    /// The directory, absolute or relative to the working directory.
    path: String,
}

#[async_trait]
impl Tool for MakeDirectory {
    type Input = MakeDirectoryInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "make_directory",
        aliases: &["fs_mkdir"],
        kind: ToolKind::Edit,
        tier: Tier::Batch,
        description: include_str!("make_directory.md"),
        text: TextClass::File,
    };

    fn title(input: &MakeDirectoryInput) -> String {
        format!("make directory {}", input.path)
    }

    fn intent(input: &MakeDirectoryInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Write(place.judged(&input.path))).as_edit()
    }

    fn question(input: &MakeDirectoryInput, place: &CallPlace) -> Option<String> {
        Some(format!("Make the directory {}", place.named(&place.resolve(&input.path))))
    }

    async fn run(input: MakeDirectoryInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        let made = context.target.make_directory(&context.bounds, &context.recorder, &path).await;
        let created = made.map_err(|error| target_failure(&error))?;
        Ok(json!({"path": show_path(&path), "created": created}))
    }
}
