//! `buddy export`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, bail};
use buddy_protocol::{Event, Sessions, SessionsError, StoreError, Transcript};
use buddy_tui::{Exit, markdown};

use crate::cli::{Export, ExportFormat};
use crate::commands::{find, last, printer};
use crate::environment::Environment;
use crate::wiring::{Wishes, wire};

/// Events read at once.
const PAGE: usize = 5_000;

/// Writes a session to a file or to the standard output.
pub(crate) async fn run(
    environment: &Environment,
    export: &Export,
    named: Option<&Path>,
) -> anyhow::Result<Exit> {
    let buddy = wire(environment, Wishes::reading()?)?;
    let summary = match &export.id {
        Some(id) => find(&buddy, id).await?,
        None => last(&buddy, named).await?,
    };
    let mut events: Vec<Event> = Vec::new();
    let damage = loop {
        match buddy.hub.events(&buddy.who, &summary.id, events.len() as u64, PAGE).await {
            Ok(page) if page.is_empty() => break None,
            Ok(page) => events.extend(page),
            // What comes before the damage is written all the same.
            Err(error @ SessionsError::Store(StoreError::Corrupt(_))) => break Some(error),
            Err(error) => return Err(error.into()),
        }
    };
    buddy.close().await?;
    let text = match export.format.unwrap_or_else(|| format_of(export.output.as_deref())) {
        ExportFormat::Json => json(&events)?,
        ExportFormat::Markdown => {
            let mut transcript = Transcript::default();
            for event in events {
                transcript.take(event)?;
            }
            markdown(&summary, &transcript)
        }
    };
    let Some(path) = &export.output else {
        let is_printed = printer().answer(&text).is_ok();
        return match damage {
            Some(error) => Err(error.into()),
            None => Ok(if is_printed { Exit::Ok } else { Exit::OutputClosed }),
        };
    };
    write(path, &text, export.force)?;
    printer().status(&format!("{} written", path.display()));
    damage.map_or(Ok(Exit::Ok), |error| Err(error.into()))
}

fn format_of(path: Option<&Path>) -> ExportFormat {
    let extension = path.and_then(Path::extension);
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        ExportFormat::Json
    } else {
        ExportFormat::Markdown
    }
}

/// The events as one array, one event a line.
fn json(events: &[Event]) -> anyhow::Result<String> {
    let lines = events.iter().map(Event::to_json).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

fn write(path: &Path, text: &str, is_forced: bool) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if is_forced {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut file = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{}` already exists; overwrite it with `--force`", path.display())
        }
        file => file.with_context(|| format!("cannot write `{}`", path.display()))?,
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))
}
