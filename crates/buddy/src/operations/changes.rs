//! The changes of calls: those of a project, of a session, or of a conversation and the ones that it was copied from.

use std::collections::HashMap;
use std::path::Path;

use buddy_exec::undo::{PathText, UndoEntry, project_root};
use buddy_protocol::operations::{ChangeList, ChangeScope, UndoableChange};
use buddy_protocol::{Content, Event, Fact, ItemEnded, ItemId, SessionId, UnixMillis};

use super::open_sessions::OpenSessions;
use super::place::OperationPlace;
use super::undo_wire::header_of;
use crate::local_machine::undo_store;

/// The most copies of a conversation that are followed back.
const MAX_LINEAGE: usize = 50;
/// How many events of a log are read at a time.
const LOG_PAGE: usize = 1_000;
/// The end of the id of a change of a call that ran once more outside the jail; the rest is the id of the call.
const OUTSIDE_ENTRY: &str = "-outside";

/// The changes of a scope, newest first.
pub(super) async fn list(place: &OperationPlace, scope: &ChangeScope) -> anyhow::Result<ChangeList> {
    let changes = entries(place, scope).await?.iter().map(undoable_change).collect();
    Ok(ChangeList { project: PathText(project_root(&place.cwd)), changes })
}

/// How many of these calls changed files and were not undone.
pub(super) fn count(place: &OperationPlace, calls: &[ItemId]) -> anyhow::Result<usize> {
    let listed = undo_store(&place.environment).list()?;
    let is_one = |entry: &&UndoEntry| {
        !entry.is_undone && entry.changes > 0 && calls.iter().any(|call| call.as_str() == entry.header.id)
    };
    Ok(listed.iter().filter(is_one).count())
}

/// The entries of the undo store in a scope, newest first.
pub(super) async fn entries(place: &OperationPlace, scope: &ChangeScope) -> anyhow::Result<Vec<UndoEntry>> {
    let mut entries = undo_store(&place.environment).list()?;
    match scope {
        ChangeScope::All => {}
        ChangeScope::Project => {
            let project = project_root(&place.cwd);
            entries.retain(|entry| is_of_project(entry, &project));
        }
        ChangeScope::Session(session) => entries.retain(|entry| entry.header.session == *session),
        ChangeScope::Conversation(session) => {
            let open = OpenSessions::of(place)?;
            let lineage = lineage(&open, session).await;
            open.close().await?;
            let lineage = lineage?;
            entries.retain(|entry| {
                let is_of = |(session, until): &(SessionId, UnixMillis)| {
                    entry.header.session == session.as_str() && UnixMillis(entry.header.unix_ms) <= *until
                };
                lineage.iter().any(is_of)
            });
        }
    }
    Ok(entries)
}

/// The newest undo of a conversation that was not taken back, by its id.
pub(super) async fn newest_undo(
    place: &OperationPlace,
    session: &SessionId,
) -> anyhow::Result<Option<String>> {
    let listed = entries(place, &ChangeScope::Conversation(session.clone())).await?;
    let is_undo =
        |id: &str| listed.iter().any(|entry| entry.header.id == id && entry.header.undoes.is_some());
    let is_wanted = |entry: &&UndoEntry| {
        !entry.is_undone
            && entry.changes > 0
            && entry.header.undoes.as_deref().is_some_and(|undone| !is_undo(undone))
    };
    Ok(listed.iter().find(is_wanted).map(|entry| entry.header.id.clone()))
}

/// How many changes of the prompt that made this call are left.
pub(super) async fn left_of_prompt(
    place: &OperationPlace,
    session: &SessionId,
    call: &str,
) -> anyhow::Result<usize> {
    let open = OpenSessions::of(place)?;
    let turns = turns_of_calls(&open, session).await;
    open.close().await?;
    let turns = turns?;
    let turn_of = |id: &str| turns.get(id.strip_suffix(OUTSIDE_ENTRY).unwrap_or(id));
    let Some(turn) = turn_of(call) else { return Ok(0) };
    let listed = entries(place, &ChangeScope::Conversation(session.clone())).await?;
    let is_standing =
        |entry: &UndoEntry| !entry.is_undone && entry.changes > 0 && entry.header.undoes.is_none();
    let is_left = |entry: &&UndoEntry| is_standing(entry) && turn_of(&entry.header.id) == Some(turn);
    Ok(listed.iter().filter(is_left).count())
}

/// The turn of each call of a session.
async fn turns_of_calls(
    open: &OpenSessions,
    session: &SessionId,
) -> anyhow::Result<HashMap<String, buddy_protocol::TurnId>> {
    let (mut turns, mut after) = (HashMap::new(), 0);
    loop {
        let page = open.sessions.events(&open.who, session, after, LOG_PAGE).await?;
        let Some(last) = page.last().and_then(|event| event.seq) else { return Ok(turns) };
        after = last;
        for event in page {
            if let Fact::ItemEnded(ItemEnded { item }) = event.fact
                && matches!(item.content, Content::ToolCall(_))
                && let Some(turn) = item.turn
            {
                turns.insert(item.id.to_string(), turn);
            }
        }
    }
}

/// A session and those that it was copied from, each with the time of the copy.
async fn lineage(open: &OpenSessions, session: &SessionId) -> anyhow::Result<Vec<(SessionId, UnixMillis)>> {
    let mut lineage = vec![(session.clone(), UnixMillis(u64::MAX))];
    while let Some((last, _)) = lineage.last().filter(|_| lineage.len() < MAX_LINEAGE) {
        let first = open.sessions.events(&open.who, last, 0, 1).await?;
        let Some(Event { time, fact: Fact::SessionStarted(started), .. }) = first.into_iter().next() else {
            break;
        };
        let Some(origin) = started.forked_from else { break };
        lineage.push((origin.session, time));
    }
    Ok(lineage)
}

/// Whether an entry belongs to a project: by the directory of its session, or in old entries by a path.
fn is_of_project(entry: &UndoEntry, project: &Path) -> bool {
    match &entry.header.workspace {
        Some(workspace) => project_root(&workspace.0) == project,
        None => entry.path.as_ref().is_some_and(|path| path.0.starts_with(project)),
    }
}

fn undoable_change(entry: &UndoEntry) -> UndoableChange {
    let workspace = entry.header.workspace.as_ref();
    UndoableChange {
        header: header_of(&entry.header),
        changes: entry.changes,
        is_undone: entry.is_undone,
        is_interrupted: entry.is_interrupted,
        path: entry.path.clone(),
        is_covered: entry.is_covered,
        project: workspace.map(|workspace| PathText(project_root(&workspace.0))),
    }
}
