//! `delete_path`: a file, a link or a directory removed.

use async_trait::async_trait;
use buddy_exec::Deletion;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::failure::target_failure;
use crate::tools::tool::{Place, Spec, TextClass, Tool, ToolContext, shown};

pub(crate) struct DeletePath;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeletePathInput {
    /// What to remove, absolute or relative to the working directory.
    path: String,
    /// Whether to remove a directory with all that is in it.
    #[serde(default)]
    recursive: bool,
}

#[async_trait]
impl Tool for DeletePath {
    type Input = DeletePathInput;

    const SPEC: Spec = Spec {
        name: "delete_path",
        aliases: &["fs_delete"],
        kind: ToolKind::Delete,
        tier: Tier::Individual,
        description: include_str!("delete_path.md"),
        text: TextClass::File,
    };

    fn title(input: &DeletePathInput) -> String {
        let extent = if input.recursive { " and all that is in it" } else { "" };
        format!("remove {}{extent}", input.path)
    }

    fn intent(input: &DeletePathInput, place: &Place) -> Intent {
        Intent::of(Action::Delete(place.resolve(&input.path)))
    }

    async fn run(input: DeletePathInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        if context.place.cwd.starts_with(&path) {
            let message = format!("`{}` is the working directory, or has it in it", shown(&path));
            return Err(ToolFailure::new("is_root", message).hint("remove what is in it by name"));
        }
        let deletion = if input.recursive { Deletion::Recursive } else { Deletion::Single };
        let deleted = context.target.delete(&context.bounds, &context.recorder, &path, deletion).await;
        let deleted = deleted.map_err(|error| target_failure(&error))?;
        Ok(json!({"path": shown(&path), "removed": deleted.entries}))
    }
}
