//! The environment that commands get: an allowlist, so that a secret of this process reaches no command by accident.
//!
//! Pure: the variables come in as values. What a person configures for a command is added by the caller afterwards.

/// Variables that are passed on by their full name.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "NVM_DIR",
    "VIRTUAL_ENV",
    "JAVA_HOME",
    "PYENV_ROOT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Variables that are passed on in either case, as programs do not agree on it.
const KEPT_ANY_CASE: &[&str] = &["http_proxy", "https_proxy", "no_proxy"];

/// Families of variables that are passed on.
const KEPT_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Members of those families that are not: the runtime directory holds the sockets of the person's own session.
const DROPPED: &[&str] = &["XDG_RUNTIME_DIR"];

/// Parts of a name that mark a secret, whatever family it belongs to.
const SECRET_WORDS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Set when absent, so that no program waits for a person at a pager or draws on a terminal that is not there.
const DEFAULTS: &[(&str, &str)] = &[("GIT_PAGER", "cat"), ("PAGER", "cat"), ("TERM", "dumb")];

/// The variables of `vars` that a command may see, with the defaults for programs that run without a terminal.
pub fn clean(vars: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut cleaned: Vec<(String, String)> = vars.filter(|(name, _)| is_kept(name)).collect();
    for (name, value) in DEFAULTS {
        if !cleaned.iter().any(|(present, _)| present == name) {
            cleaned.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    cleaned
}

fn is_kept(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    if DROPPED.contains(&name) || SECRET_WORDS.iter().any(|word| upper.contains(word)) {
        return false;
    }
    KEPT.contains(&name)
        || KEPT_ANY_CASE.iter().any(|kept| kept.eq_ignore_ascii_case(name))
        || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of<'a>(cleaned: &'a [(String, String)], name: &str) -> Option<&'a str> {
        cleaned.iter().find(|(present, _)| present == name).map(|(_, value)| value.as_str())
    }

    fn clean_one(name: &str) -> Option<String> {
        let cleaned = clean([(name.to_owned(), "given".to_owned())].into_iter());
        value_of(&cleaned, name).map(str::to_owned)
    }

    #[test]
    fn keeps_what_programs_need() {
        for name in [
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "TERM",
            "TZ",
            "TMPDIR",
            "XDG_CONFIG_HOME",
            "XDG_DATA_DIRS",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "GOPATH",
            "NVM_DIR",
            "VIRTUAL_ENV",
            "JAVA_HOME",
            "PYENV_ROOT",
            "http_proxy",
            "HTTPS_PROXY",
            "no_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "COLORTERM",
        ] {
            assert_eq!(clean_one(name).as_deref(), Some("given"), "{name}");
        }
    }

    #[test]
    fn drops_secrets_and_what_makes_programs_run_other_programs() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "npm_config_token",
            "XDG_api_key",
            "LC_Secret",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "GIT_SSH_COMMAND",
            "GIT_DIR",
            "NODE_OPTIONS",
            "NODE_PATH",
            "JAVA_TOOL_OPTIONS",
            "BASH_ENV",
            "ENV",
            "PROMPT_COMMAND",
            "XDG_RUNTIME_DIR",
            "EDITOR",
            "SSH_AUTH_SOCK",
            "TMUX",
            "TMUX_PANE",
            "STY",
            "ZELLIJ",
            "KITTY_LISTEN_ON",
            "WEZTERM_UNIX_SOCKET",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XAUTHORITY",
            "DBUS_SESSION_BUS_ADDRESS",
            "BASH_FUNC_ls%%",
            "PYTHONSTARTUP",
            "Path",
            "",
        ] {
            assert_eq!(clean_one(name), None, "{name}");
        }
    }

    #[test]
    fn sets_defaults_only_where_nothing_was_kept() {
        let cleaned =
            clean([("TERM", "xterm"), ("PAGER", "less")].map(|(n, v)| (n.into(), v.into())).into_iter());
        assert_eq!(value_of(&cleaned, "TERM"), Some("xterm"));
        assert_eq!(value_of(&cleaned, "PAGER"), Some("cat"));
        assert_eq!(value_of(&cleaned, "GIT_PAGER"), Some("cat"));
        assert_eq!(value_of(&clean(std::iter::empty()), "TERM"), Some("dumb"));
    }
}
