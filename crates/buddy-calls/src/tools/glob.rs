//! `glob`: files whose path matches a pattern.

use async_trait::async_trait;
use buddy_exec::GlobQuery;
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

/// Paths given when the call does not say.
const DEFAULT_LIMIT: usize = 500;
/// Paths given at most.
const MAX_LIMIT: usize = 5_000;

pub(crate) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GlobInput {
    /// The pattern, such as `src/**/*.rs`.
    pattern: String,
    /// The directory to look in, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// The most paths, 500 by default and up to 5000.
    #[serde(default)]
    limit: Option<usize>,
    /// Whether to find what `.gitignore` names too.
    #[serde(default)]
    all: bool,
}

impl GlobInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for Glob {
    type Input = GlobInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "glob",
        aliases: &["search_glob"],
        kind: ToolKind::Search,
        tier: Tier::Auto,
        description: include_str!("glob.md"),
        text: TextClass::File,
    };

    fn title(input: &GlobInput) -> String {
        format!("find {} in {}", input.pattern, input.path())
    }

    fn intent(input: &GlobInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Read(place.judged(input.path())))
    }

    async fn run(input: GlobInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(input.path());
        let query = GlobQuery {
            limit: input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
            with_ignored: input.all,
            pattern: input.pattern,
        };
        let found = context.until_cancelled(context.target.glob(&context.bounds, &path, query)).await?;
        let found = found.map_err(|error| target_failure(&error))?;
        let paths: Vec<String> = found.paths.iter().map(|path| show_path(path)).collect();
        Ok(json!({
            "path": show_path(&path),
            "paths": paths.join("\n"),
            "count": paths.len(),
            "unreadable": found.unreadable,
            "truncated": found.truncated,
        }))
    }
}
