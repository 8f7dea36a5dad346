//! `git_push`: sends one branch to one remote.

use async_trait::async_trait;
use buddy_exec::Stdin;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::branch::push_urls;
use super::repository::{Repository, check_value};
use super::shield::Reach;
use crate::tools::tool::{Place, Spec, TextClass, Tool, ToolContext, shown};

/// Settings that decide which programs connect, and where passwords go, by their beginnings. The person's own are used;
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

pub(crate) struct GitPush;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitPushInput {
    /// The top directory of the repository, the working directory by default.
    #[serde(default)]
    path: Option<String>,
    /// The name of the remote, such as `origin`.
    remote: String,
    /// The address that the remote pushes to, as `git_branch` gives it. The person approves this address.
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

    /// What comes after `git`.
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

    const SPEC: Spec = Spec {
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

    fn intent(input: &GitPushInput, place: &Place) -> Intent {
        let words: Vec<String> = input.arguments().iter().map(|word| quoted(word)).collect();
        let command = format!("git {} # {}", words.join(" "), quoted(&input.url));
        Intent::of(Action::Run { command, cwd: place.resolve(input.path()) })
    }

    fn question(input: &GitPushInput, _: &Place) -> Option<String> {
        let force = if input.force_with_lease { ", replacing what is there" } else { "" };
        Some(format!("Push {} to {}? ({}){force}", input.branch, input.remote, input.url))
    }

    async fn run(input: GitPushInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        for (name, value) in [("remote", &input.remote), ("branch", &input.branch), ("url", &input.url)] {
            check_value(name, value)?;
        }
        let path = context.place.resolve(input.path());
        let repository = Repository::open(&path, context).await?;
        repository.check_plain(&path)?;
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
        let arguments = input.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = repository.run(&arguments, Reach::Connect, Stdin::Null, context).await?.or_failure()?;
        Ok(json!({
            "top": shown(&path),
            "url": input.url,
            "report": said.text(),
            "messages": said.stderr,
            "note": "hooks were not run",
        }))
    }
}

fn check_settings(repository: &Repository) -> Result<(), ToolFailure> {
    let is_connecting = |name: &&str| {
        CONNECTING.iter().any(|begin| name.starts_with(begin))
            || (name.starts_with("remote.") && OF_REMOTES.iter().any(|end| name.ends_with(end)))
    };
    let Some(name) = repository.own_names().find(is_connecting) else { return Ok(()) };
    let message = format!("the repository itself sets `{name}`, which decides how a push connects");
    Err(ToolFailure::new("refused", message).hint("use `run_shell`, where the person approves the command"))
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
    fn the_address_stands_in_the_title_and_words_are_quoted() {
        assert_eq!(
            GitPush::title(&input("main", false)),
            "git push main to origin (https://example.org/a.git)"
        );
        assert_eq!(quoted("a'; rm"), "'a'\\''; rm'");
    }
}
