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
    let (mut asks, mut after) = (Vec::new(), None);
    // A cursor only ever moves on, so there are no more pages than sessions.
    loop {
        let page = buddy.hub.asks(&buddy.who, after).await?;
        asks.extend(page.asks);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    buddy.close().await?;
    listing::print(invocation, listing, asks, show_asks)
}
