//! Rules about files: their names, their length, and their module documentation.

use super::offence::Offence;
use super::tree::{SourceFile, Tree};

/// The number of lines above which a file must state a reason.
const LONG: usize = 700;
/// The start of that reason, in the module's documentation.
const REASON: &str = "Long because";
/// Names that do not describe the contents.
const EMPTY_NAMES: &[&str] = &["core", "common", "util", "utils", "helper", "helpers", "manager", "misc"];

/// Files over 700 lines whose module documentation has no line that begins with `Long because`.
pub(crate) fn long_without_reason(tree: &Tree) -> Vec<Offence> {
    let is_long = |file: &&SourceFile| file.text.lines().count() > LONG;
    let has_reason = |file: &SourceFile| {
        file.module_docs().any(|line| line.trim_start_matches("//!").trim_start().starts_with(REASON))
    };
    let tell = |file: &SourceFile| {
        let lines = file.text.lines().count();
        format!("{}: {lines} lines; split it, or say `//! {REASON} …`", file.path)
    };
    tree.rust().filter(is_long).filter(|file| !has_reason(file)).map(tell).collect()
}

/// Rust files that do not begin with module documentation.
pub(crate) fn missing_module_docs(tree: &Tree) -> Vec<Offence> {
    let is_silent = |file: &&SourceFile| file.module_docs().next().is_none();
    // The module describes its file of tests.
    let is_tests = |file: &&SourceFile| file.path.ends_with("/tests.rs");
    let tell = |file: &SourceFile| format!("{}: has no module documentation (`//!`)", file.path);
    tree.rust().filter(is_silent).filter(|file| !is_tests(file)).map(tell).collect()
}

/// Files, folders and crates with names that do not describe the contents.
pub(crate) fn empty_names(tree: &Tree) -> Vec<Offence> {
    let is_empty = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part);
        EMPTY_NAMES.contains(&stem.strip_prefix("buddy-").unwrap_or(stem))
    };
    let is_named_so = |file: &&SourceFile| file.path.split('/').any(is_empty);
    let tell = |file: &SourceFile| format!("{}: a name that says nothing about what is inside", file.path);
    tree.files.iter().filter(is_named_so).map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_owe_a_reason() {
        let long = format!("//! A table.\n{}", "// line\n".repeat(LONG));
        let tree = Tree::of(&[("crates/a/src/long.rs", &long)]);
        assert_eq!(
            long_without_reason(&tree),
            ["crates/a/src/long.rs: 701 lines; split it, or say `//! Long because …`"]
        );
        let reasoned = format!("//! A table.\n//!\n//! Long because it is one table.\n{long}");
        assert!(long_without_reason(&Tree::of(&[("crates/a/src/long.rs", &reasoned)])).is_empty());
        let short = "//! A table.\n".to_owned() + &"// line\n".repeat(LONG - 1);
        assert!(long_without_reason(&Tree::of(&[("crates/a/src/long.rs", &short)])).is_empty());
    }

    #[test]
    fn a_file_begins_with_module_documentation() {
        let tree = Tree::of(&[
            ("a/src/said.rs", "#![forbid(unsafe_code)]\n//! Said.\n"),
            ("a/src/silent.rs", "use std::fs;\n//! Too late.\n"),
            ("a/src/silent/tests.rs", "use super::*;\n"),
        ]);
        assert_eq!(missing_module_docs(&tree), ["a/src/silent.rs: has no module documentation (`//!`)"]);
    }

    #[test]
    fn names_say_something() {
        let tree = Tree::of(&[
            ("crates/buddy-core/Cargo.toml", ""),
            ("a/src/utils/x.rs", ""),
            ("a/src/manager.rs", ""),
            ("a/src/score.rs", ""),
        ]);
        let told = empty_names(&tree);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told.iter().all(|offence| !offence.contains("score")));
    }
}
