//! The files that a command can change, as they are before it, for undo.

use std::path::{Path, PathBuf};

use buddy_exec::Reach;
use buddy_exec::undo::{CommandExtent, OpenPlace, PlaceKind};
use buddy_protocol::ToolFailure;

use crate::tools::failure::target_failure;
use crate::tools::tool::ToolContext;

/// Why undo has nothing of the changes of a command without bounds.
const OUTSIDE: &str = "the command ran outside the sandbox, so its changes are not known";
/// Why undo has nothing of the changes of a program that buddy does not wait for.
const NOT_FOLLOWED: &str = "the program ran on after its call, so its changes are not known";
/// The directory for temporary files. Changes there are nobody's work.
const TEMPORARY: &str = "/tmp";

/// Keeps files as they are before a command changes them.
///
/// The workspace is kept. Other places that the command can write in have a fingerprint, so that a change there is known. A command
/// without bounds can change any file, so undo only learns that it ran.
pub(crate) async fn keep_before(context: &ToolContext) -> Result<(), ToolFailure> {
    match &context.bounds.write {
        Reach::Nothing => Ok(()),
        Reach::Anywhere => note_unknown(OUTSIDE, context).await,
        Reach::Beneath(roots) => {
            let kept = context.recorder.before_command(extent(roots, context)).await;
            kept.map_err(|error| target_failure(&error))
        }
    }
}

/// Starts a command after [`keep_before`]. One that does not start leaves nothing to undo.
pub(crate) async fn start_kept<T>(
    context: &ToolContext,
    starting: impl Future<Output = Result<T, ToolFailure>>,
) -> Result<T, ToolFailure> {
    keep_before(context).await?;
    or_withdrawn(context, starting).await
}

/// Starts a program that runs on by itself. Undo only learns that it did.
pub(crate) async fn start_unfollowed<T>(
    context: &ToolContext,
    starting: impl Future<Output = Result<T, ToolFailure>>,
) -> Result<T, ToolFailure> {
    if context.bounds.write != Reach::Nothing {
        note_unknown(NOT_FOLLOWED, context).await?;
    }
    or_withdrawn(context, starting).await
}

async fn note_unknown(why: &str, context: &ToolContext) -> Result<(), ToolFailure> {
    if context.is_read_only {
        return Ok(());
    }
    let noted = context.recorder.not_covered(context.place.cwd.clone(), why).await;
    noted.map_err(|error| target_failure(&error))
}

async fn or_withdrawn<T>(
    context: &ToolContext,
    starting: impl Future<Output = Result<T, ToolFailure>>,
) -> Result<T, ToolFailure> {
    let started = starting.await;
    // An interrupt comes too late for a start that is under way.
    if started.is_err() && !context.cancel.is_cancelled() {
        context.recorder.withdraw_command().await;
    }
    started
}

fn extent(roots: &[PathBuf], context: &ToolContext) -> CommandExtent {
    let bounds = &context.bounds;
    let workspace = covered(roots, &context.workspace, &context.place.cwd);
    let is_covered = |path: &PathBuf| workspace.iter().any(|root| path.starts_with(root));
    let is_temporary = |path: &PathBuf| path == Path::new(TEMPORARY) || bounds.shown.contains(path);
    let (elsewhere, open): (Vec<PathBuf>, Vec<PathBuf>) =
        roots.iter().filter(|root| !is_covered(root)).cloned().partition(is_temporary);
    let unasked = match &context.unasked_bounds.write {
        Reach::Beneath(roots) => roots.as_slice(),
        Reach::Nothing | Reach::Anywhere => &[],
    };
    let place = |path: PathBuf, kind: PlaceKind| OpenPlace { path, kind };
    let roots = open.into_iter().map(|path| {
        let kind = if unasked.contains(&path) { PlaceKind::Standing } else { PlaceKind::Opened };
        place(path, kind)
    });
    let alone = bounds.write_alone.iter().map(|path| place(path.clone(), PlaceKind::Opened));
    let stores = bounds.git_stores.iter().map(|path| place(path.clone(), PlaceKind::GitStore));
    CommandExtent {
        elsewhere,
        places: roots.chain(alone).chain(stores).collect(),
        closed: bounds.hidden.clone(),
        sends: context.sends.clone(),
        opened: bounds.opened.clone(),
        roots: workspace,
    }
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
