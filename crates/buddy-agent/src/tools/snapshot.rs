//! The workspace as it is before a command, for undo.

use std::path::PathBuf;

use buddy_exec::Reach;
use buddy_protocol::ToolFailure;

use crate::tools::failure::target_failure;
use crate::tools::tool::ToolContext;

/// Keeps the workspace as it is before a command that is confined to it. What a command without bounds may touch is
/// everything, which nobody can keep.
pub(crate) async fn snapshot_workspace(context: &ToolContext) -> Result<(), ToolFailure> {
    let Reach::Beneath(roots) = &context.bounds.write else { return Ok(()) };
    let workspace = covered(roots, &context.workspace, &context.place.cwd);
    let elsewhere = roots.iter().filter(|root| !workspace.contains(root)).cloned().collect();
    let kept = context.recorder.before_command(workspace, elsewhere).await;
    kept.map_err(|error| target_failure(&error))
}

/// The directories that a snapshot is taken of: those to work in, and that of the session wherever it may be written. One
/// beneath another is part of it.
fn covered(roots: &[PathBuf], workspace: &[PathBuf], cwd: &PathBuf) -> Vec<PathBuf> {
    let is_writable = |path: &PathBuf| roots.iter().any(|root| path.starts_with(root));
    let mut covered: Vec<PathBuf> =
        workspace.iter().chain([cwd]).filter(|path| is_writable(path)).cloned().collect();
    covered.sort();
    covered.dedup_by(|inner, outer| inner.starts_with(&*outer));
    covered
}
