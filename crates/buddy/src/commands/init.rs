//! `buddy init`: an AGENTS.md for a project, from what is there.

use std::fs::OpenOptions;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;

use anyhow::Context;
use buddy_agent::{Project, ProjectTop};
use buddy_tui::{Exit, Printer};

use crate::cli::Init;

/// The longest answer that is read.
const MAX_ANSWER: u64 = 1_024;

/// Writes AGENTS.md, and offers a folder for the project's own commands.
pub(crate) fn run(init: &Init, cwd: &Path) -> anyhow::Result<Exit> {
    let mut printer = Printer::standard();
    let path = cwd.join("AGENTS.md");
    let is_there = path.symlink_metadata().is_ok();
    if is_there
        && !init.force
        && !is_wanted(&mut printer, "AGENTS.md already exists. Overwrite it?", "--force")?
    {
        printer.status("AGENTS.md is unchanged.");
        return Ok(Exit::Failed);
    }
    let name = cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = Project::of(name, &top(cwd)).agents_file();
    write(&path, &text, is_there).with_context(|| format!("cannot write `{}`", path.display()))?;
    printer.status("AGENTS.md written. For a better one, type /init in a conversation: the agent writes it.");
    offer_folder(init, cwd, &mut printer)?;
    Ok(Exit::Ok)
}

/// The top directory of a project as it is on this machine.
fn top(directory: &Path) -> ProjectTop {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let text = |name: &&'static str| {
        let path = directory.join(name);
        let metadata = path.metadata().ok()?;
        let is_short = metadata.is_file() && metadata.len() <= ProjectTop::MAX_BYTES;
        Some((*name, is_short.then(|| std::fs::read_to_string(path).ok()).flatten()?))
    };
    ProjectTop { names, texts: ProjectTop::READ.iter().filter_map(text).collect() }
}

fn write(path: &Path, text: &str, is_there: bool) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if is_there {
        options.truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path)?.write_all(text.as_bytes())
}

fn offer_folder(init: &Init, cwd: &Path, printer: &mut Printer) -> anyhow::Result<()> {
    let folder = cwd.join(".buddy/commands");
    let is_asked = !init.folder && std::io::stdin().is_terminal() && !folder.exists();
    let is_wanted = init.folder
        || (is_asked
            && is_wanted(printer, "Create .buddy/commands for this project's own commands?", "--folder")?);
    if is_wanted {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        printer.status(
            ".buddy/commands created. Each Markdown file in it becomes a command once you trust the folder.",
        );
    }
    Ok(())
}

/// Asks on a terminal. Where nobody can be asked the answer is no, and the flag that does it without asking is told.
fn is_wanted(printer: &mut Printer, question: &str, flag: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        printer.status(&format!(
            "{question} There is no terminal to ask on; use `{flag}` to do it without asking"
        ));
        return Ok(false);
    }
    printer.prompt(&format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
