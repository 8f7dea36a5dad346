//! Why something was refused to a command in a jail, in one sentence for the model: the program itself only says that it was.

use std::path::{Path, PathBuf};

use buddy_exec::Bounds;

/// How programs say that the kernel refused something.
const REFUSALS: &[&str] =
    &["Permission denied", "Read-only file system", "Operation not permitted", "EACCES", "EROFS", "EPERM"];
/// And that a mount stands there, or further down.
const BUSY: &[&str] = &["Device or resource busy", "EBUSY"];

/// How many lines with a refusal are looked at.
const MAX_LINES: usize = 100;

/// Why something is busy.
const HELD: &str = "commands can neither move nor remove a protected file, nor a directory that one is in; do not look for a way around";

/// What stands around paths in messages.
const AROUND: &str = "'\"`()[]:;,=<>‘’";

/// The sentence, where a line of the output names a path that these bounds protect.
pub(super) fn why_refused(output: &str, bounds: &Bounds, cwd: &Path) -> Option<String> {
    if bounds.is_open() {
        return None;
    }
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let lines: Vec<&str> =
        output.lines().filter(|line| has(line, REFUSALS) || has(line, BUSY)).take(MAX_LINES).collect();
    let known = lines.iter().flat_map(|line| paths(line)).find_map(|shown| {
        let path = below_anchor(&cwd.join(shown), bounds);
        if bounds.sealed_names.covers(&path) {
            return Some(format!(
                "`{shown}` can hold secrets, so this command could not read or change it; if it is needed, name it in a call of \
                 `read_file` or `edit_file`, which asks the person"
            ));
        }
        let full = cwd.join(shown);
        if bounds.guarded_names.covers(&path) || bounds.guarded.iter().any(|place| full.starts_with(place)) {
            return Some(format!(
                "other programs take orders from `{shown}`, so commands cannot change it; change it with a tool for files, which \
                 asks the person"
            ));
        }
        None
    });
    let is_busy = || lines.iter().any(|line| has(line, BUSY));
    known.or_else(|| is_busy().then(|| HELD.to_owned()))
}

/// The words of a line that may be paths.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let is_around = |letter: char| letter.is_whitespace() || AROUND.contains(letter);
    line.split(is_around).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// Names are compared below the directory that the person opened.
fn below_anchor(path: &Path, bounds: &Bounds) -> PathBuf {
    let below = bounds.anchors.iter().filter_map(|anchor| path.strip_prefix(anchor).ok());
    below.min_by_key(|rest| rest.components().count()).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use buddy_exec::Reach;
    use buddy_protocol::NameSet;

    use super::*;

    fn check(output: &str, expected: Option<&str>) {
        let bounds = Bounds {
            write: Reach::Beneath(vec!["/.claude/w".into()]),
            anchors: vec!["/.claude/w".into()],
            guarded_names: NameSet::trees([".git/hooks", ".claude"]),
            guarded: vec!["/.claude/w/scripts/hooks".into()],
            sealed_names: NameSet::trees([".ssh"]).with_files(["secrets.*"]),
            ..Bounds::open()
        };
        let why = why_refused(output, &bounds, Path::new("/.claude/w"));
        match expected {
            None => assert_eq!(why, None, "{output}"),
            Some(part) => assert!(why.as_ref().is_some_and(|why| why.contains(part)), "{output}: {why:?}"),
        }
    }

    #[test]
    fn the_path_in_a_message_says_why() {
        check(
            "ok\ncat: config/secrets.yml: Permission denied\n",
            Some("`config/secrets.yml` can hold secrets"),
        );
        check("error: open(\"secrets.yml\"): Permission denied", Some("`secrets.yml` can hold secrets"));
        check("sh: 1: cannot create .git/hooks/x: Read-only file system", Some("orders from `.git/hooks/x`"));
        check("cp: cannot create 'scripts/hooks/x': Read-only file system", Some("orders from"));
        check(
            "mv: cannot move 'scripts' to 'x': Device or resource busy",
            Some("a directory that one is in"),
        );
        check("cat: /srv/x: Permission denied", None);
        check("secrets.yml is fine", None);
    }
}
