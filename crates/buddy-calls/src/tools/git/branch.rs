//! `git_branch`: the branches, and the remotes that a push could go to.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repository::Repository;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// Branches given at most.
const MAX_BRANCHES: &str = "--count=500";
/// Remotes given at most.
const MAX_REMOTES: usize = 20;
/// The fields of a branch, each of which ends with a NUL.
const FORMAT: &str = "--format=%(HEAD)%00%(refname)%00%(objectname)%00%(upstream)%00%(committerdate:iso-strict)%00%(contents:subject)%00";
const FIELDS: usize = 6;

pub(crate) struct GitBranch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitBranchInput {
    /// A directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
}

impl GitBranchInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for GitBranch {
    type Input = GitBranchInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_branch",
        aliases: &[],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("branch.md"),
        text: TextClass::File,
    };

    fn title(input: &GitBranchInput) -> String {
        match input.path() {
            "." => "git branch".to_owned(),
            path => format!("git branch in {path}"),
        }
    }

    fn intent(input: &GitBranchInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Read(place.judged(input.path())))
    }

    async fn run(input: GitBranchInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let repository = Repository::open(&context.place.resolve(input.path()), context).await?;
        let arguments = ["for-each-ref", MAX_BRANCHES, FORMAT, "refs/heads", "refs/remotes"];
        let said = repository.read(&arguments, context).await?.or_failure()?;
        let records = said.records();
        let branches: Vec<Value> = records.chunks_exact(FIELDS).filter_map(branch).collect();
        let remotes = remotes(&repository, context).await?;
        let top = show_path(&repository.top);
        Ok(json!({"top": top, "branches": branches, "remotes": remotes, "truncated": said.is_cut}))
    }
}

fn branch(fields: &[String]) -> Option<Value> {
    // Each branch begins with the line end that stands after the one before it.
    let [head, name, id, upstream, date, subject] = fields else { return None };
    Some(json!({
        "name": name,
        "is_current": head.trim() == "*",
        "commit": id,
        "upstream": (!upstream.is_empty()).then_some(upstream),
        "date": date,
        "subject": subject,
    }))
}

async fn remotes(repository: &Repository, context: &ToolContext) -> Result<Vec<Value>, ToolFailure> {
    let names = repository.read(&["remote"], context).await?.or_failure()?.text();
    let mut remotes = Vec::new();
    for name in names.lines().take(MAX_REMOTES) {
        let urls = push_urls(repository, name, context).await?;
        remotes.push(json!({"name": name, "push_urls": urls}));
    }
    Ok(remotes)
}

/// Where a push to a remote goes, after all rewriting.
pub(super) async fn push_urls(
    repository: &Repository,
    remote: &str,
    context: &ToolContext,
) -> Result<Vec<String>, ToolFailure> {
    let arguments = ["remote", "get-url", "--push", "--all", "--end-of-options", remote];
    let said = repository.read(&arguments, context).await?;
    Ok(said.text().lines().filter(|_| said.is_success()).map(str::to_owned).collect())
}
