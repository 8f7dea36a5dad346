//! What changed in a repository, for the user: the same shielded `git` as that of the tools.

use std::path::Path;
use std::sync::Arc;

use buddy_exec::{Bounds, ProgramPath, Target};
use buddy_protocol::ToolFailure;
use tokio_util::sync::CancellationToken;

use super::repository::Repository;
use super::start::{Surroundings, failure};
use crate::hosts::Host;

/// The line at the end of a diff that is too long.
const CUT: &str = "\n… the rest is left out …\n";

/// What changed in a repository since its last commit.
#[derive(Debug)]
pub struct RepositoryChanges {
    /// The changes of files that git knows.
    pub diff: String,
    /// Files that git does not know, relative to the top.
    pub unknown: Vec<String>,
}

impl RepositoryChanges {
    /// Finds out, without starting a program that the repository names. The error says why it cannot be told.
    pub async fn find(host: &Host, directory: &Path) -> Result<Self, String> {
        let user = OfUser { host, bounds: Bounds::open(), cancel: CancellationToken::new() };
        let found = find(&user, directory).await;
        found.map_err(|failure| failure.message)
    }
}

async fn find(user: &OfUser<'_>, directory: &Path) -> Result<RepositoryChanges, ToolFailure> {
    let repository = Repository::open(directory, user).await?;
    let base = base(&repository, user).await?;
    // A repository within this one has settings of its own, so nothing is looked up in its work tree.
    let words =
        ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", base.as_str()];
    let said = repository.read(&words, user).await?.or_failure()?;
    let diff = if said.is_cut { said.text() + CUT } else { said.text() };
    let words = ["ls-files", "-z", "--others", "--exclude-standard"];
    let unknown = repository.read(&words, user).await?.or_failure()?.records();
    Ok(RepositoryChanges { diff, unknown })
}

/// What changes are held against: the last commit, or where there is none yet a tree without files.
async fn base(repository: &Repository, user: &OfUser<'_>) -> Result<String, ToolFailure> {
    let said = repository.read(&["rev-parse", "--verify", "--quiet", "HEAD"], user).await?;
    if said.is_success() {
        return Ok("HEAD".to_owned());
    }
    // Without a word it means just that there is no commit. The name of the tree depends on the repository's hash.
    if !said.stderr.trim().is_empty() {
        return Err(failure(&said));
    }
    let tree = repository.read(&["hash-object", "-t", "tree", "/dev/null"], user).await?.or_failure()?;
    Ok(tree.text().trim().to_owned())
}

/// Where the user's own look runs.
struct OfUser<'a> {
    host: &'a Host,
    bounds: Bounds,
    cancel: CancellationToken,
}

impl Surroundings for OfUser<'_> {
    fn target(&self) -> &Arc<dyn Target> {
        &self.host.target
    }

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn env(&self) -> &[(String, String)] {
        &self.host.env
    }

    fn programs(&self) -> &ProgramPath {
        &self.host.programs
    }

    fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
