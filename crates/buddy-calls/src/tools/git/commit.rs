//! `git_commit`: makes a commit of what is in the index.

use async_trait::async_trait;
use buddy_exec::Stdin;
use buddy_policy::{Action, Intent, RepositoryChange, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repository::Repository;
use super::shield::Reach;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::foreseen::{Extent, Foreseen};
use crate::tools::path_text::show_path;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct GitCommit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitCommitInput {
    /// The top directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// The message: a short first line, and a body after an empty line where there is more to say.
    message: String,
}

impl GitCommitInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for GitCommit {
    type Input = GitCommitInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_commit",
        aliases: &[],
        kind: ToolKind::Edit,
        tier: Tier::Batch,
        description: include_str!("commit.md"),
        text: TextClass::File,
    };

    fn title(input: &GitCommitInput) -> String {
        format!("git commit: {}", input.message.lines().next().unwrap_or_default())
    }

    fn intent(input: &GitCommitInput, place: &CallPlace) -> Intent {
        let top = place.judged(input.path());
        Intent::of(Action::Repository { top, change: RepositoryChange::Commit })
    }

    fn question(input: &GitCommitInput, _: &CallPlace) -> Option<String> {
        let message = input.message.trim();
        let subject = message.lines().next().unwrap_or_default();
        // The rest of a message is part of the commit, so it is seen too.
        let body = message.strip_prefix(subject).unwrap_or_default().trim_end();
        Some(format!("Commit \"{subject}\"?{body}"))
    }

    fn preview(input: &GitCommitInput, sight: Sight) -> Option<Preview> {
        let path = sight.place.resolve(input.path());
        let look = async move {
            let repository = Repository::open(&path, &sight).await?;
            let numbers =
                ["diff", "--cached", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
            let records = repository.read(&numbers, &sight).await?.or_failure()?.records();
            Ok((!records.is_empty()).then(|| Foreseen::Extent(extent(&records))))
        };
        Some(look.boxed())
    }

    async fn run(input: GitCommitInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        if input.message.trim().is_empty() {
            return Err(ToolFailure::new("invalid_input", "`message` is empty"));
        }
        let path = context.place.resolve(input.path());
        let repository = Repository::open(&path, context).await?;
        repository.check_belongs(&path, context).await?;
        let staged =
            ["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
        if repository.read(&staged, context).await?.is_success() {
            return Err(
                ToolFailure::new("nothing_to_commit", "nothing is staged").hint("use `git_add` first")
            );
        }
        let arguments = [
            "commit",
            "--quiet",
            "--no-verify",
            "--no-gpg-sign",
            "--no-status",
            "--cleanup=strip",
            "--file=-",
        ];
        let message = Stdin::Bytes(input.message.into_bytes());
        repository.run(&arguments, Reach::Write, message, context).await?.or_failure()?;
        let arguments = ["log", "-1", "-z", "--no-show-signature", "--no-patch", "--format=%H%x00%s"];
        let records = repository.read(&arguments, context).await?.or_failure()?.records();
        Ok(json!({
            "top": show_path(&path),
            "commit": records.first(),
            "subject": records.get(1),
            "note": "hooks were not run, and the commit is not signed",
        }))
    }
}

/// How much is staged, by lines of `added`, `removed` and a path. Of files that are no text the numbers are dashes.
fn extent(records: &[String]) -> Extent {
    records.iter().fold(Extent::default(), |extent, record| {
        let mut numbers = record.split('\t').map(|number| number.parse().unwrap_or(0));
        Extent {
            files: extent.files + 1,
            added: extent.added + numbers.next().unwrap_or(0),
            removed: extent.removed + numbers.next().unwrap_or(0),
        }
    })
}
