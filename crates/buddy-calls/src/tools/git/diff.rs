//! `git_diff`: what changed, as a diff.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{OpenedRoots, ToolFailure, ToolKind, fold_path};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repository::{Repository, check_value};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct GitDiff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitDiffInput {
    /// A directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// Whether it shows the changes that are staged for the next commit instead of those in the work tree.
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

    const SPEC: ToolSpec = ToolSpec {
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

    fn intent(input: &GitDiffInput, place: &CallPlace) -> Intent {
        let top = place.judged(input.path());
        let files = input.files.iter().map(|file| Action::Read(top.join(file)));
        Intent { actions: files.chain([Action::Read(top.clone())]).collect(), ..Intent::nothing() }
    }

    async fn run(input: GitDiffInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let repository = Repository::open(&context.place.resolve(input.path()), context).await?;
        let commits = input.commits()?;
        let secrets = secrets(&input, commits.as_deref(), &repository, context).await?;
        let left_out = secrets.iter().map(|path| format!(":(top,exclude,literal){path}"));
        let arguments = input.arguments(&[], commits.as_deref(), left_out);
        let said = repository.read(&words(&arguments), context).await?.or_failure()?;
        let mut result =
            json!({"top": show_path(&repository.top), "diff": said.text(), "truncated": said.is_cut});
        if !secrets.is_empty() {
            result["not_shown"] = json!(secrets);
            result["hint"] = json!("these can hold secrets; name one in `files` to ask the user for it");
        }
        Ok(result)
    }
}

impl GitDiffInput {
    /// The words for `git`, with these options and without the files that are left out. Leaving out is magic, which the shield turns
    /// off, so it is turned on again here and the files, which are relative to the top where git runs, are marked as literal.
    fn arguments(
        &self,
        options: &[&str],
        commits: Option<&str>,
        left_out: impl Iterator<Item = String>,
    ) -> Vec<String> {
        let fixed = ["--no-literal-pathspecs", "diff", "--no-color", "--no-ext-diff", "--no-textconv"];
        let staged = self.staged.then_some("--cached");
        let commits = commits.map(|commits| ["--end-of-options", commits]);
        let words = fixed.into_iter().chain(["--ignore-submodules=all"]).chain(options.iter().copied());
        let words = words.chain(staged).chain(commits.into_iter().flatten()).chain(["--"]);
        let files = self.files.iter().map(|file| format!(":(literal){file}"));
        words.map(str::to_owned).chain(files).chain(left_out).collect()
    }

    /// The commits to compare, so written that git takes nothing else for them: the contents of a file have no name by which they could
    /// be left out.
    fn commits(&self) -> Result<Option<String>, ToolFailure> {
        let Some(revision) = &self.revision else { return Ok(None) };
        check_value("revision", revision)?;
        let between = if revision.contains("...") { "..." } else { ".." };
        let sides: Vec<&str> = revision.split(between).collect();
        if revision.contains([':', ' ']) || revision.contains("^{") || sides.len() > 2 {
            return Err(ToolFailure::new("invalid_input", "`revision` is not a commit, a branch or `a..b`")
                .hint("to see a file as it was, use `git show` in `run_shell`"));
        }
        let commit = |side: &&str| if side.is_empty() { String::new() } else { format!("{side}^{{commit}}") };
        Ok(Some(sides.iter().map(commit).collect::<Vec<_>>().join(between)))
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// The files that changed and can hold secrets which this call may not read, relative to the top.
async fn secrets(
    input: &GitDiffInput,
    commits: Option<&str>,
    repository: &Repository,
    context: &ToolContext,
) -> Result<Vec<String>, ToolFailure> {
    if context.bounds.sealed_names.is_empty() {
        return Ok(Vec::new());
    }
    let options = ["--name-only", "-z", "--no-renames", "--no-relative"];
    let arguments = input.arguments(&options, commits, std::iter::empty());
    let said = repository.read(&words(&arguments), context).await?.or_failure()?;
    if said.is_cut {
        return Err(ToolFailure::new("too_large", "more files changed than can be looked at")
            .hint("give some of them in `files`"));
    }
    let bounds = &context.bounds;
    let roots = OpenedRoots::new(bounds.anchors.iter().chain([&repository.top]));
    let is_secret = |path: &String| {
        let path = repository.top.join(path);
        let is_sealed = bounds.sealed.iter().any(|place| path.starts_with(place));
        (is_sealed || roots.protects(&bounds.sealed_names, &fold_path(&path)))
            && !bounds.opened.contains(&path)
    };
    Ok(said.records().into_iter().filter(is_secret).collect())
}
