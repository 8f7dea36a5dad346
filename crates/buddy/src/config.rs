//! The configuration: what can be set, where it is read from, and who won.
//!
//! The typed sections in `settings` and `profile` are the one truth: key names, defaults, the JSON Schema and the
//! comments of the template all come from them. Layers are merged key by key, and each key keeps its [`SettingOrigin`].

mod approval_name;
mod catalogue;
mod control_files;
mod display;
mod document;
mod edit;
mod gates;
mod jail;
mod kept_read;
mod keys;
mod layers;
mod load;
pub(crate) mod private_file;
mod profile;
mod project_keys;
mod search;
mod secret;
mod settings;
mod show;
mod template;
mod trust;
mod variables;
mod wait;
mod web;

pub(crate) use control_files::{RULES_FILE, UntrustedChange, read_rules};
pub(crate) use display::{DisplaySection, ImageChoice, ThemeChoice};
pub(crate) use document::ConfigError;
pub(crate) use edit::{set, unset};
pub(crate) use gates::{FamilyGate, family_gates};
pub(crate) use jail::{JailSettings, Openings};
pub(crate) use kept_read::KeptRead;
pub(crate) use keys::{schema, written};
pub(crate) use layers::{Effective, SettingOrigin};
pub(crate) use load::{ConfigRequest, Loaded, is_open, load, load_existing};
pub(crate) use private_file::replace;
pub(crate) use profile::{Api, AuthKind, KeySource, Profile};
pub(crate) use project_keys::project_keys_table;
pub(crate) use search::{text_of, user_file};
pub(crate) use secret::Secret;
pub(crate) use settings::{CheckSection, Config, GatesSection, TmuxSection, ToolsSection, WorkEnvironment};
pub(crate) use show::shown_values;
pub(crate) use template::{builtin, create, is_builtin_login};
pub(crate) use trust::TrustStore;
pub(crate) use variables::ENVIRONMENT_PROFILE;
pub(crate) use wait::WaitTime;
