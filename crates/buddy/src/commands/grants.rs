//! `buddy grants`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use buddy_policy::{Grant, connects_with_git};
use buddy_protocol::MAX_GRANT_SECONDS;
use buddy_tui::{Exit, ListView, Table, TableColumn};

use crate::cli::Grants;
use crate::commands::setup::Invocation;
use crate::commands::{listing, printer};
use crate::policy::{GrantBook, Kept};
use crate::system::SystemClock;

/// The target that grants of the command line are about.
const LOCAL: &str = "local";

const COLUMNS: [TableColumn; 5] = [
    TableColumn::number("N"),
    TableColumn::free("ALLOWS"),
    TableColumn::free("FOLDER"),
    TableColumn::word("TARGET").dropped_at(2),
    TableColumn::word("EXPIRES").dropped_at(1),
];

/// Lists grants, gives one, or takes them back.
pub(crate) fn run(invocation: &Invocation<'_>, grants: &Grants) -> anyhow::Result<Exit> {
    let book = GrantBook::new(&invocation.environment.data, Arc::new(SystemClock));
    let mut printer = printer();
    if let Some(pattern) = &grants.allow {
        let longest = Duration::from_secs(MAX_GRANT_SECONDS);
        let grant = Grant::command(pattern, LOCAL)?;
        if connects_with_git(pattern) {
            bail!(
                "cannot save `{pattern}`: buddy allows git to connect only to the place that its question shows. Answer that question \
                 with `a` or `p`, or put `{pattern}` under `allow` in your own rules.toml."
            );
        }
        let project = (!grants.everywhere).then_some(invocation.cwd.as_path());
        book.add(grant, project, grants.time.unwrap_or(longest).min(longest))?;
        printer.status("Allowed. List and revoke it with `buddy grants`.");
        return Ok(Exit::Ok);
    }
    if grants.revoke_all || !grants.revoke.is_empty() {
        let places = (!grants.revoke_all).then_some(grants.revoke.as_slice());
        let count = book.revoke(places)?;
        printer.status(&format!("{count} revoked"));
        return Ok(if count > 0 || grants.revoke_all { Exit::Ok } else { Exit::Failed });
    }
    listing::print(invocation, &grants.listing, book.list()?, |kept, view, printer| {
        table(kept, view).hint("Revoke one with `buddy grants --revoke N`").print(view, printer)
    })
}

fn table(kept: &[Kept], view: &ListView) -> Table {
    let mut table = Table::new(&COLUMNS, "No saved permissions.");
    for (number, kept) in (1..).zip(kept) {
        let target = &kept.grant.target;
        let project = kept.project.as_ref().map(|project| view.path(&project.to_string_lossy()));
        table.add([
            number.to_string().into(),
            kept.grant.to_string().into(),
            project.unwrap_or_else(|| "everywhere".to_owned()).into(),
            if target == LOCAL { "".into() } else { target.as_str().into() },
            view.time(kept.expires).into(),
        ]);
    }
    table
}
