//! `buddy trust`.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;

use buddy_tui::{Alternatives, Chosen, Exit, Look, choose};

use crate::cli::Trust;
use crate::commands::login::has_screen;
use crate::commands::setup::Invocation;
use crate::commands::{listing, printer};
use crate::config::{TrustStore, load};
use crate::desk::look;
use crate::environment::Environment;

/// How often the question is put to somebody who does not answer it.
const MAX_TRIES: usize = 20;
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
        printer.status(&format!(
            "{}: its project files are read from now on, and files in it can be changed",
            path.display()
        ));
    }
    Ok(Exit::Ok)
}

/// What became of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It was answered, or there was nothing to ask.
    Settled,
    /// The person wants to leave.
    Left,
}

/// Asks a person at a terminal whether they trust a directory about which they said nothing yet. Without a terminal nothing
/// is asked, and so nothing is trusted.
pub(crate) async fn offer(invocation: &Invocation<'_>) -> anyhow::Result<Offered> {
    let (environment, cwd) = (invocation.environment, &invocation.cwd);
    let store = TrustStore::new(&environment.data);
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if store.covers(cwd) || store.is_read_only(cwd) || !is_terminal {
        return Ok(Offered::Settled);
    }
    // A configuration that cannot be read is told when it is needed.
    let display = load(environment, cwd, &invocation.request).ok().map(|loaded| loaded.config.display);
    let chosen = match display.filter(|display| has_screen(environment, display.screen_reader)) {
        Some(display) => by_key(cwd, &look(environment, &display), environment).await?,
        None => by_line(cwd).await?,
    };
    match chosen {
        Some(true) => drop(store.add(cwd)?),
        Some(false) => {
            store.refuse(cwd)?;
            printer().tell("It is only read. /trust, or `buddy trust`, changes that.");
        }
        None => return Ok(Offered::Left),
    }
    Ok(Offered::Settled)
}

fn words(cwd: &Path) -> [String; 2] {
    [
        format!("{} is new to buddy.", cwd.display()),
        "If you trust it, its AGENTS.md, rules and buddy.toml are read, and files in it can be changed."
            .to_owned(),
    ]
}

/// One key answers. None if the person wants to leave.
async fn by_key(cwd: &Path, look: &Look, environment: &Environment) -> anyhow::Result<Option<bool>> {
    let [new, trust] = words(cwd);
    let answers = [("No, only read it", "nothing in it is changed"), ("Yes, I trust it", "")];
    let question = Alternatives {
        lines: vec![String::new(), new, trust, "Do you trust it?".to_owned()],
        answers: answers.map(|(name, note)| (name.to_owned(), note.to_owned())).to_vec(),
        letters: &['n', 'y'],
        escape: "only reads it",
    };
    Ok(match choose(&question, look, environment.get("TMUX").is_some()).await? {
        Chosen::At(place) => Some(place == 1),
        Chosen::Escape => Some(false),
        Chosen::Leave => None,
    })
}

/// A line answers, where rows cannot be painted over. What is no answer is asked for again; an input that ends leaves.
async fn by_line(cwd: &Path) -> anyhow::Result<Option<bool>> {
    let mut printer = printer();
    printer.status("");
    for line in words(cwd) {
        printer.tell(&line);
    }
    for _ in 0..MAX_TRIES {
        let mut status = std::io::stderr();
        write!(status, "Do you trust it? y or n, enter alone is n: ")?;
        status.flush()?;
        let reading = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut line).map(|count| (count, line))
        });
        let (count, line) = reading.await??;
        match line.trim() {
            _ if count == 0 => return Ok(None),
            "y" | "yes" => return Ok(Some(true)),
            "n" | "no" | "" => return Ok(Some(false)),
            other => printer.tell(&format!("`{other}` is no answer.")),
        }
    }
    Ok(None)
}
