//! Sets of file names that have a meaning anywhere in a path, such as `.git/hooks` or `.env*`.
//!
//! Policy judges paths by them, and the host protects files by them, so both compare names in the same way:
//! ignoring case, composition, width and the characters that some file systems ignore.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// One or more consecutive names in a path. A `*` in a name matches any characters of that name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct NamePattern {
    names: Vec<String>,
}

/// A set of file and directory names, with exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameSet {
    /// A path that contains one of these is in the set, with everything below it.
    pub trees: Vec<NamePattern>,
    /// A path that ends with one of these is in the set, but nothing below it.
    pub files: Vec<NamePattern>,
    /// A path whose last name matches one of these is not in the set.
    pub except: Vec<NamePattern>,
    /// Whether a name that says that it is a copy, such as `x.pem.bak`, stands for the original.
    #[serde(default)]
    pub copies: bool,
}

impl NamePattern {
    /// A pattern such as `.git/hooks` or `*.pem`.
    pub fn new(text: &str) -> Self {
        Self { names: text.split('/').filter(|name| !name.is_empty()).map(fold_name).collect() }
    }

    /// The number of its names.
    pub fn count_names(&self) -> usize {
        self.names.len()
    }

    /// The first match of the pattern in these folded names that ends behind the first `opened` of them: the
    /// index after its last name. It may begin anywhere.
    fn end_below(&self, names: &[String], opened: usize) -> Option<usize> {
        if self.names.is_empty() {
            return None;
        }
        let fits = |window: &[String]| {
            window.iter().zip(&self.names).all(|(name, pattern)| fits_name(pattern, name))
        };
        let from = (opened + 1).saturating_sub(self.names.len());
        let mut windows = names.get(from..)?.windows(self.names.len());
        windows.position(fits).map(|start| from + start + self.names.len())
    }

    /// The rest of the pattern behind each start of it that these folded names end with.
    fn rests<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a [String]> {
        let begins = |count: &usize| {
            let (Some(start), Some(first)) = (names.len().checked_sub(*count), self.names.get(..*count))
            else {
                return false;
            };
            let end = names.get(start..).unwrap_or_default();
            end.iter().zip(first).all(|(name, pattern)| fits_name(pattern, name))
        };
        (1..self.names.len()).filter(begins).filter_map(|count| self.names.get(count..))
    }

    /// Whether the first name begins with a dot. Others are common.
    fn has_dot(&self) -> bool {
        self.names.first().is_some_and(|name| name.starts_with('.'))
    }

    /// Whether a match that begins at one of the first names, up to this index, could end below a directory with these folded names.
    pub fn leads_on(&self, names: &[String], latest: usize) -> bool {
        let begins = |start: usize| {
            let above = names.get(start..).unwrap_or_default();
            above.len() < self.names.len()
                && above.iter().zip(&self.names).all(|(name, pattern)| fits_name(pattern, name))
        };
        (0..names.len().min(latest + 1)).any(begins)
    }

    /// Whether the pattern matches the end of these folded names.
    pub fn ends(&self, names: &[String]) -> bool {
        let Some(start) = names.len().checked_sub(self.names.len()) else { return false };
        self.end_below(names.get(start..).unwrap_or_default(), 0).is_some()
    }
}

impl NameSet {
    /// A set of names with everything below them.
    pub fn trees<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { trees: patterns.into_iter().map(NamePattern::new).collect(), ..Self::default() }
    }

    /// The same set plus these names, without anything below them.
    #[must_use]
    pub fn with_files<'a>(mut self, files: impl IntoIterator<Item = &'a str>) -> Self {
        self.files.extend(files.into_iter().map(NamePattern::new));
        self
    }

    /// The same set without paths whose last name matches one of these.
    #[must_use]
    pub fn without<'a>(mut self, except: impl IntoIterator<Item = &'a str>) -> Self {
        self.except.extend(except.into_iter().map(NamePattern::new));
        self
    }

    /// The same set with copies: a name with a suffix of backups, editors, numbers or dates stands for the original.
    #[must_use]
    pub fn with_copies(mut self) -> Self {
        self.copies = true;
        self
    }

    /// The number of leading names that are needed until the path is in the set; `None` if it is not. The
    /// first `opened` names are those of a directory that the user opened: a match may begin there and has to
    /// end below.
    fn end_below(&self, names: &[String], opened: usize) -> Option<usize> {
        let originals = if self.copies { originals(names) } else { None };
        let is_excepted = |end: usize| {
            let is_in = |names: &[String]| {
                names.get(..end).is_some_and(|names| self.except.iter().any(|pattern| pattern.ends(names)))
            };
            is_in(names) || originals.as_deref().is_some_and(is_in)
        };
        let end = |names: &[String]| self.end_of(names, opened, is_excepted);
        [Some(names), originals.as_deref()].into_iter().flatten().filter_map(end).min()
    }

    fn end_of(&self, names: &[String], opened: usize, is_excepted: impl Fn(usize) -> bool) -> Option<usize> {
        let trees = self.trees.iter().filter_map(|pattern| pattern.end_below(names, opened));
        let is_below = names.len() > opened;
        let files = self.files.iter().filter(|pattern| is_below && pattern.ends(names)).map(|_| names.len());
        trees.chain(files).filter(|end| !is_excepted(*end)).min()
    }

    /// Whether the path with these folded names is in the set by its last name, and not only by one above.
    pub fn ends(&self, names: &[String], is_directory: bool) -> bool {
        let above = names.len().saturating_sub(1);
        let trees = || Self { files: Vec::new(), ..self.clone() };
        self.end_below(names, above).is_some() && (!is_directory || trees().end_below(names, above).is_some())
    }

    /// The paths that lead from a directory with these folded names to members of the set, whose first names it ends with. Patterns with stars
    /// have none.
    pub fn rests(&self, names: &[String]) -> BTreeSet<PathBuf> {
        let originals = if self.copies { originals(names) } else { None };
        let patterns = || self.trees.iter().chain(&self.files);
        let both = [Some(names), originals.as_deref()].into_iter().flatten();
        let rests = both.flat_map(|names| patterns().flat_map(|pattern| pattern.rests(names)));
        let is_plain = |rest: &&[String]| !rest.iter().any(|name| name.contains('*'));
        rests.filter(is_plain).map(|rest| rest.iter().collect()).collect()
    }

    /// Whether a member of the set could exist below a directory with these folded names, because they end with the start of one. Names
    /// without a dot count too.
    pub fn leads_on(&self, names: &[String]) -> bool {
        self.leads_by(names, |_| true)
    }

    /// The same for members whose first name begins with a dot. Others are common.
    pub fn leads_on_by_dot(&self, names: &[String]) -> bool {
        self.leads_by(names, NamePattern::has_dot)
    }

    fn leads_by(&self, names: &[String], is_wanted: impl Fn(&NamePattern) -> bool) -> bool {
        let leads = |names: &[String]| {
            let all = self.trees.iter().chain(&self.files);
            all.filter(|pattern| is_wanted(pattern)).any(|pattern| pattern.rests(names).next().is_some())
        };
        leads(names) || (self.copies && originals(names).is_some_and(|names| leads(&names)))
    }

    /// Whether a path is in the set, by any of its names.
    pub fn covers(&self, path: &Path) -> bool {
        self.end_below(&fold_path(path), 0).is_some()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty() && self.files.is_empty()
    }
}

/// The directories that the user opened, by their folded names.
///
/// Protected names are compared with the whole path of a file, and the match has to end below the nearest of
/// these directories. So `git/config` in an opened `~/.config` is `.config/git/config`, and a project in
/// `~/.config/nvim` is not protected by the name of its own directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenedRoots(Vec<Vec<String>>);

impl OpenedRoots {
    /// These directories. Where one is named through a link, both its names count.
    pub fn new(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        Self(paths.into_iter().map(|path| fold_path(path.as_ref())).collect())
    }

    /// Whether a file with these folded names is in the set.
    pub fn protects(&self, set: &NameSet, names: &[String]) -> bool {
        set.end_below(names, self.depth_above(names)).is_some()
    }

    /// Whether a member of the set could exist below a directory with these folded names.
    pub fn may_hold(&self, set: &NameSet, names: &[String]) -> bool {
        names.len() > self.depth_above(names) && set.leads_on_by_dot(names)
    }

    /// The number of names of the nearest opened directory that holds a path with these folded names; 0 if
    /// none does.
    pub fn depth_above(&self, names: &[String]) -> usize {
        self.0.iter().filter(|root| names.starts_with(root)).map(Vec::len).max().unwrap_or(0)
    }
}

impl From<String> for NamePattern {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.names.join("/")
    }
}

/// The names of a path in the form used for comparison, with `.` and `..` removed.
pub fn fold_path(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(fold_name(&name.to_string_lossy())),
            Component::ParentDir => {
                names.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    names
}

/// One name without differences in case, composition and width, and without invisible characters.
pub fn fold_name(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let is_seen = |letter: &char| !crate::is_hidden(*letter);
    name.nfkc().filter(is_seen).flat_map(char::to_lowercase).nfkc().collect()
}

/// These folded names with each copy replaced by the name of its original; `None` if there is no copy.
pub fn originals(names: &[String]) -> Option<Vec<String>> {
    let has_copy = names.iter().any(|name| original_name(name).is_some());
    has_copy.then(|| names.iter().map(|name| original_name(name).unwrap_or(name).to_owned()).collect())
}

/// Endings by which people and programs mark a copy of a file, behind a dot, a dash, an underscore or a space.
const COPY_ENDINGS: &[&str] = &[
    "backup", "bak", "bkp", "bz2", "copy", "disabled", "gz", "new", "old", "orig", "original", "prev",
    "previous", "rpmnew", "rpmsave", "save", "saved", "swn", "swo", "swp", "temp", "tmp", "xz", "zip", "zst",
];

/// The most endings of one name, as in `x.pem.bak.old.1`.
const MAX_ENDINGS: usize = 4;

/// The name of the original, if this folded name says that it is a copy of another file.
fn original_name(name: &str) -> Option<&str> {
    // `#x#` and `.#x` are Emacs's, `.x.swp` is Vim's for a name without a leading dot.
    let inner =
        name.strip_prefix('#').and_then(|inner| inner.strip_suffix('#')).or_else(|| name.strip_prefix(".#"));
    let mut left = inner.unwrap_or(name);
    for _ in 0..MAX_ENDINGS {
        match without_copy_ending(left) {
            Some(shorter) => left = shorter,
            None => break,
        }
    }
    let is_swap = [".swp", ".swo", ".swn"].iter().any(|ending| name.ends_with(ending));
    if is_swap && let Some(inner) = left.strip_prefix('.').filter(|inner| inner.contains('.')) {
        left = inner;
    }
    (left != name && !left.is_empty()).then_some(left)
}

fn without_copy_ending(name: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
    if let Some(shorter) = name.strip_suffix('~') {
        // `x~` and `x.~1~`.
        let numbered = shorter.rsplit_once(".~").filter(|(_, number)| is_number(number));
        return Some(numbered.map_or(shorter, |(shorter, _)| shorter));
    }
    // `x (1)` and `x (copy)`.
    let inside = name.strip_suffix(')').and_then(|open| open.rsplit_once('('));
    if let Some((shorter, inside)) = inside {
        return (is_number(inside) || inside.contains("copy")).then(|| shorter.trim_end());
    }
    let (shorter, ending) = name.rsplit_once(['.', '-', '_', ' '])?;
    let word = ending.trim_end_matches(|digit: char| digit.is_ascii_digit());
    // Each part of a date such as `2026-01-31` is a number, and `20260131t120000z` is one with a time.
    let is_time = || {
        ending.starts_with(|digit: char| digit.is_ascii_digit())
            && ending.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, 't' | 'z' | ':'))
    };
    let is_ending = COPY_ENDINGS.contains(&word) || is_time();
    (is_ending && !shorter.is_empty()).then(|| shorter.trim_end_matches([' ', '-']))
}

/// Whether a folded name matches a folded pattern with stars.
fn fits_name(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.split_once(part) {
            Some((_, behind)) => left = behind,
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(set: &NameSet, path: &str) -> bool {
        set.covers(Path::new(path))
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let set = NameSet::trees([".git/hooks"]).with_files([".env*", "*.pem"]);
        for path in [
            "/w/.git/hooks",
            "/w/sub/.GIT/Hooks/pre-commit",
            "/w/.env",
            "/w/a/.env.local",
            "/w/x.pem",
            "/w/．env",
        ] {
            assert!(covers(&set, path), "{path}");
        }
        for path in ["/w/.git/config", "/w/git/hooks", "/w/env", "/w/x.pemx", "/w/.gitx/hooks"] {
            assert!(!covers(&set, path), "{path}");
        }
    }

    #[test]
    fn exceptions_are_about_the_name_that_matched() {
        let set =
            NameSet::trees([".ssh"]).with_files([".env*", "id_rsa*"]).without([".env.example", "*.pub"]);
        assert!(!covers(&set, "/w/.env.example") && !covers(&set, "/w/id_rsa.pub"));
        assert!(covers(&set, "/w/.env") && covers(&set, "/w/id_rsa"));
        assert!(covers(&set, "/w/.ssh/x.pub"), "everything below a tree of the set is in the set");
        assert!(!covers(&set, "/w/.env/bin/python"), "nothing below a file of the set is");
    }

    #[test]
    fn a_copy_stands_for_its_original() {
        let set = NameSet::trees([".aws", ".docker/config.json"])
            .with_files([".env", "*.pem", "*.tfstate", "id_rsa"])
            .without([".env.example", "*.pub"])
            .with_copies();
        for path in [
            "/w/terraform.tfstate.backup",
            "/w/terraform.tfstate.1700000000.backup",
            "/w/server.pem.bak",
            "/w/server.pem.BAK2",
            "/w/server.pem~",
            "/w/server.pem.~1~",
            "/w/.server.pem.swp",
            "/w/.env.swp",
            "/w/.#id_rsa",
            "/w/#server.pem#",
            "/w/server.pem.old.1",
            "/w/server.pem.2026-01-31",
            "/w/server.pem-20260131",
            "/w/server.pem_20260131t120000z",
            "/w/server.pem (1)",
            "/w/server.pem - copy",
            "/w/server.pem copy 2",
            "/w/id_rsa.orig",
            "/w/.aws.bak/config",
            "/w/.aws-old/config",
            "/w/.docker.bak/config.json",
            "/w/.docker/config.json.save",
        ] {
            assert!(covers(&set, path), "{path}");
            assert!(!covers(&NameSet { copies: false, ..set.clone() }, path), "{path}");
        }
        for path in [
            "/w/.env.example.bak",
            "/w/id_rsa.pub.old",
            "/w/pem.bak",
            "/w/notes.bak",
            "/w/old",
            "/w/.old",
            "/w/~",
        ] {
            assert!(!covers(&set, path), "{path}");
        }
    }

    #[test]
    fn the_rest_of_a_name_is_known_behind_its_start() {
        let set = NameSet::trees([".cargo/config.toml", ".config/a/b", ".config/c", "mise/x", ".one"])
            .with_files([".docker/config.json"])
            .with_copies();
        let check = |path: &str, expected: &[&str], by_dot: bool| {
            let names = fold_path(Path::new(path));
            let rests: Vec<PathBuf> = set.rests(&names).into_iter().collect();
            assert_eq!(rests, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{path}");
            assert_eq!(set.leads_on(&names), !expected.is_empty(), "{path}");
            assert_eq!(set.leads_on_by_dot(&names), by_dot, "{path}");
        };
        check("/w/.CARGO", &["config.toml"], true);
        check("/w/.config", &["a/b", "c"], true);
        check("/w/.config/a", &["b"], true);
        check("/w/mise", &["x"], false);
        check("/w/.docker.bak", &["config.json"], true);
        for path in ["/w/cargo", "/w/.one", "/w/.config/c", "/w/.config/a/b", "/w/a"] {
            check(path, &[], false);
        }
        let ends = |path: &str, is_directory| set.ends(&fold_path(Path::new(path)), is_directory);
        assert!(ends("/w/.config/c", true) && ends("/w/.docker/config.json", false));
        assert!(!ends("/w/.docker/config.json", true) && !ends("/w/.config/c/below", false));
    }

    #[test]
    fn a_name_that_begins_a_pattern_may_hold_more() {
        let set = NameSet::trees([".git/hooks", "library/agents"]);
        for (path, begins) in
            [("/w/.git", true), ("/w/.git/hooks", false), ("/w/library", false), ("/w/git", false)]
        {
            assert_eq!(set.leads_on_by_dot(&fold_path(Path::new(path))), begins, "{path}");
        }
    }

    #[test]
    fn a_match_ends_below_the_opened_directory_and_may_begin_above() {
        let set = NameSet::trees([".config/git", ".ssh", ".jj/repo/config.toml"])
            .with_files([".docker/config.json"])
            .without(["git/ignore"]);
        for (opened, path, is_protected) in [
            ("/h/.config", "/h/.config/git/config", true),
            ("/h/.Config", "/h/.config/GIT", true),
            ("/h/.config/git", "/h/.config/git/config", false),
            ("/h/.config/git", "/h/.config/git/sub/.config/git/x", true),
            ("/h/.config", "/h/.config", false),
            ("/h/.ssh", "/h/.ssh/id", false),
            ("/h", "/h/.ssh/id", true),
            ("/h/.docker", "/h/.docker/config.json", true),
            ("/h/.docker/config.json", "/h/.docker/config.json", false),
            ("/h/.jj", "/h/.jj/repo/config.toml", true),
            ("/h/.jj/repo", "/h/.jj/repo/config.toml", true),
            ("/other", "/h/.ssh/id", true),
        ] {
            let roots = OpenedRoots::new(["/", opened]);
            let names = fold_path(Path::new(path));
            assert_eq!(roots.protects(&set, &names), is_protected, "{opened}: {path}");
        }
        let roots = OpenedRoots::new(["/h/.jj"]);
        let may_hold = |path: &str| roots.may_hold(&set, &fold_path(Path::new(path)));
        assert!(may_hold("/h/.jj/repo") && !may_hold("/h/.jj") && !may_hold("/h/.jj/other"));
    }

    #[test]
    fn spellings_of_one_name_are_one_name() {
        assert_eq!(fold_name(".GIT"), ".git");
        assert_eq!(fold_name("e\u{301}"), fold_name("\u{c9}"));
        assert_eq!(fold_name(".g\u{200c}it"), ".git");
    }

    #[test]
    fn a_star_stands_for_any_part_of_one_name() {
        for (pattern, name, fits) in [
            ("*", "x", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b", "ab/c", false),
            ("*.key", ".key", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits_name(pattern, name), fits, "{pattern} {name}");
        }
    }
}
