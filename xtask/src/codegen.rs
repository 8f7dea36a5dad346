//! `cargo xtask codegen`: files made from the code, committed so that readers in other languages need no Rust.

use std::fs;

use anyhow::{Context, Result, ensure};
use buddy_policy::protected_places_page;
use buddy_protocol::event_schema;

use crate::place;
use crate::run::cargo;

/// Writes what is under `api/` and `docs/reference/`. Tests of the crates that own it fail when it is out of date.
pub(crate) fn codegen() -> Result<()> {
    write("docs/reference/protected-places.md", &protected_places_page())?;
    write("api/events.schema.json", &(serde_json::to_string_pretty(&event_schema())? + "\n"))?;
    write("api/config.schema.json", &config_schema()?)
}

/// As buddy prints it: the keys are its own affair, and it has no library to ask.
fn config_schema() -> Result<String> {
    let mut buddy = cargo(&["run", "--quiet", "--locked", "--package", "buddy", "--", "config", "schema"])?;
    let output = buddy.stderr(std::process::Stdio::inherit()).output().context("cannot run buddy")?;
    ensure!(output.status.success(), "`buddy config schema` failed with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn write(name: &str, text: &str) -> Result<()> {
    let path = place::root().join(name);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {name}");
    Ok(())
}
