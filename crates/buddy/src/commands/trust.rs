//! `buddy trust`.

use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;

use anyhow::Context;
use buddy_protocol::Operations;
use buddy_protocol::operations::{DistrustFolder, ReviewFolder, TrustFolder};
use buddy_tui::{Chosen, Exit, FolderQuestion, Printer, Table, TableColumn, TerminalLook, ask_about_folder};

use crate::cli::Trust;
use crate::commands::listing;
use crate::commands::login::has_screen;
use crate::config::{RULES_FILE, TrustStore, UntrustedChange, load};
use crate::desk::look;
use crate::environment::Environment;
use crate::invocation::Invocation;
use crate::operations::HomeOperations;
use crate::rendering::{print_distrusted, print_trusted};

/// How often the question is put to somebody who does not answer it.
const MAX_TRIES: usize = 20;
/// The longest line that is read as an answer.
const MAX_ANSWER: u64 = 1024;
/// The question about a folder that is new.
const TRUST: &str = "Do you trust this folder?";
/// The question about changes that are shown above it.
const ACCEPT: &str = "Let the changes take effect?";

/// Gives, takes or lists trust.
pub(crate) async fn run(invocation: &Invocation<'_>, trust: &Trust) -> anyhow::Result<Exit> {
    let operations = invocation.operations();
    if trust.list {
        let trusted = operations.list_trusted_folders(operations.owner()).await?;
        return listing::print(invocation, &trust.listing, trusted, |trusted, view, printer| {
            let mut table = Table::new(&[TableColumn::free("FOLDER")], "No trusted folders.");
            for folder in trusted {
                table.add([view.path(&folder.path).into()]);
            }
            table.hint("Stop trusting one with `buddy trust --remove FOLDER`").print(view, printer)
        });
    }
    let directory = invocation.cwd.join(trust.directory.as_deref().unwrap_or(Path::new("")));
    let folder = named_folder(&directory)?;
    if trust.remove {
        print_distrusted(
            &directory,
            operations.distrust_folder(operations.owner(), DistrustFolder { folder }).await?,
            &mut Printer::standard(),
        );
        return Ok(Exit::Ok);
    }
    give(&operations, folder).await
}

fn named_folder(directory: &Path) -> anyhow::Result<String> {
    Ok(directory.to_str().context("the folder's name is not text")?.to_owned())
}

/// Trusts a directory with its files as they are. Changes since it was trusted are shown, and a user at a terminal is asked.
async fn give(operations: &HomeOperations, folder: String) -> anyhow::Result<Exit> {
    let mut printer = Printer::standard();
    let seen = operations.review_folder(operations.owner(), ReviewFolder { folder: folder.clone() }).await?;
    if !seen.is_empty() {
        for line in seen.iter().flat_map(|change| &change.diff) {
            printer.status(line);
        }
        if is_terminal() {
            printer.prompt(&format!("{ACCEPT} [y/N] "));
            let mut line = String::new();
            std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut line)?;
            if !matches!(line.trim(), "y" | "yes") {
                printer.status("Nothing changed: the version that you trusted stays in effect.");
                return Ok(Exit::Failed);
            }
        }
    }
    print_trusted(
        &operations.trust_folder(operations.owner(), TrustFolder { folder, seen }).await?,
        &mut printer,
    );
    Ok(Exit::Ok)
}

/// Shows changes, so that they stay in view above the question.
fn show(changes: &[UntrustedChange]) {
    let mut printer = Printer::standard();
    for line in changes.iter().flat_map(UntrustedChange::diff) {
        printer.status(&line);
    }
}

/// The outcome of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It was answered, or there was nothing to ask.
    Settled,
    /// The user wants to leave.
    Left,
}

/// A question about a folder, with yes and no. Enter alone, and Esc, is no.
struct TrustQuestion(FolderQuestion);

/// Asks a user at a terminal whether they trust a directory about which they said nothing yet, and whether they accept what
/// changed in one that they trust. Without a terminal nothing is asked, and so nothing is trusted.
pub(crate) async fn offer(invocation: &Invocation<'_>) -> anyhow::Result<Offered> {
    let (environment, cwd) = (invocation.environment, &invocation.cwd);
    let store = TrustStore::new(&environment.data);
    if store.covers(cwd) {
        return review(invocation).await;
    }
    if store.is_read_only(cwd) || !is_terminal() {
        return Ok(Offered::Settled);
    }
    let question = FolderQuestion {
        title: [TRUST, "Trust this folder?"],
        tail: "Asked once",
        folder: cwd.display().to_string(),
        finds: find_control_files(cwd).join(", "),
        yes: ["buddy reads its settings and can change files here", "changes files here"],
        no: [
            "the folder stays read-only and buddy ignores its settings; run /trust to change that",
            "read-only",
        ],
        keep: ["Keep it read-only", "Read-only"],
        allow: ["Trust it", "Trust it"],
    };
    match TrustQuestion(question).put(invocation).await? {
        Some(true) => drop(store.add(cwd)?),
        // The conversation begins with what that means.
        Some(false) => store.refuse(cwd)?,
        None => return Ok(Offered::Left),
    }
    Ok(Offered::Settled)
}

/// Shows a user at a terminal what changed in the control files of a trusted directory, and asks whether that takes effect.
pub(crate) async fn review(invocation: &Invocation<'_>) -> anyhow::Result<Offered> {
    let cwd = &invocation.cwd;
    let store = TrustStore::new(&invocation.environment.data);
    let changes = store.reviewable(cwd);
    if changes.is_empty() || !is_terminal() {
        return Ok(Offered::Settled);
    }
    show(&changes);
    let names: Vec<&str> = changes.iter().map(|change| change.name).collect();
    let question = FolderQuestion {
        title: [ACCEPT, "Use the changes?"],
        tail: "Changed since you trusted it",
        folder: cwd.display().to_string(),
        finds: names.join(", "),
        yes: ["the changes above take effect", "the changes count"],
        no: ["the version that you trusted stays in effect", "the old version counts"],
        keep: ["Keep the trusted version", "Keep"],
        allow: ["Use the changes", "Use"],
    };
    match TrustQuestion(question).put(invocation).await? {
        Some(true) => drop(store.accept(cwd, &changes)?),
        Some(false) => {}
        None => return Ok(Offered::Left),
    }
    Ok(Offered::Settled)
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The files of a folder that take effect once it is trusted.
fn find_control_files(folder: &Path) -> Vec<&'static str> {
    const NAMES: [&str; 5] = ["AGENTS.md", "buddy.toml", "agent.toml", RULES_FILE, ".buddy/commands"];
    NAMES.into_iter().filter(|name| folder.join(name).exists()).collect()
}

impl TrustQuestion {
    /// The answer; none if the user wants to leave.
    async fn put(self, invocation: &Invocation<'_>) -> anyhow::Result<Option<bool>> {
        let environment = invocation.environment;
        // A configuration that cannot be read is told when it is needed.
        let loaded = load(environment, &invocation.cwd, &invocation.request).ok();
        let display = loaded.map(|loaded| loaded.config.display);
        match display.filter(|display| has_screen(environment, display.screen_reader)) {
            Some(display) => self.by_key(&look(environment, &display), environment).await,
            None => self.by_line().await,
        }
    }

    /// One key answers.
    async fn by_key(self, look: &TerminalLook, environment: &Environment) -> anyhow::Result<Option<bool>> {
        Ok(match ask_about_folder(&self.0, look, environment.get("TMUX").is_some()).await? {
            Chosen::At(place) => Some(place == 1),
            Chosen::Escape => Some(false),
            Chosen::Leave => None,
        })
    }

    /// A line answers, where rows cannot be painted over. What is no answer is asked for again; an input that ends leaves.
    async fn by_line(self) -> anyhow::Result<Option<bool>> {
        let mut printer = Printer::standard();
        let FolderQuestion { title: [title, _], folder, finds, yes: [yes, _], no: [no, _], .. } = self.0;
        printer.status("");
        printer.status(&folder);
        if !finds.is_empty() {
            printer.status(&format!("finds: {finds}"));
        }
        printer.status(&format!("yes: {yes}"));
        printer.status(&format!("no: {no}"));
        for _ in 0..MAX_TRIES {
            printer.prompt(&format!("{title} [y/N] "));
            let reading = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut line).map(|count| (count, line))
            });
            let (count, line) = reading.await??;
            match line.trim() {
                _ if count == 0 => return Ok(None),
                "y" | "yes" => return Ok(Some(true)),
                "n" | "no" | "" => return Ok(Some(false)),
                other => printer.status(&format!("`{other}` is not an answer. Type y or n.")),
            }
        }
        Ok(None)
    }
}
