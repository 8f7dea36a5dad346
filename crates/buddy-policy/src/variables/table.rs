//! The table of variables that commands do not get. A variable that no row names is passed on, unless its
//! value has a credential in it.

use super::withheld::Withheld::{self, Orders, Own, SecretName, Service, Session, Shell, Terminal};

/// Variables of one pattern.
pub(super) struct VariableRow {
    /// A name in any case; `*` stands for any characters.
    pub(super) pattern: &'static str,
    pub(super) why: Withheld,
}

const fn row(pattern: &'static str, why: Withheld) -> VariableRow {
    VariableRow { pattern, why }
}

/// The first row that fits counts. Variables of other sessions come from their own table beside these.
pub(super) const WITHHELD: &[VariableRow] = &[
    row("BUDDY_*", Own),
    // Ways to sessions that no row of the other table has by a path.
    row("TMUX*", Session),
    row("STY", Session),
    row("ZELLIJ*", Session),
    row("KITTY_*", Session),
    row("WEZTERM_*", Session),
    row("ALACRITTY_*", Session),
    row("VSCODE_*", Session),
    row("DISPLAY", Session),
    row("DBUS_*", Session),
    row("SESSION_MANAGER", Session),
    row("EMACS_SERVER_FILE", Session),
    row("SSH_AUTH_SOCK", Service),
    row("SSH_AGENT_PID", Service),
    row("GPG_AGENT_INFO", Service),
    row("GPG_TTY", Terminal),
    // Loaders.
    row("LD_*", Orders),
    row("DYLD_*", Orders),
    row("GLIBC_TUNABLES", Orders),
    row("GCONV_PATH", Orders),
    row("MALLOC_TRACE", Orders),
    // Shells.
    row("BASH_ENV", Orders),
    row("ENV", Orders),
    row("PROMPT_COMMAND", Orders),
    row("PS4", Orders),
    row("SHELLOPTS", Orders),
    row("BASHOPTS", Orders),
    row("BASH_FUNC_*", Orders),
    row("ZDOTDIR", Orders),
    row("IFS", Orders),
    row("CDPATH", Orders),
    row("PYTHONSTARTUP", Orders),
    row("PYTHONINSPECT", Orders),
    // git.
    row("GIT_*", Orders),
    row("*ASKPASS", Orders),
    // Programs that wait for a user at a terminal.
    row("EDITOR", Terminal),
    row("VISUAL", Terminal),
    row("*_EDITOR", Terminal),
    row("PAGER", Terminal),
    row("*PAGER", Terminal),
    row("BROWSER", Terminal),
    // Variables that the shell sets better itself.
    row("PWD", Shell),
    row("OLDPWD", Shell),
    row("SHLVL", Shell),
    row("_", Shell),
    // Secrets by their name.
    row("*KEY", SecretName),
    row("*KEY_*", SecretName),
    row("*KEYS", SecretName),
    row("*TOKEN", SecretName),
    row("*TOKEN_*", SecretName),
    row("*TOKENS", SecretName),
    row("*SECRET*", SecretName),
    row("*PASSWORD*", SecretName),
    row("*PASSWD*", SecretName),
    row("*PASSPHRASE*", SecretName),
    row("*_PASS", SecretName),
    row("*_PWD", SecretName),
    row("*CREDENTIAL*", SecretName),
    row("*_AUTH", SecretName),
    row("*_COOKIE", SecretName),
    row("*_PAT", SecretName),
    row("*_JWT", SecretName),
    row("*_DSN", SecretName),
    row("*WEBHOOK*", SecretName),
];

/// Names that a row above would withhold and that do no harm.
pub(super) const KEPT: &[&str] = &[
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_TERMINAL_PROMPT",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];
