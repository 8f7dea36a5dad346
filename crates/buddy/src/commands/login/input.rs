//! Input of the user: an address, a name, or a key that is not shown.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

/// The longest line that is read; addresses and keys have a few hundred bytes.
const MAX_LINE: u64 = 64 * 1024;

/// How often a wait for a line looks whether it is still wanted.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The kinds of line that are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pasted {
    /// The first one that has something in it.
    Filled,
    /// The first one.
    Any,
}

/// A line beside something else that is waited for. An input that ends before never resolves: the browser may still come back. Nothing
/// is read any more once this is dropped, so that what is typed then reaches whoever asks next.
pub(super) async fn pasted(wanted: Pasted) -> String {
    let wish = Wish(Arc::default());
    let is_over = wish.0.clone();
    let line = tokio::task::spawn_blocking(move || first_line(wanted, &is_over)).await;
    match line {
        Ok(Some(line)) => line,
        _ => std::future::pending().await,
    }
}

/// Tells the one who reads, when it is dropped, that nobody waits any more.
struct Wish(Arc<AtomicBool>);

impl Drop for Wish {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn first_line(wanted: Pasted, is_over: &AtomicBool) -> Option<String> {
    let stdin = rustix::stdio::stdin();
    let mut read = Vec::new();
    loop {
        let is_ready = match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK)) {
            Ok(count) => count > 0,
            Err(Errno::INTR) => false,
            Err(_) => return None,
        };
        if is_over.load(Ordering::Relaxed) {
            return None;
        }
        if !is_ready {
            continue;
        }
        let mut piece = [0; 4096];
        let count = rustix::io::read(stdin, &mut piece).ok().filter(|count| *count > 0)?;
        read.extend(piece.get(..count)?);
        if read.len() as u64 > MAX_LINE {
            return None;
        }
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if wanted == Pasted::Any || !line.is_empty() {
                return Some(line);
            }
        }
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
    key.context(if std::io::stdin().is_terminal() {
        "no key was entered, so nothing changed"
    } else {
        "there is no key on stdin; pipe it in, such as with `buddy login NAME < FILE`"
    })
}

/// The same for a server that may want none.
pub(super) async fn maybe_key() -> anyhow::Result<Option<SecretString>> {
    silent_line("API key (not shown; press Enter if none is needed): ").await
}

async fn silent_line(prompt: &str) -> anyhow::Result<Option<SecretString>> {
    let silence = Silence::begin();
    put(prompt);
    let line = read_line().await?;
    drop(silence);
    let key = line.trim();
    if line.len() as u64 > MAX_LINE || key.chars().any(|letter| letter.is_control() || letter.is_whitespace())
    {
        bail!("this is not a key: a key is one word");
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
    reading.await.context("reading the input failed")?.context("cannot read stdin")
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
