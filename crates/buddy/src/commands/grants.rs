//! `buddy grants`.

use buddy_protocol::Operations;
use buddy_protocol::operations::{RevokeGrants, SaveGrant};
use buddy_tui::{Exit, Printer};

use crate::cli::GrantsFlags;
use crate::commands::listing;
use crate::invocation::Invocation;
use crate::rendering::grants_table;

/// Lists grants, gives one, or takes them back.
pub(crate) async fn run(invocation: &Invocation<'_>, grants: &GrantsFlags) -> anyhow::Result<Exit> {
    let operations = invocation.operations();
    let mut printer = Printer::standard();
    if let Some(pattern) = &grants.allow {
        let lasts_ms = grants.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let request = SaveGrant { pattern: pattern.clone(), is_everywhere: grants.everywhere, lasts_ms };
        operations.save_grant(operations.owner(), request).await?;
        printer.status("Allowed. List and revoke it with `buddy grants`.");
        return Ok(Exit::Ok);
    }
    if grants.revoke_all || !grants.revoke.is_empty() {
        let request =
            if grants.revoke_all { RevokeGrants::All } else { RevokeGrants::Places(grants.revoke.clone()) };
        let count = operations.revoke_grants(operations.owner(), request).await?;
        printer.status(&format!("{count} revoked"));
        return Ok(if count > 0 || grants.revoke_all { Exit::Ok } else { Exit::Failed });
    }
    let saved = operations.list_grants(operations.owner()).await?;
    listing::print(invocation, &grants.listing, saved, |saved, view, printer| {
        grants_table(saved, view).hint("Revoke one with `buddy grants --revoke N`").print(view, printer)
    })
}
