//! `buddy trust`.

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
