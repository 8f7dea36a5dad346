//! Limits: the only files that tools touch and the only hosts that are reached, where the user listed them.
//!
//! A limit narrows: what it leaves out is denied whatever a rule, a grant or an approval says, and what it lists is judged as
//! without it.

use std::path::{Path, PathBuf};

use crate::Places;
use crate::path::{clean, is_beneath_any, shown};
use crate::rules::{is_from, is_host};

/// The only files and hosts of a session. An absent list limits nothing, and an empty one leaves nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Directories and files that tools may touch, absolute.
    pub files: Option<Vec<PathBuf>>,
    /// Hosts in lower case, or `*.` and the hosts below a name.
    pub hosts: Option<Vec<String>>,
}

impl Limits {
    /// An entry of the list of hosts; none where the text is no host.
    pub fn host(text: &str) -> Option<String> {
        is_host(text).then(|| text.to_ascii_lowercase())
    }

    /// Why a tool touches no file at this path, where it does not. A log that buddy tells the model of is no file of the list.
    pub(crate) fn closed_file(&self, path: &Path, places: &Places) -> Option<String> {
        let files = self.files.as_ref()?;
        let is_open = is_beneath_any(path, files) || is_beneath_any(path, &places.own_readable);
        (!is_open).then(|| format!("`{}` is outside `tools.files_allowed_paths`", shown(path)))
    }

    /// The same for a change by a command, which has places for temporary files too.
    pub(crate) fn closed_change(&self, path: &Path, places: &Places) -> Option<String> {
        if is_beneath_any(path, &places.scratch) { None } else { self.closed_file(path, places) }
    }

    /// Why nothing reaches a host, where nothing does.
    pub fn closed_host(&self, host: &str) -> Option<String> {
        let hosts = self.hosts.as_ref()?;
        let is_open = hosts.iter().any(|open| is_from(open, host));
        (!is_open)
            .then(|| format!("`{}` is not in `tools.fetch_allowed_hosts`", crate::display_command(host)))
    }

    /// What is left of directories that commands may change.
    pub fn narrow(&self, roots: &[PathBuf]) -> Vec<PathBuf> {
        let Some(files) = &self.files else { return roots.to_vec() };
        let within = |root: &PathBuf| -> Vec<PathBuf> {
            let (root, files) = (clean(root), files.iter().map(|file| clean(file)));
            if files.clone().any(|file| root.starts_with(file)) {
                return vec![root];
            }
            files.filter(|file| file.starts_with(&root)).collect()
        };
        roots.iter().flat_map(within).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(files: &[&str], hosts: &[&str]) -> Limits {
        Limits {
            files: Some(files.iter().map(PathBuf::from).collect()),
            hosts: Some(hosts.iter().map(|&host| Limits::host(host).unwrap()).collect()),
        }
    }

    #[test]
    fn a_list_leaves_what_is_on_it_and_nothing_else() {
        let places = Places {
            scratch: vec!["/tmp".into()],
            own_readable: vec!["/home/u/.buddy/logs".into()],
            ..Places::default()
        };
        let limits = limits(&["/w/src", "/w/a.txt"], &["docs.rs", "*.Example.org"]);
        let is_closed = |path: &str| limits.closed_file(Path::new(path), &places).is_some();
        for open in ["/w/src", "/w/src/a/b", "/w/a.txt", "/home/u/.buddy/logs/x"] {
            assert!(!is_closed(open), "{open}");
        }
        for closed in ["/w", "/w/srcs", "/w/b.txt", "/tmp/x", "/"] {
            assert!(is_closed(closed), "{closed}");
        }
        assert!(limits.closed_change(Path::new("/tmp/x"), &places).is_none());
        for (host, is_open) in
            [("docs.rs", true), ("a.docs.rs", false), ("a.example.org", true), ("example.org", false)]
        {
            assert_eq!(limits.closed_host(host).is_none(), is_open, "{host}");
        }
        assert_eq!(Limits::default().closed_host("any.test"), None);
    }

    #[test]
    fn directories_that_commands_change_are_narrowed() {
        let roots = ["/w".into(), "/other".into()];
        assert_eq!(limits(&["/w/src", "/w/a"], &[]).narrow(&roots), ["/w/src", "/w/a"].map(PathBuf::from));
        assert_eq!(limits(&["/"], &[]).narrow(&roots), roots);
        assert!(limits(&[], &[]).narrow(&roots).is_empty());
        assert_eq!(Limits::default().narrow(&roots), roots);
    }
}
