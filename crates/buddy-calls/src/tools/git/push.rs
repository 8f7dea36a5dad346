//! `git_push`: sends one branch to one remote.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use buddy_exec::{Bounds, Reach as Writes, Stdin, Target, TargetError};
use buddy_policy::{Action, Intent, RepositoryChange, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::branch::push_urls;
use super::repository::{Repository, check_value, without_dots};
use super::shield::Reach;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::path_text::show_path;
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// Settings that decide which programs connect, and where passwords go, by their beginnings. The user's own are used;
/// a repository that brings its own is not pushed from.
const CONNECTING: &[&str] = &[
    "core.sshcommand",
    "core.askpass",
    "core.gitproxy",
    "ssh.",
    "credential.",
    "http.",
    "https.",
    "protocol.",
];
/// The same for settings of a remote, by their ends.
const OF_REMOTES: &[&str] = &[".receivepack", ".vcs", ".proxy", ".proxyauthmethod"];

/// The longest `HEAD` that is read.
const MAX_HEAD_BYTES: u64 = 4096;

pub(crate) struct GitPush;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitPushInput {
    /// The top directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// The name of the remote, such as `origin`.
    remote: String,
    /// The address that the remote pushes to, as `git_branch` gives it.
    url: String,
    /// The branch to push, to the branch of the same name.
    branch: String,
    /// Replace the remote branch, unless it has commits that were not seen here.
    #[serde(default)]
    force_with_lease: bool,
}

impl GitPushInput {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }

    /// The words after `git`.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            "push",
            "--porcelain",
            "--no-verify",
            "--no-signed",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--receive-pack=git-receive-pack",
        ];
        if self.force_with_lease {
            arguments.push("--force-with-lease");
        }
        let branch = format!("refs/heads/{0}:refs/heads/{0}", self.branch);
        arguments.extend(["--end-of-options", &self.remote, &branch]);
        arguments.into_iter().map(str::to_owned).collect()
    }
}

#[async_trait]
impl Tool for GitPush {
    type Input = GitPushInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "git_push",
        aliases: &[],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: include_str!("push.md"),
        text: TextClass::Command,
    };

    fn title(input: &GitPushInput) -> String {
        let force = if input.force_with_lease { " with force" } else { "" };
        format!("git push {} to {} ({}){force}", input.branch, input.remote, input.url)
    }

    fn intent(input: &GitPushInput, place: &CallPlace) -> Intent {
        let words: Vec<String> = input.arguments().iter().map(|word| quoted(word)).collect();
        let command = format!("git {} # {}", words.join(" "), quoted(&input.url));
        let top = place.judged(input.path());
        let mut actions = vec![];
        if let Some(folder) = named_folder(&input.url, &top).map(|folder| place.settle(folder)) {
            actions.push(Action::Repository { top: folder, change: RepositoryChange::Receive });
        }
        actions.push(Action::Run { command, cwd: top });
        Intent { actions, ..Intent::default() }
    }

    fn preview(input: &GitPushInput, sight: Sight) -> Option<Preview> {
        let folder = folder(&input.url, &sight.place.resolve(input.path()))?;
        Some(async move { check_bare(&folder, &*sight.target, &sight.bounds).await.map(|()| None) }.boxed())
    }

    fn question(input: &GitPushInput, _: &CallPlace) -> Option<String> {
        let force = if input.force_with_lease { ", replacing what is there" } else { "" };
        Some(format!("Push {} to {}? ({}){force}", input.branch, input.remote, input.url))
    }

    async fn run(input: GitPushInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        for (name, value) in [("remote", &input.remote), ("branch", &input.branch), ("url", &input.url)] {
            check_value(name, value)?;
        }
        let path = context.place.resolve(input.path());
        let repository = Repository::open(&path, context).await?;
        repository.check_belongs(&path, context).await?;
        check_settings(&repository)?;
        let urls = push_urls(&repository, &input.remote, context).await?;
        if urls != [input.url.clone()] {
            let message =
                format!("the remote `{}` pushes to {urls:?} and not to `{}`", input.remote, input.url);
            return Err(ToolFailure::new("refused", message).hint("take the address that `git_branch` gives"));
        }
        if input.url.contains("::") {
            return Err(ToolFailure::new(
                "refused",
                "an address with `::` in it names a program to connect with",
            ));
        }
        if let Some(folder) = folder(&input.url, &path) {
            check_bare(&folder, &*context.target, &context.bounds).await?;
            check_open(&folder, &context.bounds)?;
        }
        let arguments = input.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = repository.run(&arguments, Reach::Connect, Stdin::Null, context).await?.or_failure()?;
        Ok(json!({
            "top": show_path(&path),
            "url": input.url,
            "report": said.text(),
            "messages": said.stderr,
            "note": "hooks were not run",
        }))
    }
}

/// The folder that an address names; none where it is elsewhere, which git tells by the same marks.
fn folder(url: &str, top: &Path) -> Option<PathBuf> {
    named_folder(url, top).map(|path| without_dots(&path))
}

/// The same as it is written, with `..`.
fn named_folder(url: &str, top: &Path) -> Option<PathBuf> {
    if let Some(path) = url.strip_prefix("file://") {
        return path.starts_with('/').then(|| PathBuf::from(path));
    }
    let before = url.split('/').next().unwrap_or_default();
    // `host:path`, `scheme://…` and `helper::…` are no paths.
    (!url.is_empty() && !before.contains(':')).then(|| top.join(url))
}

/// Refuses a folder that is no bare repository: a push opens the folder as a whole, and a work tree is more than a push needs.
async fn check_bare(folder: &Path, target: &dyn Target, bounds: &Bounds) -> Result<(), ToolFailure> {
    let read = async |name: &str| target.read(bounds, &folder.join(name), MAX_HEAD_BYTES).await;
    match read("HEAD").await {
        Err(TargetError::NotFound { .. }) => {}
        // Whether it is one cannot be told, and git will say so.
        Ok(_) | Err(_) => return Ok(()),
    }
    let what = match read(".git/HEAD").await {
        Ok(_) => "has a work tree",
        Err(_) => "is no repository",
    };
    let message = format!("`{}` {what}; only a bare repository in a folder is pushed to", show_path(folder));
    Err(ToolFailure::new("refused", message).hint("the user can make one with `git init --bare`"))
}

/// Refuses a folder that the jail does not let this call write, before git fails there.
fn check_open(folder: &Path, bounds: &Bounds) -> Result<(), ToolFailure> {
    let is_open = match &bounds.write {
        Writes::Anywhere => true,
        Writes::Nothing => false,
        Writes::Beneath(roots) => roots.iter().any(|root| folder.starts_with(root)),
    };
    if is_open {
        return Ok(());
    }
    let message = format!(
        "the jail lets this push write only in the workspace, not `{}`, as nobody was asked about it",
        show_path(folder)
    );
    Err(ToolFailure::new("refused", message).hint("a user can approve the push when they are asked about it"))
}

fn check_settings(repository: &Repository) -> Result<(), ToolFailure> {
    let is_connecting = |name: &&str| {
        CONNECTING.iter().any(|begin| name.starts_with(begin))
            || (name.starts_with("remote.") && OF_REMOTES.iter().any(|end| name.ends_with(end)))
    };
    let Some(name) = repository.own_names().find(is_connecting) else { return Ok(()) };
    let message = format!("the repository itself sets `{name}`, which decides how a push connects");
    Err(ToolFailure::new("refused", message).hint("use `run_shell`, where the user approves the command"))
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:@+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(branch: &str, force_with_lease: bool) -> GitPushInput {
        GitPushInput {
            path: None,
            remote: "origin".to_owned(),
            url: "https://example.org/a.git".to_owned(),
            branch: branch.to_owned(),
            force_with_lease,
        }
    }

    #[test]
    fn a_push_is_never_forced_unless_it_says_so() {
        assert!(
            input("main", false).arguments().iter().all(|word| !word.starts_with("--force") && word != "-f")
        );
        assert!(input("main", true).arguments().contains(&"--force-with-lease".to_owned()));
    }

    #[test]
    fn folders_are_told_from_hosts_as_git_tells_them() {
        let folder =
            |url: &str| folder(url, Path::new("/w/app")).map(|path| path.to_string_lossy().into_owned());
        for (url, path) in [
            ("/srv/a.git", "/srv/a.git"),
            ("../a.git", "/w/a.git"),
            ("file:///srv/a.git", "/srv/a.git"),
            ("./a:b", "/w/app/a:b"),
        ] {
            assert_eq!(folder(url).as_deref(), Some(path), "{url}");
        }
        for url in ["https://h/a", "git@h:a.git", "h:a", "ssh://h/a", "ext::sh -c x", "file://h/a", ""] {
            assert_eq!(folder(url), None, "{url}");
        }
    }

    #[test]
    fn the_address_stands_in_the_title_and_words_are_quoted() {
        assert_eq!(
            GitPush::title(&input("main", false)),
            "git push main to origin (https://example.org/a.git)"
        );
        assert_eq!(quoted("a'; rm"), "'a'\\''; rm'");
    }
}
