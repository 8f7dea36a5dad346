//! A rule about names: a type can be found by its name.

use std::collections::BTreeMap;

use super::offence::Offence;
use super::tree::{SourceFile, Tree};

/// The number of product types that may have one name.
const MOST: usize = 3;
/// The type of the arguments of a tool. Each tool has one, in a module with the name of the tool.
const OF_TOOLS: &str = "Input";
/// The start of the tests in a file of the product.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// Names that more than three types of the product have.
pub(crate) fn shared_type_names(tree: &Tree) -> Vec<Offence> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in tree.rust().filter(|file| is_product(file)) {
        let product = file.text.split(TESTS).next().unwrap_or_default();
        for name in product.lines().filter_map(type_name) {
            places.entry(name).or_default().push(&file.path);
        }
    }
    let shared = places.into_iter().filter(|(name, places)| places.len() > MOST && *name != OF_TOOLS);
    shared
        .map(|(name, places)| {
            format!(
                "{} types are called `{name}`; at most {MOST} may be: {}",
                places.len(),
                places.join(", ")
            )
        })
        .collect()
}

/// Whether a file is part of a program and not of its tests.
fn is_product(file: &SourceFile) -> bool {
    let is_of_crate = file.path.starts_with("crates/") && !file.path.starts_with("crates/buddy-testkit/");
    let is_test =
        file.path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "examples"));
    is_of_crate && !is_test
}

/// The name of the type that a line defines.
fn type_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    let mut words = line.split_whitespace();
    if !matches!(words.next()?, "struct" | "enum" | "trait" | "union") {
        return None;
    }
    let end = |letter: char| !letter.is_alphanumeric() && letter != '_';
    words.next()?.split(end).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITIONS: [&str; 4] = [
        "pub struct Order {\n",
        "struct Order(u8);\n",
        "pub(crate) enum Order<'a> {\n",
        "    pub(in super::super) trait Order: Send {\n",
    ];

    fn offences(files: &[(&str, &str)]) -> Vec<Offence> {
        shared_type_names(&Tree::of(files))
    }

    #[test]
    fn a_name_of_four_types_is_refused() {
        let [one, two, three, four] = DEFINITIONS;
        let files = [("crates/a/src/a.rs", one), ("crates/b/src/b.rs", two), ("crates/c/src/c.rs", three)];
        assert_eq!(offences(&files), [] as [Offence; 0]);
        let planted = [&files[..], &[("crates/c/src/d.rs", four)]].concat();
        let expected = "4 types are called `Order`; at most 3 may be: \
            crates/a/src/a.rs, crates/b/src/b.rs, crates/c/src/c.rs, crates/c/src/d.rs";
        assert_eq!(offences(&planted), [expected]);
        let twice = [one, two].concat();
        let in_one_file = [&files[..], &[("crates/c/src/d.rs", twice.as_str())]].concat();
        assert_eq!(offences(&in_one_file).len(), 1);
    }

    #[test]
    fn tests_longer_names_and_arguments_of_tools_do_not_count() {
        let all = DEFINITIONS.concat();
        let tests = format!("//! A.\n\n#[cfg(test)]\nmod tests {{\n{all}}}\n");
        for path in [
            "crates/a/tests/it/a.rs",
            "crates/a/src/a/tests.rs",
            "crates/buddy-testkit/src/a.rs",
            "xtask/src/a.rs",
        ] {
            assert_eq!(offences(&[(path, &all)]), [] as [Offence; 0], "{path}");
        }
        assert_eq!(offences(&[("crates/a/src/a.rs", &tests)]), [] as [Offence; 0]);
        assert_eq!(offences(&[("crates/a/src/a.rs", &all.replace("Order", "Input"))]), [] as [Offence; 0]);
        let longer = all.replacen("Order", "PaneOrder", 1);
        assert_eq!(offences(&[("crates/a/src/a.rs", &longer)]), [] as [Offence; 0]);
    }
}
