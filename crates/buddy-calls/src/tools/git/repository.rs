//! A repository that was looked at: where it is, and what its settings are called.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use buddy_exec::Stdin;
use buddy_protocol::{LinkLook, ToolFailure, climb};

use super::shield::{MARK, Reach};
use super::start::{self, Call, Said, Surroundings, Work, run};
use crate::tools::path_text::show_path;
use crate::tools::snapshot::keep_before;
use crate::tools::tool::ToolContext;

/// The longest `.git` file that is read.
const MAX_LINK_BYTES: u64 = 4096;

/// A repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// The top of its work tree.
    pub(super) top: PathBuf,
    /// Where its own files are.
    pub(super) git_dir: PathBuf,
    /// Where the files are that it shares with other work trees.
    pub(super) common_dir: PathBuf,
    /// The names of all settings that hold in it.
    names: BTreeSet<String>,
    /// Those that the repository itself sets, with the files that it includes.
    own_names: BTreeSet<String>,
}

impl Repository {
    /// Looks at the repository that a directory belongs to: its settings and its places, which starts no program. Only a
    /// `git` that takes the shield is used any further.
    pub(super) async fn open(path: &Path, context: &dyn Surroundings) -> Result<Self, ToolFailure> {
        let none = BTreeSet::new();
        let list = ["config", "--list", "-z", "--includes", "--show-scope", "--name-only"];
        let place = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
        ];
        let call = Call {
            work: Work::Pair(start::arguments(&list), start::arguments(&place)),
            cwd: path,
            reach: Reach::Read,
            names: &none,
            stdin: Stdin::Null,
        };
        let (said, places) = run(call, context).await?.split();
        let said = said.or_failure()?;
        if said.is_cut {
            return Err(ToolFailure::new("too_large", "the repository has more settings than are read"));
        }
        let records = said.records();
        let pairs = records.chunks_exact(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
        let own = |(scope, _): &(&String, &String)| matches!(scope.as_str(), "local" | "worktree");
        let own_names = pairs.clone().filter(own).map(|(_, name)| name.clone()).collect();
        let names: BTreeSet<String> = pairs.map(|(_, name)| name.clone()).collect();
        if !names.contains(MARK) {
            return Err(ToolFailure::new("unsupported", "git 2.31 or newer is needed")
                .hint("use `run_shell`, where the user approves the command"));
        }
        let places = places.map(Said::or_failure).transpose()?;
        let text = places.map(|said| said.text()).unwrap_or_default();
        let mut lines = text.lines().map(PathBuf::from);
        let (Some(top), Some(git_dir), Some(common_dir), None) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(ToolFailure::new("failed", "git does not say where the repository is"));
        };
        let repository = Self { top, git_dir, common_dir, names, own_names };
        repository.check_work_tree(context).await?;
        Ok(repository)
    }

    /// A repository can say that its work tree is elsewhere, `/` for one. The work tree is where its `.git` is.
    async fn check_work_tree(&self, context: &dyn Surroundings) -> Result<(), ToolFailure> {
        let link = self.top.join(".git");
        if link == self.git_dir {
            return Ok(());
        }
        let content = context.target().read(context.bounds(), &link, MAX_LINK_BYTES).await;
        let text =
            content.map(|content| String::from_utf8_lossy(&content.bytes).into_owned()).unwrap_or_default();
        let target = text.strip_prefix("gitdir:").map(|target| self.top.join(target.trim()));
        if target.is_some_and(|target| without_dots(&target) == self.git_dir) {
            return Ok(());
        }
        let message = format!(
            "the repository in `{}` says that its work tree is `{}`, which does not belong to it",
            show_path(&self.git_dir),
            show_path(&self.top)
        );
        Err(ToolFailure::new("refused", message).hint("use `run_shell`, where the user approves the command"))
    }

    /// Whether its files are where one looks for them, and not where a `.git` file or a `commondir` points.
    pub(super) fn is_plain(&self) -> bool {
        self.git_dir == self.top.join(".git") && self.common_dir == self.git_dir
    }

    /// Whether its files are elsewhere, and say themselves that they belong to this work tree: those of a linked work tree or a submodule.
    async fn names_top(&self, context: &dyn Surroundings) -> bool {
        if self.git_dir == self.common_dir {
            let is_module = self.git_dir.ancestors().skip(1).any(|above| above.ends_with(".git/modules"));
            // The top that git found is the one that this setting names.
            return is_module && self.own_names.contains("core.worktree");
        }
        let content =
            context.target().read(context.bounds(), &self.git_dir.join("gitdir"), MAX_LINK_BYTES).await;
        let named = content.map(|content| String::from_utf8_lossy(&content.bytes).trim().to_owned());
        let is_top = |named: String| without_dots(&self.git_dir.join(named)) == self.top.join(".git");
        self.git_dir.parent() == Some(&self.common_dir.join("worktrees")) && named.is_ok_and(is_top)
    }

    /// Refuses what would be written elsewhere than the user was told.
    pub(super) async fn check_belongs(
        &self,
        path: &Path,
        context: &dyn Surroundings,
    ) -> Result<(), ToolFailure> {
        if self.top != path {
            let message = format!("the top directory of the repository is `{}`", show_path(&self.top));
            return Err(ToolFailure::new("invalid_input", message).hint("give that directory in `path`"));
        }
        if self.is_plain() || self.names_top(context).await {
            return Ok(());
        }
        let message = format!(
            "the files of this repository are in `{}`, and what is shared with other work trees in `{}`",
            show_path(&self.git_dir),
            show_path(&self.common_dir)
        );
        Err(ToolFailure::new("refused", message).hint("use `run_shell`, where the user approves the command"))
    }

    /// The names of settings that hold here, whoever sets them.
    pub(super) fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// The names of settings that the repository itself sets.
    pub(super) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.own_names.iter().map(String::as_str)
    }

    /// Runs `git` here to look at something.
    pub(super) async fn read(
        &self,
        arguments: &[&str],
        context: &dyn Surroundings,
    ) -> Result<Said, ToolFailure> {
        look(arguments, &self.top, &self.names, context).await
    }

    /// Runs `git` twice here to look at something: the second one only if the first one succeeds.
    pub(super) async fn read_pair(
        &self,
        first: &[&str],
        second: &[&str],
        context: &dyn Surroundings,
    ) -> Result<(Said, Option<Said>), ToolFailure> {
        let work = Work::Pair(start::arguments(first), start::arguments(second));
        let call = Call { work, cwd: &self.top, reach: Reach::Read, names: &self.names, stdin: Stdin::Null };
        Ok(run(call, context).await?.split())
    }

    /// Runs `git` here with an input.
    pub(super) async fn run(
        &self,
        arguments: &[&str],
        reach: Reach,
        stdin: Stdin,
        context: &ToolContext,
    ) -> Result<Said, ToolFailure> {
        let call = Call {
            work: Work::One(start::arguments(arguments)),
            cwd: &self.top,
            reach,
            names: &self.names,
            stdin,
        };
        if reach == Reach::Read {
            return run(call, context).await;
        }
        keep_before(context).await?;
        let said = run(call, context).await;
        if said.as_ref().is_ok_and(|said| !said.is_success()) {
            context.recorder.sent_nothing().await;
        }
        if let Err(error) = context.recorder.after_command().await {
            // It happened all the same; the snapshot from before it stays.
            tracing::warn!(%error, "what git changed is not known");
        }
        said
    }
}

async fn look(
    arguments: &[&str],
    cwd: &Path,
    names: &BTreeSet<String>,
    context: &dyn Surroundings,
) -> Result<Said, ToolFailure> {
    let call = Call {
        work: Work::One(start::arguments(arguments)),
        cwd,
        reach: Reach::Read,
        names,
        stdin: Stdin::Null,
    };
    run(call, context).await
}

/// Refuses a value that `git` would take for an option, and one that is two.
pub(super) fn check_value(name: &str, value: &str) -> Result<(), ToolFailure> {
    if value.is_empty() || value.starts_with('-') || value.contains(['\0', '\n']) {
        let message = format!("`{name}` is empty, begins with `-`, or has a line end in it");
        return Err(ToolFailure::new("invalid_input", message));
    }
    Ok(())
}

/// A path without `.` and `..`, by its text.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    climb(path, &|_| LinkLook::Plain).path
}
