//! The settings of a repository, as far as it takes to say that none of them makes git run a program.
//!
//! Only lines that are known to be harmless are plain. Whatever else git may understand by a line, it is not.

/// Keys that decide nothing about programs. A key is `section.name` in lower case, without what stands between.
const PLAIN: &[&str] = &[
    "branch.merge",
    "branch.rebase",
    "branch.remote",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.repositoryformatversion",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "extensions.compatobjectformat",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
    "extensions.worktreeconfig",
    "gc.auto",
    "index.sparse",
    "init.defaultbranch",
    "pull.rebase",
    "push.default",
    "receive.denycurrentbranch",
    "remote.fetch",
    "remote.partialclonefilter",
    "remote.promisor",
    "remote.pushurl",
    "remote.tagopt",
    "remote.url",
    "submodule.active",
    "submodule.url",
    "user.email",
    "user.name",
];

/// Beginnings of addresses that git reaches without a helper program of its own choosing.
const PLAIN_ADDRESSES: &[&str] = &["https://", "http://", "ssh://", "git://", "file://"];

/// The lines of a configuration that are plain, or none when all of them are.
pub(super) fn without_programs(text: &str) -> Option<String> {
    let mut section = String::new();
    let mut kept = String::new();
    let mut is_plain = true;
    for line in text.lines() {
        let bare = line.trim();
        let is_harmless = if bare.is_empty() || bare.starts_with(['#', ';']) {
            true
        } else if let Some(header) = bare.strip_prefix('[') {
            match header.strip_suffix(']') {
                Some(header) if !header.contains(']') => {
                    section = header.split([' ', '\t', '"', '.']).next().unwrap_or_default().to_lowercase();
                    true
                }
                _ => false,
            }
        } else {
            is_plain_setting(&section, bare)
        };
        if is_harmless {
            kept.push_str(line);
            kept.push('\n');
        } else {
            is_plain = false;
        }
    }
    (!is_plain).then_some(kept)
}

fn is_plain_setting(section: &str, line: &str) -> bool {
    // A line that goes on in the next one could hide what it says there.
    if line.ends_with('\\') {
        return false;
    }
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let key = format!("{section}.{}", key.trim().to_lowercase());
    let is_address = key.ends_with("url");
    PLAIN.contains(&key.as_str()) && (!is_address || is_plain_address(value.trim().trim_matches('"')))
}

/// An address names a server or a directory. `ext::` and others like it name a program.
fn is_plain_address(address: &str) -> bool {
    !address.starts_with('-')
        && (PLAIN_ADDRESSES.iter().any(|plain| address.starts_with(plain)) || !address.contains("::"))
}

/// The lines of a rebase that run no program, or none when no line does.
pub(super) fn without_exec(todo: &str) -> Option<String> {
    let is_exec = |line: &&str| matches!(line.split_ascii_whitespace().next(), Some("exec" | "x"));
    if !todo.lines().any(|line| is_exec(&line)) {
        return None;
    }
    Some(todo.lines().filter(|line| !is_exec(line)).flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_clone_writes_is_plain() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                    [remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert_eq!(without_programs(text), None);
    }

    #[test]
    fn what_may_run_a_program_is_taken_out() {
        for line in [
            "fsmonitor = ./run",
            "hooksPath = hooks",
            "pager = sh",
            "sshCommand = sh",
            "filemode = true \\",
            "[include] path = x",
            "[remote \"x\"] url = ext::sh",
            "[core \"]\"] x",
        ] {
            let text = format!("[core]\n\tbare = false\n{line}\n");
            assert_eq!(without_programs(&text).as_deref(), Some("[core]\n\tbare = false\n"), "{line}");
        }
        assert!(without_programs("[include]\n\tpath = x\n").is_some());
        assert!(without_programs("[remote \"x\"]\n\turl = ext::sh -c x\n").is_some());
        assert!(without_programs("[filter \"x\"]\n\tsmudge = sh\n").is_some());
    }

    #[test]
    fn a_rebase_without_its_programs() {
        assert_eq!(without_exec("pick a\n# exec\n"), None);
        assert_eq!(without_exec("pick a\nexec sh\n x y\npick b\n").as_deref(), Some("pick a\npick b\n"));
    }
}
