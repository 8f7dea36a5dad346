//! Covers over files with secrets that look like the files to programs that do not read them: the same size
//! and time, and no right to read.
//!
//! git compares these before it reads, so a file that it tracks is unchanged for it. A readable cover would
//! be worse than none: a commit would then have it in the place of the secret.

use std::fs::{self, DirBuilder, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::mounts::{Cover, Mounts};

/// The part of a file's mode that git keeps.
const EXECUTED: u32 = 0o111;

/// Makes git compare the properties that a cover shares with its file: size and time, but neither inode
/// number nor time of the last change.
pub(super) const COVERED_FILES: &[(&str, &str)] =
    &[("core.checkStat", "minimal"), ("core.trustctime", "false")];

/// Keeps git from leaving changes behind that a later git command applies by itself, as the sweep would move them away: the user's settings
/// ask for them, and a rebase with changes in the work tree is refused instead. An index in two files is not left either, since the
/// entries of one of them have no names.
pub(super) const NO_STEERING: &[(&str, &str)] = &[
    ("rerere.enabled", "false"),
    ("rebase.autoStash", "false"),
    ("merge.autoStash", "false"),
    ("core.splitIndex", "false"),
];

/// The variable from which git takes further settings.
const COUNT: &str = "GIT_CONFIG_COUNT";

/// The files of the covers of one jail. Mounts outlive them, so they are removed once the jail is made.
pub(super) struct Seals {
    _directory: TempDir,
    /// In the order of the mounts.
    pub(super) files: Vec<PathBuf>,
}

impl Seals {
    /// Makes them in a directory that commands do not reach. `None` if there is nothing to cover.
    pub(super) fn make(mounts: &Mounts, place: &Path) -> io::Result<Option<Self>> {
        let sealed: Vec<&Path> = mounts
            .list
            .iter()
            .filter(|mount| mount.cover == Cover::SealedFile)
            .map(|mount| mount.at.as_path())
            .collect();
        if sealed.is_empty() {
            return Ok(None);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        let directory = tempfile::Builder::new().prefix("covers-").tempdir_in(place)?;
        let cover = |(number, of): (usize, &Path)| cover(directory.path().join(number.to_string()), of);
        let files = sealed.into_iter().enumerate().map(cover).collect::<io::Result<_>>()?;
        Ok(Some(Self { _directory: directory, files }))
    }
}

fn cover(at: PathBuf, of: &Path) -> io::Result<PathBuf> {
    let found = fs::symlink_metadata(of)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o0).open(&at)?;
    // Nothing is written, so it takes no space, however large it is.
    file.set_len(found.len())?;
    file.set_permissions(Permissions::from_mode(found.permissions().mode() & EXECUTED))?;
    file.set_times(FileTimes::new().set_modified(found.modified()?).set_accessed(found.modified()?))?;
    Ok(at)
}

/// Adds settings of git to the variables of a command, behind those that it has.
pub(super) fn tell_git(env: &mut Vec<(String, String)>, settings: &[(&str, &str)]) {
    let there = env.iter().find(|(name, _)| name == COUNT);
    let Ok(first) = there.map_or(Ok(0), |(_, count)| count.parse::<usize>()) else { return };
    env.retain(|(name, _)| name != COUNT);
    for (number, (key, value)) in (first..).zip(settings) {
        env.push((format!("GIT_CONFIG_KEY_{number}"), (*key).to_owned()));
        env.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()));
    }
    env.push((COUNT.to_owned(), (first + settings.len()).to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_behind_those_that_are_there() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut env =
            vec![pair(COUNT, "1"), pair("GIT_CONFIG_KEY_0", "a.b"), pair("GIT_CONFIG_VALUE_0", "c")];
        tell_git(&mut env, COVERED_FILES);
        assert!(env.contains(&pair(COUNT, "3")) && env.contains(&pair("GIT_CONFIG_KEY_0", "a.b")));
        assert!(env.contains(&pair("GIT_CONFIG_KEY_2", "core.trustctime")));
        let mut broken = vec![pair(COUNT, "x")];
        tell_git(&mut broken, COVERED_FILES);
        assert_eq!(broken, [pair(COUNT, "x")]);
    }
}
