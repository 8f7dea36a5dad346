//! `buddy asks`: the inbox.

use buddy_protocol::Sessions;
use buddy_tui::{Exit, show_asks};

use crate::commands::printer;
use crate::environment::Environment;
use crate::wiring::{Wishes, wire};

/// Lists what waits.
pub(crate) async fn list(environment: &Environment, json: bool) -> anyhow::Result<Exit> {
    let buddy = wire(environment, Wishes::reading()?)?;
    let asks = buddy.hub.asks(&buddy.who).await?;
    buddy.close().await?;
    let mut printer = printer();
    let printed = if json {
        printer.line(&serde_json::to_string_pretty(&asks)?)
    } else {
        show_asks(&asks, &mut printer)
    };
    Ok(if printed.is_ok() { Exit::Ok } else { Exit::OutputClosed })
}
