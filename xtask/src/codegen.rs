//! `cargo xtask codegen`: files made from the code, committed so that readers need no Rust.

use std::fs;

use anyhow::{Context, Result, ensure};
use buddy_policy::command_reference;
use buddy_protocol::event_schema;

use crate::place;
use crate::run::cargo;

/// A page for people, and the marks around its generated part.
const COMMANDS: &str = "docs/reference/commands.md";
const BEGIN: &str = "<!-- generated: command reference -->\n";
const END: &str = "<!-- end: command reference -->";

/// Writes what is under `api/`, and the generated part of a page. Tests of the crates that own it fail when it is out of date.
pub(crate) fn codegen() -> Result<()> {
    fs::create_dir_all(place::root().join("api"))?;
    write("events.schema.json", &(serde_json::to_string_pretty(&event_schema())? + "\n"))?;
    fill_page(&command_reference())?;
    write("config.schema.json", &config_schema()?)
}

fn fill_page(block: &str) -> Result<()> {
    let path = place::root().join(COMMANDS);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (before, rest) =
        page.split_once(BEGIN).with_context(|| format!("{COMMANDS} has no `{}`", BEGIN.trim()))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{COMMANDS} has no `{END}`"))?;
    fs::write(&path, format!("{before}{BEGIN}{block}{END}{after}"))?;
    println!("wrote {COMMANDS}");
    Ok(())
}

/// As buddy prints it: the keys are its own affair, and it has no library to ask.
fn config_schema() -> Result<String> {
    let mut buddy = cargo(&["run", "--quiet", "--locked", "--package", "buddy", "--", "config", "schema"])?;
    let output = buddy.stderr(std::process::Stdio::inherit()).output().context("cannot run buddy")?;
    ensure!(output.status.success(), "`buddy config schema` failed with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn write(name: &str, text: &str) -> Result<()> {
    let path = place::root().join("api").join(name);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote api/{name}");
    Ok(())
}
