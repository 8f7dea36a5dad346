//! The workspace as it is before a command, for undo.

use std::path::PathBuf;

use buddy_exec::Reach;
use buddy_exec::undo::CommandExtent;
use buddy_protocol::ToolFailure;

use crate::tools::failure::target_failure;
use crate::tools::tool::ToolContext;

/// Why undo has nothing of the changes of a command without bounds.
const OUTSIDE: &str = "the command ran outside the sandbox, so its changes are not known";

/// Keeps the workspace as it is before a command that is confined to it. A command without bounds can change any file, so undo
/// only learns that it ran.
pub(crate) async fn snapshot_workspace(context: &ToolContext) -> Result<(), ToolFailure> {
    let Reach::Beneath(roots) = &context.bounds.write else {
        if context.is_read_only {
            return Ok(());
        }
        let noted = context.recorder.not_covered(context.place.cwd.clone(), OUTSIDE).await;
        return noted.map_err(|error| target_failure(&error));
    };
    let workspace = covered(roots, &context.workspace, &context.place.cwd);
    let elsewhere = roots.iter().filter(|root| !workspace.contains(root)).cloned().collect();
    let extent = CommandExtent { roots: workspace, elsewhere, opened: context.bounds.opened.clone() };
    let kept = context.recorder.before_command(extent).await;
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
