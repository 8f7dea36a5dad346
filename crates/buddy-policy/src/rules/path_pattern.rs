//! Patterns of paths: components, where `*` stands for anything within one and `**` for any number of them.

use std::path::Path;

use buddy_protocol::{fold_name, fold_path};

use crate::Places;
use crate::path::clean;
use crate::rules::pattern::matches_star;

/// A pattern of paths. An absolute one, or one from `~`, is about that place; one with a slash in it is about
/// the workspace; a bare name is about every path of that name in any directory, and everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    root: PatternRoot,
    parts: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternRoot {
    System,
    Home,
    Workspace,
    Anywhere,
}

impl PathPattern {
    /// Reads a pattern; none for one that makes no sense.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text.chars().any(char::is_control) {
            return None;
        }
        let (root, rest) = if let Some(rest) = text.strip_prefix('/') {
            (PatternRoot::System, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (PatternRoot::Home, rest)
        } else if text.trim_end_matches('/').contains('/') {
            (PatternRoot::Workspace, text)
        } else {
            (PatternRoot::Anywhere, text)
        };
        let parts: Vec<String> =
            rest.split('/').filter(|part| !part.is_empty() && *part != ".").map(fold_name).collect();
        (!parts.iter().any(|part| part == "..")).then_some(Self { root, parts })
    }

    /// Whether the path, or a directory that holds it, matches.
    pub fn matches(&self, path: &Path, places: &Places) -> bool {
        let path = clean(path);
        let under = |root: &Path| {
            path.strip_prefix(clean(root)).is_ok_and(|rest| matches_parts(&self.parts, &fold_path(rest)))
        };
        match self.root {
            PatternRoot::System => under(Path::new("/")),
            PatternRoot::Home => places.home.as_deref().is_some_and(under),
            PatternRoot::Workspace => places.workspace.iter().any(|root| under(root)),
            PatternRoot::Anywhere => {
                let names = fold_path(&path);
                (0..names.len())
                    .any(|from| names.get(from..).is_some_and(|rest| matches_parts(&self.parts, rest)))
            }
        }
    }
}

/// Whether the pattern matches the names or the first of them. Every step is tried against a set of places in the
/// pattern, so the work is bounded by the product of the two lengths.
fn matches_parts(parts: &[String], names: &[String]) -> bool {
    let skip = |at: usize| {
        (at..=parts.len())
            .take_while(move |next| *next == at || parts.get(next - 1).is_some_and(|part| part == "**"))
    };
    let mut places: Vec<usize> = skip(0).collect();
    for name in names {
        if places.contains(&parts.len()) {
            return true;
        }
        let mut next = Vec::new();
        for at in places {
            match parts.get(at).map(String::as_str) {
                Some("**") => next.extend(skip(at)),
                Some(part) if matches_star(part, name) => next.extend(skip(at + 1)),
                _ => {}
            }
        }
        next.sort_unstable();
        next.dedup();
        places = next;
    }
    places.contains(&parts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expected: bool) {
        let places =
            Places { workspace: vec!["/w".into()], home: Some("/home/u".into()), ..Places::default() };
        let pattern = PathPattern::parse(pattern).unwrap();
        assert_eq!(pattern.matches(Path::new(path), &places), expected, "{pattern:?} / {path}");
    }

    #[test]
    fn a_bare_name_is_meant_everywhere_and_in_every_spelling() {
        check(".env", "/w/.env", true);
        check(".env", "/w/sub/../.ENV", true);
        check(".env", "/w/sub/.env/x", true);
        check(".env", "/w/.envrc", false);
        check("*.pem", "/w/a/b.pem", true);
    }

    #[test]
    fn other_patterns_have_a_root() {
        check("/etc/**", "/etc/a/b", true);
        check("/etc/**", "/w/etc/a", false);
        check("~/x/*", "/home/u/x/y", true);
        check("target/**", "/w/target/debug/x", true);
        check("target/debug", "/w/target/debug/x", true);
        check("a/**/z", "/w/a/z", true);
        check("a/**/z", "/w/a/b/c/z", true);
        check("a/**/z", "/w/b/z", false);
        check("a/*", "/w-evil/a/b", false);
    }

    #[test]
    fn paths_that_climb_are_no_patterns() {
        assert!(PathPattern::parse("a/../b").is_none());
        assert!(PathPattern::parse("").is_none());
    }
}
