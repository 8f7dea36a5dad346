//! `git_diff`: what changed, as a diff.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repository::{Repository, check_value};
use crate::tools::tool::{Place, Spec, TextClass, Tool, ToolContext, shown};

pub(crate) struct GitDiff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitDiffInput {
    /// A directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// What is staged for the next commit, and not what is in the work tree.
    #[serde(default)]
    staged: bool,
    /// A commit or branch to compare with, or two of them as `a..b`.
    #[serde(default)]
    revision: Option<String>,
    /// Files and directories to compare, relative to the top of the repository; all by default.
    #[serde(default)]
    files: Vec<String>,
}

impl GitDiffInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for GitDiff {
    type Input = GitDiffInput;

    const SPEC: Spec = Spec {
        name: "git_diff",
        aliases: &[],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("diff.md"),
        text: TextClass::File,
    };

    fn title(input: &GitDiffInput) -> String {
        let staged = if input.staged { " (staged)" } else { "" };
        format!(
            "git diff{staged} {} {}",
            input.revision.as_deref().unwrap_or_default(),
            input.files.join(" ")
        )
    }

    fn intent(input: &GitDiffInput, place: &Place) -> Intent {
        Intent::of(Action::Read(place.resolve(input.path())))
    }

    async fn run(input: GitDiffInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let repository = Repository::open(&context.place.resolve(input.path()), context).await?;
        let mut arguments =
            vec!["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
        if input.staged {
            arguments.push("--cached");
        }
        if let Some(revision) = &input.revision {
            check_value("revision", revision)?;
            arguments.extend(["--end-of-options", revision]);
        }
        arguments.push("--");
        arguments.extend(input.files.iter().map(String::as_str));
        let said = repository.read(&arguments, context).await?.or_failure()?;
        Ok(json!({"top": shown(&repository.top), "diff": said.text(), "truncated": said.is_cut}))
    }
}
