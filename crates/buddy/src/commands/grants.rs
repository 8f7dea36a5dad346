//! `buddy grants`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use buddy_policy::Grant;
use buddy_protocol::MAX_GRANT_SECONDS;
use buddy_tui::{Exit, local_time};

use crate::cli::Grants;
use crate::commands::{listing, printer};
use crate::environment::Environment;
use crate::policy::{GrantBook, Kept};
use crate::system::SystemClock;

/// The target that grants of the command line are about.
const LOCAL: &str = "local";

/// Lists grants, gives one, or takes them back.
pub(crate) fn run(environment: &Environment, grants: &Grants, cwd: &Path) -> anyhow::Result<Exit> {
    let book = GrantBook::new(&environment.data, Arc::new(SystemClock));
    let mut printer = printer();
    if let Some(pattern) = &grants.allow {
        let longest = Duration::from_secs(MAX_GRANT_SECONDS);
        let grant = Grant::command(pattern, LOCAL)?;
        let project = (!grants.everywhere).then_some(cwd);
        book.add(grant, project, grants.time.unwrap_or(longest).min(longest))?;
        printer.status("allowed; `buddy grants` lists it and takes it back");
        return Ok(Exit::Ok);
    }
    if grants.revoke_all || !grants.revoke.is_empty() {
        let places = (!grants.revoke_all).then_some(grants.revoke.as_slice());
        let count = book.revoke(places)?;
        printer.status(&format!("{count} taken back"));
        return Ok(if count > 0 || grants.revoke_all { Exit::Ok } else { Exit::Failed });
    }
    listing::print(&grants.listing, book.list()?, |kept, printer| {
        if kept.is_empty() {
            printer.status("nothing is allowed for longer than a session");
        }
        (1..)
            .zip(kept)
            .try_for_each(|(number, kept)| printer.answer(&format!("{number:>3}. {}\n", line(kept))))
    })
}

fn line(kept: &Kept) -> String {
    let place = match &kept.project {
        Some(project) => format!("in {}", project.display()),
        None => "everywhere".to_owned(),
    };
    let target = &kept.grant.target;
    let on = if target == LOCAL { String::new() } else { format!(" on {target}") };
    format!("{}  {place}{on}, until {}", kept.grant, local_time(kept.expires))
}
