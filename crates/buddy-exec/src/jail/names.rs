//! A [`NameSet`] made ready for a walk over many files: one look-up for each name instead of one comparison a pattern.

use std::collections::{HashMap, HashSet};

use buddy_protocol::{NamePattern, NameSet, originals};

/// The own directory of a repository, as it stands in a pattern.
pub(super) const GIT: &str = ".git";

/// The letter that stands for any characters in a pattern.
const STAR: char = '*';

/// Patterns by their last name.
#[derive(Debug, Default)]
struct Index {
    exact: HashMap<String, Vec<NamePattern>>,
    /// With the last name by itself, which rules most names out.
    starred: Vec<(NamePattern, NamePattern)>,
}

impl Index {
    fn of<'a>(patterns: impl IntoIterator<Item = &'a NamePattern>) -> Self {
        let mut index = Self::default();
        for pattern in patterns {
            let text = String::from(pattern.clone());
            match text.rsplit('/').next() {
                None | Some("") => {}
                Some(last) if last.contains(STAR) => {
                    index.starred.push((NamePattern::new(last), pattern.clone()));
                }
                Some(last) => index.exact.entry(last.to_owned()).or_default().push(pattern.clone()),
            }
        }
        index
    }

    /// The patterns that fit the last name. There are none for almost all names.
    fn candidates<'a>(&'a self, last: &'a String) -> impl Iterator<Item = &'a NamePattern> {
        let exact = self.exact.get(last).into_iter().flatten();
        let starred = self.starred.iter().filter(|(name, _)| name.ends(std::slice::from_ref(last)));
        exact.chain(starred.map(|(_, whole)| whole))
    }
}

/// A set of names, asked about each entry of a walk on the way down.
#[derive(Debug, Default)]
pub(super) struct Names {
    trees: Index,
    /// The patterns that begin with [`GIT`].
    git_trees: Index,
    files: Index,
    except: Vec<NamePattern>,
    /// The rest of each pattern that begins with [`GIT`].
    git_parts: Vec<String>,
    /// The patterns of several names, but for those that begin with [`GIT`].
    long: NameSet,
    /// The names in them before the last, by which almost all links are known to lead to none of them.
    leading: HashSet<String>,
    /// Each of their names.
    parts: Index,
    /// Whether the name of a copy stands for the original.
    copies: bool,
}

impl Names {
    pub(super) fn of(set: &NameSet) -> Self {
        let text = |pattern: &NamePattern| String::from(pattern.clone());
        let part = |pattern: &NamePattern| {
            text(pattern).strip_prefix(GIT).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned)
        };
        let trees = || set.trees.iter().filter(|pattern| part(pattern).is_none() && text(pattern) != GIT);
        let is_long = |pattern: &&NamePattern| pattern.count_names() > 1;
        let long = NameSet {
            trees: trees().filter(is_long).cloned().collect(),
            files: set.files.iter().filter(is_long).cloned().collect(),
            ..set.clone()
        };
        let texts: Vec<String> = long.trees.iter().chain(&long.files).map(text).collect();
        let leading =
            texts.iter().filter_map(|text| text.rsplit_once('/')).flat_map(|(first, _)| first.split('/'));
        let each = texts.iter().flat_map(|text| text.split('/')).map(NamePattern::new);
        Self {
            trees: Index::of(trees()),
            parts: Index::of(&each.collect::<Vec<_>>()),
            leading: leading.map(str::to_owned).collect(),
            long,
            git_trees: Index::of(set.trees.iter().filter(|pattern| part(pattern).is_some())),
            files: Index::of(&set.files),
            except: set.except.clone(),
            git_parts: set.trees.iter().filter_map(part).collect(),
            copies: set.copies,
        }
    }

    /// Whether an entry with this folded name in a directory with these, which is not in the set, is in it.
    /// The first `depth` names are those of the root of the walk.
    pub(super) fn has(&self, above: &[String], depth: usize, last: &String, is_directory: bool) -> bool {
        let original = if self.copies { originals(std::slice::from_ref(last)) } else { None };
        let original = original.and_then(|mut names| names.pop());
        let is_in = |last: &String| {
            let files = self.files.candidates(last).filter(|_| !is_directory);
            let mut candidates = self.trees.candidates(last).chain(files).peekable();
            candidates.peek().is_some() && {
                let names = with(above, last);
                let above_copies = if self.copies { originals(&names) } else { None };
                let names: Vec<_> = [Some(names), above_copies].into_iter().flatten().collect();
                candidates.any(|pattern| names.iter().any(|names| pattern.ends(names)))
            }
        };
        let lasts = || [Some(last), original.as_ref()].into_iter().flatten();
        let is_excepted =
            || lasts().any(|last| self.except.iter().any(|pattern| pattern.ends(&with(above, last))));
        if lasts().any(is_in) && !is_excepted() {
            return true;
        }
        self.has_split_git(above, depth, last)
    }

    /// Whether an entry is a part of a repository whose own directory is above the root. Other parts are
    /// compared where the walk enters that directory.
    fn has_split_git(&self, above: &[String], depth: usize, last: &String) -> bool {
        let mut candidates = self.git_trees.candidates(last).peekable();
        if candidates.peek().is_none() {
            return false;
        }
        let names = with(above, last);
        candidates.any(|pattern| pattern.ends(&names) && starts_at(pattern, &names) + 1 < depth)
    }

    /// Whether a name that is in the set begins at the top: at the first name below the root, or above.
    pub(super) fn is_at_top(&self, above: &[String], depth: usize, last: &String) -> bool {
        let names = with(above, last);
        let is_at_top = |pattern: &NamePattern| pattern.ends(&names) && starts_at(pattern, &names) <= depth;
        self.trees.candidates(last).chain(self.files.candidates(last)).any(is_at_top)
    }

    /// Whether an entry that [`Self::is_at_top`] holds for could be below a directory with this name.
    pub(super) fn leads_to_top(&self, above: &[String], depth: usize, last: &String) -> bool {
        let names = with(above, last);
        self.long.trees.iter().chain(&self.long.files).any(|pattern| pattern.leads_on(&names, depth))
    }

    /// Whether a link with this folded name in a directory with these could lead to an entry that is in the set: its name is one of the
    /// first of a pattern's.
    pub(super) fn may_begin(&self, above: &[String], last: &String) -> bool {
        let is_leading = |last: &String| self.leading.contains(last);
        let copy = || originals(std::slice::from_ref(last)).and_then(|mut names| names.pop());
        (is_leading(last) || (self.copies && copy().as_ref().is_some_and(is_leading)))
            && self.long.leads_on(&with(above, last))
    }

    /// The patterns of several names, but for those that begin with [`GIT`].
    pub(super) fn long(&self) -> &NameSet {
        &self.long
    }

    /// Whether a directory with these names could hold an entry that is in the set because of its name and those above it.
    pub(super) fn begins(&self, names: &[String]) -> bool {
        self.long.trees.iter().chain(&self.long.files).any(|pattern| pattern.leads_on(names, names.len()))
    }

    /// Whether an entry in the set could be below a directory because of this name.
    pub(super) fn has_part(&self, name: &String) -> bool {
        self.parts.candidates(name).next().is_some()
    }

    /// The parts of a repository's own directory that are in the set.
    pub(super) fn git_parts(&self) -> &[String] {
        &self.git_parts
    }

    /// Whether parts of a repository's own directory are in the set.
    pub(super) fn has_git(&self) -> bool {
        !self.git_parts.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        let is_none = |index: &Index| index.exact.is_empty() && index.starred.is_empty();
        is_none(&self.trees) && is_none(&self.files) && self.git_parts.is_empty()
    }
}

fn with(above: &[String], last: &String) -> Vec<String> {
    above.iter().chain([last]).cloned().collect()
}

/// The index of the first name of a pattern that matches the end of these names.
fn starts_at(pattern: &NamePattern, names: &[String]) -> usize {
    names.len().saturating_sub(pattern.count_names())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use buddy_protocol::fold_path;

    use super::*;

    #[test]
    fn an_index_says_what_the_set_says() {
        let set = NameSet::trees([".git/hooks", ".envrc", ".cargo/config.toml", "*.code-workspace"])
            .with_files([".env.*"])
            .without([".env.example"]);
        let names = Names::of(&set);
        for (path, is_directory, expected) in [
            (".envrc", false, true),
            ("a/.ENVRC", true, true),
            ("a/.cargo/config.toml", false, true),
            ("config.toml", false, false),
            ("x.code-workspace", false, true),
            (".env.local", false, true),
            (".env.local", true, false),
            (".env.example", false, false),
            (".git/hooks", true, false),
        ] {
            let folded = fold_path(Path::new(path));
            let (last, above) = folded.split_last().unwrap();
            assert_eq!(names.has(above, 0, last, is_directory), expected, "{path}");
        }
        assert_eq!(names.git_parts(), ["hooks"]);
    }

    #[test]
    fn a_directory_begins_a_pattern_of_several_names() {
        let names =
            Names::of(&NameSet::trees([".cargo/config.toml", ".a/b/c", "mise*/x", ".git/hooks", ".envrc"]));
        for (path, begins) in [
            ("w/.cargo", true),
            ("w/.CARGO", true),
            ("w/.a", true),
            ("w/.a/b", true),
            ("w/b", false),
            ("w/mise-2", true),
            ("w/.cargo/x", false),
            ("w/.cargo/config.toml", false),
            ("w/.git", false),
            ("w/.envrc", false),
        ] {
            assert_eq!(names.begins(&fold_path(Path::new(path))), begins, "{path}");
        }
        for (name, is_part) in
            [(".cargo", true), ("b", true), ("mise-2", true), (".envrc", false), ("hooks", false)]
        {
            assert_eq!(names.has_part(&name.to_owned()), is_part, "{name}");
        }
    }

    #[test]
    fn a_pattern_may_begin_above_the_root() {
        let names = Names::of(&NameSet::trees([".cargo/config.toml", ".git/hooks", ".git/info/attributes"]));
        let has = |root: &str, below: &str| {
            let (above, folded) = (fold_path(Path::new(root)), fold_path(&Path::new(root).join(below)));
            let (last, directory) = folded.split_last().unwrap();
            names.has(directory, above.len(), last, false)
        };
        assert!(has("/h/.cargo", "config.toml") && !has("/h/cargo", "config.toml"));
        assert!(has("/h/.git/info", "attributes") && !has("/h/.git/info", "sub/attributes"));
        // These are compared where the walk enters the repository.
        assert!(!has("/h/.git", "hooks") && !has("/h/.git", "info/attributes") && !has("/h", ".git/hooks"));
        assert!(!has("/h/.git/wt", "x/.git/hooks"));
    }
}
