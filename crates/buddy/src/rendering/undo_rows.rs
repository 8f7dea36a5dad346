//! The text of an undo: restored, removed and kept paths, then the places that undo does not cover.

use std::path::Path;

use buddy_protocol::operations::{PathState, UncoveredChange, UndoPreview, UndoStep};
use buddy_tui::counted;

/// The most rows of paths; JSON has all.
const MAX_ROWS: usize = 10;
/// The most places that are named as not covered.
const MAX_PLACES: usize = 3;

/// Whether the undo is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    Ahead,
    Behind,
}

/// The rows about a preview.
pub(super) fn preview_rows(preview: &UndoPreview, tense: Tense) -> Vec<String> {
    let mut rows = vec![render_head(preview, tense)];
    if preview.is_interrupted {
        rows.push(
            "the call did not come to its end, so some of these changes may be somebody else's".to_owned(),
        );
    }
    if preview.steps.is_empty() && !preview.is_beyond_undo() && !has_kept(preview) {
        rows.push("everything is already as it was".to_owned());
    }
    let paths = render_paths(preview, tense);
    let left = paths.len().saturating_sub(MAX_ROWS);
    rows.extend(paths.into_iter().take(MAX_ROWS));
    if left > 0 {
        rows.push(format!("  … and {left} more; `buddy undo {} --json` lists all", preview.header.id));
    }
    rows.extend(render_places(preview));
    rows
}

fn render_head(preview: &UndoPreview, tense: Tense) -> String {
    let label = without_size(preview.header.subject()).replace('\n', "⏎");
    let is_redo = preview.header.is_redo();
    let verb = match tense {
        _ if preview.is_beyond_undo() => "undo cannot restore this change",
        Tense::Ahead if is_redo => "Redo",
        Tense::Behind if is_redo => "Redone",
        Tense::Ahead if has_kept(preview) => "Undo in part",
        Tense::Behind if has_kept(preview) => "Undone in part",
        Tense::Ahead => "Undo",
        Tense::Behind => "Undone",
    };
    let count = (!preview.is_beyond_undo()).then(|| counted(preview.steps.len() as u64, "path"));
    let time = time_of_day(preview.header.unix_ms).map(|time| format!("from {time}"));
    let facts: Vec<String> = count.into_iter().chain(time).collect();
    let target = preview.header.target.as_ref().map(|target| format!("  on {}", target.name));
    format!("{verb}: {label}{}  {}", target.unwrap_or_default(), facts.join(", "))
}

/// The title of a call without how long the file is that it writes.
fn without_size(label: &str) -> &str {
    let size = |end: &str| [" byte)", " bytes)"].iter().any(|unit| end.ends_with(unit));
    label.rsplit_once(" (").filter(|(_, end)| size(end)).map_or(label, |(name, _)| name)
}

/// How many paths an undo restored, and how many it removed. The state of git is restored as a whole, whichever of its files go.
pub(super) fn count_paths(preview: &UndoPreview) -> String {
    let goes = |step: &&UndoStep| step.to == PathState::Absent && !is_git_state(preview, step);
    let removed = preview.steps.iter().filter(goes).count() as u64;
    let restored = preview.steps.len() as u64 - removed;
    match (restored, removed) {
        (_, 0) => format!("{} restored", counted(restored, "path")),
        (0, _) => format!("{} removed", counted(removed, "path")),
        _ => format!("{} restored, {removed} removed", counted(restored, "path")),
    }
}

/// Whether the call changed something that stays.
fn has_kept(preview: &UndoPreview) -> bool {
    preview.not_covered.iter().any(|place| place.is_changed)
}

/// The time of day of an entry, where the user is.
fn time_of_day(unix_ms: u64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M").to_string())
}

/// One row a path: those that are restored, then removed, then kept.
fn render_paths(preview: &UndoPreview, tense: Tense) -> Vec<String> {
    let words = match tense {
        Tense::Ahead => ["restore ", "remove  ", "keep    "],
        Tense::Behind => ["restored", "removed ", "kept    "],
    };
    let [restored, removed, kept] = words;
    let short = |path: &Path| shorten_path(preview, path);
    let conflict = |step: &UndoStep| {
        step.conflict.as_ref().map(|conflict| format!("  conflict: {conflict}")).unwrap_or_default()
    };
    let row = |step: &UndoStep, word: &str, note: &str| {
        format!("  {word}  {}{note}{}", short(&step.path.0), conflict(step))
    };
    let goes = |step: &&UndoStep| step.to == PathState::Absent;
    let (git, own): (Vec<&UndoStep>, Vec<&UndoStep>) =
        preview.steps.iter().partition(|step| is_git_state(preview, step));
    let git_row = git_names(preview, &git).map(|names| format!("  {restored}  .git  {names}"));
    let back = own.iter().filter(|step| !goes(step)).map(|step| row(step, restored, ""));
    let back = git_row.into_iter().chain(back);
    let why = if preview.header.is_redo() { "  the call removed it" } else { "  the call made it" };
    let gone = own.iter().filter(|step| goes(step)).map(|step| row(step, removed, why));
    // Where no place is known to have changed, each may have.
    let is_unknown = preview.is_beyond_undo() && !has_kept(preview);
    let changed = preview.not_covered.iter().filter(|place| place.is_changed || is_unknown);
    let stays = changed.map(|place| format!("  {kept}  {}  {}", short(&place.path.0), place.why));
    back.chain(gone).chain(stays).collect()
}

/// The files in which git keeps commits, branches and staged changes. Its settings and hooks have rows of their own.
const GIT_STATE: [&str; 8] =
    ["objects", "logs", "refs", "packed-refs", "index", "HEAD", "ORIG_HEAD", "COMMIT_EDITMSG"];

/// Whether a step restores such a file, and nothing else changed it since.
fn is_git_state(preview: &UndoPreview, step: &UndoStep) -> bool {
    let path = shorten_path(preview, &step.path.0);
    let name = path.strip_prefix(".git/").and_then(|path| path.split('/').next());
    step.conflict.is_none() && name.is_some_and(|name| GIT_STATE.contains(&name))
}

/// The restored state of git: branches and the like by name, then how many other files.
fn git_names(preview: &UndoPreview, steps: &[&UndoStep]) -> Option<String> {
    let path = |step: &&UndoStep| shorten_path(preview, &step.path.0);
    let name = |path: &str| match path.strip_prefix(".git/")? {
        "HEAD" => Some("HEAD".to_owned()),
        "index" => Some("staged changes".to_owned()),
        "refs/stash" => Some("stash".to_owned()),
        path => {
            let kinds =
                [("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/remotes/", "remote branch")];
            kinds.iter().find_map(|(lead, kind)| path.strip_prefix(lead).map(|name| format!("{kind} {name}")))
        }
    };
    // The directory of `topic/discount` is no branch.
    let is_directory = |state: &PathState| matches!(state, PathState::Directory { .. });
    let has_name = |step: &&&UndoStep| !is_directory(&step.now) && !is_directory(&step.to);
    let names: Vec<String> = steps.iter().filter(has_name).map(path).filter_map(|path| name(&path)).collect();
    let others = steps.len() - names.len();
    let others = (others > 0).then(|| counted(others as u64, "internal file"));
    let parts: Vec<String> = names.into_iter().chain(others).collect();
    let stays = if steps.len() == preview.steps.len() { "; your files stay as they are" } else { "" };
    (!parts.is_empty()).then(|| format!("{}{stays}", parts.join(", ")))
}

/// A path as people read it: below the project without the way there.
fn shorten_path(preview: &UndoPreview, path: &Path) -> String {
    let below = preview.root.as_ref().and_then(|root| path.strip_prefix(&root.0).ok());
    match below {
        Some(below) if below.as_os_str().is_empty() => "this folder".to_owned(),
        Some(below) => below.display().to_string(),
        None => path.display().to_string(),
    }
}

/// The places in which changes are not known, in one row.
fn render_places(preview: &UndoPreview) -> Option<String> {
    let places: Vec<&UncoveredChange> =
        preview.not_covered.iter().filter(|place| !place.is_changed).collect();
    if places.is_empty() || preview.is_beyond_undo() {
        return None;
    }
    let named: Vec<String> = places
        .iter()
        .take(MAX_PLACES)
        .map(|place| format!("{} ({})", shorten_path(preview, &place.path.0), place.why))
        .collect();
    let left = places.len().saturating_sub(MAX_PLACES);
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    Some(format!("not covered: {}{more}", named.join(", ")))
}
