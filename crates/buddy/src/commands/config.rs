//! `buddy config`.

use std::io;
use std::path::PathBuf;

use anyhow::Context;
use buddy_tui::Exit;

use crate::cli::ConfigAction;
use crate::commands::listing::view;
use crate::commands::printer;
use crate::commands::setup::Invocation;
use crate::config::{
    as_json, as_table, as_text, create, project_keys_table, replace, schema, set, text_of, unset, user_file,
};

/// Shows or changes the configuration.
pub(crate) fn run(invocation: &Invocation<'_>, action: ConfigAction) -> anyhow::Result<Exit> {
    let mut printer = printer();
    match action {
        ConfigAction::Show { json: true, .. } => {
            printer.line(&serde_json::to_string_pretty(&as_json(&invocation.load()?))?)?;
        }
        ConfigAction::Show { origins, json: false } => {
            let (loaded, view) = (invocation.load()?, view(invocation));
            if view.is_terminal() {
                as_table(&loaded, origins).print(&view, &mut printer)?;
            } else {
                printer.answer(&as_text(&loaded, origins))?;
            }
        }
        ConfigAction::Path => printer.line(&file(invocation)?.to_string_lossy())?,
        ConfigAction::Schema => printer.line(&serde_json::to_string_pretty(schema())?)?,
        ConfigAction::ProjectKeys => printer.answer(&project_keys_table())?,
        ConfigAction::Set { key, value } => {
            let path = file(invocation)?;
            let text = current(invocation, &path)?;
            write(&path, &set(&path, &text, &key, &value)?)?;
        }
        ConfigAction::Unset { key } => {
            let path = file(invocation)?;
            match unset(&path, &current(invocation, &path)?, &key)? {
                Some(text) => write(&path, &text)?,
                None => printer.status(&format!("`{key}` is not set in {}", path.display())),
            }
        }
    }
    Ok(Exit::Ok)
}

/// Makes a profile the one in use, in the user's file.
pub(crate) fn choose_model(invocation: &Invocation<'_>, name: &str) -> anyhow::Result<()> {
    let path = file(invocation)?;
    let text = current(invocation, &path)?;
    write(&path, &set(&path, &text, "agent.model", name)?)
}

/// A configuration file as it was before a change.
pub(crate) struct FileBefore {
    path: PathBuf,
    text: String,
}

impl FileBefore {
    /// Takes the change back.
    pub(crate) fn put_back(&self) -> anyhow::Result<()> {
        write(&self.path, &self.text)
    }
}

/// Writes a profile with these settings into the user's file.
pub(crate) fn add_profile(
    invocation: &Invocation<'_>,
    name: &str,
    settings: &[(&str, &str)],
) -> anyhow::Result<FileBefore> {
    let path = file(invocation)?;
    let before = current(invocation, &path)?;
    let mut text = before.clone();
    for (key, value) in settings {
        text = set(&path, &text, &format!("models.{name}.{key}"), value)?;
    }
    write(&path, &text)?;
    Ok(FileBefore { path, text: before })
}

/// The file that is changed: the one that was named, else the user's own.
fn file(invocation: &Invocation<'_>) -> anyhow::Result<PathBuf> {
    let named = invocation.request.named.clone().or_else(|| invocation.environment.named_config());
    match named {
        Some(path) => Ok(invocation.cwd.join(path)),
        None => user_file(invocation.environment).context("neither XDG_CONFIG_HOME nor HOME is set"),
    }
}

/// The text to change. The user's file starts as the template, a named one as nothing.
fn current(invocation: &Invocation<'_>, path: &std::path::Path) -> anyhow::Result<String> {
    if user_file(invocation.environment).is_some_and(|user| user == path) {
        create(invocation.environment);
    }
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        _ => Ok(text_of(path)?),
    }
}

fn write(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    replace(path, text).with_context(|| format!("cannot write {}", path.display()))
}
