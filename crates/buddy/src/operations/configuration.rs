//! The configuration as it holds, and changes of the file that the user can change.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use buddy_protocol::operations::{
    ConfigurationEntry, ConfigurationFile, ConfigurationGate, ConfigurationView, IgnoredSetting,
    SetConfiguration, UnsetOutcome,
};

use super::place::OperationPlace;
use crate::config::{
    ConfigRequest, FamilyGate, Loaded, create, family_gates, load, replace, set, shown_values, text_of,
    unset, user_file, written,
};
use crate::environment::Environment;

/// The configuration that a conversation runs with, or the one that the files have now.
pub(super) fn show(place: &OperationPlace) -> anyhow::Result<ConfigurationView> {
    if let Some(conversation) = &place.conversation {
        return Ok(conversation.configuration.clone());
    }
    Ok(view_configuration(&load(&place.environment, &place.cwd, &place.request)?))
}

/// A configuration without its secrets.
pub(crate) fn view_configuration(loaded: &Loaded) -> ConfigurationView {
    let entry = |(path, value): (Vec<String>, serde_json::Value)| {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        ConfigurationEntry { key: written(&path), value, origin: loaded.effective.origin(&names).to_string() }
    };
    let gate = |gate: FamilyGate| ConfigurationGate {
        key: gate.key.to_owned(),
        holds: gate.is_on.text().to_owned(),
        family: gate.family,
        why: gate.why,
    };
    let ignored = loaded.ignored.iter().map(|ignored| IgnoredSetting {
        key: ignored.key.clone(),
        origin: ignored.origin.to_string(),
        reason: ignored.reason.clone(),
    });
    ConfigurationView {
        entries: shown_values(loaded).into_iter().map(entry).collect(),
        gates: family_gates(loaded).into_iter().map(gate).collect(),
        ignored: ignored.collect(),
        warnings: loaded.warnings.clone(),
    }
}

/// The file that is changed.
pub(super) fn find_file(place: &OperationPlace) -> anyhow::Result<ConfigurationFile> {
    let path = UserConfiguration::of(place).path()?;
    Ok(ConfigurationFile { path: path.to_string_lossy().into_owned() })
}

/// Sets a key.
pub(super) fn set_key(place: &OperationPlace, request: &SetConfiguration) -> anyhow::Result<()> {
    UserConfiguration::of(place).set(&[(&request.key, &request.value)]).map(drop)
}

/// Removes a key.
pub(super) fn unset_key(place: &OperationPlace, key: &str) -> anyhow::Result<UnsetOutcome> {
    let file = UserConfiguration::of(place);
    let path = file.path()?;
    let text = unset(&path, &file.text(&path)?, key)?;
    if let Some(text) = &text {
        write(&path, text)?;
    }
    Ok(UnsetOutcome { was_set: text.is_some(), path: path.to_string_lossy().into_owned() })
}

/// The file that is changed: the one that was named, else the user's own.
pub(crate) struct UserConfiguration<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) request: &'a ConfigRequest,
    pub(crate) cwd: &'a Path,
}

impl<'a> UserConfiguration<'a> {
    fn of(place: &'a OperationPlace) -> Self {
        Self { environment: &place.environment, request: &place.request, cwd: &place.cwd }
    }

    fn path(&self) -> anyhow::Result<PathBuf> {
        let named = self.request.named.clone().or_else(|| self.environment.named_config());
        match named {
            Some(path) => Ok(self.cwd.join(path)),
            None => user_file(self.environment).context("neither XDG_CONFIG_HOME nor HOME is set"),
        }
    }

    /// The text to change. The user's file starts as the template, a named one as nothing.
    fn text(&self, path: &Path) -> anyhow::Result<String> {
        if user_file(self.environment).is_some_and(|user| user == path) {
            create(self.environment);
        }
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            _ => Ok(text_of(path)?),
        }
    }

    /// Sets these keys to these values.
    pub(crate) fn set(&self, settings: &[(&str, &str)]) -> anyhow::Result<FileBefore> {
        let path = self.path()?;
        let before = self.text(&path)?;
        let mut text = before.clone();
        for (key, value) in settings {
            text = set(&path, &text, key, value)?;
        }
        write(&path, &text)?;
        Ok(FileBefore { path, text: before })
    }
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

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text).with_context(|| format!("cannot write {}", path.display()))
}
