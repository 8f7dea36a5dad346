//! `read_file`: the text of a file, whole or a range of lines.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::failure::target_failure;
use crate::tools::tool::{Place, Spec, TextClass, Tool, ToolContext, shown};

/// How much of a file is read at most. What is beyond is reached with commands.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// A NUL among so many bytes at the start makes a file binary.
const BINARY_PROBE: usize = 8 * 1024;

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileInput {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The first line to give, counted from 1.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines to give.
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for ReadFile {
    type Input = ReadFileInput;

    const SPEC: Spec = Spec {
        name: "read_file",
        aliases: &["fs_read"],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("read_file.md"),
        text: TextClass::File,
    };

    fn title(input: &ReadFileInput) -> String {
        format!("read {}", input.path)
    }

    fn intent(input: &ReadFileInput, place: &Place) -> Intent {
        Intent::of(Action::Read(place.resolve(&input.path)))
    }

    async fn run(input: ReadFileInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        let file = context
            .target
            .read(&context.bounds, &path, MAX_BYTES)
            .await
            .map_err(|error| target_failure(&error))?;
        if file.bytes.iter().take(BINARY_PROBE).any(|&byte| byte == 0) {
            let message = format!("`{}` is a binary file of {} bytes", shown(&path), file.size);
            return Err(
                ToolFailure::new("binary", message).hint("look at it with a command such as `file` or `xxd`")
            );
        }
        let text = String::from_utf8_lossy(&file.bytes);
        let total = text.lines().count();
        let first = input.offset.unwrap_or(1).max(1);
        let wanted = input.limit.unwrap_or(usize::MAX);
        let picked: Vec<&str> = text.split_inclusive('\n').skip(first - 1).take(wanted).collect();
        Ok(json!({
            "path": shown(&path),
            "content": picked.concat(),
            "first_line": first,
            "lines": picked.len(),
            "total_lines": total,
            "size": file.size,
            "truncated": file.truncated,
        }))
    }
}
