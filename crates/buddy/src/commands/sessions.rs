//! `buddy sessions` and `buddy show`.

use std::path::Path;

use buddy_protocol::{SearchQuery, SessionQuery, Sessions, SessionsError, StoreError, Transcript};
use buddy_tui::{Exit, OutputClosed, Printer, show_found, show_sessions, show_transcript};

use crate::cli::{List, Show};
use crate::commands::listing;
use crate::environment::Environment;
use crate::invocation::Invocation;
use crate::session_choice::{find_last_session, find_session};
use crate::start_error::UsageError;
use crate::wiring::{Buddy, Wishes, wire};

/// Events read at once.
const PAGE: usize = 5_000;

/// How many sessions are listed unless somebody says otherwise.
const MOST: usize = 50;

fn most(list: &List) -> usize {
    list.listing.limit.unwrap_or(MOST)
}

fn reader(environment: &Environment) -> anyhow::Result<Buddy> {
    wire(environment, Wishes::reading()?)
}

/// Lists sessions.
pub(crate) async fn list(invocation: &Invocation<'_>, list: &List) -> anyhow::Result<Exit> {
    let here = list.here.then(|| invocation.cwd.to_string_lossy().into_owned());
    let buddy = reader(invocation.environment)?;
    if let Some(words) = &list.grep {
        return search(buddy, words, here.as_deref(), invocation, list).await;
    }
    let query = SessionQuery { cwd: here, limit: most(list), ..SessionQuery::default() };
    let sessions = buddy.hub.list(&buddy.who, query).await?.sessions;
    buddy.close().await?;
    listing::print(invocation, &list.listing, sessions, |sessions, view, printer| {
        // A conversation that was left before anything was said is of no use to people.
        let begun: Vec<_> = sessions.iter().filter(|session| session.turns > 0).cloned().collect();
        let is_cut = sessions.len() == most(list);
        let more =
            if is_cut { format!(", list more with `--limit {}`", most(list) * 4) } else { String::new() };
        show_sessions(&begun, &more, view, printer)
    })
}

/// Lists sessions in which words were said.
async fn search(
    buddy: Buddy,
    words: &str,
    here: Option<&str>,
    invocation: &Invocation<'_>,
    list: &List,
) -> anyhow::Result<Exit> {
    let query = SearchQuery { cwd: here.map(str::to_owned), limit: most(list), ..SearchQuery::new(words) };
    let found = buddy.hub.search(&buddy.who, query).await?.found;
    buddy.close().await?;
    listing::print(invocation, &list.listing, found, show_found)
}

/// Shows a session.
pub(crate) async fn show(
    environment: &Environment,
    show: &Show,
    named: Option<&Path>,
) -> anyhow::Result<Exit> {
    if show.id.is_none() && !show.last {
        let hint =
            "no session is named; use `buddy show ID` or `buddy show --last`; `buddy sessions` lists the ids";
        return Err(UsageError::new(hint).into());
    }
    let buddy = reader(environment)?;
    let summary = match &show.id {
        Some(id) => find_session(&*buddy.hub, &buddy.who, id).await?,
        None => find_last_session(&*buddy.hub, &buddy.who, named).await?,
    };
    let mut printer = Printer::standard();
    let mut transcript = Transcript::default();
    let damage = loop {
        let page = match buddy.hub.events(&buddy.who, &summary.id, transcript.head(), PAGE).await {
            Ok(page) if page.is_empty() => break None,
            Ok(page) => page,
            // The part before the damage is shown all the same.
            Err(error @ SessionsError::Store(StoreError::Corrupt(_))) => break Some(error),
            Err(error) => return Err(error.into()),
        };
        for event in &page {
            transcript.apply(event)?;
            if show.json && printer.line(&event.to_json()?).is_err() {
                return Ok(Exit::OutputClosed);
            }
        }
    };
    buddy.close().await?;
    let printed = if show.json { Ok(()) } else { show_transcript(&transcript, &mut printer) };
    match damage {
        Some(error) => Err(error.into()),
        None => Ok(outcome(&printed)),
    }
}

fn outcome(printed: &Result<(), OutputClosed>) -> Exit {
    if printed.is_ok() { Exit::Ok } else { Exit::OutputClosed }
}
