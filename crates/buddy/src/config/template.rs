//! The configuration file that a user starts with. Its profiles are also the built-in ones.

use std::io;
use std::path::Path;

use super::document::{self, ConfigError};
use super::layers::{Effective, LayerSetting, SettingOrigin};
use super::private_file;
use super::profile::Profile;
use super::search::{legacy_user_file, user_file};
use crate::environment::Environment;

/// The template.
pub(crate) const TEMPLATE: &str = include_str!("buddy.toml");

/// The built-in logins.
const LOGINS: &str = include_str!("logins.toml");

/// Writes the user's file unless there is one, under this or its older name. Says why it could not.
pub(crate) fn create(environment: &Environment) -> Option<String> {
    let path = user_file(environment)?;
    if path.symlink_metadata().is_ok() || legacy_user_file(environment).is_some() {
        return None;
    }
    let failed = |error: io::Error| Some(format!("cannot make {}: {error}", path.display()));
    if let Err(error) = path.parent().map_or(Ok(()), private_file::make_directory) {
        return failed(error);
    }
    match private_file::create(&path, TEMPLATE) {
        Ok(()) => None,
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
        Err(error) => failed(error),
    }
}

/// The built-in profiles and logins as the lowest layer.
pub(crate) fn builtin_settings() -> Result<Vec<LayerSetting>, ConfigError> {
    let profiles = document::read(Path::new("template"), TEMPLATE)?;
    let logins = document::read(Path::new("logins"), LOGINS)?;
    let lines = profiles.lines.into_iter().chain(logins.lines);
    Ok(lines
        .map(|line| LayerSetting { path: line.path, value: line.value, origin: SettingOrigin::Default })
        .collect())
}

/// Whether a login of this name is built in.
pub(crate) fn is_builtin_login(name: &str) -> bool {
    builtin_settings().is_ok_and(|settings| {
        settings.iter().any(
            |setting| matches!(&setting.path[..], [section, login, _] if section == "login" && login == name),
        )
    })
}

/// A built-in profile.
pub(crate) fn builtin(name: &str) -> Option<Profile> {
    let mut effective = Effective::default();
    effective.add(builtin_settings().ok()?).ok()?;
    effective.config().ok()?.models.remove(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys;

    #[test]
    fn the_template_has_no_unknown_keys_and_sets_profiles_only() {
        let contents = document::read(Path::new("template"), TEMPLATE).unwrap();
        assert!(contents.unknown.is_empty(), "{:?}", contents.unknown);
        let mut effective = Effective::default();
        effective.add(builtin_settings().unwrap()).unwrap();
        let sections = ["models", "login"];
        assert!(effective.iter().all(|(path, _, _)| sections.contains(&path.first().unwrap().as_str())));
        let logins = document::read(Path::new("logins"), LOGINS).unwrap();
        assert!(logins.unknown.is_empty(), "{:?}", logins.unknown);
        let config = effective.config().unwrap();
        for name in [
            "gpt-codex",
            "gpt-spark",
            "chatgpt",
            "claude",
            "deepseek",
            "glm",
            "ollama",
            "llama-cpp",
            "lm-studio",
            "vllm",
        ] {
            assert!(config.models.contains_key(name), "{name}");
        }
        assert_eq!(config.models["gpt-codex"].model.as_deref(), Some("gpt-5.3-codex"));
        for (name, login) in &config.login {
            buddy_model::Login::new(login.provider(name), std::sync::Arc::new(crate::system::SystemClock))
                .unwrap();
            assert!(is_builtin_login(name));
        }
    }

    /// The blocks of TOML on the pages for people that belong into `buddy.toml`.
    fn documented_blocks() -> Vec<(String, String)> {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let folders = [docs.clone(), docs.join("how-to"), docs.join("reference"), docs.join("explanation")];
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let pages = files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some());
        let mut blocks = Vec::new();
        for page in pages {
            let text = std::fs::read_to_string(&page).unwrap();
            let fenced = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
            // Rules and key bindings begin with a key, and a catalogue with a list of tables.
            let own = fenced.filter(|block| block.starts_with('[') && !block.starts_with("[["));
            blocks.extend(own.map(|block| (page.display().to_string(), block.to_owned())));
        }
        blocks
    }

    #[test]
    fn every_documented_block_can_be_appended_to_the_template() {
        let blocks = documented_blocks();
        assert!(blocks.len() >= 8, "{blocks:?}");
        for (page, block) in blocks {
            let contents = document::read(Path::new("buddy.toml"), &format!("{TEMPLATE}\n{block}"));
            let contents = contents.unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
            assert!(contents.unknown.is_empty(), "{page}: {:?}\n{block}", contents.unknown);
        }
    }

    #[test]
    fn every_key_is_explained_in_the_words_of_its_doc() {
        for section in keys::below(&[]).into_iter().filter(|section| section != "models") {
            for key in keys::below(&[&section]) {
                let description = keys::description(&[&section, &key]);
                let nested = keys::below(&[&section, &key]);
                if nested.is_empty() {
                    explained(&description, &key);
                } else {
                    let header = format!("\n# {description}\n# [{section}.{key}]\n");
                    assert!(TEMPLATE.contains(&header), "missing in the template: {header}");
                }
                for field in nested {
                    explained(&keys::description(&[&section, &key, &field]).replace('\n', "\n# "), &field);
                }
            }
        }
        for section in ["models", "login"] {
            for key in keys::below(&[section, "any"]) {
                explained(&keys::description(&[section, "any", &key]), &key);
            }
        }
    }

    /// Fails unless the key stands in the template, commented out or not, with this text above it.
    #[track_caller]
    fn explained(description: &str, key: &str) {
        let wanted = [
            format!("\n# {description}\n# {key} = "),
            // The profile that shows all keys is commented out as a whole.
            format!("\n# # {description}\n# {key} = "),
        ];
        assert!(wanted.iter().any(|text| TEMPLATE.contains(text)), "missing in the template: {}", wanted[0]);
    }
}
