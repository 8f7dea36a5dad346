//! Paths without links, and the links on the way to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git_orders::clean;

/// The most links that one path may go through, as for the kernel.
const MAX_LINKS: usize = 40;

/// The target of a link, also if it does not exist; `None` if the path is no link.
pub(super) fn led_to(link: &Path) -> Option<PathBuf> {
    let to = fs::read_link(link).ok()?;
    let path = link.parent().unwrap_or(link).join(to);
    Some(clean(&path))
}

/// The path without links, as far as it exists.
pub(super) fn without_links(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// The path with the directory that it is in without links.
pub(super) fn without_links_above(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => without_links(parent).join(name),
        _ => path.to_owned(),
    }
}

/// The links on the way to a path.
pub(super) fn links_on_the_way(path: &Path) -> BTreeSet<PathBuf> {
    let mut links = BTreeSet::new();
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let above: Vec<&Path> = path.ancestors().collect();
        let Some((link, to)) = above.iter().rev().find_map(|at| Some((*at, fs::read_link(at).ok()?))) else {
            continue;
        };
        let rest = path.strip_prefix(link).unwrap_or(Path::new(""));
        if links.len() < MAX_LINKS && links.insert(link.to_owned()) {
            left.push(link.parent().unwrap_or(link).join(to).join(rest));
        }
    }
    links
}
