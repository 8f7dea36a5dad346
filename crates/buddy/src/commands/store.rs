//! `buddy store`.

use buddy_tui::{Exit, counted};

use crate::cli::Store;
use crate::commands::printer;
use crate::environment::Environment;
use crate::wiring::open_store;

/// Looks after the store.
pub(crate) async fn run(environment: &Environment, action: Store) -> anyhow::Result<Exit> {
    let store = open_store(environment)?;
    let (text, exit) = match action {
        Store::Check => {
            let report = store.check().await?;
            let counted = format!(
                "{}, {} checked",
                counted(report.sessions, "session"),
                counted(report.events, "event")
            );
            let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            let verdict = if findings.is_empty() { "all is well".to_owned() } else { findings.join("\n") };
            let exit = if report.findings.is_empty() { Exit::Ok } else { Exit::Failed };
            (format!("{counted}\n{verdict}\n"), exit)
        }
        Store::Rebuild => {
            let rebuilt = store.rebuild().await?;
            let text = format!(
                "{} made anew from {}\n",
                counted(rebuilt.after, "session"),
                counted(rebuilt.events, "event")
            );
            (text, Exit::Ok)
        }
        Store::Backup { path } => {
            let backup = store.backup(path.clone()).await?;
            (format!("{} copied to {}\n", counted(backup.events, "event"), path.display()), Exit::Ok)
        }
    };
    store.close().await?;
    let is_printed = printer().answer(&text).is_ok();
    Ok(if is_printed { exit } else { Exit::OutputClosed })
}
