//! Reading the configuration: built-in values, the user's file, the project's file, variables, options.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use buddy_model::{Catalogue, Endpoint};
use buddy_policy::Rules;
use serde_json::Value;

use super::catalogue::catalogue;
use super::control_files::{RULES_FILE, UntrustedChange};
use super::document::{self, ConfigError, DocumentContents};
use super::keys::written;
use super::layers::{Effective, LayerSetting, SettingOrigin, check};
use super::profile::KEY_SOURCES;
use super::project_keys::{ProjectMay, Ruling, project_may};
use super::search::{ConfigFileRole, FoundConfigFile, search, text_of};
use super::settings::Config;
use super::trust::TrustStore;
use super::variables::{ChosenModel, ENVIRONMENT_PROFILE};
use super::{edit, template, variables};
use crate::environment::Environment;

/// The wishes of the command line about the configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigRequest {
    /// The one file to read.
    pub(crate) named: Option<PathBuf>,
    /// `key=value`, each.
    pub(crate) overrides: Vec<String>,
    /// Whether an unknown key is an error, and a catalogue that cannot be used.
    pub(crate) is_strict: bool,
    /// Whether the user's own file and catalogue stay unread.
    pub(crate) is_user_ignored: bool,
}

/// The configuration, read. Not `Debug`: the effective settings hold secrets.
pub(crate) struct Loaded {
    /// The values.
    pub(crate) config: Config,
    /// The same, with who set them.
    pub(crate) effective: Effective,
    /// Warnings for the user; lines for the standard error.
    pub(crate) warnings: Vec<String>,
    /// The address that `BUDDY_API_KEY` belongs to: that of the profile in use before the command line has its say.
    pub(crate) key_home: Option<String>,
    /// The facts about models by their names: the user's own rules, then the built-in ones.
    pub(crate) catalogue: Catalogue,
    /// The settings of a project that it may not make.
    pub(crate) ignored: Vec<IgnoredKey>,
}

/// A setting of a project that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IgnoredKey {
    /// The key, as people write it.
    pub(crate) key: String,
    /// Where it is set.
    pub(crate) origin: SettingOrigin,
    /// Why it has no effect.
    pub(crate) reason: String,
}

/// Reads it for a directory to work in. Makes the user's file when there is none.
pub(crate) fn load(
    environment: &Environment,
    cwd: &Path,
    request: &ConfigRequest,
) -> Result<Loaded, ConfigError> {
    let is_own = request.named.is_none() && environment.named_config().is_none() && !request.is_user_ignored;
    let failure = if is_own { template::create(environment) } else { None };
    let mut loaded = load_existing(environment, cwd, request)?;
    loaded.warnings.splice(0..0, failure);
    Ok(loaded)
}

/// Reads it for a directory to work in, and makes nothing.
pub(crate) fn load_existing(
    environment: &Environment,
    cwd: &Path,
    request: &ConfigRequest,
) -> Result<Loaded, ConfigError> {
    let mut loader = Loader { is_strict: request.is_strict, ..Loader::default() };
    loader.effective.add(template::builtin_settings()?)?;
    let named = request.named.as_deref();
    for FoundConfigFile { path, role } in search(environment, cwd, named)? {
        match role {
            ConfigFileRole::Untrusted => loader.warnings.push(format!(
                "{} is ignored, because this folder is untrusted. To trust it, run: buddy trust",
                path.display()
            )),
            ConfigFileRole::User if request.is_user_ignored => {}
            ConfigFileRole::Named | ConfigFileRole::User => loader.file(&path)?,
            ConfigFileRole::Project(text) => loader.project(&path, &text)?,
        }
    }
    let has_project_file = named.is_none() && environment.named_config().is_none();
    loader.control_files(&TrustStore::new(&environment.data), cwd, has_project_file)?;
    let chosen = loader.chosen()?;
    loader.effective.add(variables::settings(environment, chosen))?;
    let key_home = key_home(&loader.effective.config()?);
    loader.overrides(&request.overrides)?;
    let config = loader.effective.config()?;
    loader.warnings.append(&mut loader.effective.warnings);
    let catalogue = if request.is_user_ignored {
        Catalogue::built_in().unwrap_or_default()
    } else {
        loader.catalogue(environment)?
    };
    Ok(Loaded {
        config,
        effective: loader.effective,
        warnings: loader.warnings,
        key_home,
        catalogue,
        ignored: loader.ignored,
    })
}

#[derive(Default)]
struct Loader {
    effective: Effective,
    warnings: Vec<String>,
    ignored: Vec<IgnoredKey>,
    is_strict: bool,
}

impl Loader {
    fn file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let layer = self.layer(path, &text_of(path)?)?;
        if let Some(reserved) = layer.iter().find(|setting| is_reserved(&setting.path)) {
            let key = written(&reserved.path);
            let message = format!("`{key}` can only be set in the environment, like BUDDY_BASE_URL");
            return Err(ConfigError::new(reserved.origin.to_string(), message));
        }
        let has_key = layer.iter().any(|setting| setting.path.last().is_some_and(|key| key == "api_key"));
        if has_key && is_open(path) {
            let path = path.display();
            self.warnings
                .push(format!("{path} contains a key and others can read it. Run: chmod 600 {path}"));
        }
        self.effective.add(layer)
    }

    /// The model that files choose.
    fn chosen(&self) -> Result<Option<ChosenModel>, ConfigError> {
        if self.effective.origin(&["agent", "model"]) == SettingOrigin::Default {
            return Ok(None);
        }
        let config = self.effective.config()?;
        let name = config.agent.model.as_str();
        let (profile, model) = match (config.models.get(name), name.split_once('/')) {
            (Some(profile), _) => (profile, profile.model_or(name)),
            (None, Some((prefix, model))) => match config.models.get(prefix) {
                Some(profile) => (profile, model),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        Ok(Some(ChosenModel { model: model.to_owned(), api: profile.api }))
    }

    fn layer(&mut self, path: &Path, text: &str) -> Result<Vec<LayerSetting>, ConfigError> {
        let contents = document::read(path, text)?;
        self.unknown(&contents, |number| format!("{}:{number}", path.display()))?;
        let origin = |line| SettingOrigin::File { path: path.to_owned(), line };
        let lines = contents.lines.into_iter();
        Ok(lines
            .map(|line| LayerSetting { path: line.path, value: line.value, origin: origin(line.number) })
            .collect())
    }

    /// Takes from a project's file what a project may set.
    fn project(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let held = self.effective.config()?;
        let values = serde_json::to_value(&held).unwrap_or_default();
        let mut layer = Vec::new();
        for setting in self.layer(path, text)? {
            match self.rule(&held, &values, &setting)? {
                Ruling::Holds(value) => layer.push(LayerSetting { value, ..setting }),
                Ruling::Same => {}
                Ruling::Refused(reason) => self.ignore(&setting, reason)?,
            }
        }
        // `ask` and `auto` with `shell_confirm = false` approve everything, so that a stricter policy brings its questions along.
        let policy = layer.iter().find(|setting| setting.path == ["approvals", "policy"]);
        let confirm = policy.map(|policy| LayerSetting {
            path: vec!["tools".to_owned(), "shell_confirm".to_owned()],
            value: true.into(),
            origin: policy.origin.clone(),
        });
        layer.extend(confirm);
        self.effective.add(layer)
    }

    /// The effect of one setting of a project where these values hold.
    fn rule(&self, held: &Config, values: &Value, setting: &LayerSetting) -> Result<Ruling, ConfigError> {
        let may = project_may(&setting.path);
        if !matches!(may, ProjectMay::Never(_)) {
            check(setting)?;
        }
        Ok(match may {
            ProjectMay::Never(reason) => Ruling::Refused(reason.to_owned()),
            ProjectMay::Freely => Ruling::Holds(setting.value.clone()),
            ProjectMay::Tighten(order) => {
                let found = setting.path.iter().try_fold(values, |node, name| node.get(name));
                order.rule(found.unwrap_or(&Value::Null), &setting.value)
            }
            ProjectMay::ChooseModel => self.rule_model(held, setting),
        })
    }

    /// A project chooses among the models at the address that the user chose. Where the user chose none, the address is not
    /// known yet, and a choice would send the key of one server to another.
    fn rule_model(&self, held: &Config, setting: &LayerSetting) -> Ruling {
        let is_chosen = self.effective.origin(&["agent", "model"]) != SettingOrigin::Default;
        let mut wanted = held.clone();
        setting.value.as_str().unwrap_or_default().clone_into(&mut wanted.agent.model);
        let home = key_home(held);
        if is_chosen && home.is_some() && home == key_home(&wanted) {
            return Ruling::Holds(setting.value.clone());
        }
        Ruling::Refused("it is not at the address of the model that your own file chooses".to_owned())
    }

    fn ignore(&mut self, setting: &LayerSetting, reason: String) -> Result<(), ConfigError> {
        let (key, origin) = (written(&setting.path), setting.origin.clone());
        let message = format!("a project cannot set `{key}` like this: {reason}");
        if self.is_strict {
            return Err(ConfigError::new(origin.to_string(), message));
        }
        self.warnings.push(format!("{origin}: {message}"));
        self.ignored.push(IgnoredKey { key, origin, reason });
        Ok(())
    }

    /// Tells which files of a trusted project are not what was trusted, and which of its rules have no effect.
    fn control_files(
        &mut self,
        trust: &TrustStore,
        cwd: &Path,
        has_project_file: bool,
    ) -> Result<(), ConfigError> {
        // A list that cannot be read trusts nothing, and whoever changes it is told why.
        let changes = trust.changes(cwd).unwrap_or_default();
        let is_told = |change: &&UntrustedChange| has_project_file || change.name == RULES_FILE;
        self.warnings.extend(changes.iter().filter(is_told).map(|change| change.warning(cwd)));
        let rules = trust.trusted_text(cwd, RULES_FILE).ok().flatten();
        // Rules that are none are told by whoever needs them.
        let rules = rules.and_then(|text| toml::from_str::<Rules>(&text).ok());
        if rules.is_some_and(|rules| !rules.allow.is_empty()) {
            let place = cwd.join(RULES_FILE).display().to_string();
            let message = "its allow rules have no effect: a project can only ask and deny";
            if self.is_strict {
                return Err(ConfigError::new(place, message));
            }
            self.warnings.push(format!("{place}: {message}"));
        }
        Ok(())
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
                    "can only be set in the environment, like BUDDY_BASE_URL",
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

    fn unknown(
        &mut self,
        contents: &DocumentContents,
        place: impl Fn(usize) -> String,
    ) -> Result<(), ConfigError> {
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
