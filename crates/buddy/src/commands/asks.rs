//! `buddy asks`: the inbox.

use buddy_protocol::Sessions;
use buddy_tui::{Exit, show_asks};

use crate::cli::Listing;
use crate::commands::listing;
use crate::environment::Environment;
use crate::wiring::{Wishes, wire};

/// Lists what waits.
pub(crate) async fn list(environment: &Environment, listing: &Listing) -> anyhow::Result<Exit> {
    let buddy = wire(environment, Wishes::reading()?)?;
    let asks = buddy.hub.asks(&buddy.who).await?;
    buddy.close().await?;
    listing::print(listing, asks, show_asks)
}
