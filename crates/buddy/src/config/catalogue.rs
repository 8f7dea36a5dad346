//! The user's own catalogue of models, `models.toml` beside `buddy.toml`.
//!
//! It is the user's alone: a project has no say in what a model costs or holds.

use buddy_model::Catalogue;

use super::document::ConfigError;
use super::search::text_of;
use crate::environment::Environment;

/// The built-in catalogue with the user's rules before its own. A file of rules that cannot be used leaves the
/// built-in ones alone, and comes back as the error beside them.
pub(super) fn catalogue(environment: &Environment) -> (Catalogue, Option<ConfigError>) {
    let built_in = Catalogue::built_in().unwrap_or_default();
    let path = environment.config_home.as_ref().map(|home| home.join("buddy").join("models.toml"));
    let Some(path) = path.filter(|path| path.symlink_metadata().is_ok()) else { return (built_in, None) };
    let text = match text_of(&path) {
        Ok(text) => text,
        Err(error) => return (built_in, Some(error)),
    };
    match built_in.clone().extended(&text) {
        Ok(catalogue) => (catalogue, None),
        Err(error) => {
            let message = format!("{error}; the built-in rules are used alone");
            (built_in, Some(ConfigError::new(path.display().to_string(), message)))
        }
    }
}
