//! Programs that cannot work in a jail, whatever a user says: they need rights that no jailed command ever has.
//!
//! A question about one would be answered in vain. Programs that only sometimes need such rights are not here: `mke2fs` makes an image
//! in a file, and `docker` may speak to another host.

use super::guards::When;
use crate::shell::Word;

struct Barred {
    names: &'static [&'static str],
    when: When,
    /// What it would take.
    takes: &'static str,
}

const fn barred(names: &'static [&'static str], when: When, takes: &'static str) -> Barred {
    Barred { names, when, takes }
}

const ACCOUNT: &str = "takes the rights of another account";
const MOUNTS: &str = "changes mounts or namespaces";
const KERNEL: &str = "changes the kernel";
const USERS: &str = "changes the accounts of this machine";
const LATER: &str = "hands a command to another service";
const POWER: &str = "stops or restarts the machine";
const NETWORK: &str = "changes the network of this machine";

const BARRED: &[Barred] = &[
    barred(
        &["sudo", "doas", "su", "pkexec", "runuser", "gosu", "su-exec", "newgrp", "sg", "sudoedit", "run0"],
        When::Always,
        ACCOUNT,
    ),
    barred(&["chroot", "nsenter", "unshare", "umount", "swapoff"], When::Always, MOUNTS),
    barred(&["mount"], When::Unless(&["", "-l", "-h", "--help", "-V", "--version"]), MOUNTS),
    barred(&["swapon"], When::Unless(&["", "-s", "--summary", "--show", "-h", "--help", "-V"]), MOUNTS),
    barred(&["insmod", "rmmod", "kexec"], When::Always, KERNEL),
    barred(
        &["modprobe"],
        When::Unless(&["-n", "--dry-run", "-D", "--show-depends", "-c", "--showconfig"]),
        KERNEL,
    ),
    barred(&["sysctl"], When::Option(&[(Some('w'), "write"), (Some('p'), "load"), (None, "system")]), KERNEL),
    barred(
        &[
            "useradd", "usermod", "userdel", "adduser", "deluser", "groupadd", "groupmod", "groupdel",
            "chpasswd", "gpasswd", "visudo", "chsh", "chfn", "vipw", "newusers", "addgroup", "delgroup",
        ],
        When::Always,
        USERS,
    ),
    barred(&["passwd"], When::Unless(&["-S", "--status"]), USERS),
    barred(&["at", "batch", "crontab", "systemd-run"], When::Always, LATER),
    barred(&["shutdown", "reboot", "halt", "poweroff", "telinit"], When::Always, POWER),
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
        When::Always,
        NETWORK,
    ),
];

/// Why a program with these words cannot work in a jail, where it cannot.
pub(crate) fn barred_in_jail(program: &str, arguments: &[Word]) -> Option<String> {
    let row = BARRED.iter().find(|row| row.names.contains(&program) && row.when.holds(arguments))?;
    let program = crate::display_command(program);
    Some(format!(
        "`{program}` {}, which no command in the jail can; do without `{program}`, or run it yourself with `!`",
        row.takes
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_about_itself_or_the_machine_is_not_barred() {
        let is_barred = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(|word| Word::Literal(word.to_owned())).collect();
            barred_in_jail(line.split(' ').next().unwrap(), &words[1..]).is_some()
        };
        for line in
            ["sudo true", "su", "mount /dev/sda1 /mnt", "crontab -e", "passwd", "sysctl -w a=1", "nft list"]
        {
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
        ] {
            assert!(!is_barred(line), "{line}");
        }
    }
}
