//! Computing what a patch does to the files there are, and doing it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use buddy_exec::{Deletion, ListOptions, TargetError};
use buddy_protocol::ToolFailure;
use serde_json::{Value, json};

use super::change::{Change, Edit, Hunks};
use super::{hunks, unified};
use crate::tools::failure::target_failure;
use crate::tools::path_text::show_path;
use crate::tools::text_file::TextFile;
use crate::tools::tool::{Sight, ToolContext};
use crate::tools::unified::unified;

/// One thing to do, with what takes it back.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Add { path: PathBuf, content: String },
    Update { path: PathBuf, before: String, after: String },
    Move { from: PathBuf, to: PathBuf, before: String, after: String },
    Delete { path: PathBuf, before: String },
}

/// Reads all files and makes all changes in memory. Nothing is written.
pub(super) async fn compute(changes: &[Change], sight: &Sight) -> Result<Vec<Operation>, ToolFailure> {
    let mut operations = Vec::new();
    let mut touched = BTreeSet::new();
    for change in changes {
        let path = sight.place.resolve(&change.path);
        let mut touch = |path: &Path| {
            let twice =
                || ToolFailure::new("bad_patch", format!("`{}` is in the patch twice", show_path(path)));
            if touched.insert(path.to_owned()) { Ok(()) } else { Err(twice()) }
        };
        touch(&path)?;
        operations.push(match &change.edit {
            Edit::Add { content } => {
                require_absent(&path, sight).await?;
                Operation::Add { path, content: content.clone() }
            }
            Edit::Delete => {
                let file = TextFile::read(sight, &path).await?;
                Operation::Delete { before: file.content(&file.text), path }
            }
            Edit::Update { to, hunks } => {
                let file = TextFile::read(sight, &path).await?;
                let text = apply(hunks, &change.path, &file.text)?;
                let (before, after) = (file.content(&file.text), file.content(&text));
                match to {
                    None => Operation::Update { path, before, after },
                    Some(to) => {
                        let to = sight.place.resolve(to);
                        touch(&to)?;
                        require_absent(&to, sight).await?;
                        Operation::Move { from: path, to, before, after }
                    }
                }
            }
        });
    }
    // Removals last: what is gone is hardest to bring back.
    operations.sort_by_key(|operation| matches!(operation, Operation::Delete { .. }));
    Ok(operations)
}

async fn require_absent(path: &Path, sight: &Sight) -> Result<(), ToolFailure> {
    match sight.target.read(&sight.bounds, path, 0).await {
        Err(TargetError::NotFound { .. }) => Ok(()),
        Err(TargetError::NotAFile { .. } | TargetError::Sealed { .. }) | Ok(_) => {
            let message = format!("`{}` already exists", show_path(path));
            Err(ToolFailure::new("exists", message).hint("update it, or remove it first"))
        }
        Err(error) => Err(target_failure(&error)),
    }
}

/// Does everything, or puts back what was done.
pub(super) async fn perform(operations: &[Operation], context: &ToolContext) -> Result<(), ToolFailure> {
    let made = missing_directories(operations, context).await;
    for (at, operation) in operations.iter().enumerate() {
        let Err(error) = operation.perform(context).await else { continue };
        let mut failure = target_failure(&error);
        let mut left = Vec::new();
        for done in operations.iter().take(at + 1).rev() {
            // The one that failed may have been done in part; taking back what was not done does nothing.
            if let Err(path) = done.take_back(context).await {
                left.push(show_path(&path));
            }
        }
        for directory in made.iter().rev() {
            // A directory that something else is in stays.
            let _ =
                context.target.delete(&context.bounds, &context.recorder, directory, Deletion::Single).await;
        }
        if left.is_empty() {
            return Err(failure.hint("nothing of the patch was applied"));
        }
        failure.message = format!("{}; could not put back {}", failure.message, left.join(", "));
        return Err(failure.hint("look at these files first"));
    }
    Ok(())
}

/// Directories that the patch will make, outer before inner.
async fn missing_directories(operations: &[Operation], context: &ToolContext) -> BTreeSet<PathBuf> {
    let options = ListOptions { depth: 1, limit: 1, with_ignored: true };
    let mut missing = BTreeSet::new();
    for operation in operations {
        let (Operation::Add { path, .. } | Operation::Move { to: path, .. }) = operation else { continue };
        for directory in path.ancestors().skip(1) {
            match context.target.list(&context.bounds, directory, options).await {
                Err(TargetError::NotFound { .. }) => missing.insert(directory.to_owned()),
                _ => break,
            };
        }
    }
    missing
}

impl Operation {
    async fn perform(&self, context: &ToolContext) -> Result<(), TargetError> {
        let (target, bounds, recorder) = (&context.target, &context.bounds, &context.recorder);
        match self {
            Self::Add { path, content } => {
                target.write(bounds, recorder, path, content.as_bytes()).await.map(drop)
            }
            Self::Update { path, after, .. } => {
                target.write(bounds, recorder, path, after.as_bytes()).await.map(drop)
            }
            Self::Move { from, to, before, after } => {
                target.rename(bounds, recorder, from, to).await?;
                if before != after {
                    target.write(bounds, recorder, to, after.as_bytes()).await?;
                }
                Ok(())
            }
            Self::Delete { path, .. } => {
                target.delete(bounds, recorder, path, Deletion::Single).await.map(drop)
            }
        }
    }

    /// Takes back what was done of it. An error names the path that is not as it was.
    async fn take_back(&self, context: &ToolContext) -> Result<(), PathBuf> {
        let (target, bounds, recorder) = (&context.target, &context.bounds, &context.recorder);
        let is_now = async |path: &Path, content: &str| {
            let read = target.read(bounds, path, content.len() as u64).await;
            read.is_ok_and(|file| !file.truncated && file.bytes == content.as_bytes())
        };
        let put_back = async |path: &Path, content: &str| {
            target.write(bounds, recorder, path, content.as_bytes()).await.map(drop)
        };
        let (path, outcome) = match self {
            Self::Add { path, content } if is_now(path, content).await => {
                (path, target.delete(bounds, recorder, path, Deletion::Single).await.map(drop))
            }
            Self::Update { path, before, after } if is_now(path, after).await => {
                (path, put_back(path, before).await)
            }
            Self::Move { from, to, before, after } if !is_now(from, before).await => {
                if is_now(to, after).await && before != after {
                    put_back(to, before).await.map_err(|_| to.clone())?;
                }
                (from, target.rename(bounds, recorder, to, from).await)
            }
            Self::Delete { path, before } if !is_now(path, before).await => {
                (path, put_back(path, before).await)
            }
            _ => return Ok(()),
        };
        outcome.map_err(|_| path.clone())
    }

    /// The change that was made, for the model.
    pub(super) fn described(&self) -> Value {
        match self {
            Self::Add { path, .. } => json!({"path": show_path(path), "change": "added"}),
            Self::Update { path, .. } => json!({"path": show_path(path), "change": "updated"}),
            Self::Move { from, to, .. } => {
                json!({"path": show_path(from), "change": "moved", "to": show_path(to)})
            }
            Self::Delete { path, .. } => json!({"path": show_path(path), "change": "removed"}),
        }
    }

    /// The change that was made, as a diff.
    pub(super) fn diff(&self) -> String {
        match self {
            Self::Add { path, content } => unified(&show_path(path), "", content),
            Self::Update { path, before, after } => unified(&show_path(path), before, after),
            Self::Move { to, before, after, .. } => unified(&show_path(to), before, after),
            Self::Delete { path, before } => unified(&show_path(path), before, ""),
        }
    }
}

/// A text with all changes made.
pub(super) fn apply(hunks: &Hunks, path: &str, text: &str) -> Result<String, ToolFailure> {
    match hunks {
        Hunks::ByContent(found) => hunks::apply(found, path, text),
        Hunks::Unified(diff) => unified::apply(diff, path, text),
    }
}
