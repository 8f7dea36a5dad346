//! The command line.

mod exec;
mod host_flags;
mod listing;
mod past;
mod print;
mod project;
mod rights;
mod spoken;

use std::path::PathBuf;

use buddy_exec::is_session_name;
use clap::{Args, Parser, Subcommand, ValueEnum};

use exec::EXEC_EXAMPLES;
pub(crate) use exec::{Exec, Format, InputFormat};
pub(crate) use host_flags::HostFlags;
pub(crate) use listing::Listing;
pub(crate) use past::{Export, ExportFormat, Import, List, Resume};
pub(crate) use print::{arguments, wants_json};
use project::{CONFIGURATION, EXAMPLES, PLACE, RIGHTS};
pub(crate) use project::{Completion, Init, Man, Shell};
use rights::approve;
pub(crate) use rights::{Approve, PermissionMode, RunRules};

/// An agent that works on your own machine.
#[derive(Debug, Parser)]
#[command(name = "buddy", version, about, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do; without it a conversation starts.
    #[command(subcommand)]
    pub(crate) command: Option<Action>,

    /// Answer one prompt and exit: the same as `exec`, with all its options, as in `buddy -p --json "hello"`.
    #[arg(short, long)]
    pub(crate) print: bool,

    /// What a conversation begins with, where it was said instead of a command.
    #[arg(skip)]
    pub(crate) prompt: Option<String>,

    /// The model to use: a profile, `profile/model`, or a model of the active profile.
    #[arg(short, long, global = true, value_name = "NAME", help_heading = CONFIGURATION)]
    pub(crate) model: Option<String>,

    /// The configuration file to read in place of all others.
    #[arg(long, global = true, value_name = "PATH", help_heading = CONFIGURATION)]
    pub(crate) config: Option<PathBuf>,

    /// Set a key of the configuration for this run, such as `-c agent.temperature=0`.
    #[arg(short = 'c', global = true, value_name = "KEY=VALUE", help_heading = CONFIGURATION)]
    pub(crate) overrides: Vec<String>,

    /// Colours on a terminal: `auto` follows the configuration and `NO_COLOR`, `always` and `never` are stronger than both.
    #[arg(long, global = true, value_name = "WHEN", help_heading = CONFIGURATION)]
    pub(crate) color: Option<ColorWish>,

    /// Fail when the configuration has a key that buddy does not know, or `models.toml` cannot be used.
    #[arg(long, global = true, help_heading = CONFIGURATION)]
    pub(crate) strict_config: bool,

    /// Leave your own `buddy.toml` and `models.toml` unread. Project files that you trust, the environment and the command
    /// line still count, and so do your rules, grants, guards and kept keys.
    #[arg(long, global = true, help_heading = CONFIGURATION)]
    pub(crate) ignore_user_config: bool,

    /// Trust the directory to work in, as `buddy trust` does.
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) trust: bool,

    /// Only read and plan: nothing is changed.
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) plan: bool,

    /// What becomes of calls that need an approval: `ask`, `edits` allows changes of files in the workspace, `none` denies them, `all` allows them, and a time such as
    /// `10m` allows for so long what is not dangerous. Without it `BUDDY_APPROVE` or `approvals.policy` of the
    /// configuration. `exec` can ask nobody, so there what would be asked for is denied.
    #[arg(long, global = true, value_name = "POLICY", value_parser = approve, help_heading = RIGHTS)]
    pub(crate) approve: Option<Approve>,

    /// For a container or machine that is thrown away afterwards: no sandbox, no approvals, and processes that commands start
    /// keep running. Deny rules still hold.
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) throwaway: bool,

    /// How much goes on without a question: `ask`, `edits`, `plan`, `none` or `all`. One flag in the place of `--approve`
    /// and `--plan`; it cannot be used with them.
    #[arg(long, global = true, value_enum, value_name = "MODE", help_heading = RIGHTS)]
    pub(crate) permission_mode: Option<PermissionMode>,

    #[command(flatten)]
    pub(crate) rules: RunRules,

    /// A further directory of this machine that the agent may work in as in the one of the session, as often as needed.
    /// Its project files are not read.
    #[arg(long = "add-dir", global = true, value_name = "DIR", help_heading = RIGHTS)]
    pub(crate) add_directories: Vec<PathBuf>,

    /// Run commands in a shared terminal, in a tmux session of this name if one is given. Without it
    /// `tmux.enabled` of the configuration decides.
    #[arg(long, global = true, value_name = "SESSION", num_args = 0..=1, require_equals = true, value_parser = tmux_session, help_heading = PLACE)]
    #[expect(clippy::option_option, reason = "the option can be absent, alone, or with a name")]
    pub(crate) tmux: Option<Option<String>>,

    /// The directory to work in; where other hosts are named one on the first of them, and without it the login directory.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", help_heading = PLACE)]
    pub(crate) directory: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) hosts: HostFlags,

    /// No tool touches this machine: everything happens on the other hosts of the session. The same as
    /// `tools.local = false`.
    #[arg(long, global = true, help_heading = RIGHTS)]
    pub(crate) remote_only: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Answer one prompt and exit.
    ///
    /// The answer goes to the standard output and nothing else does. Nothing waits for a person: what would need an
    /// approval is denied, unless `--permission-mode`, `--approve`, `--allow`, a rule or a grant lets it go on.
    ///
    /// Exit codes: 0 done; 1 the task or the model's API failed, or the answer does not fit `--output-schema`; 2 bad
    /// command line or configuration; 3 the limit on model calls was reached; 4 the budget is used up; 5 something needed
    /// an approval; 6 no model is connected, or the key was not accepted; 7 the conversation no longer fits the model; 124 the time limit was
    /// reached; 130 interrupted; 141 the output was closed.
    #[command(after_help = EXEC_EXAMPLES)]
    Exec(Exec),
    /// Log in to a provider, or keep an API key for a profile.
    ///
    /// Exit codes: 0 done; 1 failed; 2 bad command line; 6 the login was denied, expired or is not there; 130
    /// interrupted.
    Login(Login),
    /// Forget logins and keys, and give tokens back where the provider takes them.
    Logout(Logout),
    /// List sessions, last used first, or find those in which something was said.
    Sessions(List),
    /// Show what was said and done in a session.
    Show(Show),
    /// Go on with a session.
    Resume(Resume),
    /// Write a session to a file, for people or for programs.
    Export(Export),
    /// Bring in sessions of older programs, from `.buddyx/sessions` and `.agentx/sessions`.
    ///
    /// Each file becomes a session that can be listed, searched, resumed and exported. What was imported before is left
    /// alone. Exit codes: 0 done; 1 a file could not be read, or there are none; 2 bad command line.
    Import(Import),
    /// Take back what a call changed in files.
    ///
    /// Shows what would become of each path and asks. Without a terminal it changes nothing unless `--yes` is given.
    /// Exit codes: 0 done, or nothing to do; 1 failed, refused, or paths were changed since; 2 bad command line.
    Undo(Undo),
    /// List managed processes, which run on when sessions end.
    Ps(Listing),
    /// Show what a managed process printed.
    Logs(Logs),
    /// End a managed process with all that it started.
    ///
    /// It is asked first, and what is left after 5 seconds is killed. Exit codes: 0 it has ended; 1 it is not there or
    /// could not be ended; 2 bad command line.
    Kill(Kill),
    /// Look after the store of all sessions.
    #[command(subcommand)]
    Store(Store),
    /// List the model profiles.
    Models(Listing),
    /// Look at the configuration and change it.
    #[command(subcommand)]
    Config(ConfigAction),
    /// Trust the project files of a directory.
    Trust(Trust),
    /// List what waits for your answer in all sessions.
    Asks(Listing),
    /// List what you allowed for longer than a session, and take it back.
    Grants(Grants),
    /// Look at your guards file, and approve what it says.
    #[command(subcommand)]
    Guards(GuardsAction),
    /// Check this machine, or a model with `doctor provider`.
    Doctor(crate::commands::doctor::Doctor),
    /// Write an AGENTS.md for this project from what is there.
    ///
    /// Languages and commands are taken from the usual files. A file that is there is overwritten only when you say so.
    Init(Init),
    /// Print a script that completes buddy's commands in a shell.
    ///
    /// For bash: `buddy completion bash > ~/.local/share/bash-completion/completions/buddy`. For zsh: write it to `_buddy` in
    /// a directory of `$fpath`. For fish: `buddy completion fish > ~/.config/fish/completions/buddy.fish`.
    Completion(Completion),
    /// Print the manual page, or write all pages to a directory.
    Man(Man),
    /// Say which version runs and how to get a newer one.
    ///
    /// Nothing is asked of anybody unless `update.check` is on in the configuration.
    Update,
}

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// A profile or a provider; without it the profile in use.
    pub(crate) name: Option<String>,

    /// Show a code to type on any device.
    #[arg(long, conflicts_with_all = ["browser", "api_key", "status"])]
    pub(crate) device: bool,

    /// Open a browser.
    #[arg(long, conflicts_with_all = ["api_key", "status"])]
    pub(crate) browser: bool,

    /// Keep an API key, which is read from the standard input.
    #[arg(long, conflicts_with = "status")]
    pub(crate) api_key: bool,

    /// Show who is logged in, and change nothing.
    #[arg(long)]
    pub(crate) status: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// A profile or a provider; without it the profile in use.
    #[arg(conflicts_with = "all")]
    pub(crate) name: Option<String>,

    /// All logins and all keys.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Print every key that is set, without secrets.
    Show {
        /// Say who set each key.
        #[arg(long)]
        origins: bool,

        /// Print JSON: a list of keys with value and origin.
        #[arg(long)]
        json: bool,
    },
    /// Print the path of the file that `set` and `unset` change.
    Path,
    /// Set a key in the person's file, or in the one that `--config` names.
    Set {
        /// The key, such as `agent.model`.
        key: String,
        /// The value, as TOML or as plain text.
        value: String,
    },
    /// Take a key out of that file.
    Unset {
        /// The key, such as `agent.model`.
        key: String,
    },
    /// Print the JSON Schema of the file.
    Schema,
    /// Print the keys that a project's file may set, as a Markdown table.
    ProjectKeys,
}

#[derive(Debug, Args)]
#[command(mut_arg("limit", |limit| limit.requires("list")))]
pub(crate) struct Trust {
    /// The directory; without it the one to work in.
    pub(crate) directory: Option<PathBuf>,

    /// Trust it no longer.
    #[arg(long)]
    pub(crate) remove: bool,

    /// List what is trusted.
    #[arg(long, conflicts_with_all = ["remove", "directory"])]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct Grants {
    #[command(flatten)]
    pub(crate) listing: Listing,

    /// Allow commands of a pattern, such as `cargo *`, in this directory or, with `--everywhere`, in all.
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["revoke", "revoke_all"])]
    pub(crate) allow: Option<String>,

    /// With `--allow`: in all directories.
    #[arg(long, requires = "allow")]
    pub(crate) everywhere: bool,

    /// With `--allow`: for how long, at most and without it 30 days.
    #[arg(long = "for", value_name = "TIME", requires = "allow", value_parser = duration)]
    pub(crate) time: Option<std::time::Duration>,

    /// Take back these grants, by their numbers in the list.
    #[arg(long, value_name = "N", num_args = 1.., conflicts_with = "revoke_all")]
    pub(crate) revoke: Vec<usize>,

    /// Take back all of them.
    #[arg(long)]
    pub(crate) revoke_all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardsAction {
    /// Print what takes effect, and what waits to be approved.
    Show,
    /// Show the file's changes and let them take effect. Needs a terminal, as only a person can approve.
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
    #[arg(required_unless_present = "last", conflicts_with = "last")]
    pub(crate) id: Option<String>,

    /// Show the session that was used last; with `-C DIR` the last one of that directory.
    #[arg(long)]
    pub(crate) last: bool,

    /// Print the events as they are in the log, one a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("limit", |limit| limit.requires("list")))]
pub(crate) struct Undo {
    /// The entry, as `--list` shows it; without it the newest that was not undone.
    #[arg(conflicts_with_all = ["last", "list"])]
    pub(crate) id: Option<String>,

    /// The newest entry that was not undone, which is also the default.
    #[arg(long, conflicts_with = "list")]
    pub(crate) last: bool,

    /// List what can be undone, newest first.
    #[arg(long)]
    pub(crate) list: bool,

    /// Do it without asking.
    #[arg(long, conflicts_with = "list")]
    pub(crate) yes: bool,

    /// Restore also paths that were changed since. What is there now is kept and can be brought back by undoing this.
    #[arg(long, conflicts_with = "list")]
    pub(crate) force: bool,

    /// With JSON the entries are printed, or the plan and whether it was carried out.
    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The process, as `buddy ps` shows it.
    pub(crate) id: String,

    /// Go on with what it prints until it ends.
    #[arg(short, long)]
    pub(crate) follow: bool,

    /// How many of the last lines.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) tail: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Kill {
    /// The process, as `buddy ps` shows it.
    pub(crate) id: String,

    /// Kill it at once.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Check that the log is whole and that the lists agree with it.
    Check,
    /// Make the lists anew from the log.
    Rebuild,
    /// Copy the store, while it is in use, to a new file.
    Backup {
        /// The file to make.
        path: PathBuf,
    },
}

pub(crate) fn duration(text: &str) -> Result<std::time::Duration, String> {
    crate::config::Wait::parse(text).map(|wait| wait.0)
}
/// The name of a tmux session, as it was typed.
fn tmux_session(name: &str) -> Result<String, String> {
    if is_session_name(name) {
        Ok(name.to_owned())
    } else {
        Err("a session's name has letters, digits, `-` and `_`, at most 40".to_owned())
    }
}
