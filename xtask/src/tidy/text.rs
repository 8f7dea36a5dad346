//! Rules about the text of files.

use super::offence::Offence;
use super::tree::{SourceFile, Tree};

/// Attributes that make a wire type loose: a field that swallows the rest, a guess among variants.
const LOOSE: &[&str] = &["flatten", "untagged"];

/// Prefixes of paths that exist on one machine only. Assembled here so that this file does not break its own
/// rule.
const MACHINE_PATHS: &[&str] = &[concat!("/", "root/"), concat!("/", "work/"), concat!("/", "workspace/")];

/// Hosts that packages are fetched from. A mirror of one machine has no place in the project.
const REGISTRY_HOSTS: &[&str] =
    &[concat!("index.crates", ".io"), concat!("static.crates", ".io"), concat!("registry.npmjs", ".org")];

/// `flatten` and `untagged` on the types of the wire.
pub(crate) fn loose_wire_types(tree: &Tree) -> Vec<Offence> {
    let is_wire = |file: &&SourceFile| file.path.starts_with("crates/buddy-protocol/");
    let is_loose = |line: &str| line.contains("serde(") && LOOSE.iter().any(|word| line.contains(word));
    lines(tree.rust().filter(is_wire), is_loose, "flatten and untagged are banned on wire types")
}

/// Paths of one machine, and hosts of registries. Lock files name the registry that cargo itself writes.
pub(crate) fn machine_paths(tree: &Tree) -> Vec<Offence> {
    let is_ours = |file: &&SourceFile| !file.is_fixture() && !file.path.ends_with("Cargo.lock");
    let names_one = |line: &str| {
        let is_path = |path: &&str| line.match_indices(*path).any(|(at, _)| begins_path(line, at));
        MACHINE_PATHS.iter().any(is_path) || REGISTRY_HOSTS.iter().any(|host| line.contains(host))
    };
    lines(tree.files.iter().filter(is_ours), names_one, "names a path of one machine, or a registry's host")
}

/// Notes about later work without an author, as in `(name): what, and when it can go`.
pub(crate) fn nameless_todos(tree: &Tree) -> Vec<Offence> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let is_nameless = |line: &str| {
        let after = |word: &&str| line.match_indices(*word).any(|(at, _)| !has_name(line, at + word.len()));
        words.iter().any(after)
    };
    let is_ours = |file: &&SourceFile| !file.is_fixture();
    lines(
        tree.files.iter().filter(is_ours),
        is_nameless,
        "a note to do something later needs a name: `(name)`",
    )
}

/// Words that begin a sentence without saying what it is about.
const NO_SUBJECT: &[&str] = &["What", "Whoever"];

/// Crates in which such comments are still there.
const WITHOUT_SUBJECTS_YET: &[&str] = &["crates/buddy-exec/", "crates/buddy-policy/"];

/// Comments that begin with such a word: the reader has to guess what they are about. Name the thing first.
pub(crate) fn comments_without_subject(tree: &Tree) -> Vec<Offence> {
    let is_ours = |file: &&SourceFile| {
        !file.is_fixture() && !WITHOUT_SUBJECTS_YET.iter().any(|path| file.path.starts_with(path))
    };
    let begins = |line: &str| {
        let comment = line.trim_start().strip_prefix("//");
        let text = comment.map(|text| text.trim_start_matches(['/', '!']).trim_start());
        let word = text.and_then(|text| text.split(|letter: char| !letter.is_alphanumeric()).next());
        word.is_some_and(|word| NO_SUBJECT.contains(&word))
    };
    lines(
        tree.rust().filter(is_ours),
        begins,
        "a comment begins with its subject, not with `What` or `Whoever`",
    )
}

fn lines<'a>(
    files: impl Iterator<Item = &'a SourceFile>,
    is_wrong: impl Fn(&str) -> bool,
    told: &str,
) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in files {
        let wrong = file.text.lines().enumerate().filter(|(_, line)| is_wrong(line));
        offences.extend(wrong.map(|(number, _)| format!("{}:{}: {told}", file.path, number + 1)));
    }
    offences
}

/// Whether an absolute path begins here, rather than in the middle of a longer one or of a URL.
fn begins_path(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|before| before.chars().next_back());
    before.is_none_or(|letter| !letter.is_alphanumeric() && !"._-~/}$)".contains(letter))
}

fn has_name(line: &str, at: usize) -> bool {
    let rest = line.get(at..).unwrap_or_default();
    let name = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    name.is_some_and(|(name, _)| !name.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&Tree) -> Vec<Offence>, path: &str, text: &str, offences: usize) {
        let told = rule(&Tree::of(&[(path, text)]));
        assert_eq!(told.len(), offences, "{text}: {told:?}");
        assert!(told.iter().all(|offence| offence.starts_with(&format!("{path}:1:"))));
    }

    #[test]
    fn wire_types_are_strict() {
        let wire = "crates/buddy-protocol/src/item.rs";
        check(loose_wire_types, wire, "#[serde(flatten)]", 1);
        check(loose_wire_types, wire, "#[serde(untagged, rename_all = \"snake_case\")]", 1);
        check(loose_wire_types, wire, "#[serde(tag = \"type\")]", 0);
        check(loose_wire_types, "crates/buddy-model/src/reply.rs", "#[serde(flatten)]", 0);
    }

    #[test]
    fn nothing_names_one_machine() {
        let path = MACHINE_PATHS[1];
        check(machine_paths, "README.md", &format!("see `{path}tree`"), 1);
        check(machine_paths, "README.md", &format!("see https://example.org{path}tree"), 0);
        check(machine_paths, "README.md", &format!("home = \"{}x\"", MACHINE_PATHS[0]), 1);
        check(machine_paths, "a.toml", &format!("https://{}/", REGISTRY_HOSTS[0]), 1);
        check(machine_paths, "a/fixtures/b.sse", path, 0);
        check(machine_paths, "README.md", "see `/home/ann/work`", 0);
    }

    #[test]
    fn comments_begin_with_a_subject() {
        let path = "crates/buddy-model/src/reply.rs";
        for comment in ["// What it is.", "    /// What it is.", "//! What it is.", "// Whoever asks."] {
            check(comments_without_subject, path, comment, 1);
        }
        for comment in
            ["// The answer.", "// Whatever it is.", "let what = 1; // What", "// It says what it is."]
        {
            check(comments_without_subject, path, comment, 0);
        }
        check(comments_without_subject, "crates/buddy-exec/src/a.rs", "// What it is.", 0);
    }

    #[test]
    fn every_todo_has_a_name() {
        let word = concat!("TO", "DO");
        check(nameless_todos, "a.rs", &format!("// {word}: later"), 1);
        check(nameless_todos, "a.rs", &format!("// {word}(): later"), 1);
        check(nameless_todos, "a.rs", &format!("// {word}(ann): when the wire has it"), 0);
    }
}
