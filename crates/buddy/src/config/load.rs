//! Reading the configuration: built-in values, the person's file, the project's file, variables, options.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use buddy_model::{Catalogue, Endpoint};

use super::catalogue::catalogue;
use super::document::{self, ConfigError, Contents};
use super::keys::written;
use super::layers::{Effective, Origin, Setting};
use super::profile::KEY_SOURCES;
use super::search::{Role, search, text_of};
use super::settings::Config;
use super::variables::ENVIRONMENT_PROFILE;
use super::{edit, template, variables};
use crate::environment::Environment;

/// What the command line says about the configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// The one file to read.
    pub(crate) named: Option<PathBuf>,
    /// `key=value`, each.
    pub(crate) overrides: Vec<String>,
    /// Whether an unknown key is an error, and a catalogue that cannot be used.
    pub(crate) is_strict: bool,
    /// Whether the person's own file and catalogue stay unread.
    pub(crate) is_user_ignored: bool,
}

/// The configuration, read. Not `Debug`: the effective settings hold secrets.
pub(crate) struct Loaded {
    /// The values.
    pub(crate) config: Config,
    /// The same, with who set them.
    pub(crate) effective: Effective,
    /// What the person should know; lines for the standard error.
    pub(crate) warnings: Vec<String>,
    /// The address that `BUDDY_API_KEY` belongs to: that of the profile in use before the command line has its say.
    pub(crate) key_home: Option<String>,
    /// What is known about models by their names: the person's own rules, then the built-in ones.
    pub(crate) catalogue: Catalogue,
}

/// Reads it for a directory to work in. Makes the person's file when there is none.
pub(crate) fn load(environment: &Environment, cwd: &Path, request: &Request) -> Result<Loaded, ConfigError> {
    let mut loader = Loader { is_strict: request.is_strict, ..Loader::default() };
    loader.effective.add(template::builtin_settings()?)?;
    let named = request.named.as_deref();
    if named.is_none() && environment.named_config().is_none() && !request.is_user_ignored {
        loader.warnings.extend(template::create(environment));
    }
    for found in search(environment, cwd, named) {
        match found.role {
            Role::Untrusted => loader.warnings.push(format!(
                "{} is not read, as nobody trusted this directory; if you do: buddy trust",
                found.path.display()
            )),
            Role::User if request.is_user_ignored => {}
            Role::Named | Role::User | Role::Project => loader.file(&found.path, found.role)?,
        }
    }
    loader.effective.add(variables::settings(environment))?;
    let key_home = key_home(&loader.effective.config()?);
    loader.overrides(&request.overrides)?;
    let config = loader.effective.config()?;
    loader.warnings.append(&mut loader.effective.warnings);
    let catalogue = if request.is_user_ignored {
        Catalogue::built_in().unwrap_or_default()
    } else {
        loader.catalogue(environment)?
    };
    Ok(Loaded { config, effective: loader.effective, warnings: loader.warnings, key_home, catalogue })
}

/// What a project has no say in. A login could have the person's own tokens sent to a stranger; a status line is a
/// command that runs by itself; the others say what an agent may do, which a project can only tighten, by rules.
const PERSONAL: &[&[&str]] = &[
    &["login"],
    &["agent", "environment"],
    &["approvals"],
    &["tools", "shell_confirm"],
    &["tools", "shell_denylist"],
    &["tools", "shell_allowlist"],
    &["tools", "network"],
    &["tools", "local"],
    &["update"],
    &["display", "status_command"],
];

#[derive(Default)]
struct Loader {
    effective: Effective,
    warnings: Vec<String>,
    is_strict: bool,
}

impl Loader {
    fn file(&mut self, path: &Path, role: Role) -> Result<(), ConfigError> {
        let contents = document::read(path, &text_of(path)?)?;
        self.unknown(&contents, |number| format!("{}:{number}", path.display()))?;
        let origin = |line| Origin::File { path: path.to_owned(), line };
        let mut layer: Vec<Setting> = contents
            .lines
            .into_iter()
            .map(|line| Setting { path: line.path, value: line.value, origin: origin(line.number) })
            .collect();
        if let Some(reserved) = layer.iter().find(|setting| is_reserved(&setting.path)) {
            let key = written(&reserved.path);
            let message = format!("`{key}` comes from the environment alone, as BUDDY_BASE_URL does");
            return Err(ConfigError::new(reserved.origin.to_string(), message));
        }
        if role == Role::Project {
            self.drop_personal(path, &mut layer);
        }
        let has_key = layer.iter().any(|setting| setting.path.last().is_some_and(|key| key == "api_key"));
        if has_key && is_open(path) {
            let path = path.display();
            self.warnings.push(format!("{path} has a key in it and others can read it: chmod 600 {path}"));
        }
        self.effective.add(layer)
    }

    /// Takes out what a project has no say in.
    fn drop_personal(&mut self, path: &Path, layer: &mut Vec<Setting>) {
        for personal in PERSONAL {
            let is_personal = |setting: &Setting| {
                setting.path.len() >= personal.len()
                    && personal.iter().zip(&setting.path).all(|(name, found)| name == found)
            };
            if layer.iter().any(is_personal) {
                layer.retain(|setting| !is_personal(setting));
                let key = personal.join(".");
                self.warnings.push(format!("{}: `{key}` is read from your own file only", path.display()));
            }
        }
    }

    fn catalogue(&mut self, environment: &Environment) -> Result<Catalogue, ConfigError> {
        match catalogue(environment) {
            (_, Some(error)) if self.is_strict => Err(error),
            (catalogue, error) => {
                self.warnings.extend(error.map(|error| error.to_string()));
                Ok(catalogue)
            }
        }
    }

    fn overrides(&mut self, overrides: &[String]) -> Result<(), ConfigError> {
        let mut layer = Vec::new();
        for text in overrides {
            let place = format!("-c {}", text.split('=').next().unwrap_or_default());
            let (key, value) =
                text.split_once('=').ok_or_else(|| ConfigError::new(&place, "must be `key=value`"))?;
            let path = edit::path(key.trim()).map_err(|message| ConfigError::new(&place, message))?;
            if is_reserved(&path) {
                return Err(ConfigError::new(
                    &place,
                    "comes from the environment alone, as BUDDY_BASE_URL does",
                ));
            }
            let contents = edit::lookup(&path);
            self.unknown(&contents, |_| "command line".to_owned())?;
            if contents.unknown.is_empty() {
                layer.push(edit::setting(path, value.trim())?);
            }
        }
        self.effective.add(layer)
    }

    fn unknown(&mut self, contents: &Contents, place: impl Fn(usize) -> String) -> Result<(), ConfigError> {
        for unknown in &contents.unknown {
            let meant = unknown.meant.as_ref().map(|meant| format!("; did you mean `{meant}`?"));
            let message = format!("unknown key `{}`{}", unknown.key, meant.unwrap_or_default());
            let place = place(unknown.number);
            if self.is_strict {
                return Err(ConfigError::new(place, message));
            }
            self.warnings.push(format!("{place}: {message}"));
        }
        Ok(())
    }
}

/// Where the environment's profile is and what it is sent is for the environment alone to say.
fn is_reserved(path: &[String]) -> bool {
    let is_own = |key: &str| KEY_SOURCES.contains(&key) || matches!(key, "api_base_url" | "auth" | "headers");
    matches!(path, [models, profile, key] if models == "models" && profile == ENVIRONMENT_PROFILE && is_own(key))
}

/// Whether the group or others can read a file.
pub(crate) fn is_open(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

fn key_home(config: &Config) -> Option<String> {
    let name = config.agent.model.as_str();
    let prefix = name.split_once('/').map(|(profile, _)| profile);
    let named = config.models.get(name).or_else(|| config.models.get(prefix?));
    // A bare model is one of the default profile.
    let profile = named.or_else(|| config.models.get(super::settings::DEFAULT_PROFILE))?;
    let endpoint = Endpoint::parse(profile.api_base_url.as_deref()?).ok()?;
    Some(endpoint.to_string())
}

#[cfg(test)]
mod tests;
