//! Settings of a repository that neither run a program nor lead git elsewhere, as far as their names tell.

/// In which repositories a command may make a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainIn {
    /// In any.
    EveryRepository,
    /// In one that the command makes: in another it would change where the user's own git reads from or writes to.
    NewRepository,
}

/// Keys in lower case, without what stands between section and name.
const PLAIN: &[&str] = &[
    "branch.description",
    "branch.merge",
    "branch.rebase",
    "branch.remote",
    "branch.sort",
    "color.ui",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "diff.algorithm",
    "diff.renames",
    "extensions.worktreeconfig",
    "fetch.prune",
    "gc.auto",
    "index.sparse",
    "init.defaultbranch",
    "log.date",
    "merge.conflictstyle",
    "merge.ff",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "rebase.autosquash",
    "rebase.autostash",
    "remote.fetch",
    "remote.tagopt",
    "remote.url",
    "rerere.autoupdate",
    "rerere.enabled",
    "submodule.active",
    "submodule.url",
    "tag.sort",
    "user.email",
    "user.name",
    "user.useconfigonly",
];

const PLAIN_IN_NEW: &[&str] = &[
    "core.bare",
    "core.sharedrepository",
    "extensions.compatobjectformat",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
    "push.default",
    "receive.denycurrentbranch",
    "remote.partialclonefilter",
    "remote.promisor",
    "remote.pushurl",
];

/// Where a setting is plain, by its key: `section.name` in lower case, without what stands between. None where it is not known to be.
pub fn plain_git_setting(key: &str) -> Option<PlainIn> {
    let is_in = |keys: &[&str]| keys.contains(&key);
    if is_in(PLAIN) {
        Some(PlainIn::EveryRepository)
    } else {
        is_in(PLAIN_IN_NEW).then_some(PlainIn::NewRepository)
    }
}

/// Letters that mean something to a shell that reads a value as a command. git copies names of people into files that it writes.
const OF_SHELLS: &[char] = &[';', '|', '&', '$', '<', '>', '`'];

/// Whether a value is text that no shell would take for a command, wherever git writes it.
pub fn is_plain_git_value(value: &str) -> bool {
    !value.contains(|letter: char| letter.is_control() || OF_SHELLS.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_commands_are_not_plain() {
        for value in ["A B", "O'Brien, Jr. (QA)", "a@example.org", "+refs/heads/*:refs/remotes/o/*", "Zoë #1"]
        {
            assert!(is_plain_git_value(value), "{value}");
        }
        for value in
            ["a;touch x;b", "a\nb", "$(x)", "`x`", "a|b", "a & b", "a > b", "a < b", "\u{1b}[0m", "a\u{85}b"]
        {
            assert!(!is_plain_git_value(value), "{value}");
        }
    }
}
