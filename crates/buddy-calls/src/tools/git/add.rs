//! `git_add`: puts changes into the index, for the next commit.

use std::collections::BTreeSet;

use async_trait::async_trait;
use buddy_exec::Stdin;
use buddy_policy::{Action, Intent, RepositoryChange, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repository::Repository;
use super::shield::Reach;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct GitAdd;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitAddInput {
    /// The top directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// Files and directories to add, relative to the top of the repository; `.` is everything.
    files: Vec<String>,
}

impl GitAddInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

#[async_trait]
impl Tool for GitAdd {
    type Input = GitAddInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_add",
        aliases: &[],
        kind: ToolKind::Edit,
        tier: Tier::Batch,
        description: include_str!("add.md"),
        text: TextClass::File,
    };

    fn title(input: &GitAddInput) -> String {
        format!("git add {}", input.files.join(" "))
    }

    fn intent(input: &GitAddInput, place: &CallPlace) -> Intent {
        let top = place.judged(input.path());
        let mut actions = vec![Action::Repository { top: top.clone(), change: RepositoryChange::Stage }];
        actions.extend(input.files.iter().map(|file| Action::Read(top.join(file))));
        Intent { actions, ..Intent::nothing() }
    }

    fn question(input: &GitAddInput, _: &CallPlace) -> Option<String> {
        Some(format!("Stage {}?", input.files.join(", ")))
    }

    async fn run(input: GitAddInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        if input.files.is_empty() {
            return Err(ToolFailure::new("invalid_input", "`files` names nothing to add"));
        }
        let path = context.place.resolve(input.path());
        let repository = Repository::open(&path, context).await?;
        repository.check_belongs(&path, context).await?;
        check_filters(&repository, &input.files, context).await?;
        let mut arguments = vec!["add", "--verbose", "--"];
        arguments.extend(input.files.iter().map(String::as_str));
        let said = repository.run(&arguments, Reach::Write, Stdin::Null, context).await?.or_failure()?;
        let done: Vec<String> = said.text().lines().map(str::to_owned).collect();
        Ok(json!({"top": show_path(&path), "done": done, "truncated": said.is_cut}))
    }
}

/// Refuses files that a program would have to rewrite on their way in: without it the wrong content would be stored, as
/// with Git LFS.
async fn check_filters(
    repository: &Repository,
    files: &[String],
    context: &ToolContext,
) -> Result<(), ToolFailure> {
    let armed = armed_filters(repository);
    if armed.is_empty() {
        return Ok(());
    }
    let mut arguments = vec!["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
    arguments.extend(files.iter().map(String::as_str));
    let listed = repository.read(&arguments, context).await?.or_failure()?;
    let attributes = ["check-attr", "-z", "--stdin", "filter"];
    let stdin = Stdin::Bytes(listed.stdout.clone());
    let said = repository.run(&attributes, Reach::Read, stdin, context).await?.or_failure()?;
    if listed.is_cut || said.is_cut {
        return Err(ToolFailure::new("too_large", "these are more files than can be looked at")
            .hint("add them in several calls"));
    }
    let records = said.records();
    let is_filtered = |row: &&[String]| row.get(2).is_some_and(|filter| armed.contains(filter.as_str()));
    match records.chunks_exact(3).find(is_filtered) {
        Some([file, _, filter]) => {
            let message = format!(
                "`{file}` goes through the filter `{filter}`, a program that the settings name, and this tool starts none"
            );
            Err(ToolFailure::new("filtered", message)
                .hint("use `run_shell` with `git add`, where the user approves the command"))
        }
        _ => Ok(()),
    }
}

/// The filters that have a program for the way in.
fn armed_filters(repository: &Repository) -> BTreeSet<&str> {
    repository.names().iter().filter_map(|name| armed_filter(name)).collect()
}

/// The filter that a setting gives such a program. A filter's name may have dots in it.
fn armed_filter(name: &str) -> Option<&str> {
    let (driver, program) = name.strip_prefix("filter.")?.rsplit_once('.')?;
    matches!(program, "clean" | "process").then_some(driver)
}
