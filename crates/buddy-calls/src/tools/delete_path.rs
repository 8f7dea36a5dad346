//! `delete_path`: a file, a link or a directory removed.

use std::path::Path;

use async_trait::async_trait;
use buddy_exec::{Deletion, Entry, ListOptions, TargetError};
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::target_failure;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// Entries of a directory that are looked at for a name.
const MAX_LISTED: usize = 10_000;

pub(crate) struct DeletePath;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeletePathInput {
    /// The path to remove, absolute or relative to the working directory.
    #[serde(alias = "file_path")]
    path: String,
    /// Whether to remove a directory with all that is in it.
    #[serde(default)]
    recursive: bool,
}

#[async_trait]
impl Tool for DeletePath {
    type Input = DeletePathInput;

    const SPEC: ToolSpec = ToolSpec {
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

    fn intent(input: &DeletePathInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Delete(place.judged(&input.path)))
    }

    fn preview(input: &DeletePathInput, sight: Sight) -> Option<Preview> {
        let path = sight.place.resolve(&input.path);
        let look = async move {
            check_root(&path, &sight.place)?;
            match sight.target.read(&sight.bounds, &path, 0).await {
                // The end of a link may be missing; the link itself is removed.
                Err(error @ TargetError::NotFound { .. }) if !is_listed(&path, &sight).await => {
                    Err(target_failure(&error))
                }
                _ => Ok(None),
            }
        };
        Some(look.boxed())
    }

    async fn run(input: DeletePathInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(&input.path);
        check_root(&path, &context.place)?;
        let deletion = if input.recursive { Deletion::Recursive } else { Deletion::Single };
        let deleted = context.target.delete(&context.bounds, &context.recorder, &path, deletion).await;
        let deleted = deleted.map_err(|error| target_failure(&error))?;
        Ok(json!({"path": show_path(&path), "removed": deleted.entries}))
    }
}

/// Refuses to remove the working directory.
fn check_root(path: &Path, place: &CallPlace) -> Result<(), ToolFailure> {
    if place.cwd.starts_with(path) {
        let message = format!("`{}` is the working directory, or has it in it", show_path(path));
        return Err(ToolFailure::new("is_root", message).hint("remove what is in it by name"));
    }
    Ok(())
}

/// Whether a directory has the name, as far as it can be listed.
async fn is_listed(path: &Path, sight: &Sight) -> bool {
    let Some(directory) = path.parent() else { return true };
    let options = ListOptions { depth: 1, limit: MAX_LISTED, with_ignored: true };
    match sight.target.list(&sight.bounds, directory, options).await {
        Ok(listing) => {
            let is_it = |entry: &Entry| entry.path.file_name() == path.file_name();
            listing.truncated || listing.entries.iter().any(is_it)
        }
        Err(TargetError::NotFound { .. }) => false,
        Err(_) => true,
    }
}
