//! `cargo xtask codegen`: files made from the code, committed so that readers in other languages need no Rust.

use std::fs;

use anyhow::{Context, Result};
use buddy_protocol::event_schema;

use crate::place;

/// Writes `api/events.schema.json`. A test of `buddy-protocol` fails when it is out of date.
pub(crate) fn codegen() -> Result<()> {
    let path = place::root().join("api/events.schema.json");
    fs::create_dir_all(place::root().join("api"))?;
    let text = serde_json::to_string_pretty(&event_schema())? + "\n";
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote api/events.schema.json");
    Ok(())
}
