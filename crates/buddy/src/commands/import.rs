//! `buddy import`: sessions of older programs become ordinary ones.

use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use buddy_agent::BuddyAgent;
use buddy_protocol::{Principal, SessionStore, UnixMillis};
use buddy_store::SqliteStore;
use buddy_tui::{Exit, Printer, counted};

use crate::cli::Import;
use crate::environment::Environment;
use crate::legacy::{self, LegacyPlace};
use crate::wiring::open_store;

/// How much of a file's complaints is told.
const TOLD: usize = 5;

/// The outcome of a file.
enum ImportOutcome {
    Imported { session: String, not_understood: Vec<String> },
    Known,
}

/// Imports what is new.
pub(crate) async fn run(environment: &Environment, import: &Import, cwd: &Path) -> anyhow::Result<Exit> {
    let directory = import.project.as_deref().unwrap_or(cwd);
    let directory =
        directory.canonicalize().with_context(|| format!("cannot read `{}`", directory.display()))?;
    let files = legacy::files(&directory)?;
    let mut printer = Printer::standard();
    if files.is_empty() {
        bail!(
            "there are no older sessions in `{}`: neither .buddyx/sessions nor .agentx/sessions has any",
            directory.display()
        );
    }
    let store = open_store(environment)?;
    let (mut imported, mut known, mut failed) = (0_usize, 0_usize, 0_usize);
    for file in &files {
        match import_one(&store, environment, &directory, file).await {
            Ok(ImportOutcome::Imported { session, not_understood }) => {
                imported += 1;
                printer.answer(&format!("{session}  {}\n", file.display())).ok();
                for line in not_understood.iter().take(TOLD) {
                    printer.status(&format!("  {}: {line}", file.display()));
                }
                if not_understood.len() > TOLD {
                    printer.status(&format!(
                        "  {}: and {} more",
                        file.display(),
                        not_understood.len() - TOLD
                    ));
                }
            }
            Ok(ImportOutcome::Known) => known += 1,
            Err(error) => {
                failed += 1;
                printer.status(&format!("{}: not imported: {error:#}", file.display()));
            }
        }
    }
    store.close().await?;
    printer.status(&format!(
        "{} imported, {known} already here, {failed} unreadable",
        counted(imported as u64, "session")
    ));
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}

async fn import_one(
    store: &Arc<SqliteStore>,
    environment: &Environment,
    directory: &Path,
    file: &Path,
) -> anyhow::Result<ImportOutcome> {
    let session = legacy::open(file)?;
    let id = legacy::session_id(&session);
    if store.find(&id).await?.is_some() {
        return Ok(ImportOutcome::Known);
    }
    let place = LegacyPlace {
        owner: Principal::person(environment.user.clone()),
        agent: BuddyAgent::NAME.to_owned(),
        cwd: directory.to_string_lossy().into_owned(),
        file: file.display().to_string(),
        changed: changed(file),
    };
    let (events, not_understood) = legacy::events(session, &place);
    // One append, so that a session is there wholly or not at all.
    store.writer(&id).await?.append(events.into_iter().map(Arc::new).collect()).await?;
    Ok(ImportOutcome::Imported { session: id.to_string(), not_understood })
}

fn changed(file: &Path) -> UnixMillis {
    let time = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    UnixMillis(since.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or_default())
}
