//! `write_file`: a file's whole new content, written so that a crash leaves the old or the new one.

use async_trait::async_trait;
use buddy_exec::TargetError;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::foreseen::Foreseen;
use crate::tools::path_text::show_path;
use crate::tools::text_file::MAX_EDIT;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;
use crate::tools::unified::unified;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileInput {
    /// The file, absolute or relative to the working directory. Missing directories are made.
    #[serde(alias = "file_path")]
    path: String,
    /// The whole new content.
    content: String,
}

#[async_trait]
impl Tool for WriteFile {
    type Input = WriteFileInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "write_file",
        aliases: &["fs_write"],
        kind: ToolKind::Edit,
        tier: Tier::Batch,
        description: include_str!("write_file.md"),
        text: TextClass::File,
    };

    fn title(input: &WriteFileInput) -> String {
        let count = input.content.len();
        format!("write {} ({count} {})", input.path, if count == 1 { "byte" } else { "bytes" })
    }

    fn intent(input: &WriteFileInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Write(place.judged(&input.path))).as_edit()
    }

    fn preview(input: &WriteFileInput, sight: Sight) -> Option<Preview> {
        let (path, content) = (sight.place.resolve(&input.path), input.content.clone());
        let diff = async move {
            let before = match sight.target.read(&sight.bounds, &path, MAX_EDIT).await {
                Ok(read) if read.truncated => None,
                Ok(read) => String::from_utf8(read.bytes).ok(),
                Err(TargetError::NotFound { .. }) => Some(String::new()),
                Err(error) => return Err(target_failure(&error)),
            };
            Ok(before.map(|before| Foreseen::Diff(unified(&show_path(&path), &before, &content))))
        };
        Some(diff.boxed())
    }

    async fn run(input: WriteFileInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        let written =
            context.target.write(&context.bounds, &context.recorder, &path, input.content.as_bytes()).await;
        let written = written.map_err(|error| target_failure(&error))?;
        let diff = match &written.before {
            Some(before) => unified(&show_path(&path), &String::from_utf8_lossy(before), &input.content),
            None if written.created => unified(&show_path(&path), "", &input.content),
            None => "the old content is too large for a diff, or can hold secrets".to_owned(),
        };
        Ok(
            json!({"path": show_path(&path), "bytes": written.bytes, "created": written.created, "diff": diff}),
        )
    }
}
