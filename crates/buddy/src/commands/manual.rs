//! `buddy completion` and `buddy man`: what is made from the command line itself.

use std::path::Path;

use anyhow::Context;
use buddy_tui::{Exit, Printer};
use clap::CommandFactory;
use clap_complete::generate;

use crate::cli::{Cli, CompletionFlags, CompletionShell, Man};

/// Prints a script for a shell.
pub(crate) fn completion(completion: &CompletionFlags) -> Exit {
    let mut command = Cli::command();
    let mut script = Vec::new();
    let (name, buffer) = ("buddy", &mut script);
    match completion.shell {
        CompletionShell::Bash => generate(clap_complete::Shell::Bash, &mut command, name, buffer),
        CompletionShell::Zsh => generate(clap_complete::Shell::Zsh, &mut command, name, buffer),
        CompletionShell::Fish => generate(clap_complete::Shell::Fish, &mut command, name, buffer),
        CompletionShell::Powershell => generate(clap_complete::Shell::PowerShell, &mut command, name, buffer),
        CompletionShell::Elvish => generate(clap_complete::Shell::Elvish, &mut command, name, buffer),
        CompletionShell::Nu => generate(clap_complete_nushell::Nushell, &mut command, name, buffer),
    }
    print(&script)
}

/// Prints the first page of the manual, or writes all of them.
pub(crate) fn man(man: &Man) -> anyhow::Result<Exit> {
    let Some(directory) = &man.pages else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return Ok(print(&page));
    };
    write_pages(directory).with_context(|| format!("cannot write to `{}`", directory.display()))?;
    Printer::standard().status(&format!("The manual pages are in {}", directory.display()));
    Ok(Exit::Ok)
}

fn write_pages(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Cli::command(), directory)
}

fn print(bytes: &[u8]) -> Exit {
    let is_printed = Printer::standard().answer(&String::from_utf8_lossy(bytes)).is_ok();
    if is_printed { Exit::Ok } else { Exit::OutputClosed }
}
