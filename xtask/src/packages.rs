//! Debian packages that the tests need, installed when one of them is missing.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run::{program, run};

/// A package, the program that shows that it is installed, and the reason why it is needed.
struct Package {
    name: &'static str,
    program: &'static str,
    why: &'static str,
}

const PACKAGES: &[Package] = &[
    Package { name: "7zip", program: "7zz", why: "an example of the table of effects on files" },
    Package { name: "acl", program: "setfacl", why: "an example of the table of effects on files" },
    Package { name: "age", program: "age", why: "an example of the table of effects on files" },
    Package {
        name: "apache2-utils",
        program: "htpasswd",
        why: "an example of the table of effects on files",
    },
    Package { name: "bash", program: "bash", why: "runs the agent's commands" },
    Package { name: "binutils", program: "ar", why: "an example of the table of effects on files" },
    Package { name: "brotli", program: "brotli", why: "an example of the table of effects on files" },
    Package { name: "bubblewrap", program: "bwrap", why: "the jail of commands" },
    Package {
        name: "busybox",
        program: "busybox",
        why: "the tools of a small host, and a shell of shared panes",
    },
    Package { name: "bzip2", program: "bzip2", why: "an example of the table of effects on files" },
    Package { name: "coreutils", program: "head", why: "commands in tests: head, seq, sleep" },
    Package { name: "cpio", program: "cpio", why: "an example of the table of effects on files" },
    Package { name: "curl", program: "curl", why: "an example of the table of effects on files" },
    Package { name: "dash", program: "dash", why: "one of the shells of shared panes" },
    Package { name: "debootstrap", program: "debootstrap", why: "makes the image of the container in tests" },
    Package { name: "dos2unix", program: "dos2unix", why: "an example of the table of effects on files" },
    Package {
        name: "e2fsprogs",
        program: "mke2fs",
        why: "small real file systems for tests of full disks and power cuts",
    },
    Package { name: "gcc", program: "gcc", why: "an example of the table of effects on files" },
    Package { name: "git", program: "git", why: "what the tools for git run" },
    Package { name: "less", program: "less", why: "a program that waits for keys" },
    Package {
        name: "libarchive-tools",
        program: "bsdtar",
        why: "an example of the table of effects on files",
    },
    Package { name: "lbzip2", program: "lbzip2", why: "an example of the table of effects on files" },
    Package { name: "lz4", program: "lz4", why: "an example of the table of effects on files" },
    Package { name: "lzip", program: "lzip", why: "an example of the table of effects on files" },
    Package { name: "lzop", program: "lzop", why: "an example of the table of effects on files" },
    Package { name: "mmv", program: "mmv", why: "an example of the table of effects on files" },
    Package { name: "moreutils", program: "sponge", why: "an example of the table of effects on files" },
    Package { name: "mount", program: "mount", why: "mounts them" },
    Package { name: "nasm", program: "nasm", why: "an example of the table of effects on files" },
    Package { name: "openssh-client", program: "ssh", why: "the way to hosts over SSH" },
    Package { name: "openssh-server", program: "sshd", why: "such a host in tests" },
    Package { name: "openssl", program: "openssl", why: "an example of the table of effects on files" },
    Package { name: "patch", program: "patch", why: "an example of the table of effects on files" },
    Package { name: "pbzip2", program: "pbzip2", why: "an example of the table of effects on files" },
    Package { name: "pigz", program: "pigz", why: "an example of the table of effects on files" },
    Package { name: "plzip", program: "plzip", why: "an example of the table of effects on files" },
    Package { name: "podman", program: "podman", why: "a container in tests" },
    Package { name: "procps", program: "ps", why: "looks at process trees" },
    Package { name: "python3", program: "python3", why: "scripted servers in tests, and the spelling check" },
    Package { name: "rename", program: "rename", why: "an example of the table of effects on files" },
    Package { name: "ripgrep", program: "rg", why: "what searches are measured beside" },
    Package { name: "rsync", program: "rsync", why: "an example of the table of effects on files" },
    Package { name: "runc", program: "runc", why: "starts the container" },
    Package { name: "screen", program: "screen", why: "a terminal of the user in which others could type" },
    Package { name: "sqlite3", program: "sqlite3", why: "an example of the table of effects on files" },
    Package { name: "strace", program: "strace", why: "fails syncs on purpose" },
    Package { name: "sudo", program: "sudo", why: "a program that asks for a password" },
    Package { name: "tmux", program: "tmux", why: "shared panes" },
    Package { name: "tree", program: "tree", why: "an example of the table of effects on files" },
    Package { name: "unzip", program: "unzip", why: "an example of the table of effects on files" },
    Package { name: "util-linux", program: "unshare", why: "private mounts, and setsid in tests" },
    Package { name: "vim-tiny", program: "vi", why: "an editor that waits for keys" },
    Package { name: "xxd", program: "xxd", why: "an example of the table of effects on files" },
    Package { name: "xz-utils", program: "xz", why: "an example of the table of effects on files" },
    Package { name: "yasm", program: "yasm", why: "an example of the table of effects on files" },
    Package { name: "zip", program: "zip", why: "an example of the table of effects on files" },
    Package { name: "zsh", program: "zsh", why: "one of the shells of shared panes" },
    Package { name: "zstd", program: "zstd", why: "an example of the table of effects on files" },
];

/// Installs every missing package.
pub(crate) fn ensure() -> Result<()> {
    let missing = missing(&search_path());
    if missing.is_empty() {
        return Ok(());
    }
    for package in &missing {
        println!("missing: {} ({})", package.program, package.why);
    }
    install(&missing).context("cannot install Debian packages that the tests need")
}

fn missing(folders: &[PathBuf]) -> Vec<&'static Package> {
    let is_there = |package: &&Package| folders.iter().any(|folder| folder.join(package.program).is_file());
    PACKAGES.iter().filter(|package| !is_there(package)).collect()
}

/// The folders of `PATH`, and those for administrators, which a user's `PATH` may lack.
fn search_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from)).collect()
}

fn install(packages: &[&Package]) -> Result<()> {
    let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
    if !Path::new("/usr/bin/apt-get").exists() {
        bail!("there is no apt-get here; install {} by hand", names.join(", "));
    }
    run(apt().arg("update"))?;
    run(apt().args(["install", "--yes", "--no-install-recommends"]).args(names))
}

fn apt() -> std::process::Command {
    let mut command = if rustix::process::geteuid().is_root() {
        program("apt-get")
    } else {
        let mut sudo = program("sudo");
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_a_program_are_missing() {
        assert_eq!(missing(&[]).len(), PACKAGES.len());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("strace"), "").unwrap();
        let missing = missing(&[folder.path().to_owned()]);
        assert!(missing.iter().all(|package| package.name != "strace"));
        assert_eq!(missing.len(), PACKAGES.len() - 1);
    }
}
