//! Built-in guards: programs that the user has to see, regardless of rules and grants.
//!
//! Long because it is a table.

use super::flags::might_give;
use crate::shell::ShellWord;

/// The uses of a program that the user has to see.
#[derive(Debug, Clone, Copy)]
pub(super) enum GuardCondition {
    Always,
    /// Unless its first word is one of these; `""` stands for no word at all.
    Unless(&'static [&'static str]),
    /// If its subcommand is, or could be, one of these.
    Subcommand(&'static [&'static str]),
    /// If one of its words is one of these.
    With(&'static [&'static str]),
    /// If one of its options is, or could be, this: a letter, a long name.
    Option(&'static [(Option<char>, &'static str)]),
    /// If one of its options has this name, after one dash or two. A computed word does not count: these programs take many.
    Named(&'static [&'static str]),
}

struct CommandGuard {
    names: &'static [&'static str],
    when: GuardCondition,
    reason: &'static str,
}

const fn guard(names: &'static [&'static str], when: GuardCondition, reason: &'static str) -> CommandGuard {
    CommandGuard { names, when, reason }
}

const RIGHTS: &str = "it runs with more rights";
const DISK: &str = "it works on disks and file systems";
const NETWORK: &str = "it changes the network";
const SERVICES: &str = "it manages services";
const PACKAGES: &str = "it removes packages";
pub(crate) const PUBLISHES: &str = "it publishes, which others see and nobody takes back";
const GLOBAL: &str = "it changes packages of the account and not of the project";
const USERS: &str = "it manages accounts";
const LATER: &str = "it makes something run later, when nobody watches";
const KERNEL: &str = "it changes the kernel";
const POWER: &str = "it stops or restarts the machine";
const KILLS: &str = "it ends processes by name, which may not be buddy's";
const GIVEN_TEXT: &str = "it runs text that stands on its command line";
const SPEAKS: &str = "it could speak in a user's place";
const PROGRAMS: &str = "an option makes it run other programs";
const ELSEWHERE: &str = "it acts in another place: a host, a container or a cluster";
const SETTINGS: &str = "it changes settings that later commands follow";
const CLEARS: &str = "an option makes it write a file or clear what it shows";
const STATE: &str = "it changes what later commands of this shell do";

/// Words of package managers that a subcommand follows.
const GROUPS: &[&str] = &["env", "group", "groups", "module"];

const GUARDS: &[CommandGuard] = &[
    guard(
        &[
            "sudo",
            "doas",
            "su",
            "pkexec",
            "runuser",
            "gosu",
            "su-exec",
            "setpriv",
            "capsh",
            "setcap",
            "newgrp",
            "sg",
            "sudoedit",
            "run0",
            "machinectl",
            "chroot",
            "nsenter",
            "unshare",
        ],
        GuardCondition::Always,
        RIGHTS,
    ),
    guard(
        &[
            "fdisk",
            "sfdisk",
            "cfdisk",
            "gdisk",
            "sgdisk",
            "parted",
            "partprobe",
            "wipefs",
            "mount",
            "umount",
            "losetup",
            "swapon",
            "swapoff",
            "mkswap",
            "cryptsetup",
            "blkdiscard",
            "hdparm",
            "badblocks",
            "debugfs",
            "tune2fs",
            "resize2fs",
            "e2fsck",
            "fsck",
            "xfs_repair",
            "btrfs",
            "zfs",
            "zpool",
            "mdadm",
            "lvm",
            "pvcreate",
            "vgcreate",
            "lvcreate",
            "pvremove",
            "vgremove",
            "lvremove",
            "dmsetup",
            "mke2fs",
            "mkfs",
            "nvme",
            "sgdisk",
            "fuser",
        ],
        GuardCondition::Always,
        DISK,
    ),
    guard(
        &[
            "iptables",
            "ip6tables",
            "iptables-restore",
            "nft",
            "route",
            "nmcli",
            "ufw",
            "firewall-cmd",
            "tc",
            "brctl",
            "iwconfig",
            "ethtool",
            "arp",
            "hostnamectl",
            "resolvectl",
            "wg",
            "wg-quick",
            "tailscale",
            "netplan",
            "dhclient",
            "ebtables",
            "ipset",
            "ifup",
            "ifdown",
            "bridge",
        ],
        GuardCondition::Always,
        NETWORK,
    ),
    guard(
        &["ip"],
        GuardCondition::With(&[
            "add", "a", "del", "delete", "set", "flush", "replace", "change", "append", "exec", "up", "down",
        ]),
        NETWORK,
    ),
    guard(
        &["ifconfig"],
        GuardCondition::With(&["up", "down", "add", "del", "netmask", "mtu", "hw"]),
        NETWORK,
    ),
    guard(
        &["sysctl"],
        GuardCondition::Option(&[(Some('w'), "write"), (Some('p'), "load"), (None, "system")]),
        KERNEL,
    ),
    guard(
        &["systemctl"],
        GuardCondition::Unless(&[
            "status",
            "show",
            "list-units",
            "list-unit-files",
            "list-timers",
            "is-active",
            "is-enabled",
            "is-failed",
            "cat",
        ]),
        SERVICES,
    ),
    guard(&["service"], GuardCondition::Unless(&["--status-all"]), SERVICES),
    guard(
        &[
            "rc-service",
            "initctl",
            "launchctl",
            "supervisorctl",
            "chkconfig",
            "update-rc.d",
            "loginctl",
            "sv",
            "runit",
            "openrc",
        ],
        GuardCondition::Always,
        SERVICES,
    ),
    guard(
        &["journalctl"],
        GuardCondition::Option(&[
            (None, "vacuum-size"),
            (None, "vacuum-time"),
            (None, "vacuum-files"),
            (None, "rotate"),
            (None, "flush"),
        ]),
        SERVICES,
    ),
    guard(
        &["shutdown", "reboot", "halt", "poweroff", "init", "telinit", "kexec", "systemctl-reboot"],
        GuardCondition::Always,
        POWER,
    ),
    guard(&["insmod", "rmmod", "modprobe", "depmod", "dkms", "bpftool"], GuardCondition::Always, KERNEL),
    guard(&["at", "batch", "systemd-run", "anacron"], GuardCondition::Always, LATER),
    guard(&["crontab"], GuardCondition::Unless(&["-l"]), LATER),
    guard(
        &[
            "useradd", "usermod", "userdel", "adduser", "deluser", "groupadd", "groupmod", "groupdel",
            "passwd", "chpasswd", "gpasswd", "visudo", "chsh", "chfn", "vipw", "newusers", "chage",
            "addgroup", "delgroup",
        ],
        GuardCondition::Always,
        USERS,
    ),
    guard(
        &["apt", "apt-get", "aptitude", "yum", "dnf", "microdnf", "zypper", "tdnf"],
        GuardCondition::Subcommand(&[
            "remove",
            "purge",
            "autoremove",
            "erase",
            "dist-upgrade",
            "full-upgrade",
            "rm",
        ]),
        PACKAGES,
    ),
    guard(
        &["brew", "snap", "flatpak", "pip", "pip3", "gem", "cargo", "pipx", "conda", "opkg"],
        GuardCondition::Subcommand(&["uninstall", "remove"]),
        PACKAGES,
    ),
    guard(
        &[
            "rustup", "pipx", "pyenv", "nvm", "fnm", "volta", "asdf", "mise", "rtx", "uv", "rye", "pixi",
            "mamba", "rbenv", "nodenv", "goenv", "jenv", "sdk", "ghcup", "juliaup", "dotnet", "port",
        ],
        GuardCondition::With(&["uninstall", "uninstall-all", "self-uninstall", "implode"]),
        PACKAGES,
    ),
    guard(&["opam", "nix", "guix", "mamba", "juliaup"], GuardCondition::With(&["remove", "rm"]), PACKAGES),
    guard(
        &["nix-env"],
        GuardCondition::Option(&[(Some('e'), "uninstall"), (None, "delete-generations")]),
        PACKAGES,
    ),
    guard(&["yarn", "composer"], GuardCondition::With(&["global"]), GLOBAL),
    guard(
        &["pm2"],
        GuardCondition::Subcommand(&[
            "delete",
            "del",
            "kill",
            "stop",
            "reset",
            "flush",
            "unstartup",
            "cleardump",
        ]),
        SERVICES,
    ),
    guard(
        &[
            "cargo", "npm", "pnpm", "yarn", "gem", "poetry", "uv", "hatch", "pdm", "flit", "twine", "vsce",
            "dart", "mix",
        ],
        GuardCondition::Subcommand(&[
            "publish",
            "unpublish",
            "deprecate",
            "yank",
            "push",
            "upload",
            "hex.publish",
            "dist-tag",
            "owner",
            "access",
        ]),
        PUBLISHES,
    ),
    guard(&["ss"], GuardCondition::Option(&[(Some('D'), "diag"), (Some('K'), "kill")]), CLEARS),
    guard(
        &["dmesg"],
        GuardCondition::Option(&[
            (Some('C'), "clear"),
            (Some('c'), "read-clear"),
            (Some('D'), "console-off"),
            (Some('E'), "console-on"),
            (Some('n'), "console-level"),
        ]),
        CLEARS,
    ),
    guard(&["apk"], GuardCondition::Subcommand(&["del"]), PACKAGES),
    guard(&["dpkg"], GuardCondition::Option(&[(Some('r'), "remove"), (Some('P'), "purge")]), PACKAGES),
    guard(&["rpm"], GuardCondition::Option(&[(Some('e'), "erase")]), PACKAGES),
    guard(&["pacman"], GuardCondition::Option(&[(Some('R'), "remove")]), PACKAGES),
    guard(&["killall", "pkill", "killall5", "skill", "slay"], GuardCondition::Always, KILLS),
    guard(
        &[
            "tmux", "screen", "zellij", "reptyr", "gdb", "lldb", "buddy", "ttyecho", "wall", "write",
            "xdotool", "ydotool",
        ],
        GuardCondition::Always,
        SPEAKS,
    ),
    guard(
        &["history"],
        GuardCondition::Option(&[
            (Some('c'), "clear"),
            (Some('w'), "write"),
            (Some('a'), "append"),
            (Some('d'), "delete"),
        ]),
        "it changes the record of what was done",
    ),
    guard(&["make", "gmake", "bmake"], GuardCondition::Option(&[(Some('E'), "eval")]), GIVEN_TEXT),
    guard(&["cmake"], GuardCondition::Option(&[(Some('E'), ""), (Some('P'), "")]), GIVEN_TEXT),
    guard(
        &["rake"],
        GuardCondition::Named(&["e", "execute", "E", "execute-continue", "p", "execute-print"]),
        GIVEN_TEXT,
    ),
    guard(&["ghc", "ocaml", "scala", "groovy"], GuardCondition::Named(&["e"]), GIVEN_TEXT),
    guard(
        &["elixir", "iex", "mix", "erl", "rebar3"],
        GuardCondition::Named(&["e", "eval", "rpc-eval"]),
        GIVEN_TEXT,
    ),
    guard(&["mix"], GuardCondition::With(&["eval"]), GIVEN_TEXT),
    guard(&["brew"], GuardCondition::Subcommand(&["sh", "ruby", "irb", "edit", "create"]), GIVEN_TEXT),
    guard(&["flatpak"], GuardCondition::Subcommand(&["build", "run", "enter", "builder"]), PROGRAMS),
    guard(&["gem"], GuardCondition::Option(&[(Some('e'), "editor")]), PROGRAMS),
    guard(&["pylint"], GuardCondition::Named(&["init-hook"]), GIVEN_TEXT),
    guard(&["hyperfine"], GuardCondition::Option(&[(Some('S'), "shell")]), PROGRAMS),
    guard(&["pm2"], GuardCondition::Named(&["interpreter"]), PROGRAMS),
    guard(&["ts-node", "tsx"], GuardCondition::Named(&["e", "eval", "p", "print", "pe"]), GIVEN_TEXT),
    guard(
        &["rails", "django-admin", "flask", "artisan"],
        GuardCondition::Subcommand(&[
            "runner",
            "r",
            "shell",
            "console",
            "c",
            "dbconsole",
            "dbshell",
            "tinker",
        ]),
        GIVEN_TEXT,
    ),
    guard(
        &["crystal", "nim", "lein", "deno"],
        GuardCondition::Subcommand(&["eval", "e", "exec"]),
        GIVEN_TEXT,
    ),
    guard(&["xmake"], GuardCondition::Subcommand(&["lua", "l"]), GIVEN_TEXT),
    guard(&["mvn", "mvnw"], GuardCondition::With(&["exec:exec", "exec:java"]), GIVEN_TEXT),
    guard(
        &["latexmk"],
        GuardCondition::Named(&["e", "r", "latex", "pdflatex", "xelatex", "lualatex"]),
        PROGRAMS,
    ),
    guard(
        &["pdflatex", "xelatex", "lualatex", "latexmk"],
        GuardCondition::Named(&["shell-escape", "enable-write18"]),
        PROGRAMS,
    ),
    guard(&["cargo"], GuardCondition::Named(&["config"]), PROGRAMS),
    guard(&["go"], GuardCondition::Named(&["exec", "toolexec", "vettool", "overlay"]), PROGRAMS),
    guard(&["go"], GuardCondition::With(&["-w"]), SETTINGS),
    guard(&["protoc"], GuardCondition::Named(&["plugin"]), PROGRAMS),
    guard(
        &["bazel", "bazelisk", "buck2"],
        GuardCondition::Named(&["run_under", "shell_executable", "workspace_status_command"]),
        PROGRAMS,
    ),
    guard(&["ctest"], GuardCondition::Named(&["build-and-test"]), PROGRAMS),
    guard(&["meson"], GuardCondition::Named(&["wrapper"]), PROGRAMS),
    guard(&["just"], GuardCondition::Named(&["shell", "shell-arg", "chooser"]), PROGRAMS),
    guard(&["zig"], GuardCondition::Named(&["test-cmd"]), PROGRAMS),
    guard(
        &["npm", "npx", "pnpm", "pnpx", "yarn"],
        GuardCondition::Named(&[
            "script-shell",
            "shell",
            "git",
            "node-options",
            "editor",
            "viewer",
            "browser",
            "node-gyp",
        ]),
        PROGRAMS,
    ),
    guard(
        &["apt", "apt-get", "aptitude", "apt-cache"],
        GuardCondition::Named(&["o", "option", "c", "config-file"]),
        PROGRAMS,
    ),
    guard(&["rpm"], GuardCondition::Named(&["eval", "E", "pipe", "define", "D"]), PROGRAMS),
    guard(&["hg", "jj"], GuardCondition::Named(&["config", "config-toml", "config-file", "tool"]), PROGRAMS),
    guard(
        &["svn"],
        GuardCondition::Named(&["config-option", "config-dir", "diff-cmd", "diff3-cmd", "editor-cmd"]),
        PROGRAMS,
    ),
    guard(&["pre-commit"], GuardCondition::Subcommand(&["try-repo"]), PROGRAMS),
    guard(&["direnv", "mise"], GuardCondition::Subcommand(&["allow", "permit", "grant", "trust"]), LATER),
    guard(&["pm2"], GuardCondition::Subcommand(&["startup"]), LATER),
    guard(&["conda", "mamba"], GuardCondition::Subcommand(&["init"]), LATER),
    guard(
        &["ssh", "docker", "podman", "kubectl", "nerdctl", "lxc", "oc", "helm", "rsh", "mosh"],
        GuardCondition::Always,
        ELSEWHERE,
    ),
    guard(
        &[
            "alias",
            "enable",
            "bind",
            "complete",
            "hash",
            "shopt",
            "mapfile",
            "readarray",
            "fc",
            "disown",
            "suspend",
            "coproc",
            "unalias",
        ],
        GuardCondition::Always,
        STATE,
    ),
    guard(
        &["rg"],
        GuardCondition::Option(&[(None, "pre"), (None, "hostname-bin"), (Some('z'), "search-zip")]),
        PROGRAMS,
    ),
    guard(
        &["compgen"],
        GuardCondition::Option(&[(Some('C'), "command"), (Some('F'), "function"), (Some('W'), "wordlist")]),
        PROGRAMS,
    ),
    guard(&["sort"], GuardCondition::Option(&[(None, "compress-program")]), PROGRAMS),
    guard(
        &["tar", "bsdtar", "gtar"],
        GuardCondition::Option(&[
            (None, "checkpoint-action"),
            (None, "to-command"),
            (Some('I'), "use-compress-program"),
            (None, "rsh-command"),
            (Some('F'), "info-script"),
            (None, "new-volume-script"),
            (None, "rmt-command"),
        ]),
        PROGRAMS,
    ),
    guard(
        &["man"],
        GuardCondition::Option(&[
            (Some('P'), "pager"),
            (Some('H'), "html"),
            (Some('C'), "config-file"),
            (Some('X'), "gxditview"),
        ]),
        PROGRAMS,
    ),
    guard(
        &["vim", "vi", "nvim", "ex", "view", "vimdiff", "rvim", "emacs", "ed", "nano", "less", "more"],
        GuardCondition::Always,
        "it waits for keys, and can run anything",
    ),
    guard(&["curl"], GuardCondition::Option(&[(Some('K'), "config")]), PROGRAMS),
    guard(
        &["wget"],
        GuardCondition::Option(&[(None, "use-askpass"), (Some('e'), "execute"), (None, "config")]),
        PROGRAMS,
    ),
    guard(&["zip"], GuardCondition::Option(&[(Some('T'), "unzip-command")]), PROGRAMS),
    guard(
        &["rsync", "scp", "sftp"],
        GuardCondition::Option(&[
            (Some('e'), "rsh"),
            (None, "rsync-path"),
            (Some('S'), "program"),
            (Some('o'), "option"),
        ]),
        PROGRAMS,
    ),
    guard(
        &["nc", "ncat", "netcat", "socat"],
        GuardCondition::Option(&[(Some('e'), "exec"), (Some('c'), "sh-exec")]),
        PROGRAMS,
    ),
];

/// Whether a program takes rights that no jailed command gets: those of another account, or over mounts and
/// the kernel.
pub(crate) fn gains_rights(program: &str) -> bool {
    let takes = |guard: &CommandGuard| [RIGHTS, DISK, KERNEL, LATER, USERS].contains(&guard.reason);
    GUARDS.iter().any(|guard| takes(guard) && guard.names.contains(&program))
}

/// The dangers of a program with these words.
pub(crate) fn dangers(program: &str, arguments: &[ShellWord]) -> Vec<String> {
    let found = GUARDS.iter().filter(|guard| guard.names.contains(&program) && guard.when.holds(arguments));
    let mut dangers: Vec<String> = found.map(|guard| guard.reason.to_owned()).collect();
    if program.starts_with("mkfs.") || program.starts_with("fsck.") {
        dangers.push(DISK.to_owned());
    }
    if program == "kill" && kill_targets(arguments) == KillTargets::Anything {
        dangers.push(KILLS_OTHERS.to_owned());
    }
    if changes_settings(program, arguments) {
        dangers.push(SETTINGS.to_owned());
    }
    if matches!(program, "make" | "gmake" | "bmake") && arguments.iter().any(is_command_for_make) {
        dangers.push(GIVEN_TEXT.to_owned());
    }
    if program == "rustc" && arguments.iter().any(is_output_of_rustc) {
        dangers.push(PROGRAMS.to_owned());
    }
    if program == "socat" && arguments.iter().any(is_program_for_socat) {
        dangers.push(PROGRAMS.to_owned());
    }
    if program == "nim" && arguments.iter().any(|word| word.unexpanded().starts_with("--eval")) {
        dangers.push(GIVEN_TEXT.to_owned());
    }
    if matches!(program, "sbt" | "sbtn" | "sbtx") && arguments.iter().any(is_code_for_sbt) {
        dangers.push(GIVEN_TEXT.to_owned());
    }
    // A word with a blank is a command line, which it starts with a shell.
    if program == "pm2" && arguments.iter().any(|word| word.unexpanded().contains(char::is_whitespace)) {
        dangers.push(GIVEN_TEXT.to_owned());
    }
    if program == "set" && !arguments.iter().all(is_plain_setting) {
        dangers.push(STATE.to_owned());
    }
    if program == "sysctl" && arguments.iter().any(|word| word.unexpanded().contains('=')) {
        dangers.push(KERNEL.to_owned());
    }
    dangers
}

/// Whether a word of sbt holds Scala that sbt evaluates, alone or in a list of commands.
fn is_code_for_sbt(word: &ShellWord) -> bool {
    let text = word.unexpanded();
    let commands = text.split(';').map(|command| command.trim_start_matches(['~', '+', ' ']));
    commands
        .filter_map(|command| command.split_whitespace().next())
        .any(|name| matches!(name, "eval" | "set" | "apply" | "alias"))
}

/// Whether a guard flags this program with any words, so that there is no more to know of it.
pub(crate) fn always_flags(program: &str) -> bool {
    let is_it =
        |guard: &CommandGuard| guard.names.contains(&program) && matches!(guard.when, GuardCondition::Always);
    GUARDS.iter().any(is_it) || program.starts_with("mkfs.") || program.starts_with("fsck.")
}

impl GuardCondition {
    pub(super) fn holds(self, arguments: &[ShellWord]) -> bool {
        match self {
            Self::Always => true,
            Self::Unless(harmless) => {
                let first = arguments.first().map_or("", |word| word.literal().unwrap_or("$"));
                !harmless.contains(&first)
            }
            Self::Subcommand(words) => {
                subcommands(arguments).any(|word| word.literal().is_none_or(|text| words.contains(&text)))
            }
            Self::With(words) => {
                arguments.iter().skip_while(|word| word.unexpanded().starts_with('-')).enumerate().any(
                    |(at, word)| {
                        match word.literal() {
                            // `ip a` shows addresses; `ip addr a` adds one.
                            Some("a") => at > 0 && words.contains(&"a"),
                            Some(text) => words.contains(&text),
                            None => at == 0,
                        }
                    },
                )
            }
            Self::Named(names) => {
                arguments.iter().take_while(|word| word.literal() != Some("--")).any(|word| {
                    let text = word.unexpanded();
                    let name = text.split('=').next().unwrap_or_default();
                    name.starts_with('-') && names.contains(&name.trim_start_matches('-'))
                })
            }
            Self::Option(options) => {
                options.iter().any(|(short, long)| might_give(arguments, *short, long))
                    || arguments.iter().any(ShellWord::is_unknown)
            }
        }
    }
}

/// Managers of packages that keep settings for later.
const KEEPING_SETTINGS: &[&str] = &[
    "npm", "pnpm", "yarn", "pip", "pip3", "poetry", "bundle", "bundler", "conda", "mamba", "gh", "composer",
    "corepack",
];

/// Whether a package manager would change its stored settings, as `npm config set` does.
fn changes_settings(program: &str, arguments: &[ShellWord]) -> bool {
    let mut words = arguments.iter().filter_map(ShellWord::literal).filter(|text| !text.starts_with("--"));
    let (first, second) = (words.next(), words.next());
    let changes = |text: &str| matches!(text, "set" | "delete" | "rm" | "edit" | "unset" | "add" | "--add");
    KEEPING_SETTINGS.contains(&program)
        && match first {
            Some("config" | "c" | "alias") => second.is_some_and(changes),
            Some("set") => matches!(program, "npm" | "pnpm"),
            _ => false,
        }
}

/// Whether a word sets a variable of a makefile to a command: recipes run the value of `CC`, and any text
/// after a `;`.
fn is_command_for_make(word: &ShellWord) -> bool {
    const RUN: &[&str] =
        &["CC", "CXX", "CPP", "LD", "AR", "AS", "RM", "INSTALL", "MAKE", "FC", "YACC", "LEX"];
    const STEER: &[&str] = &["SHELL", ".SHELLFLAGS", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS"];
    let text = word.unexpanded();
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.starts_with('-')) else {
        return false;
    };
    let name = name.trim_end_matches([':', '+', '?', '!']);
    STEER.contains(&name)
        || value.contains([';', '|', '&', '`', '<', '>', '\n'])
        || (word.literal().is_some() && value.contains("$("))
        || (RUN.contains(&name) && value.contains(char::is_whitespace))
}

/// Whether a word makes `rustc` run a linker, or write to a file that no table can read off it.
fn is_output_of_rustc(word: &ShellWord) -> bool {
    let text = word.unexpanded();
    ["linker=", "incremental=", "link-arg"].iter().any(|part| text.contains(part))
        || (text.starts_with("--emit") && text.matches('=').count() > 1)
        || ["link=", "dep-info=", "obj=", "asm=", "mir=", "metadata=", "llvm-ir="]
            .iter()
            .any(|kind| text.starts_with(kind))
}

/// Whether an address of socat is a program.
fn is_program_for_socat(word: &ShellWord) -> bool {
    let text = word.unexpanded().to_ascii_lowercase();
    let kinds = text.split("!!").map(|address| address.split(':').next().unwrap_or_default().to_owned());
    kinds.into_iter().any(|kind| matches!(kind.as_str(), "exec" | "system" | "shell"))
}

/// Words that could be the subcommand: the first that is no option, and the next one if that could be the
/// value of an option or names a group of subcommands.
fn subcommands(arguments: &[ShellWord]) -> impl Iterator<Item = &ShellWord> {
    let mut is_after_option = false;
    let mut is_over = false;
    arguments.iter().filter(move |word| {
        let text = word.unexpanded();
        if is_over || text.starts_with('+') {
            return false;
        }
        if text.starts_with('-') {
            is_after_option = !text.contains('=');
            return false;
        }
        is_over = !is_after_option && !GROUPS.contains(&text.as_str());
        is_after_option = false;
        true
    })
}

/// Why a signal to a process of another program asks.
const KILLS_OTHERS: &str = "it ends processes that may not be buddy's";

/// The processes that `kill` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KillTargets {
    /// Jobs of the shell, and single ones by number.
    Numbered,
    /// Single ones whose number is in a variable.
    InVariables,
    /// Others too: the first process, groups, all.
    Anything,
}

fn kill_targets(arguments: &[ShellWord]) -> KillTargets {
    let mut operands = arguments.iter();
    let first = arguments.first().and_then(ShellWord::literal).unwrap_or_default();
    if first == "-l" || first == "-L" {
        return KillTargets::Numbered;
    }
    if first == "-s" || first == "-n" {
        operands.next();
        operands.next();
    } else if first.starts_with('-') {
        operands.next();
    }
    let target = |operand: &ShellWord| match operand.literal() {
        Some("--") => KillTargets::Numbered,
        Some(text) if text.starts_with('%') => KillTargets::Numbered,
        Some(text) if text.parse::<u32>().is_ok_and(|number| number > 1) => KillTargets::Numbered,
        None if is_variable(&operand.unexpanded()) => KillTargets::InVariables,
        _ => KillTargets::Anything,
    };
    operands.map(target).max().unwrap_or(KillTargets::Numbered)
}

/// Whether a word is one variable and nothing else: `$!`, `"$$"`, `${pid}`.
fn is_variable(word: &str) -> bool {
    let word = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    let Some(name) = word.strip_prefix('$') else { return false };
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name || matches!(name, "!" | "$")
}

/// The reason to ask about signals to processes whose numbers only the shell knows. In a jail they are the command's own.
pub(crate) fn signal_danger(program: &str, arguments: &[ShellWord]) -> Option<&'static str> {
    (program == "kill" && kill_targets(arguments) == KillTargets::InVariables).then_some(KILLS_OTHERS)
}

/// Settings of the shell that only make a script stricter or louder.
fn is_plain_setting(word: &ShellWord) -> bool {
    matches!(
        word.literal(),
        Some(
            "-e" | "-u"
                | "-x"
                | "-v"
                | "-eu"
                | "-ex"
                | "-eux"
                | "-euo"
                | "-euxo"
                | "-o"
                | "pipefail"
                | "errexit"
                | "nounset"
        )
    )
}
