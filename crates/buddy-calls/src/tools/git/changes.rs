//! The changes in a repository, for the user: the same shielded `git` as that of the tools.

use std::path::Path;
use std::sync::Arc;

use buddy_exec::{Bounds, ProgramPath, Reach, Target};
use buddy_protocol::ToolFailure;
use tokio_util::sync::CancellationToken;

use super::repository::Repository;
use super::start::{Surroundings, failure};
use crate::hosts::Host;

/// New files whose content is shown.
const MAX_NEW_FILES: usize = 50;
/// Bytes of one new file that is shown, and of all of them.
const MAX_NEW_BYTES: u64 = 64 * 1024;
const MAX_NEW_TOTAL: usize = 512 * 1024;
/// Names of new files that are listed.
const MAX_NEW_NAMES: usize = 1_000;

/// The line at the end of a diff that is too long.
const CUT: &str = "\n… the rest is left out …\n";

/// The changes in a repository since its last commit.
#[derive(Debug)]
pub struct RepositoryChanges {
    /// The changes of files that git knows, and new files that it does not know.
    pub diff: String,
    /// The files that git does not know, relative to the top, with the reason if the content of one is not in the diff.
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
    let names = repository.read(&words, user).await?.or_failure()?.records();
    let (added, unknown) = new_files(&repository.top, names, user).await;
    Ok(RepositoryChanges { diff: diff + &added, unknown })
}

/// Files that git does not know: their contents as a diff, and their names.
async fn new_files(top: &Path, names: Vec<String>, user: &OfUser<'_>) -> (String, Vec<String>) {
    // A link that leads out of the repository shows nothing.
    let bounds = Bounds { read: Reach::Beneath(vec![top.to_owned()]), ..user.bounds.clone() };
    let left = names.len().saturating_sub(MAX_NEW_NAMES);
    let (mut diff, mut listed) = (String::new(), Vec::new());
    for (at, name) in names.into_iter().take(MAX_NEW_NAMES).enumerate() {
        let is_shown = at < MAX_NEW_FILES && diff.len() < MAX_NEW_TOTAL;
        let why = if is_shown {
            match user.target().read(&bounds, &top.join(&name), MAX_NEW_BYTES).await {
                Err(_) => Some("cannot be read".to_owned()),
                Ok(content) if content.size == 0 => Some("empty".to_owned()),
                Ok(content) if content.truncated => Some(size("", content.size)),
                Ok(content) => match String::from_utf8(content.bytes) {
                    Ok(text) if !text.contains('\0') => {
                        diff.push_str(&added(&name, &text));
                        None
                    }
                    _ => Some(size("binary, ", content.size)),
                },
            }
        } else {
            Some("not shown".to_owned())
        };
        listed.push(why.map_or_else(|| name.clone(), |why| format!("{name} ({why})")));
    }
    listed.extend((left > 0).then(|| format!("… and {left} more")));
    (diff, listed)
}

fn size(kind: &str, bytes: u64) -> String {
    let size = match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    };
    format!("{kind}{size}, not shown")
}

/// The diff of a new file.
fn added(name: &str, text: &str) -> String {
    let count = text.lines().count();
    let mut diff =
        format!("diff --git a/{name} b/{name}\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{count} @@\n");
    for line in text.split_terminator('\n') {
        diff.push('+');
        diff.push_str(line);
        diff.push('\n');
    }
    diff
}

/// The state that changes are compared with: the last commit, or a tree without files if there is none yet.
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
