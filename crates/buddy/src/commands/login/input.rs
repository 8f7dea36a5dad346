//! What the person types: an address, a name, or a key that is not shown.

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

/// A line of words, without what surrounds it. Empty where the input has ended.
pub(super) async fn line(prompt: &str) -> anyhow::Result<String> {
    put(prompt);
    Ok(read_line().await?.trim().to_owned())
}

/// An API key: from a terminal without showing it, else the one line that a pipe has.
pub(super) async fn key(profile: &str) -> anyhow::Result<SecretString> {
    let key = silent_line(&format!("API key for `{profile}` (not shown): ")).await?;
    key.context("there is no key on the standard input")
}

/// The same for a server that may want none.
pub(super) async fn maybe_key() -> anyhow::Result<Option<SecretString>> {
    silent_line("API key (not shown; enter alone where it wants none): ").await
}

async fn silent_line(prompt: &str) -> anyhow::Result<Option<SecretString>> {
    let silence = Silence::begin();
    put(prompt);
    let line = read_line().await?;
    drop(silence);
    let key = line.trim();
    if line.len() as u64 > MAX_LINE || key.chars().any(|letter| letter.is_control() || letter.is_whitespace())
    {
        bail!("this is no key: it must be one word");
    }
    Ok((!key.is_empty()).then(|| key.into()))
}

/// Asks on a terminal; a pipe knows what it is for.
fn put(prompt: &str) {
    if std::io::stdin().is_terminal() {
        let mut stderr = std::io::stderr();
        let _ = write!(stderr, "{prompt}").and_then(|()| stderr.flush());
    }
}

async fn read_line() -> anyhow::Result<String> {
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().take(MAX_LINE + 1).read_line(&mut line).map(|_| line)
    });
    reading.await.context("reading the input broke off")?.context("cannot read the standard input")
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
