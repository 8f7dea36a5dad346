//! `buddy asks`: the inbox.

use buddy_protocol::Sessions;
use buddy_tui::{Exit, show_asks};

use crate::cli::ListFlags;
use crate::commands::listing;
use crate::invocation::Invocation;
use crate::wiring::{Wishes, wire};

/// Lists what waits.
pub(crate) async fn list(invocation: &Invocation<'_>, listing: &ListFlags) -> anyhow::Result<Exit> {
    let buddy = wire(invocation.environment, Wishes::reading()?)?;
    let asks = buddy.hub.asks(&buddy.who).await?;
    buddy.close().await?;
    listing::print(invocation, listing, asks, show_asks)
}
