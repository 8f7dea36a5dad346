//! The only files and hosts that a configuration leaves, as they stand in a directory.

use std::path::{Component, Path, PathBuf};

use buddy_policy::Limits;

use crate::config::ToolsSection;

/// The entries of `tools.files_allowed_paths` and `tools.fetch_allowed_hosts`, checked.
#[derive(Debug, Clone, Default)]
pub(super) struct LimitSettings {
    files: Option<Vec<PathBuf>>,
    hosts: Option<Vec<String>>,
}

impl LimitSettings {
    /// Those of a configuration. The error names the key and the entry.
    pub(super) fn new(tools: &ToolsSection) -> Result<Self, String> {
        let file = |text: &String| {
            let path = PathBuf::from(text);
            let is_plain = !path.components().any(|part| part == Component::ParentDir);
            let why = "is not a path; write `src`, `~/notes` or `/srv/www`, without `..`";
            let is_path = !text.is_empty() && is_plain;
            is_path.then_some(path).ok_or_else(|| format!("`tools.files_allowed_paths`: `{text}` {why}"))
        };
        let host = |text: &String| {
            let why = "is not a host; write `docs.rs` or `*.example.org`, without scheme, port or path";
            let host = Limits::host(text).filter(|host| !host.contains(':') || host.starts_with('['));
            host.ok_or_else(|| format!("`tools.fetch_allowed_hosts`: `{text}` {why}"))
        };
        let list = |entries: &Option<Vec<String>>| entries.clone();
        Ok(Self {
            files: list(&tools.files_allowed_paths).map(|all| all.iter().map(file).collect()).transpose()?,
            hosts: list(&tools.fetch_allowed_hosts).map(|all| all.iter().map(host).collect()).transpose()?,
        })
    }

    /// The limits of sessions in a directory, under its name and under its name without links. A link below it opens nothing: what
    /// it leads to is judged by where that is.
    pub(super) fn within(&self, cwd: &Path, real: &Path, home: Option<&Path>) -> Limits {
        let places = |entry: &PathBuf| match (entry.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => vec![home.join(rest)],
            (Ok(_), None) => Vec::new(),
            (Err(_), _) => vec![cwd.join(entry), real.join(entry)],
        };
        let files = self.files.as_ref().map(|files| {
            let mut files: Vec<PathBuf> = files.iter().flat_map(places).collect();
            files.sort();
            files.dedup();
            files
        });
        Limits { files, hosts: self.hosts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(files: &[&str], hosts: &[&str]) -> Result<LimitSettings, String> {
        let list = |texts: &[&str]| Some(texts.iter().map(|&text| text.to_owned()).collect());
        let tools = ToolsSection {
            files_allowed_paths: list(files),
            fetch_allowed_hosts: list(hosts),
            ..ToolsSection::default()
        };
        LimitSettings::new(&tools)
    }

    #[test]
    fn entries_stand_below_the_directory_the_home_or_the_root() {
        let settings = settings(&["src", "~/notes", "/srv"], &["Docs.rs"]).unwrap();
        let limits = settings.within(Path::new("/link"), Path::new("/w"), Some(Path::new("/home/u")));
        let files = ["/home/u/notes", "/link/src", "/srv", "/w/src"].map(PathBuf::from);
        assert_eq!(limits, Limits { files: Some(files.into()), hosts: Some(vec!["docs.rs".to_owned()]) });
        let none = LimitSettings::default().within(Path::new("/w"), Path::new("/w"), None);
        assert_eq!(none, Limits::default());
    }

    #[test]
    fn entries_that_make_no_sense_are_refused_by_name() {
        for bad in ["", "..", "src/../.."] {
            assert!(settings(&[bad], &[]).unwrap_err().contains("files_allowed_paths"), "{bad}");
        }
        for bad in ["", "https://a.test", "a.test:80", "a.test/x", "*"] {
            assert!(settings(&[], &[bad]).unwrap_err().contains("fetch_allowed_hosts"), "{bad}");
        }
    }
}
