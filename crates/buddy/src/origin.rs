//! The name by which other hosts know this buddy: panes that it has there are in a directory of that name.
//!
//! The name of the machine says too little: two machines may have the same, and two accounts on one machine do. So a number that
//! was drawn once is a part of it.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use buddy_exec::session_name;

use crate::config::private_file;

/// Where the number is kept, below the data directory.
const FILE: &str = "run/origin";
/// How many digits of it there are: enough that nobody draws the same, and few, as a socket's path is short.
const DIGITS: usize = 12;
/// The most that is taken of the name of the machine.
const MAX_NAME_CHARS: usize = 20;

/// The name of this machine and account to other hosts.
pub(crate) fn origin(data: &Path, machine: &str) -> anyhow::Result<String> {
    let path = data.join(FILE);
    let number = number(&path).with_context(|| format!("in `{}`", path.display()))?;
    let name: String = session_name(machine).chars().take(MAX_NAME_CHARS).collect();
    Ok(format!("{name}-{number}"))
}

fn number(path: &Path) -> anyhow::Result<String> {
    if !path.exists() {
        path.parent().map_or(Ok(()), private_file::make_directory)?;
        // The digits at the end are drawn by chance; those at the beginning are the time.
        let drawn = uuid::Uuid::now_v7().simple().to_string();
        let number = drawn.get(drawn.len().saturating_sub(DIGITS)..).unwrap_or_default();
        match private_file::create(path, number) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            // The first one has drawn for all.
            _ => {}
        }
    }
    let kept = std::fs::read_to_string(path)?;
    let kept = kept.trim();
    if kept.len() != DIGITS || !kept.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        bail!("it does not hold a number of {DIGITS} digits; remove the file, and buddy creates a new one");
    }
    Ok(kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_accounts_on_machines_of_one_name_are_two_and_each_stays_the_same() {
        let (ann, bob) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = |data: &Path| origin(data, "a machine with a name that is long enough").unwrap();
        assert_ne!(name(ann.path()), name(bob.path()));
        assert_eq!(name(ann.path()), name(ann.path()));
        assert!(name(ann.path()).starts_with("buddy-a-machine-with-"), "{}", name(ann.path()));
        assert!(name(ann.path()).len() <= 40);
    }

    #[test]
    fn a_number_that_is_none_is_not_believed() {
        let data = tempfile::tempdir().unwrap();
        std::fs::create_dir(data.path().join("run")).unwrap();
        std::fs::write(data.path().join(FILE), "../../elsewhere").unwrap();
        assert!(origin(data.path(), "atlas").is_err());
    }
}
