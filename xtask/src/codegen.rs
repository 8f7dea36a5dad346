//! `cargo xtask codegen`: files made from the code, committed so that readers in other languages need no Rust.

use std::fs;

use anyhow::{Context, Result, ensure};
use buddy_protocol::event_schema;

use crate::place;
use crate::run::cargo;

/// Writes what is under `api/`. Tests of the crates that own it fail when it is out of date.
pub(crate) fn codegen() -> Result<()> {
    fs::create_dir_all(place::root().join("api"))?;
    write("events.schema.json", &(serde_json::to_string_pretty(&event_schema())? + "\n"))?;
    write("config.schema.json", &config_schema()?)
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
