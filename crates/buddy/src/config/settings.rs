//! The sections of the configuration. The doc of a field is also its comment in the template and its description in
//! the JSON Schema.

use std::collections::BTreeMap;

use buddy_policy::VariableRules;
use buddy_protocol::ApprovalPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::approval_name;
use super::display::DisplaySection;
use super::jail::JailSection;
use super::profile::Profile;
use super::wait::WaitTime;
use super::web::WebSection;
use crate::auth_store::LoginSection;

/// The profile that is used when nobody chose one.
pub(crate) const DEFAULT_PROFILE: &str = "gpt-codex";

/// Commands that no answer lets run, unless the user has a list of their own: they end the machine or what is on its disks.
const DENYLIST: &[&str] = &["rm -rf /", "mkfs", "wipefs", "dd if=", "shutdown", "reboot", "halt", "poweroff"];

/// The tools that `tools.shell_enabled` turns off: every way to a command.
const SHELL_TOOLS: &[&str] = &[
    "run_shell",
    "process_start",
    "process_stop",
    "process_status",
    "process_logs",
    "tmux_capture_pane",
    "tmux_send_keys",
    "tmux_create_session",
    "tmux_kill_session",
    "tmux_create_pane",
    "tmux_kill_pane",
];

/// The tools that `tools.files_enabled` turns off.
const FILE_TOOLS: &[&str] = &[
    "read_file",
    "write_file",
    "list_directory",
    "edit_file",
    "apply_patch",
    "make_directory",
    "delete_path",
    "grep",
    "glob",
];

/// The tools that `tools.search_enabled` turns off.
const SEARCH_TOOLS: &[&str] = &["web_search", "search_youtube", "grep", "glob"];

/// Everything that can be set in `buddy.toml`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Config {
    /// Model profiles by name.
    pub(crate) models: BTreeMap<String, Profile>,
    /// Providers to log in to, by name.
    pub(crate) login: BTreeMap<String, LoginSection>,
    /// buddy's own agent.
    pub(crate) agent: AgentSection,
    /// The agent's tools.
    pub(crate) tools: ToolsSection,
    /// Which variables commands get.
    pub(crate) environment: EnvironmentSection,
    /// Places and hosts that the jail opens to commands, in every project.
    pub(crate) jail: JailSection,
    /// The same for single projects, by their directories.
    pub(crate) projects: BTreeMap<String, JailSection>,
    /// Checks of files that the agent edited, by name.
    pub(crate) checks: BTreeMap<String, CheckSection>,
    /// How patient buddy is with providers.
    pub(crate) network: NetworkSection,
    /// The settings of tools that fetch from the web.
    pub(crate) web: WebSection,
    /// The settings of the display.
    pub(crate) display: DisplaySection,
    /// Terminals that agents share with people.
    pub(crate) tmux: TmuxSection,
    /// Approval of calls.
    pub(crate) approvals: ApprovalsSection,
    /// The most that a session or a day may cost.
    pub(crate) budget: BudgetSection,
    /// How buddy learns of newer versions.
    pub(crate) update: UpdateSection,
}

impl Config {
    /// Which variables commands get. Those that hold the keys of models are always hidden.
    pub(crate) fn variable_rules(&self) -> VariableRules {
        let keys = self.models.values().filter_map(|profile| profile.api_key_env.clone());
        VariableRules {
            pass: self.environment.pass.clone(),
            hide: self.environment.hide.iter().cloned().chain(keys).collect(),
        }
    }
}

/// buddy's own agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct AgentSection {
    /// The profile to use: its name, `profile/model`, or a model of the default profile.
    pub(crate) model: String,
    /// The name of the agent.
    pub(crate) name: String,
    /// `development` works in a jail, where `auto` asks only about risks; `production` has the whole host and asks when in doubt.
    pub(crate) environment: WorkEnvironment,
    /// Instructions that are added to the built-in ones.
    pub(crate) system_prompt: Option<String>,
    /// The most model calls in one turn; absent means 200 in a conversation and no limit in `buddy exec`.
    pub(crate) max_iterations: Option<u32>,
    /// The sampling temperature; absent leaves it to the provider.
    pub(crate) temperature: Option<f64>,
    /// Nucleus sampling; absent leaves it to the provider.
    pub(crate) top_p: Option<f64>,
    /// Switches of the control loop; absent leaves each to the family of the model.
    pub(crate) gates: GatesSection,
}

/// Switches of the control loop.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GatesSection {
    /// Ask the model once to check its changes before it finishes, if no command succeeded after the last one; absent means only
    /// in `buddy exec`.
    pub(crate) finish: Option<bool>,
    /// Tell a model that repeats the same calls, and end the turn if it goes on.
    pub(crate) stuck: Option<bool>,
    /// Ask once for a complete answer after an empty one or one that was cut off.
    pub(crate) retry: Option<bool>,
    /// Ask for a report when a limit ends the turn.
    pub(crate) report: Option<bool>,
    /// Repeat the plan to the model after 15 rounds of calls that did not change it.
    pub(crate) recite: Option<bool>,
}

impl Default for AgentSection {
    fn default() -> Self {
        Self {
            model: DEFAULT_PROFILE.to_owned(),
            name: "buddy".to_owned(),
            environment: WorkEnvironment::Development,
            system_prompt: None,
            max_iterations: None,
            temperature: None,
            top_p: None,
            gates: GatesSection::default(),
        }
    }
}

/// How far the agent's arm reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WorkEnvironment {
    /// The trusted directory and scratch places, in a jail.
    #[default]
    Development,
    /// The whole host.
    Production,
}

impl WorkEnvironment {
    /// The word of the configuration for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Production => "production",
        }
    }
}

/// The agent's tools.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ToolsSection {
    /// Run commands: `run_shell`, background processes and shared terminals. `false` turns all of them off.
    pub(crate) shell_enabled: bool,
    /// Use files: read, list, search, write, edit, patch, make and delete. `false` turns all of these tools off.
    pub(crate) files_enabled: bool,
    /// Fetch pages. `false` is the same as `fetch_url = false`.
    pub(crate) fetch_enabled: bool,
    /// Search the web, videos, and files with `grep` and `glob`. `false` turns all of these tools off.
    pub(crate) search_enabled: bool,
    /// The only directories and files that tools touch and commands change, relative to the workspace; absent limits nothing.
    pub(crate) files_allowed_paths: Option<Vec<String>>,
    /// The only hosts that tools and commands reach, such as `["docs.rs", "*.example.org"]`; absent limits nothing.
    pub(crate) fetch_allowed_hosts: Option<Vec<String>>,
    /// Run commands.
    pub(crate) run_shell: bool,
    /// Read files.
    pub(crate) read_file: bool,
    /// Write files.
    pub(crate) write_file: bool,
    /// List directories.
    pub(crate) list_directory: bool,
    /// Replace pieces of text in files.
    pub(crate) edit_file: bool,
    /// Apply patches to files.
    pub(crate) apply_patch: bool,
    /// Make directories.
    pub(crate) make_directory: bool,
    /// Remove files and directories.
    pub(crate) delete_path: bool,
    /// Search the text of files.
    pub(crate) grep: bool,
    /// Find files by name.
    pub(crate) glob: bool,
    /// Fetch pages.
    pub(crate) fetch_url: bool,
    /// Search the web.
    pub(crate) web_search: bool,
    /// Search for videos.
    pub(crate) search_youtube: bool,
    /// Look at a shared terminal.
    pub(crate) capture_pane: bool,
    /// Type into a shared terminal.
    pub(crate) send_keys: bool,
    /// Tell the time.
    pub(crate) time: bool,
    /// Commands that never run, in any spelling, such as `shutdown` or `rm -rf /`.
    pub(crate) shell_denylist: Vec<String>,
    /// Patterns of the only commands that run, each without a shell; absent allows a shell.
    pub(crate) shell_allowlist: Option<Vec<String>>,
    /// Whether commands in the jail reach the network.
    pub(crate) network: bool,
    /// Whether tools may touch this machine. `false` is the same as `--remote-only`: commands and files are those of other hosts.
    pub(crate) local: bool,
    /// Ask before commands that change something. `false` is the same as `approvals.policy = "all"`.
    pub(crate) shell_confirm: bool,
    /// Ask before pages are fetched.
    pub(crate) fetch_confirm: bool,
    /// How many characters of each text that a command printed the model is given.
    pub(crate) command_characters: Option<usize>,
    /// How many characters of a file or a list the model is given.
    pub(crate) file_characters: Option<usize>,
}

impl Default for ToolsSection {
    fn default() -> Self {
        Self {
            shell_enabled: true,
            files_enabled: true,
            fetch_enabled: true,
            search_enabled: true,
            files_allowed_paths: None,
            fetch_allowed_hosts: None,
            run_shell: true,
            read_file: true,
            write_file: true,
            list_directory: true,
            edit_file: true,
            apply_patch: true,
            make_directory: true,
            delete_path: true,
            grep: true,
            glob: true,
            fetch_url: true,
            web_search: true,
            search_youtube: true,
            capture_pane: true,
            send_keys: true,
            time: true,
            shell_denylist: DENYLIST.iter().map(|&entry| entry.to_owned()).collect(),
            shell_allowlist: None,
            network: true,
            local: true,
            shell_confirm: true,
            fetch_confirm: false,
            command_characters: None,
            file_characters: None,
        }
    }
}

impl ToolsSection {
    /// The names of the tools that are switched off.
    pub(crate) fn off(&self) -> Vec<String> {
        let tools = [
            ("run_shell", self.run_shell),
            ("read_file", self.read_file),
            ("write_file", self.write_file),
            ("list_directory", self.list_directory),
            ("edit_file", self.edit_file),
            ("apply_patch", self.apply_patch),
            ("make_directory", self.make_directory),
            ("delete_path", self.delete_path),
            ("grep", self.grep),
            ("glob", self.glob),
            ("fetch_url", self.fetch_url),
            ("web_search", self.web_search),
            ("search_youtube", self.search_youtube),
            ("tmux_capture_pane", self.capture_pane),
            ("tmux_send_keys", self.send_keys),
            ("time", self.time),
        ];
        let groups = [
            (SHELL_TOOLS, self.shell_enabled),
            (FILE_TOOLS, self.files_enabled),
            (&["fetch_url"], self.fetch_enabled),
            (SEARCH_TOOLS, self.search_enabled),
        ];
        let by_group =
            groups.into_iter().filter(|(_, is_on)| !is_on).flat_map(|(names, _)| names.iter().copied());
        let by_name = tools.into_iter().filter(|(_, is_on)| !is_on).map(|(name, _)| name);
        by_name.chain(by_group).map(str::to_owned).collect()
    }
}

/// Which variables commands get.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EnvironmentSection {
    /// Variables that commands get although they look like secrets, such as `DATABASE_URL` or `STRIPE_TEST_*`.
    pub(crate) pass: Vec<String>,
    /// Variables that commands never get, such as `ACME_*`.
    pub(crate) hide: Vec<String>,
}

/// A check of files that the agent edited.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CheckSection {
    /// The files, such as `["*.py"]`; with a slash in the workspace, or from `/` or `~/`.
    pub(crate) files: Vec<String>,
    /// The program and its arguments; `{file}` stands for the path of the file.
    pub(crate) command: Vec<String>,
}

/// How patient buddy is with providers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NetworkSection {
    /// How long a connection may take to stand.
    pub(crate) connect_timeout: WaitTime,
    /// How long a server may say nothing. Local servers read long prompts for minutes.
    pub(crate) idle_timeout: WaitTime,
    /// How long one call may take with all its retries.
    pub(crate) total_timeout: WaitTime,
    /// How often a call that failed is made again.
    pub(crate) retries: u32,
    /// Look for model servers on this machine when no model is configured.
    pub(crate) local_servers: bool,
}

impl Default for NetworkSection {
    fn default() -> Self {
        let settings = buddy_model::Settings::default();
        Self {
            connect_timeout: WaitTime(settings.connect_timeout),
            idle_timeout: WaitTime(settings.idle_timeout),
            total_timeout: WaitTime(settings.total_timeout),
            retries: settings.retries,
            local_servers: true,
        }
    }
}

/// Terminals that agents share with people.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TmuxSection {
    /// Run commands in a terminal that the user can attach to, where there is tmux and commands have no bounds.
    pub(crate) enabled: bool,
    /// The most tmux sessions that buddy keeps.
    pub(crate) max_sessions: u32,
    /// The most panes in one of them.
    pub(crate) max_panes: u32,
}

impl Default for TmuxSection {
    fn default() -> Self {
        Self { enabled: false, max_sessions: 1, max_panes: 5 }
    }
}

/// Approval of calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ApprovalsSection {
    /// `auto` allows what the jail holds and undo takes back in a trusted folder and asks for the rest; `ask` asks for all that changes something; `edits` allows changes of files in the workspace and asks for the rest; `none` denies; `all` allows. Where nobody can be asked, buddy denies what it would ask for.
    #[serde(with = "approval_name")]
    #[schemars(schema_with = "approval_name::schema")]
    pub(crate) policy: ApprovalPolicy,
    /// How long a user has to answer; absent or 0 waits for ever.
    pub(crate) timeout: Option<WaitTime>,
}

/// The most that a session or a day may cost.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are the keys of the file")]
pub(crate) struct BudgetSection {
    /// The most that one session may cost, in US dollars.
    pub(crate) max_cost_per_session: Option<f64>,
    /// The most that one day may cost, in US dollars.
    pub(crate) max_cost_per_day: Option<f64>,
    /// The most tokens that one session may use, in and out.
    pub(crate) max_tokens: Option<u64>,
    /// The most model calls that one session may make, with all that it opened, as `--max-turns` counts them.
    pub(crate) max_turns: Option<u32>,
}

/// How buddy learns of newer versions.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct UpdateSection {
    /// Let `buddy update` ask for the newest version. Nothing else ever asks.
    pub(crate) check: bool,
    /// Where it asks: an address that answers with JSON that has `version` or `tag_name`.
    pub(crate) address: Option<String>,
}

#[cfg(test)]
mod tests {
    use buddy_policy::{
        Action, CommandPattern, Intent, Mode, Now, Policy, RuleSet, RuleTier, Verdict, decide,
    };

    use super::*;

    /// Whether the built-in list denies a command whatever is approved.
    fn is_denied(command: &str) -> bool {
        let patterns = ToolsSection::default().shell_denylist;
        let patterns = patterns.iter().map(|text| CommandPattern::denying(text).unwrap()).collect();
        let mut rules = RuleSet::default();
        rules.deny_commands(RuleTier::User, patterns);
        let mut policy = Policy { rules, mode: Mode::Production, ..Policy::plain("/home/me/ws".into()) };
        policy.places.home = Some("/home/me".into());
        let intent = Intent::of(Action::Run { command: command.to_owned(), cwd: "/home/me/ws".into() });
        let decision = decide(&intent, &policy, &Now::with(ApprovalPolicy::All));
        let is_listed = decision.reasons.iter().any(|reason| reason.contains("denylist"));
        assert_eq!(decision.verdict == Verdict::Deny, is_listed, "{command}: {:?}", decision.reasons);
        is_listed
    }

    #[test]
    fn the_built_in_denylist_stops_every_spelling_and_ordinary_work_goes_on() {
        for line in [
            "rm -rf /",
            "rm -fr /",
            "rm -r -f /",
            "rm -rf /*",
            "rm -rf //",
            "rm -rf /.",
            "rm -rfv /",
            "rm -rf --no-preserve-root /",
            "rm --recursive --force /",
            "rm -Rf /",
            "rm -rf -- /",
            "rm / -rf",
            "rm -rf ./target /",
            "rm -rf /home/..",
            "sudo rm -rf /",
            "'r'm -rf /",
            "/bin/rm -rf /",
            "command rm -rf /",
            "bash -c 'rm -rf /'",
            "ls && rm -rf /",
            "echo / | xargs rm -rf /",
            "mkfs /dev/sda1",
            "mkfs.ext4 /dev/sda1",
            "sudo mkfs.xfs -f /dev/sda",
            "wipefs -a /dev/sda",
            "dd if=/dev/zero of=/dev/sda",
            "dd of=/dev/sda if=x bs=1M",
            "shutdown now",
            "shutdown -h +1",
            "/sbin/reboot",
            "halt",
            "sudo poweroff -f",
        ] {
            assert!(is_denied(line), "{line}");
        }
        for line in [
            "rm -rf /home/me/ws/target",
            "rm -rf target",
            "rm -r /tmp/x",
            "rm /",
            "echo rm -rf /",
            "git commit -m 'shutdown'",
            "grep -r mkfs .",
            "cat dd",
            "rm -rf ./*",
        ] {
            assert!(!is_denied(line), "{line}");
        }
    }
}
