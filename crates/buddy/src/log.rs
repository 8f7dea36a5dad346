//! Where buddy's own log goes: to the standard error, or to a file while a conversation is painted on the terminal.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use crate::environment::Environment;

/// A larger file is begun anew.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Begins the log. Of a conversation at a terminal it goes to a file: a line of it would stand in the middle of the screen.
pub(crate) fn begin(environment: &Environment, is_conversation: bool) -> anyhow::Result<()> {
    let wish = environment.log.as_deref().unwrap_or("error");
    let filter = EnvFilter::try_new(wish).context("BUDDY_LOG is not a log filter")?;
    let is_painted = is_conversation && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let file = if is_painted { open(&environment.data.join("logs")).ok() } else { None };
    let log = tracing_subscriber::fmt().with_env_filter(filter);
    match file {
        Some(file) => log.with_ansi(false).with_writer(file).init(),
        None => log.with_writer(std::io::stderr).init(),
    }
    Ok(())
}

fn open(directory: &Path) -> std::io::Result<File> {
    crate::config::private_file::make_directory(directory)?;
    let path = directory.join("buddy.log");
    let is_long = std::fs::metadata(&path).is_ok_and(|data| data.len() > MAX_BYTES);
    OpenOptions::new().create(true).append(!is_long).write(is_long).truncate(is_long).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_file_is_added_to_until_it_is_long() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("buddy.log");
        open(home.path()).unwrap().write_all(b"one\n").unwrap();
        open(home.path()).unwrap().write_all(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        File::options().write(true).open(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        open(home.path()).unwrap().write_all(b"three\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three\n");
    }
}
