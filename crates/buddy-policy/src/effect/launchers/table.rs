//! The table: programs that run a command that they are given, and its place in their words.

use crate::effect::flags::Flags;

/// The way that the words after the options become a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LauncherForm {
    /// They are the words of a command.
    Words,
    /// They are a command, or the name of a script that the project defines.
    Script,
    /// They are joined to text for a shell.
    Joined,
    /// Each is text for a shell.
    Texts,
    /// A command, a Python file, or a module after `-m`.
    Python,
    /// A file for Python, or a module after `-m`.
    Coverage,
    /// Words for this program.
    Of(&'static str),
    /// A package, which brings its own program.
    Package,
    /// Only options hold commands; the other words are no command.
    Options,
}

#[derive(Debug)]
pub(super) struct Launcher {
    pub(super) names: &'static [&'static str],
    /// The words after the program that make it run a command; those of one are separated by spaces. Empty
    /// for none.
    pub(super) verbs: &'static [&'static str],
    /// Options before and between the verbs.
    pub(super) before: Flags,
    pub(super) flags: Flags,
    /// Operands that come before the command.
    pub(super) skip: usize,
    pub(super) form: LauncherForm,
    /// Options whose value is text for a shell.
    pub(super) texts: &'static [&'static str],
    /// Options that make text for a shell of the words.
    pub(super) shelled: &'static [&'static str],
}

const fn launcher(names: &'static [&'static str], verbs: &'static [&'static str], flags: Flags) -> Launcher {
    Launcher {
        names,
        verbs,
        before: Flags::NONE,
        flags,
        skip: 0,
        form: LauncherForm::Words,
        texts: &[],
        shelled: &[],
    }
}

impl Launcher {
    const fn before(self, before: Flags) -> Self {
        Self { before, ..self }
    }

    const fn skip(self, skip: usize) -> Self {
        Self { skip, ..self }
    }

    const fn form(self, form: LauncherForm) -> Self {
        Self { form, ..self }
    }

    const fn texts(self, texts: &'static [&'static str]) -> Self {
        Self { texts, ..self }
    }

    const fn shelled(self, shelled: &'static [&'static str]) -> Self {
        Self { shelled, ..self }
    }
}

const NPM: Flags = Flags::of("yqsdgw", "wcpnC").long(
    &[
        "yes",
        "no",
        "no-install",
        "no-yes",
        "quiet",
        "silent",
        "workspaces",
        "include-workspace-root",
        "prefer-offline",
        "prefer-online",
        "offline",
        "ignore-existing",
        "ignore-scripts",
        "legacy-peer-deps",
        "bun",
        "verbose",
        "version",
        "help",
        "no-fund",
        "no-audit",
        "if-present",
        "force",
    ],
    &[
        "package",
        "call",
        "workspace",
        "prefix",
        "cache",
        "registry",
        "loglevel",
        "userconfig",
        "node-arg",
        "shell",
        "script-shell",
    ],
);
const PNPM: Flags = Flags::of("rwcy", "FC").long(
    &[
        "recursive",
        "parallel",
        "shell-mode",
        "workspace-root",
        "silent",
        "stream",
        "no-bail",
        "bail",
        "sort",
        "no-sort",
        "reverse",
        "aggregate-output",
        "report-summary",
        "if-present",
        "use-node-version",
        "offline",
        "prefer-offline",
    ],
    &[
        "filter",
        "filter-prod",
        "dir",
        "package",
        "reporter",
        "resume-from",
        "workspace-concurrency",
        "loglevel",
    ],
);
const YARN: Flags = Flags::of("qsTBAvpRWi", "pj").long(
    &[
        "quiet",
        "silent",
        "all",
        "recursive",
        "worktree",
        "verbose",
        "parallel",
        "interlaced",
        "topological",
        "topological-dev",
        "top-level",
        "binaries-only",
        "inspect",
        "no-private",
        "offline",
    ],
    &["package", "cwd", "include", "exclude", "jobs", "since", "from"],
);
const UV: Flags = Flags::of("qvnsmU", "pPwCf").long(
    &[
        "quiet",
        "verbose",
        "frozen",
        "locked",
        "isolated",
        "active",
        "no-sync",
        "no-project",
        "no-dev",
        "only-dev",
        "dev",
        "all-extras",
        "all-groups",
        "all-packages",
        "no-default-groups",
        "exact",
        "no-editable",
        "no-cache",
        "no-config",
        "no-env-file",
        "offline",
        "upgrade",
        "reinstall",
        "refresh",
        "module",
        "script",
        "gui-script",
        "managed-python",
        "no-managed-python",
        "native-tls",
        "no-progress",
        "compile-bytecode",
        "no-build",
        "no-binary",
        "no-index",
        "version",
        "help",
    ],
    &[
        "with",
        "with-editable",
        "with-requirements",
        "python",
        "package",
        "extra",
        "no-extra",
        "group",
        "no-group",
        "only-group",
        "env-file",
        "project",
        "directory",
        "from",
        "index",
        "default-index",
        "index-url",
        "extra-index-url",
        "find-links",
        "index-strategy",
        "constraints",
        "overrides",
        "build-constraints",
        "prerelease",
        "resolution",
        "exclude-newer",
        "link-mode",
        "cache-dir",
        "color",
        "config-file",
        "upgrade-package",
        "reinstall-package",
        "refresh-package",
        "config-setting",
        "python-platform",
        "allow-insecure-host",
    ],
);
const PIPX: Flags = Flags::of("qv", "").long(
    &["no-cache", "path", "pypackages", "quiet", "verbose", "system-site-packages", "fetch-missing-python"],
    &["spec", "python", "pip-args", "index-url", "with", "suffix", "backend"],
);
const POETRY: Flags = Flags::of("nqvV", "CP").long(
    &["no-interaction", "quiet", "no-ansi", "ansi", "no-plugins", "no-cache", "verbose", "env"],
    &["directory", "project", "environment", "venv", "python", "pypi-mirror"],
);
const CONDA: Flags = Flags::of("vs", "np").long(
    &["no-capture-output", "live-stream", "no-live-stream", "dev", "debug-wrapper-scripts", "verbose"],
    &["name", "prefix", "cwd", "root-prefix"],
);
const CARGO: Flags = Flags::of("cqBwv", "xsidE").long(
    &[
        "clear",
        "quiet",
        "no-restart",
        "postpone",
        "poll",
        "why",
        "ignore-nothing",
        "no-vcs-ignores",
        "locked",
        "offline",
        "frozen",
    ],
    &["exec", "shell", "ignore", "delay", "watch", "env", "features", "workdir"],
);
const GIT: Flags = Flags::of("pPq", "cC").long(
    &[
        "no-pager",
        "paginate",
        "bare",
        "no-replace-objects",
        "literal-pathspecs",
        "glob-pathspecs",
        "noglob-pathspecs",
        "icase-pathspecs",
        "no-optional-locks",
        "no-advice",
        "quiet",
        "recursive",
        "cached",
    ],
    &["git-dir", "work-tree", "namespace", "config-env", "exec-path", "super-prefix", "attr-source"],
);
const BEARER: Flags = Flags::of("qvds", "epcnuil").long(
    &["quiet", "verbose", "silent", "debug", "no-fallback", "preserve-env", "command", "watch", "overload"],
    &[
        "env", "env-file", "project", "config", "token", "scope", "path", "file", "account", "region",
        "duration",
    ],
);
const MISE: Flags = Flags::of("qvyn", "CEcj").long(
    &["quiet", "verbose", "yes", "silent", "raw", "no-prepare", "fresh-env", "no-deps"],
    &["cd", "env", "command", "jobs", "log-level"],
);
const NIX: Flags = Flags::of("iLvk", "fIkEuc").long(
    &["ignore-environment", "impure", "offline", "print-build-logs", "verbose", "pure", "refresh", "quiet"],
    &[
        "file",
        "expr",
        "keep",
        "unset",
        "include",
        "inputs-from",
        "attr",
        "extra-experimental-features",
        "run",
        "command",
    ],
);
const FAKED: Flags = Flags::of("abcdefghijklmnpqrstuvwxyzADLMNPSTVWX", "").long(&[], &[]);

/// The table.
pub(super) const LAUNCHERS: &[Launcher] = &[
    launcher(&["npm"], &["exec", "x"], NPM).before(NPM).texts(&["c", "call"]),
    launcher(&["npm"], &["init", "create", "innit"], NPM).before(NPM).form(LauncherForm::Package),
    launcher(&["npm"], &["explore"], NPM).before(NPM).skip(1).form(LauncherForm::Joined),
    launcher(&["npx", "pnpx", "bunx"], &[], NPM).texts(&["c", "call"]),
    launcher(&["pnpm"], &["exec"], PNPM).before(PNPM).shelled(&["c", "shell-mode"]),
    launcher(&["pnpm"], &["dlx"], PNPM).before(PNPM).shelled(&["c", "shell-mode"]),
    launcher(&["pnpm", "yarn", "bun"], &["create"], PNPM).before(PNPM).form(LauncherForm::Package),
    launcher(&["pnpm"], PNPM_ELSE, PNPM).before(PNPM).form(LauncherForm::Script),
    launcher(&["yarn"], &["exec", "dlx"], YARN).before(YARN),
    launcher(&["yarn"], &["workspaces foreach", "workspaces run"], YARN)
        .before(YARN)
        .form(LauncherForm::Of("yarn")),
    launcher(&["yarn"], &["workspace"], YARN).before(YARN).skip(1).form(LauncherForm::Of("yarn")),
    launcher(&["yarn"], &["node"], Flags::NONE).before(YARN).form(LauncherForm::Of("node")),
    launcher(&["yarn"], &["run"], YARN).before(YARN).form(LauncherForm::Script),
    launcher(&["bun"], &["x"], NPM).texts(&["c", "call"]),
    launcher(&["bun"], &["exec"], NPM).form(LauncherForm::Joined),
    launcher(&["corepack"], &["yarn"], Flags::NONE).form(LauncherForm::Of("yarn")),
    launcher(&["corepack"], &["npm"], Flags::NONE).form(LauncherForm::Of("npm")),
    launcher(&["corepack"], &["npx"], Flags::NONE).form(LauncherForm::Of("npx")),
    launcher(&["corepack"], &["pnpm"], Flags::NONE).form(LauncherForm::Of("pnpm")),
    launcher(&["corepack"], &["pnpx"], Flags::NONE).form(LauncherForm::Of("pnpx")),
    launcher(
        &["lerna", "nx"],
        &["exec"],
        Flags::of("", "")
            .long(&["parallel", "stream", "no-bail"], &["scope", "ignore", "concurrency", "since"]),
    )
    .form(LauncherForm::Joined),
    launcher(&["uv"], &["run"], UV).before(UV).form(LauncherForm::Python),
    launcher(&["uv"], &["tool run"], UV).before(UV),
    launcher(&["uv"], &["pip"], UV).before(UV).form(LauncherForm::Of("pip")),
    launcher(&["uvx"], &[], UV),
    launcher(&["pipx"], &["run"], PIPX).before(PIPX).form(LauncherForm::Python),
    launcher(&["pipx"], &["runpip"], PIPX).before(PIPX).skip(1).form(LauncherForm::Of("pip")),
    launcher(&["poetry", "pipenv", "pdm", "hatch", "rye", "pixi"], &["run"], POETRY)
        .before(POETRY)
        .form(LauncherForm::Python),
    launcher(&["tox"], &["exec", "e"], Flags::of("qv", "e")).before(Flags::of("qv", "ecx")),
    launcher(&["coverage"], &["run"], COVERAGE).form(LauncherForm::Coverage),
    launcher(&["conda", "mamba", "micromamba"], &["run"], CONDA).before(CONDA),
    launcher(
        &["bundle", "bundler"],
        &["exec", "e"],
        Flags::NONE.long(&["keep-file-descriptors"], &["gemfile"]),
    )
    .before(Flags::NONE.long(&["no-color", "verbose"], &["retry"])),
    launcher(&["gem"], &["exec"], Flags::NONE).form(LauncherForm::Package),
    launcher(&["composer"], &["exec"], POETRY).before(POETRY),
    launcher(&["cargo"], &["watch"], CARGO).texts(&["s", "shell"]).form(LauncherForm::Options),
    launcher(&["rustup"], &["run"], Flags::NONE.long(&["install"], &[])).skip(1),
    launcher(
        &["stack", "cabal", "opam", "dune"],
        &["exec"],
        Flags::of("vqy", "j").long(&["no-build", "verbose"], &["package", "switch", "profile", "root"]),
    )
    .before(Flags::of("vq", "").long(&["silent"], &["stack-yaml", "resolver"])),
    launcher(&["mix"], &["cmd"], Flags::NONE.long(&["cd"], &["app"])).form(LauncherForm::Joined),
    launcher(
        &["xcrun"],
        &[],
        Flags::of("vnlr", "").long(&["verbose", "no-cache", "find"], &["sdk", "toolchain"]),
    ),
    launcher(&["meson"], &["devenv"], Flags::of("", "Cw").long(&["dump"], &["workdir"])),
    launcher(
        &["just"],
        &[],
        Flags::of("qnu", "cdf")
            .long(&["quiet", "dry-run"], &["command", "working-directory", "justfile", "set"]),
    )
    .form(LauncherForm::Options),
    launcher(&["git"], &["bisect run"], Flags::NONE).before(GIT),
    launcher(&["git"], &["submodule foreach"], Flags::of("q", "").long(&["recursive", "quiet"], &[]))
        .before(GIT)
        .form(LauncherForm::Joined),
    launcher(&["git"], &["rebase", "difftool"], Flags::NONE)
        .before(GIT)
        .texts(&["x", "exec", "extcmd"])
        .form(LauncherForm::Options),
    launcher(&["git"], &["for-each-repo"], Flags::NONE.long(&["keep-going"], &["config"]))
        .before(GIT)
        .form(LauncherForm::Of("git")),
    launcher(&["mise", "rtx"], &["exec", "x"], MISE).before(MISE).texts(&["c", "command"]),
    launcher(&["asdf", "pyenv", "rbenv", "nodenv", "jenv", "goenv"], &["exec"], Flags::NONE),
    launcher(&["direnv"], &["exec"], Flags::NONE).skip(1),
    launcher(&["nvm"], &["exec"], Flags::of("", "").long(&["silent", "lts"], &[])).skip(1),
    launcher(&["nvm"], &["run"], Flags::NONE.long(&["silent"], &[])).skip(1).form(LauncherForm::Of("node")),
    launcher(&["fnm"], &["exec"], Flags::NONE.long(&["using-file"], &["using"])),
    launcher(
        &["volta"],
        &["run"],
        Flags::NONE.long(&["bundled-npm", "no-yarn"], &["node", "npm", "yarn", "pnpm", "env"]),
    ),
    launcher(&["nix"], &["run"], NIX).before(NIX).form(LauncherForm::Package),
    launcher(&["nix"], &["shell", "develop"], NIX).before(NIX).form(LauncherForm::Options),
    launcher(&["nix-shell"], &[], NIX).texts(&["run", "command"]).form(LauncherForm::Options),
    launcher(&["devbox", "dagger", "doppler", "infisical", "op", "teller", "dotenvx"], &["run"], BEARER),
    launcher(&["chamber", "aws-vault"], &["exec"], BEARER).skip(1),
    launcher(&["foreman", "honcho", "dotenv"], &["run"], BEARER),
    launcher(&["dotenv"], &[], BEARER),
    launcher(
        &["cross-env", "env-cmd"],
        &[],
        Flags::of("", "fe").long(&["use-shell", "silent"], &["file", "environments"]),
    ),
    launcher(&["cross-env-shell"], &[], Flags::NONE).form(LauncherForm::Joined),
    launcher(&["concurrently"], &[], CONCURRENTLY).form(LauncherForm::Texts),
    launcher(&["nodemon"], &[], NODEMON).texts(&["x", "exec"]).form(LauncherForm::Options),
    launcher(&["hyperfine"], &[], HYPERFINE)
        .texts(&["p", "prepare", "c", "cleanup", "s", "setup", "conclude", "reference"])
        .form(LauncherForm::Texts),
    launcher(&["watchexec", "onchange", "reflex", "entr"], &[], FAKED).shelled(&["s"]),
    launcher(
        &["valgrind"],
        &[],
        Flags::of("vqh", "").long(
            &["verbose", "quiet", "leak-check", "trace-children"],
            &[
                "tool",
                "leak-check",
                "show-leak-kinds",
                "track-origins",
                "error-exitcode",
                "suppressions",
                "num-callers",
                "trace-children",
                "gen-suppressions",
                "errors-for-leak-kinds",
                "child-silent-after-fork",
            ],
        ),
    ),
    launcher(
        &["perf"],
        &["stat", "record", "trace"],
        Flags::of("avg", "eprFco").long(&["all-cpus"], &["event", "repeat", "call-graph"]),
    ),
    launcher(&["rr"], &["record"], Flags::NONE),
    launcher(
        &["ccache", "sccache", "distcc", "bear", "scan-build", "intercept-build"],
        &[],
        Flags::NONE.long(&["append"], &["output"]),
    ),
    launcher(
        &[
            "chronic",
            "ifne",
            "zrun",
            "eatmydata",
            "dbus-run-session",
            "catchsegv",
            "caffeinate",
            "rlwrap",
            "tini",
            "dumb-init",
            "ssh-agent",
            "torsocks",
            "torify",
            "setuidgid",
        ],
        &[],
        FAKED,
    ),
    launcher(&["proxychains", "proxychains4"], &[], Flags::of("q", "f")),
    launcher(&["sshpass"], &[], Flags::of("ev", "pfdP")),
    launcher(&["numactl", "prlimit", "cgexec", "cpulimit"], &[], Flags::of("z", "gNmpCl")),
    launcher(&["faketime", "envdir", "kcov"], &[], Flags::of("f", "")).skip(1),
    launcher(
        &["xvfb-run"],
        &[],
        Flags::of("al", "nsef").long(&["auto-servernum"], &["server-num", "server-args"]),
    ),
    launcher(
        &["systemd-inhibit", "systemd-cat"],
        &[],
        Flags::of("", "tp").long(&[], &["what", "who", "why", "mode", "identifier", "priority"]),
    ),
    launcher(&["firejail"], &[], Flags::of("", "").long(&["quiet", "noprofile"], &["net", "private"])),
    launcher(&["pee"], &[], Flags::NONE).form(LauncherForm::Texts),
    launcher(&["sops"], &["exec-env", "exec-file"], Flags::NONE).skip(1).form(LauncherForm::Texts),
    launcher(&["asciinema"], &["rec"], Flags::of("qy", "ct").long(&["overwrite"], &["command", "title"]))
        .texts(&["c", "command"])
        .form(LauncherForm::Options),
    launcher(
        &["flatpak-spawn", "distrobox-host-exec", "host-spawn"],
        &[],
        Flags::NONE.long(&["host", "clear-env"], &["directory", "env"]),
    ),
    launcher(&["toolbox"], &["run"], Flags::of("", "cdr").long(&[], &["container", "distro", "release"])),
];

/// Stands for a word that is none of the program's own subcommands.
pub(super) const PNPM_ELSE: &[&str] = &["*"];
/// Subcommands of `pnpm`. It runs any other word as a script of the project, or as a program.
pub(super) const PNPM_OWN: &[&str] = &[
    "add",
    "approve-builds",
    "audit",
    "bin",
    "c",
    "cache",
    "cat-file",
    "cat-index",
    "ci",
    "completion",
    "config",
    "create",
    "dedupe",
    "deploy",
    "dlx",
    "doctor",
    "env",
    "exec",
    "fetch",
    "find-hash",
    "get",
    "help",
    "i",
    "ignored-builds",
    "import",
    "info",
    "init",
    "install",
    "install-test",
    "it",
    "licenses",
    "link",
    "list",
    "ln",
    "login",
    "logout",
    "ls",
    "m",
    "outdated",
    "pack",
    "patch",
    "patch-commit",
    "patch-remove",
    "prune",
    "publish",
    "rb",
    "rebuild",
    "recursive",
    "remove",
    "rm",
    "root",
    "run",
    "run-script",
    "self-update",
    "server",
    "set",
    "setup",
    "start",
    "stop",
    "store",
    "t",
    "test",
    "tst",
    "un",
    "uninstall",
    "unlink",
    "up",
    "update",
    "upgrade",
    "view",
    "whoami",
    "why",
];

const COVERAGE: Flags = Flags::of("apmL", "").long(
    &["append", "branch", "parallel-mode", "module", "pylib", "timid", "debug"],
    &["source", "omit", "include", "rcfile", "data-file", "concurrency", "context"],
);
const CONCURRENTLY: Flags = Flags::of("krgP", "ncpmlts").long(
    &["kill-others", "kill-others-on-fail", "raw", "no-color", "group", "passthrough-arguments", "hide"],
    &["names", "prefix", "prefix-colors", "success", "max-processes", "restart-tries", "name-separator"],
);
const NODEMON: Flags = Flags::of("qVLCIhv", "xewid").long(
    &["quiet", "verbose", "legacy-watch", "on-change-only", "inspect"],
    &["exec", "ext", "watch", "ignore", "delay", "signal", "config"],
);
const HYPERFINE: Flags = Flags::of("iN", "wmMrspcuSLPDn").long(
    &["ignore-failure", "show-output"],
    &[
        "warmup",
        "min-runs",
        "max-runs",
        "runs",
        "setup",
        "prepare",
        "cleanup",
        "conclude",
        "shell",
        "parameter-list",
        "parameter-scan",
        "style",
        "sort",
        "time-unit",
        "command-name",
        "input",
        "reference",
    ],
);
