//! A session as Markdown or JSON.

use buddy_protocol::operations::{ExportFormat, ExportSession, ExportedSession, SessionChoice};
use buddy_protocol::{Event, SessionSummary, SessionsError, StoreError, Transcript};
use buddy_tui::markdown;

use super::failure::failure_of;
use super::open_sessions::OpenSessions;
use super::place::OperationPlace;
use crate::session_choice::{find_last_session, find_session};

/// Events read at once.
const PAGE: usize = 5_000;

/// Exports a session.
pub(super) async fn export(
    place: &OperationPlace,
    request: &ExportSession,
) -> anyhow::Result<ExportedSession> {
    let open = OpenSessions::of(place)?;
    let read = read(&open, &request.session).await;
    open.close().await?;
    let (summary, events, damage) = read?;
    let text = match request.format {
        ExportFormat::Json => json(&events)?,
        ExportFormat::Markdown => {
            let mut transcript = Transcript::default();
            for event in events {
                transcript.take(event)?;
            }
            markdown(&summary, &transcript)
        }
    };
    let damage = damage.map(|error| failure_of(&error.into()));
    Ok(ExportedSession { session: summary.id, text, damage })
}

async fn read(
    open: &OpenSessions,
    choice: &SessionChoice,
) -> anyhow::Result<(SessionSummary, Vec<Event>, Option<SessionsError>)> {
    let (sessions, who) = (&*open.sessions, &open.who);
    let summary = match choice {
        SessionChoice::Session(id) => find_session(sessions, who, id).await?,
        SessionChoice::Last { directory } => {
            find_last_session(sessions, who, directory.as_deref().map(std::path::Path::new)).await?
        }
    };
    let mut events: Vec<Event> = Vec::new();
    loop {
        match sessions.events(who, &summary.id, events.len() as u64, PAGE).await {
            Ok(page) if page.is_empty() => return Ok((summary, events, None)),
            Ok(page) => events.extend(page),
            // The part before the damage is exported all the same.
            Err(error @ SessionsError::Store(StoreError::Corrupt(_))) => {
                return Ok((summary, events, Some(error)));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The events as one array, one event a line.
fn json(events: &[Event]) -> anyhow::Result<String> {
    let lines = events.iter().map(Event::to_json).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}
