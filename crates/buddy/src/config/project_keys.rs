//! The settings that a project's own file may make: one table with every key.
//!
//! Trusting a folder lets its files be changed. It does not hand over what belongs to the user: addresses, keys, programs that
//! run outside the jail, approvals and limits. So a project makes such a setting stricter or has no say in it. A key that is
//! missing from the table counts as one that a project may not set, and a test fails.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

/// The rights of a project's file over a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectMay {
    /// Set it.
    Freely,
    /// Make it stricter.
    Tighten(TighteningOrder),
    /// Choose another model at the address of the model that the user's file chooses.
    ChooseModel,
    /// Nothing, for this reason.
    Never(&'static str),
}

/// Which of two values is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TighteningOrder {
    /// `false` is.
    Off,
    /// `true` is.
    On,
    /// The smaller number is. An absent number is no limit.
    Lower,
    /// The one that stands earlier here is.
    Ranked(&'static [&'static str]),
    /// A longer list is: entries of a project are added.
    Adds,
    /// A list is in which every entry is one of the other or beneath one. An absent list is no limit.
    Narrows,
}

/// The effect of a project's value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ruling {
    /// This value holds.
    Holds(Value),
    /// It says what holds already.
    Same,
    /// It is left out.
    Refused(String),
}

const ADDRESS: &str = "it says where your data goes";
const KEY: &str = "it says which of your keys is used";
const PROGRAM: &str = "it names a command that runs outside the sandbox";
const PROFILE: &str = "model profiles are yours to set";
const LOGIN: &str = "your logins are yours to set";
const PROMPT: &str = "your own instructions stay as they are; a project has `AGENTS.md`";
const PATIENCE: &str = "it protects you from slow servers";
const CONTEXT: &str = "it protects your model's context window";
const ALLOWLIST: &str = "a listed command runs without asking";
const PLACE: &str = "you say where tools work";
const OPENING: &str = "it opens the jail; put it into your own file";
const CHECK: &str = "it names a command that runs without asking";
const HOSTS: &str = "it opens hosts that are not on the public internet";
const VARIABLES: &str = "it gives commands your secrets";
const TERMINAL: &str = "your terminal is yours to set up";
const TIMEOUT: &str = "you say how long a question waits for you";
const UPDATE: &str = "you say whether buddy looks for updates";

use ProjectMay::{ChooseModel, Freely, Never, Tighten};
use TighteningOrder::{Adds, Lower, Narrows, Off, On, Ranked};

/// Every key. `*` stands for the name of a profile or of a login.
pub(crate) const PROJECT_KEYS: &[(&str, ProjectMay)] = &[
    ("models.*.api_base_url", Never(ADDRESS)),
    ("models.*.api", Never(PROFILE)),
    ("models.*.auth", Never(KEY)),
    ("models.*.api_key", Never(KEY)),
    ("models.*.api_key_env", Never(KEY)),
    ("models.*.api_key_file", Never(KEY)),
    ("models.*.api_key_command", Never(PROGRAM)),
    ("models.*.model", Never(PROFILE)),
    ("models.*.context_limit", Never(PROFILE)),
    ("models.*.stream", Never(PROFILE)),
    ("models.*.reasoning_effort", Never(PROFILE)),
    ("models.*.thinking_budget", Never(PROFILE)),
    ("models.*.max_output_tokens", Never(PROFILE)),
    ("models.*.max_tokens_field", Never(PROFILE)),
    ("models.*.reasoning_replay", Never(PROFILE)),
    ("models.*.parallel_tool_calls", Never(PROFILE)),
    ("models.*.keep_alive", Never(PROFILE)),
    ("models.*.idle_timeout", Never(PATIENCE)),
    ("models.*.headers", Never(KEY)),
    ("models.*.extra", Never(PROFILE)),
    ("login.*.protocol", Never(LOGIN)),
    ("login.*.addresses", Never(LOGIN)),
    ("login.*.client_id", Never(LOGIN)),
    ("login.*.client_secret", Never(LOGIN)),
    ("login.*.authorize_url", Never(LOGIN)),
    ("login.*.token_url", Never(LOGIN)),
    ("login.*.device_url", Never(LOGIN)),
    ("login.*.revoke_url", Never(LOGIN)),
    ("login.*.scopes", Never(LOGIN)),
    ("login.*.audience", Never(LOGIN)),
    ("login.*.extra", Never(LOGIN)),
    ("login.*.redirect_port", Never(LOGIN)),
    ("login.*.redirect_path", Never(LOGIN)),
    ("login.*.issuer", Never(LOGIN)),
    ("agent.model", ChooseModel),
    ("agent.name", Freely),
    ("agent.environment", Tighten(Ranked(&["development", "production"]))),
    ("agent.system_prompt", Never(PROMPT)),
    ("agent.max_iterations", Tighten(Lower)),
    ("agent.temperature", Freely),
    ("agent.top_p", Freely),
    ("agent.gates.finish", Freely),
    ("agent.gates.stuck", Freely),
    ("agent.gates.retry", Freely),
    ("agent.gates.report", Freely),
    ("agent.gates.recite", Freely),
    ("tools.shell_enabled", Tighten(Off)),
    ("tools.files_enabled", Tighten(Off)),
    ("tools.fetch_enabled", Tighten(Off)),
    ("tools.search_enabled", Tighten(Off)),
    ("tools.files_allowed_paths", Tighten(Narrows)),
    ("tools.fetch_allowed_hosts", Tighten(Narrows)),
    ("tools.run_shell", Tighten(Off)),
    ("tools.read_file", Tighten(Off)),
    ("tools.write_file", Tighten(Off)),
    ("tools.list_directory", Tighten(Off)),
    ("tools.edit_file", Tighten(Off)),
    ("tools.apply_patch", Tighten(Off)),
    ("tools.make_directory", Tighten(Off)),
    ("tools.delete_path", Tighten(Off)),
    ("tools.grep", Tighten(Off)),
    ("tools.glob", Tighten(Off)),
    ("tools.fetch_url", Tighten(Off)),
    ("tools.web_search", Tighten(Off)),
    ("tools.search_youtube", Tighten(Off)),
    ("tools.capture_pane", Tighten(Off)),
    ("tools.send_keys", Tighten(Off)),
    ("tools.time", Tighten(Off)),
    ("tools.shell_denylist", Tighten(Adds)),
    ("tools.shell_allowlist", Never(ALLOWLIST)),
    ("tools.network", Tighten(Off)),
    ("tools.local", Never(PLACE)),
    ("tools.shell_confirm", Tighten(On)),
    ("tools.fetch_confirm", Tighten(On)),
    ("tools.command_characters", Never(CONTEXT)),
    ("tools.file_characters", Never(CONTEXT)),
    ("environment.pass", Never(VARIABLES)),
    ("environment.hide", Tighten(Adds)),
    ("jail.write", Never(OPENING)),
    ("jail.hosts", Never(OPENING)),
    ("projects.*.write", Never(OPENING)),
    ("projects.*.hosts", Never(OPENING)),
    ("checks.*.files", Never(CHECK)),
    ("checks.*.command", Never(CHECK)),
    ("network.connect_timeout", Never(PATIENCE)),
    ("network.idle_timeout", Never(PATIENCE)),
    ("network.total_timeout", Never(PATIENCE)),
    ("network.retries", Tighten(Lower)),
    ("network.local_servers", Tighten(Off)),
    ("web.allowed_hosts", Never(HOSTS)),
    ("web.max_bytes", Tighten(Lower)),
    ("web.connect_timeout", Never(PATIENCE)),
    ("web.idle_timeout", Never(PATIENCE)),
    ("web.total_timeout", Never(PATIENCE)),
    ("web.search_endpoint", Never(ADDRESS)),
    ("web.youtube_endpoint", Never(ADDRESS)),
    ("display.color", Never(TERMINAL)),
    ("display.show_tokens", Freely),
    ("display.show_tool_calls", Tighten(On)),
    ("display.theme", Never(TERMINAL)),
    ("display.images", Never(TERMINAL)),
    ("display.motion", Never(TERMINAL)),
    ("display.screen_reader", Never(TERMINAL)),
    ("display.keys", Never(TERMINAL)),
    ("display.status", Never(TERMINAL)),
    ("display.status_command", Never(PROGRAM)),
    ("tmux.enabled", Tighten(Off)),
    ("tmux.max_sessions", Tighten(Lower)),
    ("tmux.max_panes", Tighten(Lower)),
    ("approvals.policy", Tighten(Ranked(&["none", "ask", "edits", "auto", "all"]))),
    ("approvals.timeout", Never(TIMEOUT)),
    ("budget.max_cost_per_session", Tighten(Lower)),
    ("budget.max_cost_per_day", Tighten(Lower)),
    ("budget.max_tokens", Tighten(Lower)),
    ("budget.max_turns", Tighten(Lower)),
    ("update.check", Never(UPDATE)),
    ("update.address", Never(UPDATE)),
];

/// The rights of a project over a key.
pub(super) fn project_may(path: &[String]) -> ProjectMay {
    let is_it = |key: &str| {
        let names: Vec<&str> = key.split('.').collect();
        names.len() == path.len()
            && names.iter().zip(path).enumerate().all(|(depth, (name, found))| {
                // Only the name of a profile or a login is free.
                name == found || (depth == 1 && *name == "*")
            })
    };
    let found = PROJECT_KEYS.iter().find(|(key, _)| is_it(key));
    found.map_or(Never("buddy has no rule for it"), |(_, may)| *may)
}

impl TighteningOrder {
    /// The effect of a project's value where this one holds.
    pub(super) fn rule(self, held: &Value, wanted: &Value) -> Ruling {
        if held == wanted {
            return Ruling::Same;
        }
        let is_stricter = match self {
            Off => *wanted == Value::Bool(false),
            On => *wanted == Value::Bool(true),
            Lower => match (held.as_f64(), wanted.as_f64()) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(held), Some(wanted)) => wanted < held,
            },
            Ranked(values) => {
                let rank = |value: &Value| values.iter().position(|known| value == known);
                rank(wanted).zip(rank(held)).is_some_and(|(wanted, held)| wanted < held)
            }
            Adds => return added(held, wanted),
            Narrows => narrows(held, wanted),
        };
        if is_stricter { Ruling::Holds(wanted.clone()) } else { Ruling::Refused(self.refusal()) }
    }

    fn refusal(self) -> String {
        format!("a project can only tighten it ({})", self.described())
    }

    fn described(self) -> String {
        match self {
            Off => "to `false`".to_owned(),
            On => "to `true`".to_owned(),
            Lower => "to a lower number".to_owned(),
            Ranked(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                format!("to a stricter value; the strictest first: {}", values.join(", "))
            }
            Adds => "by adding entries".to_owned(),
            Narrows => "to entries of your own list, or to what lies below them".to_owned(),
        }
    }
}

fn added(held: &Value, wanted: &Value) -> Ruling {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut all = list(held);
    let before = all.len();
    for entry in list(wanted) {
        if !all.contains(&entry) {
            all.push(entry);
        }
    }
    if all.len() == before { Ruling::Same } else { Ruling::Holds(all.into()) }
}

/// Whether every entry of a list is one of the other, or a path beneath one. Only paths that begin alike can be compared.
fn narrows(held: &Value, wanted: &Value) -> bool {
    let list = |value: &Value| -> Option<Vec<PathBuf>> {
        value.as_array()?.iter().map(|entry| entry.as_str().map(PathBuf::from)).collect()
    };
    let Some(wanted) = list(wanted) else { return false };
    let Some(held) = list(held) else { return held.is_null() };
    let is_plain = |path: &Path| !path.components().any(|part| part == Component::ParentDir);
    let is_within = |entry: &PathBuf| {
        let is_below = |held: &PathBuf| held.has_root() == entry.has_root() && entry.starts_with(plain(held));
        is_plain(entry) && held.iter().any(is_below)
    };
    wanted.iter().all(is_within)
}

/// A path without the `.` that it begins with.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// The keys that a project's file may set, as a table in Markdown.
pub(crate) fn project_keys_table() -> String {
    let rows = PROJECT_KEYS.iter().filter_map(|(key, may)| {
        let said = match may {
            Freely => "set it".to_owned(),
            Tighten(order) => format!("tighten it: {}", order.described()),
            ChooseModel => {
                "choose another model at the address of the one that your own file chooses".to_owned()
            }
            Never(_) => return None,
        };
        Some(format!("| `{key}` | {said} |"))
    });
    let head = ["| key | a project may |", "|---|---|"].map(str::to_owned);
    head.into_iter().chain(rows).map(|row| row + "\n").collect()
}

#[cfg(test)]
mod tests;
