//! `buddy trust`.

use std::io::{IsTerminal, Write};
use std::path::Path;

use buddy_tui::Exit;

use crate::cli::Trust;
use crate::commands::printer;
use crate::config::TrustStore;
use crate::environment::Environment;

/// Gives, takes or lists trust.
pub(crate) fn run(environment: &Environment, trust: &Trust, cwd: &Path) -> anyhow::Result<Exit> {
    let store = TrustStore::new(&environment.data);
    let directory = cwd.join(trust.directory.as_deref().unwrap_or(Path::new("")));
    let mut printer = printer();
    if trust.list {
        for trusted in store.list()? {
            printer.line(&trusted.path.to_string_lossy())?;
        }
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
pub(crate) fn offer(environment: &Environment, cwd: &Path) -> anyhow::Result<()> {
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
    let mut line = String::new();
    input.read_line(&mut line)?;
    if matches!(line.trim(), "y" | "yes") {
        store.add(cwd)?;
    } else {
        printer.status("It is only read then. You can trust it later with: buddy trust");
    }
    Ok(())
}
