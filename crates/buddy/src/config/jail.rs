//! The section on the jail: what it leaves open beyond the workspace, in every project or in one.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Places and hosts that the jail opens to commands.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct JailSection {
    /// Further directories that commands and tools may write, such as `["~/.cache/app"]`. Changes there are not kept for undo.
    pub(crate) write: Vec<String>,
    /// Hosts that commands and tools reach without a question, such as `["api.example.com"]`.
    pub(crate) hosts: Vec<String>,
}

/// Places and hosts that the jail opens in one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Openings {
    pub(crate) write: Vec<PathBuf>,
    pub(crate) hosts: Vec<String>,
}

/// Every opening of a configuration, checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct JailSettings {
    everywhere: Openings,
    /// By the directory of the project.
    projects: Vec<(PathBuf, Openings)>,
}

impl JailSettings {
    /// Those of a configuration. `own` are the directories of buddy itself. The error names the key and what is wrong with it.
    pub(crate) fn new(
        jail: &JailSection,
        sections: &BTreeMap<String, JailSection>,
        home: Option<&Path>,
        own: &[PathBuf],
    ) -> Result<Self, String> {
        let everywhere = openings("jail", jail, home, own)?;
        let mut projects = Vec::new();
        for (directory, section) in sections {
            let key = format!("projects.{directory:?}");
            let project = absolute(directory, home).ok_or_else(|| {
                format!("`{key}`: name a project by its full path, or by one that begins with `~/`")
            })?;
            projects.push((project, openings(&key, section, home, own)?));
        }
        Ok(Self { everywhere, projects })
    }

    /// Places and hosts that the jail opens in a directory: those of every project, and of the projects that it is in. A directory
    /// that is not there opens nothing.
    pub(crate) fn within(&self, cwd: &Path) -> Openings {
        let mut all = self.everywhere.clone();
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        for (project, openings) in &self.projects {
            let project = project.canonicalize().unwrap_or_else(|_| project.clone());
            if real.starts_with(&project) {
                all.write.extend(openings.write.iter().cloned());
                all.hosts.extend(openings.hosts.iter().cloned());
            }
        }
        all.write = all
            .write
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| path.is_dir())
            .collect();
        all
    }
}

fn openings(
    key: &str,
    section: &JailSection,
    home: Option<&Path>,
    own: &[PathBuf],
) -> Result<Openings, String> {
    let directory = |text: &String| {
        let bad = |why: &str| format!("`{key}.write`: `{text}` {why}");
        let path = absolute(text, home)
            .ok_or_else(|| bad("is not a full path; use one that begins with `/` or `~/`"))?;
        if path.parent().is_none() || home.is_some_and(|home| home.starts_with(&path)) {
            return Err(bad("is too wide: it contains your whole home; name a directory inside it"));
        }
        if own.iter().any(|own| own.starts_with(&path) || path.starts_with(own)) {
            return Err(bad("contains buddy's own files, which commands must never write"));
        }
        Ok(path)
    };
    let host = |text: &String| {
        let host = text.trim_end_matches('.').to_ascii_lowercase();
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-._[]:".contains(letter);
        let is_host = !host.is_empty() && host.chars().all(is_letter) && !host.contains("..");
        let has_port = host.rsplit_once(':').is_some_and(|(name, _)| !name.contains(':'));
        if is_host && !has_port {
            Ok(host)
        } else {
            Err(format!(
                "`{key}.hosts`: `{text}` is not a host; write a name such as `api.example.com`, without scheme, port or path"
            ))
        }
    };
    Ok(Openings {
        write: section.write.iter().map(directory).collect::<Result<_, _>>()?,
        hosts: section.hosts.iter().map(host).collect::<Result<_, _>>()?,
    })
}

/// A whole path without `..`.
fn absolute(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => PathBuf::from(text),
    };
    let is_plain = !path.components().any(|component| component == Component::ParentDir);
    (path.is_absolute() && is_plain).then(|| path.components().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn settings(home: &Path, everywhere: &[&str], hosts: &[&str]) -> Result<JailSettings, String> {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let jail = JailSection { write: list(everywhere), hosts: list(hosts) };
        let one = JailSection { write: list(&["~/shelf", "~/missing"]), hosts: list(&["one.test"]) };
        let projects = BTreeMap::from([("~/one".to_owned(), one)]);
        JailSettings::new(&jail, &projects, Some(home), &[home.join(".buddy")])
    }

    #[test]
    fn a_project_has_its_own_and_those_of_all() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for directory in ["cache", "shelf", "one/deep"] {
            std::fs::create_dir_all(home.join(directory)).unwrap();
        }
        let settings = settings(&home, &["~/cache"], &["All.Test."]).unwrap();
        let other = settings.within(&home.join("other"));
        assert_eq!((other.write, other.hosts), (vec![home.join("cache")], vec!["all.test".to_owned()]));
        let one = settings.within(&home.join("one/deep"));
        assert_eq!(one.write, [home.join("cache"), home.join("shelf")]);
        assert_eq!(one.hosts, ["all.test", "one.test"]);
    }

    #[test]
    fn what_would_open_too_much_is_refused_by_name() {
        for bad in ["/", "/home", "~/", "/home/u", "~/.buddy", "~/.buddy/config", "cache", "~/a/../..", ""] {
            let error = settings(Path::new("/home/u"), &[bad], &[]).unwrap_err();
            assert!(error.contains("jail.write"), "{bad}: {error}");
        }
        for bad in ["https://a.test", "a.test/x", "a.test:80", "", "*"] {
            let error = settings(Path::new("/home/u"), &[], &[bad]).unwrap_err();
            assert!(error.contains("jail.hosts"), "{bad}: {error}");
        }
    }
}
