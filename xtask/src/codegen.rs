//! `cargo xtask codegen`: files generated from the code, committed so that readers need no Rust.

use std::fs;

use anyhow::{Context, Result, ensure};
use buddy_policy::{caches_page, command_reference, protected_places_page, registries_page, variables_page};
use buddy_protocol::event_schema;

use crate::place;
use crate::run::cargo;

/// Writes the files in `api/` and the generated parts of pages. Tests of the crates that own them fail if
/// they are out of date.
pub(crate) fn codegen() -> Result<()> {
    write("api/events.schema.json", &(serde_json::to_string_pretty(&event_schema())? + "\n"))?;
    write("api/config.schema.json", &config("schema")?)?;
    write("docs/reference/protected-places.md", &protected_places_page())?;
    write("docs/reference/caches.md", &caches_page())?;
    write("docs/reference/registries.md", &registries_page())?;
    write("docs/reference/variables.md", &variables_page())?;
    write_block("docs/reference/commands.md", "commands", &command_reference())?;
    write_block("docs/reference/project-keys.md", "project-keys", &config("project-keys")?)
}

/// The output of `buddy config`: buddy defines the keys, and it has no library to call.
fn config(what: &str) -> Result<String> {
    let mut buddy = cargo(&["run", "--quiet", "--locked", "--package", "buddy", "--", "config", what])?;
    let output = buddy.stderr(std::process::Stdio::inherit()).output().context("cannot run buddy")?;
    ensure!(output.status.success(), "`buddy config {what}` failed with {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Replaces the text between the two comments of this name in a page.
fn write_block(page: &str, name: &str, text: &str) -> Result<()> {
    let path = place::root().join(page);
    let old = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let parts = old.split_once(&begin).and_then(|(head, rest)| Some((head, rest.split_once(&end)?.1)));
    let (head, tail) = parts.with_context(|| format!("{page} has no block `{name}`"))?;
    fs::write(&path, format!("{head}{begin}{text}{end}{tail}"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {name} in {page}");
    Ok(())
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
