//! `grep`: lines of files that match a regular expression.

use async_trait::async_trait;
use buddy_exec::{FileMatches, GrepQuery};
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

/// Matches given when the call does not say.
const DEFAULT_LIMIT: usize = 200;
/// Matches given at most.
const MAX_LIMIT: usize = 2_000;
/// Lines of context at most.
const MAX_CONTEXT: usize = 20;
/// Characters of a line.
const MAX_LINE: usize = 400;

pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// The regular expression, in the syntax of Rust's `regex`, for single lines.
    pattern: String,
    /// The file or directory to search, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// Only files whose path matches, such as `*.rs`.
    #[serde(default)]
    glob: Option<String>,
    /// Whether capital and small letters are the same.
    #[serde(default)]
    ignore_case: bool,
    /// Lines to show before and after each match, up to 20.
    #[serde(default)]
    context: Option<usize>,
    /// The most matches, 200 by default and up to 2000.
    #[serde(default)]
    limit: Option<usize>,
    /// Whether to give the paths of matching files alone.
    #[serde(default)]
    files_only: bool,
    /// Whether to search what `.gitignore` names too.
    #[serde(default)]
    all: bool,
}

impl GrepInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for Grep {
    type Input = GrepInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "grep",
        aliases: &["search_grep"],
        kind: ToolKind::Search,
        tier: Tier::Auto,
        description: include_str!("grep.md"),
        text: TextClass::File,
    };

    fn title(input: &GrepInput) -> String {
        format!("search {} for {}", input.path(), input.pattern)
    }

    fn intent(input: &GrepInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Read(place.judged(input.path())))
    }

    async fn run(input: GrepInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let path = context.place.resolve(input.path());
        let query = GrepQuery {
            ignore_case: input.ignore_case,
            context: if input.files_only { 0 } else { input.context.unwrap_or(0).min(MAX_CONTEXT) },
            limit: input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
            max_line: MAX_LINE,
            files_only: input.files_only,
            with_ignored: input.all,
            pattern: input.pattern,
            names: input.glob,
        };
        let found = context.until_cancelled(context.target.grep(&context.bounds, &path, query)).await?;
        let found = found.map_err(|error| target_failure(&error))?;
        let lines: Vec<String> = found.files.iter().flat_map(lines_of).collect();
        let mut result = json!({
            "path": show_path(&path),
            "matches": lines.join("\n"),
            "files": found.files.len(),
            "searched": found.searched,
            "skipped": found.skipped,
            "truncated": found.truncated,
        });
        if found.sealed > 0 {
            let files =
                if found.sealed == 1 { "1 file".to_owned() } else { format!("{} files", found.sealed) };
            result["not_searched"] = json!(format!("{files} that can hold secrets"));
        }
        Ok(result)
    }
}

/// One line a match, or the path alone.
fn lines_of(file: &FileMatches) -> Vec<String> {
    let path = show_path(&file.path);
    if file.lines.is_empty() {
        return vec![path];
    }
    let line = |line: &buddy_exec::MatchedLine| {
        let mark = if line.is_match { ':' } else { '-' };
        format!("{path}{mark}{}{mark} {}", line.number, line.text)
    };
    file.lines.iter().map(line).collect()
}
