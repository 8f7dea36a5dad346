//! `git_log`: the commits before one.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repository::{Repository, check_value};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// Commits given when the call does not say.
const USUAL_COMMITS: u32 = 20;
/// Commits given at most.
const MAX_COMMITS: u32 = 200;
/// The fields of a commit, each of which ends with a NUL.
const FORMAT: &str = "--format=%H%x00%an <%ae>%x00%aI%x00%s%x00%b";
const FIELDS: usize = 5;

pub(crate) struct GitLog;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitLogInput {
    /// A directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// The commit or branch to begin with, or a range as `a..b`; what is checked out by default.
    #[serde(default)]
    revision: Option<String>,
    /// Only commits that changed these files and directories, relative to the top of the repository.
    #[serde(default)]
    files: Vec<String>,
    /// How many commits, 20 by default and 200 at most.
    #[serde(default)]
    limit: Option<u32>,
}

impl GitLogInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for GitLog {
    type Input = GitLogInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_log",
        aliases: &[],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("log.md"),
        text: TextClass::File,
    };

    fn title(input: &GitLogInput) -> String {
        format!("git log {} {}", input.revision.as_deref().unwrap_or_default(), input.files.join(" "))
    }

    fn intent(input: &GitLogInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Read(place.judged(input.path())))
    }

    async fn run(input: GitLogInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let repository = Repository::open(&context.place.resolve(input.path()), context).await?;
        let limit = input.limit.unwrap_or(USUAL_COMMITS).clamp(1, MAX_COMMITS);
        let count = format!("--max-count={limit}");
        let revision = input.revision.as_deref().unwrap_or("HEAD");
        check_value("revision", revision)?;
        let mut arguments =
            vec!["log", "-z", "--no-color", "--no-show-signature", "--no-patch", "--no-ext-diff"];
        arguments.extend(["--no-textconv", FORMAT, &count, "--end-of-options", revision, "--"]);
        arguments.extend(input.files.iter().map(String::as_str));
        let said = repository.read(&arguments, context).await?.or_failure()?;
        let records = said.records();
        let commits: Vec<Value> = records.chunks_exact(FIELDS).filter_map(commit).collect();
        Ok(json!({"top": show_path(&repository.top), "commits": commits, "truncated": said.is_cut}))
    }
}

fn commit(fields: &[String]) -> Option<Value> {
    let [id, author, date, subject, body] = fields else { return None };
    let mut commit = json!({"id": id, "author": author, "date": date, "subject": subject});
    if !body.trim().is_empty() {
        commit["body"] = json!(body.trim());
    }
    Some(commit)
}
