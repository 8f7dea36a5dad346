//! Programs that cannot work in a jail, whatever a user says: they need rights that no jailed command ever has.
//!
//! A question about one would be answered in vain. Programs that only sometimes need such rights are not here: `mke2fs` makes an image
//! in a file. `docker` is refused unless its words or a variable name another host.

use super::flags::might_give;
use super::guards::GuardCondition;
use crate::shell::ShellWord;

struct Barred {
    names: &'static [&'static str],
    when: GuardCondition,
    /// What it would take.
    takes: &'static str,
    /// Options with which it speaks to another host instead: a letter, a long name.
    elsewhere: &'static [(Option<char>, &'static str)],
}

const fn barred(names: &'static [&'static str], when: GuardCondition, takes: &'static str) -> Barred {
    Barred { names, when, takes, elsewhere: &[] }
}

const ACCOUNT: &str = "takes the rights of another account";
const MOUNTS: &str = "changes mounts or namespaces";
const KERNEL: &str = "changes the kernel";
const USERS: &str = "changes the accounts of this machine";
const LATER: &str = "hands a command to another service";
const POWER: &str = "stops or restarts the machine";
const NETWORK: &str = "changes the network of this machine";

const ENGINE: &str = "controls an engine of this machine by its socket";
const BUS: &str = "controls services of this machine by its bus";

/// Words after which a client of containers tells about itself.
const ABOUT_ITSELF: GuardCondition =
    GuardCondition::Unless(&["", "-v", "--version", "-h", "--help", "help", "completion", "context"]);

/// Variables that name the engine which clients of containers speak to.
pub const ENGINE_VARIABLES: &[&str] =
    &["DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "CONTAINER_CONNECTION"];

const BARRED: &[Barred] = &[
    Barred {
        names: &[
            "docker",
            "docker-compose",
            "podman",
            "podman-compose",
            "nerdctl",
            "ctr",
            "crictl",
            "lxc",
            "incus",
        ],
        when: ABOUT_ITSELF,
        takes: ENGINE,
        elsewhere: &[
            (Some('H'), "host"),
            (Some('c'), "context"),
            (None, "url"),
            (None, "connection"),
            (Some('r'), "remote"),
        ],
    },
    barred(
        &["systemctl"],
        GuardCondition::Unless(&[
            "",
            "-h",
            "--help",
            "--version",
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
        BUS,
    ),
    barred(&["loginctl"], GuardCondition::Unless(&["-h", "--help", "--version"]), BUS),
    barred(
        &["sudo", "doas", "su", "pkexec", "runuser", "gosu", "su-exec", "newgrp", "sg", "sudoedit", "run0"],
        GuardCondition::Always,
        ACCOUNT,
    ),
    barred(&["chroot", "nsenter", "unshare", "umount", "swapoff"], GuardCondition::Always, MOUNTS),
    barred(&["mount"], GuardCondition::Unless(&["", "-l", "-h", "--help", "-V", "--version"]), MOUNTS),
    barred(
        &["swapon"],
        GuardCondition::Unless(&["", "-s", "--summary", "--show", "-h", "--help", "-V"]),
        MOUNTS,
    ),
    barred(&["insmod", "rmmod", "kexec"], GuardCondition::Always, KERNEL),
    barred(
        &["modprobe"],
        GuardCondition::Unless(&["-n", "--dry-run", "-D", "--show-depends", "-c", "--showconfig"]),
        KERNEL,
    ),
    barred(
        &["sysctl"],
        GuardCondition::Option(&[(Some('w'), "write"), (Some('p'), "load"), (None, "system")]),
        KERNEL,
    ),
    barred(
        &[
            "useradd", "usermod", "userdel", "adduser", "deluser", "groupadd", "groupmod", "groupdel",
            "chpasswd", "gpasswd", "visudo", "chsh", "chfn", "vipw", "newusers", "addgroup", "delgroup",
        ],
        GuardCondition::Always,
        USERS,
    ),
    barred(&["passwd"], GuardCondition::Unless(&["-S", "--status"]), USERS),
    barred(&["at", "batch", "crontab", "systemd-run"], GuardCondition::Always, LATER),
    barred(&["shutdown", "reboot", "halt", "poweroff", "telinit"], GuardCondition::Always, POWER),
    barred(
        &[
            "iptables",
            "ip6tables",
            "iptables-restore",
            "nft",
            "ufw",
            "firewall-cmd",
            "ebtables",
            "ipset",
            "ifup",
            "ifdown",
            "dhclient",
            "wg-quick",
        ],
        GuardCondition::Always,
        NETWORK,
    ),
];

/// Whether the words of a command set a variable that names an engine.
pub(crate) fn names_engine(command: &str) -> bool {
    ENGINE_VARIABLES.iter().any(|variable| command.contains(variable))
}

/// Why a program with these words cannot work in a jail, where it cannot. A variable can lead it to another host.
pub(crate) fn barred_in_jail(program: &str, arguments: &[ShellWord], is_elsewhere: bool) -> Option<String> {
    let row = BARRED.iter().find(|row| row.names.contains(&program) && row.when.holds(arguments))?;
    // They stand before the subcommand; after it the letters mean something else.
    let count = arguments.iter().take_while(|word| word.unexpanded().starts_with('-')).count();
    let first = arguments.get(..count).unwrap_or_default();
    let is_given = || row.elsewhere.iter().any(|(short, long)| might_give(first, *short, long));
    if !row.elsewhere.is_empty() && (is_elsewhere || is_given()) {
        return None;
    }
    let program = crate::display_command(program);
    let instead = match row.takes {
        ENGINE | BUS => "or run it yourself with `!`, or use `agent.environment = \"production\"`",
        // It may ask for a password, and `!` has no terminal.
        _ => "or run it yourself in another terminal",
    };
    Some(format!(
        "`{program}` {}, which no command in the jail can; do without `{program}`, {instead}",
        row.takes
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_about_itself_or_the_machine_is_not_barred() {
        let is_barred = |line: &str| {
            let words: Vec<ShellWord> =
                line.split(' ').map(|word| ShellWord::Literal(word.to_owned())).collect();
            barred_in_jail(line.split(' ').next().unwrap(), &words[1..], false).is_some()
        };
        for line in [
            "sudo true",
            "su",
            "mount /dev/sda1 /mnt",
            "crontab -e",
            "passwd",
            "sysctl -w a=1",
            "nft list",
            "docker ps",
            "docker compose up",
            "podman run x",
            "docker exec box rm -rf D",
            "lxc list",
            "systemctl restart x",
        ] {
            assert!(is_barred(line), "{line}");
        }
        for line in [
            "mount",
            "mount -l",
            "swapon -s",
            "passwd -S",
            "sysctl kernel.ostype",
            "capsh --print",
            "ip addr",
            "docker --version",
            "docker -H tcp://a.test:2375 ps",
            "docker --host=ssh://a.test ps",
            "docker --context far ps",
            "podman --url ssh://a.test/x ps",
            "systemctl status x",
        ] {
            assert!(!is_barred(line), "{line}");
        }
    }
}
