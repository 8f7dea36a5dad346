//! The names by which programs reach a path through links.
//!
//! A file counts as one that programs run code from if any of its names does. With a link `.cargo` to `conf`, `conf/config.toml` is also
//! `.cargo/config.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most names of one path. Links that lead to directories above each other could make any number of them.
const MAX_NAMES: usize = 1_000;

/// Links and their targets, as data: nothing is looked up.
#[derive(Debug, Default)]
pub(crate) struct LinkTable {
    /// The places of links by their targets, both without `.` and `..`.
    by_target: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl LinkTable {
    /// Adds a link.
    pub(crate) fn add(&mut self, link: &Path, target: &Path) {
        self.by_target.entry(target.to_owned()).or_default().insert(link.to_owned());
    }

    /// The path and its names through links that lead to it or to a directory above it, also one link behind another. Each link counts
    /// once on the way to a name. `None` if there are too many.
    pub(crate) fn names(&self, path: &Path) -> Option<BTreeSet<PathBuf>> {
        let mut names = BTreeSet::from([path.to_owned()]);
        let mut left = vec![path.to_owned()];
        while let Some(name) = left.pop().filter(|_| !self.by_target.is_empty()) {
            for above in name.ancestors() {
                let rest = name.strip_prefix(above).unwrap_or(Path::new(""));
                for link in self.by_target.get(above).into_iter().flatten() {
                    // A link to a directory above itself leads on without an end.
                    let further = if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) };
                    if !name.starts_with(link) && names.insert(further.clone()) {
                        left.push(further);
                    }
                }
            }
            if names.len() > MAX_NAMES {
                return None;
            }
        }
        Some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(links: &[(&str, &str)], path: &str, expected: &[&str]) {
        let mut table = LinkTable::default();
        for (link, target) in links {
            table.add(Path::new(link), Path::new(target));
        }
        let names = table.names(Path::new(path)).unwrap();
        let names: Vec<&str> = names.iter().map(|name| name.to_str().unwrap()).collect();
        assert_eq!(names, expected, "{links:?}");
    }

    #[test]
    fn a_path_has_the_names_that_links_give_it() {
        check(&[], "/w/a", &["/w/a"]);
        check(&[("/w/.cargo", "/w/x")], "/w/x/config.toml", &["/w/.cargo/config.toml", "/w/x/config.toml"]);
        check(&[("/w/gh/pre-commit", "/w/sc/pc.sh")], "/w/sc/pc.sh", &["/w/gh/pre-commit", "/w/sc/pc.sh"]);
        check(&[("/w/.cargo", "/w/x")], "/w/xy/config.toml", &["/w/xy/config.toml"]);
        check(
            &[("/w/.config", "/w/c"), ("/w/c/nvim", "/w/d")],
            "/w/d/init.lua",
            &["/w/.config/nvim/init.lua", "/w/c/nvim/init.lua", "/w/d/init.lua"],
        );
    }

    #[test]
    fn links_in_circles_end() {
        check(&[("/w/a", "/w")], "/w/x", &["/w/a/x", "/w/x"]);
        check(&[("/w/a", "/w/b"), ("/w/b", "/w/a")], "/w/a/x", &["/w/a/x", "/w/b/x"]);
        let mut table = LinkTable::default();
        for number in 0..20 {
            table.add(Path::new(&format!("/w/{number}")), Path::new("/w"));
        }
        assert_eq!(table.names(Path::new("/w/x")), None);
    }
}
