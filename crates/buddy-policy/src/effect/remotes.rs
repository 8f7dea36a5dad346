//! The remote that a use of git reaches by its name, or because no name is given.

use buddy_protocol::{RemoteName, RemoteUse};

use super::flags::might_give;
use crate::shell::ShellWord;

/// Options of `git push`, `git fetch` and `git pull` that take the next word.
const VALUES: &[&str] = &[
    "-X",
    "-j",
    "-o",
    "-s",
    "--deepen",
    "--depth",
    "--exec",
    "--filter",
    "--jobs",
    "--negotiation-tip",
    "--push-option",
    "--receive-pack",
    "--refmap",
    "--repo",
    "--server-option",
    "--shallow-exclude",
    "--shallow-since",
    "--strategy",
    "--strategy-option",
    "--upload-pack",
];

/// The remote that these words, from the subcommand on, mean and what for. None if they reach none, or if the word for it is not known.
pub(super) fn remote_meant(words: &[ShellWord]) -> Option<(RemoteName<'_>, RemoteUse)> {
    let (subcommand, rest) = words.split_first()?;
    let usage = match subcommand.literal()? {
        "push" => RemoteUse::Push,
        "fetch" | "pull" => RemoteUse::Fetch,
        "remote" if rest.first().and_then(ShellWord::literal) == Some("update") => {
            return Some((RemoteName::All, RemoteUse::Fetch));
        }
        _ => return None,
    };
    let is_many = || might_give(rest, None, "all") || might_give(rest, None, "multiple");
    if usage == RemoteUse::Fetch && is_many() {
        return Some((RemoteName::All, usage));
    }
    let mut given = None;
    let mut left = rest.iter();
    while let Some(word) = left.next() {
        let text = word.unexpanded();
        if text == "--repo" {
            given = left.next();
        } else if VALUES.contains(&text.as_str()) {
            left.next();
        } else if !text.starts_with('-') {
            return Some((RemoteName::Named(word.literal()?), usage));
        }
    }
    let repo = rest.iter().find_map(|word| word.literal()?.strip_prefix("--repo="));
    match (given, repo) {
        (Some(word), _) => Some((RemoteName::Named(word.literal()?), usage)),
        (None, Some(repo)) => Some((RemoteName::Named(repo), usage)),
        (None, None) => Some((RemoteName::Usual, usage)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remote_is_read_as_git_reads_it() {
        use RemoteName::{All, Named, Usual};
        use RemoteUse::{Fetch, Push};
        for (line, meant) in [
            ("push", Some((Usual, Push))),
            ("push -u origin main", Some((Named("origin"), Push))),
            ("push -o ci.skip origin", Some((Named("origin"), Push))),
            ("push --all", Some((Usual, Push))),
            ("push --repo=backup", Some((Named("backup"), Push))),
            ("push --repo backup", Some((Named("backup"), Push))),
            ("push $x", None),
            ("fetch", Some((Usual, Fetch))),
            ("fetch --all", Some((All, Fetch))),
            ("fetch --depth 1 origin", Some((Named("origin"), Fetch))),
            ("pull -s ort origin main", Some((Named("origin"), Fetch))),
            ("remote update", Some((All, Fetch))),
            ("remote add x ../y", None),
            ("status", None),
        ] {
            let words: Vec<ShellWord> = line.split(' ').map(ShellWord::decode).collect();
            assert_eq!(remote_meant(&words), meant, "{line}");
        }
    }
}
