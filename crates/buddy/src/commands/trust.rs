//! `buddy trust`.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;

use buddy_tui::Exit;

use crate::cli::Trust;
use crate::commands::{listing, printer};
use crate::config::TrustStore;
use crate::environment::Environment;

/// The longest line that is read as an answer.
const MAX_ANSWER: u64 = 1024;

/// Gives, takes or lists trust.
pub(crate) fn run(environment: &Environment, trust: &Trust, cwd: &Path) -> anyhow::Result<Exit> {
    let store = TrustStore::new(&environment.data);
    let directory = cwd.join(trust.directory.as_deref().unwrap_or(Path::new("")));
    let mut printer = printer();
    if trust.list {
        return listing::print(&trust.listing, store.list()?, |trusted, printer| {
            trusted.iter().try_for_each(|trusted| printer.line(&trusted.path.to_string_lossy()))
        });
    } else if trust.remove {
        let is_removed = store.remove(&directory)?;
        let verdict = if is_removed { "no longer trusted" } else { "was not trusted" };
        printer.status(&format!("{}: {verdict}", directory.display()));
    } else {
        let path = store.add(&directory)?;
        printer.status(&format!("{}: its project files are read from now on", path.display()));
    }
    Ok(Exit::Ok)
}

/// Asks a person at a terminal whether they trust a directory that nobody trusted yet. Without a terminal nothing is
/// asked, and so nothing is trusted.
pub(crate) async fn offer(environment: &Environment, cwd: &Path) -> anyhow::Result<()> {
    let store = TrustStore::new(&environment.data);
    let (input, mut status) = (std::io::stdin(), std::io::stderr());
    if store.covers(cwd) || !input.is_terminal() || !status.is_terminal() {
        return Ok(());
    }
    let mut printer = printer();
    printer.status("");
    printer.tell(&format!("{} is new to buddy.", cwd.display()));
    printer.tell(
        "If you trust it, its AGENTS.md, rules and buddy.toml are read, and files in it can be changed.",
    );
    write!(status, "Do you trust it? [y/n] ")?;
    status.flush()?;
    let reading = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        input.lock().take(MAX_ANSWER).read_line(&mut line).map(|_| line)
    });
    let line = reading.await??;
    if matches!(line.trim(), "y" | "yes") {
        store.add(cwd)?;
    } else {
        printer.status("It is only read then. You can trust it later with: buddy trust");
    }
    Ok(())
}
