//! The command line.

mod doctor;
mod duration;
mod exec;
mod host_flags;
mod listing;
mod own_help;
mod past;
mod print;
mod project;
mod rights;
mod spoken;

use std::path::PathBuf;

use buddy_exec::is_session_name;
use buddy_protocol::ApprovalPolicy;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use doctor::{Doctor, Patient};
use duration::duration;
use exec::EXEC_EXAMPLES;
pub(crate) use exec::{ExecFlags, Format, InputFormat};
pub(crate) use host_flags::HostFlags;
pub(crate) use listing::ListFlags;
pub(crate) use past::{Export, ExportFormatFlag, Import, List, Resume};
pub(crate) use print::{arguments, wants_json};
use project::{CONFIGURATION, EXAMPLES, PLACE, RIGHTS};
pub(crate) use project::{CompletionFlags, CompletionShell, Init, Man};
use rights::approve;
pub(crate) use rights::{PermissionMode, RunRules};

/// An agent that works on your own machine.
#[derive(Debug, Parser)]
#[command(name = "buddy", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// The command to run [default: start a conversation]
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,

    /// Answer one prompt and exit; short for `exec`, with all its options
    #[arg(short, long)]
    pub(crate) print: bool,

    /// The first prompt of a conversation, given instead of a command.
    #[arg(skip)]
    pub(crate) prompt: Option<String>,

    /// Use this model: a profile, `profile/model`, or a model of the active profile
    #[arg(short, long, global = true, value_name = "NAME", help_heading = CONFIGURATION)]
    pub(crate) model: Option<String>,

    /// Read this configuration file and no other
    #[arg(long, global = true, value_name = "PATH", help_heading = CONFIGURATION)]
    pub(crate) config: Option<PathBuf>,

    /// Set a configuration key for this run, such as `agent.temperature=0`
    #[arg(short = 'c', global = true, value_name = "KEY=VALUE", help_heading = CONFIGURATION)]
    pub(crate) overrides: Vec<String>,

    /// Use colours; `auto` follows the configuration and `NO_COLOR` [default: auto]
    #[arg(long, global = true, value_name = "WHEN", help_heading = CONFIGURATION)]
    pub(crate) color: Option<ColorWish>,

    /// Print plain lines for a screen reader, and never repaint
    #[arg(long, global = true, help_heading = CONFIGURATION)]
    pub(crate) screen_reader: bool,

    /// Fail on unknown configuration keys and on an invalid `models.toml`
    #[arg(long, global = true, help_heading = CONFIGURATION)]
    pub(crate) strict_config: bool,

    /// Ignore your own `buddy.toml` and `models.toml`
    ///
    /// Trusted project files, the environment and the command line still count, and so do your rules, grants, guards and
    /// stored keys.
    #[arg(long, global = true, help_heading = CONFIGURATION)]
    pub(crate) ignore_user_config: bool,

    /// Trust the working directory, like `buddy trust`
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) trust: bool,

    /// Read and plan only; change nothing
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) plan: bool,

    /// Set when buddy asks: `auto`, `ask`, `edits`, `none`, `all`, or a time such as `10m` [default: auto]
    ///
    /// `auto` runs whatever the sandbox contains and undo can revert, and asks about the rest. `ask` asks before every
    /// change. `edits` allows file edits in the workspace. `none` denies everything that would ask, `all` allows it, and a
    /// time allows whatever is not dangerous for that long. The default comes from `BUDDY_APPROVE` or `approvals.policy`.
    /// `exec` never asks, so it denies instead.
    #[arg(long, global = true, value_name = "POLICY", value_parser = approve, help_heading = RIGHTS)]
    pub(crate) approve: Option<ApprovalPolicy>,

    /// Run without sandbox and approvals, in a container or machine that you throw away
    ///
    /// Processes that commands start keep running. Deny rules still apply.
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) throwaway: bool,

    /// Set `--approve` and `--plan` with one flag
    #[arg(long, global = true, value_enum, value_name = "MODE", help_heading = RIGHTS)]
    pub(crate) permission_mode: Option<PermissionMode>,

    #[command(flatten)]
    pub(crate) rules: RunRules,

    /// Let the agent work in this directory too; can be repeated
    ///
    /// buddy does not read the directory's project files.
    #[arg(long = "add-dir", global = true, value_name = "DIR", help_heading = RIGHTS)]
    pub(crate) add_directories: Vec<PathBuf>,

    /// Run commands in a shared tmux session [default: `tmux.enabled` in the configuration]
    #[arg(long, global = true, value_name = "SESSION", num_args = 0..=1, require_equals = true, value_parser = tmux_session, help_heading = PLACE)]
    #[expect(clippy::option_option, reason = "the option can be absent, alone, or with a name")]
    pub(crate) tmux: Option<Option<String>>,

    /// Work in this directory [default: the current one]
    ///
    /// With `--ssh` or `--container` it is a directory of the first host, by default the login directory.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", help_heading = PLACE)]
    pub(crate) directory: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hosts: HostFlags,

    /// Keep all tools off this machine; work only on the other hosts of the session
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) remote_only: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Answer one prompt and exit
    ///
    /// Only the answer is written to stdout; progress goes to stderr. `exec` never asks: it denies anything that needs
    /// approval, unless `--approve`, `--allow`, a rule or a grant covers it.
    ///
    /// Exit codes: 0 done; 1 the task or the model's API failed, or the answer does not fit `--output-schema`; 2 invalid
    /// command line or configuration; 3 limit on model calls; 4 budget used up; 5 something needed approval; 6 no model
    /// connected, or the key was rejected; 7 the conversation no longer fits the model; 8 the sandbox is not available; 124
    /// timeout; 130 interrupted; 141 stdout was closed.
    #[command(after_help = EXEC_EXAMPLES)]
    Exec(ExecFlags),
    /// Log in to a provider, or store an API key for a profile
    ///
    /// Exit codes: 0 done; 1 failed; 2 invalid command line; 6 the login was denied, expired or is missing; 130
    /// interrupted.
    Login(LoginFlags),
    /// Delete logins and keys, and revoke tokens if the provider supports it
    Logout(Logout),
    /// List sessions, last used first, or search them
    Sessions(List),
    /// Print a session
    Show(Show),
    /// Continue a session
    Resume(Resume),
    /// Write a session to a file, as Markdown or JSON
    Export(Export),
    /// Import sessions from `.buddyx/sessions` and `.agentx/sessions`
    ///
    /// Each file becomes a session that you can list, search, resume and export. Sessions that you imported before are
    /// skipped. Exit codes: 0 done; 1 a file could not be read, or there are none; 2 invalid command line.
    Import(Import),
    /// Revert the file changes of a call
    ///
    /// Shows what happens to each path and asks. Without a terminal, `--yes` is required. Exit codes: 0 done, or nothing to
    /// do; 1 failed, refused, or paths changed since; 2 invalid command line.
    Undo(Undo),
    /// List background commands and managed processes
    Ps(ListFlags),
    /// Print the output of a managed process
    Logs(Logs),
    /// Stop a managed process and everything that it started
    ///
    /// Sends a signal, and kills what is left after 5 seconds. Exit codes: 0 it has ended; 1 there is no such process, or it
    /// could not be stopped; 2 invalid command line.
    Kill(Kill),
    /// Check, rebuild or back up the store of all sessions
    #[command(subcommand)]
    Store(Store),
    /// List the model profiles
    Models(ListFlags),
    /// Show and change the configuration
    #[command(subcommand)]
    Config(ConfigAction),
    /// Trust a directory, so that the agent may change it
    Trust(Trust),
    /// List pending approvals and questions across sessions
    Asks(ListFlags),
    /// List and revoke saved permissions
    Grants(GrantsFlags),
    /// Show your guards file and approve its changes
    #[command(subcommand)]
    Guards(GuardsAction),
    /// Check this machine, or a model with `doctor provider`
    Doctor(Doctor),
    /// Write an AGENTS.md for this project
    ///
    /// Languages and commands come from the usual project files. buddy asks before it overwrites an existing file.
    Init(Init),
    /// Print a completion script for a shell
    ///
    /// For bash: `buddy completion bash > ~/.local/share/bash-completion/completions/buddy`. For zsh: write it to `_buddy` in
    /// a directory of `$fpath`. For fish: `buddy completion fish > ~/.config/fish/completions/buddy.fish`.
    Completion(CompletionFlags),
    /// Print the manual page, or write all pages to a directory
    Man(Man),
    /// Print the version and how to update
    ///
    /// buddy checks for a newer version only if `update.check` is on in the configuration.
    Update,
}

#[derive(Debug, Args)]
pub(crate) struct LoginFlags {
    /// A profile or a provider [default: the active profile]
    pub(crate) name: Option<String>,

    /// Show a code to enter on any device
    #[arg(long, conflicts_with_all = ["browser", "api_key", "status"])]
    pub(crate) device: bool,

    /// Open a browser
    #[arg(long, conflicts_with_all = ["api_key", "status"])]
    pub(crate) browser: bool,

    /// Store an API key, read from stdin
    #[arg(long, conflicts_with = "status")]
    pub(crate) api_key: bool,

    /// Show who is logged in; change nothing
    #[arg(long)]
    pub(crate) status: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// A profile or a provider [default: the active profile]
    #[arg(conflicts_with = "all")]
    pub(crate) name: Option<String>,

    /// Delete all logins and keys
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print every key that is set, without secrets
    Show {
        /// Show where each key was set
        #[arg(long)]
        origins: bool,

        /// Print JSON: a list of keys with value and origin
        #[arg(long)]
        json: bool,
    },
    /// Print the path of the file that `set` and `unset` change
    Path,
    /// Set a key in your configuration file, or in the one given with `--config`
    Set {
        /// The key, such as `agent.model`.
        key: String,
        /// The value, as TOML or plain text
        value: String,
    },
    /// Remove a key from that file
    Unset {
        /// The key, such as `agent.model`.
        key: String,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
    /// Print the keys that a project may set, as a Markdown table
    ProjectKeys,
}

#[derive(Debug, Args)]
#[command(mut_arg("limit", |limit| limit.requires("list")))]
pub(crate) struct Trust {
    /// The directory [default: the working directory]
    pub(crate) directory: Option<PathBuf>,

    /// Stop trusting it
    #[arg(long)]
    pub(crate) remove: bool,

    /// List trusted directories
    #[arg(long, conflicts_with_all = ["remove", "directory"])]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) listing: ListFlags,
}

#[derive(Debug, Args)]
pub(crate) struct GrantsFlags {
    #[command(flatten)]
    pub(crate) listing: ListFlags,

    /// Allow commands that match a pattern, such as `cargo *`, in this directory
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["revoke", "revoke_all"])]
    pub(crate) allow: Option<String>,

    /// Allow them in all directories
    #[arg(long, requires = "allow")]
    pub(crate) everywhere: bool,

    /// How long the grant lasts [default and maximum: 30d]
    #[arg(long = "for", value_name = "TIME", requires = "allow", value_parser = duration)]
    pub(crate) time: Option<std::time::Duration>,

    /// Revoke these grants, by their numbers in the list
    #[arg(long, value_name = "N", num_args = 1.., conflicts_with = "revoke_all")]
    pub(crate) revoke: Vec<usize>,

    /// Revoke all grants
    #[arg(long)]
    pub(crate) revoke_all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardsAction {
    /// Print the guards in effect and the changes that wait for approval
    Show,
    /// Show the file's changes and approve them; needs a terminal
    Approve,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWish {
    Auto,
    Always,
    Never,
}

impl ColorWish {
    /// The same as a setting of the configuration.
    pub(crate) fn setting(self) -> Option<String> {
        match self {
            Self::Auto => None,
            Self::Always => Some("display.color=true".to_owned()),
            Self::Never => Some("display.color=false".to_owned()),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session.
    #[arg(conflicts_with = "last")]
    pub(crate) id: Option<String>,

    /// Show the session that was used last; with `-C DIR` the last one of that directory.
    #[arg(long)]
    pub(crate) last: bool,

    /// Print the events of the log, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("limit", |limit| limit.requires("list")))]
pub(crate) struct Undo {
    /// The entry from `--list` [default: the newest that was not undone]
    #[arg(conflicts_with_all = ["last", "list"])]
    pub(crate) id: Option<String>,

    /// Cover all projects [default: that of the current directory]
    #[arg(long, conflicts_with_all = ["id", "session"])]
    pub(crate) all: bool,

    /// Cover this session, wherever it works
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    pub(crate) session: Option<String>,

    /// Undo the newest entry that was not undone; this is the default
    #[arg(long, conflicts_with = "list")]
    pub(crate) last: bool,

    /// List undoable changes, newest first
    #[arg(long)]
    pub(crate) list: bool,

    /// Do it without asking
    #[arg(long, conflicts_with = "list")]
    pub(crate) yes: bool,

    /// Also restore paths that changed since; undoing this brings their current state back
    #[arg(long, conflicts_with = "list")]
    pub(crate) force: bool,

    /// With JSON the entries are printed, or the plan and whether it was carried out.
    #[command(flatten)]
    pub(crate) listing: ListFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The process id from `buddy ps`
    pub(crate) id: String,

    /// Follow the output until the process ends
    #[arg(short, long)]
    pub(crate) follow: bool,

    /// Print this many of the last lines
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) tail: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// The process id from `buddy ps`
    pub(crate) id: String,

    /// Kill it at once
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Verify that the log is complete and unchanged
    Check,
    /// Rebuild the indexes from the log
    Rebuild,
    /// Copy the store to a new file, even while it is in use
    Backup {
        /// The file to create
        path: PathBuf,
    },
}

/// The name of a tmux session, as it was typed.
fn tmux_session(name: &str) -> Result<String, String> {
    if is_session_name(name) {
        Ok(name.to_owned())
    } else {
        Err("a session's name has letters, digits, `-` and `_`, at most 40".to_owned())
    }
}
