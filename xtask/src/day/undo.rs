//! The evening of the day: everything but the pushes is taken back, and what is there then is held against the morning.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::repository::Repository;

/// Prints what undo promises to restore: files of the project by path, mode and content, with the repository's own, and what git makes
/// of them. Directories that `.gitignore` names are not kept. Objects and logs only grow, and the remote branches tell of the pushes.
const STATE: &str = include_str!("fixtures/state.sh");
/// Differences that are told.
const MOST_TOLD: usize = 5;

/// The files in a repository, by its name.
pub(crate) struct RepositoryState(BTreeMap<String, String>);

impl RepositoryState {
    pub(crate) fn look(repository: &Repository<'_>) -> Result<Self> {
        let text = repository.output("/bin/bash", &["-ec", STATE])?;
        let pair =
            |line: &str| line.split_once('\t').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let state: BTreeMap<String, String> = text.lines().filter_map(pair).collect();
        ensure!(!state.is_empty(), "the repository is empty");
        Ok(Self(state))
    }

    /// The paths that are not as they were.
    fn differences(&self, before: &Self) -> Vec<String> {
        let names = before.0.keys().chain(self.0.keys().filter(|name| !before.0.contains_key(*name)));
        let differs = |name: &&String| before.0.get(*name) != self.0.get(*name);
        let value =
            |state: &Self, name: &String| state.0.get(name).cloned().unwrap_or_else(|| "nothing".to_owned());
        let told = |name: &String| {
            format!(
                "{} is `{}` and was `{}`",
                name.trim(),
                value(self, name).trim(),
                value(before, name).trim()
            )
        };
        names.filter(differs).map(told).collect()
    }
}

/// How the evening went.
pub(crate) struct Undone {
    /// How many entries were taken back.
    pub(crate) entries: usize,
    /// Why it did not work.
    pub(crate) failure: Option<String>,
}

/// Takes back every entry, the newest first.
pub(crate) fn undo(repository: &Repository<'_>, before: &RepositoryState) -> Result<Undone> {
    let buddy = repository.program();
    let listed = repository.output(&buddy, &["undo", "--list", "--json"])?;
    let entries: Vec<Value> = serde_json::from_str(&listed).context("the list of entries cannot be read")?;
    let mut failures = Vec::new();
    for entry in &entries {
        let id = entry["header"]["id"].as_str().context("an entry without an id")?;
        if let Err(error) = repository.output(&buddy, &["undo", id, "--yes"]) {
            failures.push(format!("{}: {error}", entry["header"]["label"].as_str().unwrap_or(id)));
        }
    }
    failures.extend(RepositoryState::look(repository)?.differences(before));
    let is_whole = failures.is_empty();
    failures.truncate(MOST_TOLD);
    Ok(Undone { entries: entries.len(), failure: (!is_whole).then(|| failures.join("; ")) })
}
