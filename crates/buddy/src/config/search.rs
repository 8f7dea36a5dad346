//! Where configuration files are looked for.

use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::control_files::{CONFIG_FILES, read_regular};
use super::document::ConfigError;
use super::trust::TrustStore;
use crate::environment::Environment;

/// The purpose of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigFileRole {
    /// Named by the user; no other file is read.
    Named,
    /// The user's own.
    User,
    /// Of the directory to work in, which is trusted, with the text that was trusted.
    Project(String),
    /// Of the directory to work in, which nobody trusted. It is not read.
    Untrusted,
}

/// A configuration file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundConfigFile {
    pub(crate) path: PathBuf,
    pub(crate) role: ConfigFileRole,
}

/// The files, lowest first. A named one is listed whether it is there or not.
pub(crate) fn search(
    environment: &Environment,
    cwd: &Path,
    named: Option<&Path>,
) -> Result<Vec<FoundConfigFile>, ConfigError> {
    if let Some(path) = named.map(Path::to_owned).or_else(|| environment.named_config()) {
        return Ok(vec![FoundConfigFile { path: cwd.join(path), role: ConfigFileRole::Named }]);
    }
    let user = user_file(environment).filter(|path| path.exists()).or_else(|| legacy_user_file(environment));
    let project = project(&TrustStore::new(&environment.data), cwd)?;
    let project = project.filter(|found| user.as_ref().is_none_or(|user| !is_same(&found.path, user)));
    Ok(user
        .map(|path| FoundConfigFile { path, role: ConfigFileRole::User })
        .into_iter()
        .chain(project)
        .collect())
}

/// The file of the directory to work in: as it was trusted, or that there is one where nobody trusted it.
fn project(trust: &TrustStore, cwd: &Path) -> Result<Option<FoundConfigFile>, ConfigError> {
    let files = CONFIG_FILES.map(|name| (name, cwd.join(name)));
    if !trust.trusts(cwd) {
        let found = files.into_iter().find(|(_, path)| path.exists());
        return Ok(found.map(|(_, path)| FoundConfigFile { path, role: ConfigFileRole::Untrusted }));
    }
    for (name, path) in files {
        let text = trust.trusted_text(cwd, name).map_err(|error| {
            let message =
                format!("the version that you trusted is lost: {error:#}. Trust it again: buddy trust");
            ConfigError::new(path.display().to_string(), message)
        })?;
        if let Some(text) = text {
            return Ok(Some(FoundConfigFile { path, role: ConfigFileRole::Project(text) }));
        }
    }
    Ok(None)
}

/// The user's file, whether it is there or not.
pub(crate) fn user_file(environment: &Environment) -> Option<PathBuf> {
    environment.config_home.as_ref().map(|home| home.join("buddy").join("buddy.toml"))
}

/// The user's file under its older name, when it is there.
pub(crate) fn legacy_user_file(environment: &Environment) -> Option<PathBuf> {
    let path = environment.home.as_ref()?.join(".config/agent/agent.toml");
    path.exists().then_some(path)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity =
        |path: &Path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// The text of a file. Anything but a regular file of a sensible size is refused without waiting for it.
pub(crate) fn text_of(path: &Path) -> Result<String, ConfigError> {
    let refused = |message: String| ConfigError::new(path.display().to_string(), message);
    read_at(path).map_err(|error| refused(format!("cannot be read: {error}")))
}

fn read_at(path: &Path) -> io::Result<String> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    read_regular(std::fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?)
}
