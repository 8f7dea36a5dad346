//! What the person types: an address, or a key that is not shown.

use std::io::{BufRead, IsTerminal, Read, Write};

use anyhow::{Context, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

/// The longest line that is read; addresses and keys have a few hundred bytes.
const MAX_LINE: u64 = 64 * 1024;

/// The first line that has something in it. An input that ends before never resolves: the browser may still come back.
pub(super) async fn pasted() -> String {
    let line = tokio::task::spawn_blocking(|| {
        let mut lines = std::io::stdin().lock().take(MAX_LINE).lines();
        lines.find_map(|line| line.ok().filter(|line| !line.trim().is_empty()))
    });
    match line.await {
        Ok(Some(line)) => line,
        _ => std::future::pending().await,
    }
}

/// An API key: from a terminal without showing it, else the one line that a pipe has.
pub(super) async fn key(profile: &str) -> anyhow::Result<SecretString> {
    let silence = Silence::begin();
    if std::io::stdin().is_terminal() {
        let mut stderr = std::io::stderr();
        let _ = write!(stderr, "API key for `{profile}` (not shown): ").and_then(|()| stderr.flush());
    }
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().take(MAX_LINE + 1).read_line(&mut line).map(|_| line)
    });
    let line =
        reading.await.context("reading the key broke off")?.context("cannot read the standard input")?;
    drop(silence);
    let key = line.trim();
    if key.is_empty() {
        bail!("there is no key on the standard input");
    }
    if line.len() as u64 > MAX_LINE || key.chars().any(|letter| letter.is_control() || letter.is_whitespace())
    {
        bail!("this is no key: it must be one word");
    }
    Ok(key.into())
}

/// A terminal that shows nothing of what is typed, until this is dropped.
struct Silence {
    before: Option<Termios>,
}

impl Silence {
    fn begin() -> Self {
        let Ok(before) = tcgetattr(rustix::stdio::stdin()) else { return Self { before: None } };
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let is_set = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &silent).is_ok();
        Self { before: is_set.then_some(before) }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, before);
            // The line break that was typed was not shown either.
            let _ = writeln!(std::io::stderr());
        }
    }
}
