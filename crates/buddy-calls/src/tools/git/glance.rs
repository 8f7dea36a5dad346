//! A glance at a repository for the environment block: where it is, its branch, its changes and its newest commits.

use std::path::Path;

use super::repository::Repository;
use super::start::Said;
use crate::tools::path_text::show_path;
use crate::tools::tool::Sight;

/// A repository at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryGlance {
    /// The top of its work tree.
    pub top: String,
    /// The branch, or a word on why there is none.
    pub branch: String,
    /// Files with changes that are not committed, untracked ones too.
    pub uncommitted: Option<usize>,
    /// The subjects of the newest commits, newest first.
    pub subjects: Vec<String>,
}

/// Looks at the repository that a directory belongs to; none if it belongs to none.
pub async fn glance_at_repository(path: &Path, sight: &Sight) -> Option<RepositoryGlance> {
    let repository = Repository::open(path, sight).await.ok()?;
    let status = ["status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=all"];
    let log =
        ["log", "-z", "--no-color", "--no-show-signature", "--no-patch", "--no-ext-diff", "--no-textconv"];
    let log: Vec<&str> = log.into_iter().chain(["--format=%s", "--max-count=3", "HEAD", "--"]).collect();
    let (status, log) = repository.read_pair(&status, &log, sight).await.ok().unzip();
    let status = status.filter(Said::is_success);
    let records = status.as_ref().map(Said::records).unwrap_or_default();
    let head = records.iter().find_map(|record| record.strip_prefix("# branch.head "));
    let log = log.flatten().filter(Said::is_success);
    let subjects = log.map(|said| said.text().split('\0').map(str::to_owned).collect::<Vec<_>>());
    Some(RepositoryGlance {
        top: show_path(&repository.top),
        branch: head.unwrap_or("unknown").to_owned(),
        uncommitted: status.is_some().then(|| count_changes(&records)),
        subjects: subjects.unwrap_or_default().into_iter().filter(|subject| !subject.is_empty()).collect(),
    })
}

/// The changed files in a porcelain status. A rename has a second record, the old name.
fn count_changes(records: &[String]) -> usize {
    let mut count = 0;
    let mut records = records.iter();
    while let Some(record) = records.next() {
        match record.split_once(' ').map(|(kind, _)| kind) {
            Some("2") => {
                count += 1;
                records.next();
            }
            Some("1" | "u" | "?") => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_is_one_change() {
        let records = ["# branch.head main", "1 .M N... a", "2 R. N... new", "1 old name", "u UU x", "? y"];
        assert_eq!(count_changes(&records.map(str::to_owned)), 4);
    }
}
