//! `list_directory`: what is in a directory.

use async_trait::async_trait;
use buddy_exec::{EntryKind, ListOptions};
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

/// Entries given at most.
const MAX_ENTRIES: usize = 1_000;
/// How deep a listing may go.
const MAX_DEPTH: u32 = 16;

pub(crate) struct ListDirectory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectoryInput {
    /// The directory, absolute or relative to the working directory, which is the default.
    #[serde(default)]
    path: Option<String>,
    /// How many levels to list; 1, the default, is the directory itself.
    #[serde(default)]
    depth: Option<u32>,
    /// Whether to list what `.gitignore` names too.
    #[serde(default)]
    all: bool,
}

impl ListDirectoryInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for ListDirectory {
    type Input = ListDirectoryInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "list_directory",
        aliases: &["fs_list"],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("list_directory.md"),
        text: TextClass::File,
    };

    fn title(input: &ListDirectoryInput) -> String {
        format!("list {}", input.path())
    }

    fn intent(input: &ListDirectoryInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Read(place.judged(input.path())))
    }

    fn preview(input: &ListDirectoryInput, sight: Sight) -> Option<Preview> {
        let path = sight.place.resolve(input.path());
        let look = async move {
            let options = ListOptions { depth: 1, limit: 1, with_ignored: true };
            let listed = sight.target.list(&sight.bounds, &path, options).await;
            listed.map(|_| None).map_err(|error| target_failure(&error))
        };
        Some(look.boxed())
    }

    async fn run(input: ListDirectoryInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(input.path());
        let depth = input.depth.unwrap_or(1).clamp(1, MAX_DEPTH);
        let options = ListOptions { depth, limit: MAX_ENTRIES, with_ignored: input.all };
        let listing = context.target.list(&context.bounds, &path, options).await;
        let listing = listing.map_err(|error| target_failure(&error))?;
        let entries: Vec<Value> = listing
            .entries
            .iter()
            .map(|entry| {
                json!({
                    "name": show_path(&entry.path),
                    "type": kind_name(entry.kind),
                    "size": entry.size,
                    "modified_unix_millis": entry.modified_unix_ms,
                })
            })
            .collect();
        Ok(json!({
            "path": show_path(&path),
            "entries": entries,
            "ignored": listing.ignored,
            "truncated": listing.truncated,
        }))
    }
}

fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Symlink => "symlink",
        EntryKind::Other => "other",
    }
}
