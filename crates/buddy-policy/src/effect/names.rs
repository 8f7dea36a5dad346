//! Names of variables that decide which programs run or whom they trust.

/// Whole names.
const NAMES: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "CDPATH",
    "GLOBIGNORE",
    "HISTFILE",
    "HISTCONTROL",
    "INPUTRC",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "BROWSER",
    "SHELL",
    "HOME",
    "TMPDIR",
    "OLDPWD",
    "PWD",
    "CC",
    "CXX",
    "LD",
    "AR",
    "RUSTC",
    "MAKEFLAGS",
    "MAKEFILES",
    "GNUMAKEFLAGS",
    "MAKE",
    "CFLAGS",
    "LDFLAGS",
    "CLASSPATH",
    "KUBECONFIG",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "RIPGREP_CONFIG_PATH",
    "GCONV_PATH",
    "LOCPATH",
    "OPENSSL_CONF",
    "HOSTALIASES",
    "RES_OPTIONS",
    "TERMINFO",
    "TERMCAP",
    "EXECIGNORE",
    "FPATH",
    "ZDOTDIR",
    "SUDO_ASKPASS",
    "PGHOST",
    "PGHOSTADDR",
    "PGSERVICE",
    "PGSERVICEFILE",
    "MYSQL_HOST",
    "LDAPURI",
    "LDAPHOST",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "YARN_REGISTRY",
    "YARN_NPM_REGISTRY_SERVER",
    "HF_ENDPOINT",
];
/// Beginnings of names.
const PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "SSH_",
    "BASH_FUNC_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "NPM_CONFIG_",
    "npm_config_",
    "LUA_",
    "BUDDY_",
    "XDG_",
    "DOCKER_",
    "AWS_",
    "RUSTC_",
    "CARGO_BUILD_",
    "CARGO_TARGET_X",
    "CARGO_HOME",
    "RUSTUP_",
    "JAVA_",
    "GO",
    "MAN",
    "SYSTEMD_",
];
/// Ends of names.
const SUFFIXES: &[&str] = &[
    "PAGER", "_OPTIONS", "OPTS", "FLAGS", "_COMMAND", "_ASKPASS", "_PROXY", "_proxy", "_PATH", "_PRELOAD",
    "_WRAPPER",
];
/// Variables that only change the look of output.
const HARMLESS: &[&str] = &[
    "LC_ALL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
];

/// Whether a variable of this name can make a program run another one.
pub(crate) fn is_dangerous(name: &str) -> bool {
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
        || name.starts_with("LC_") && name.contains("PATH")
}

/// Whether a variable of this name changes nothing but the look of output.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}
