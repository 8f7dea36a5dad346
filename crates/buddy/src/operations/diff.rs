//! The changes in the repository of a session's directory.

use std::path::Path;

use buddy_calls::{Hosts, RepositoryChanges};
use buddy_protocol::operations::RepositoryDiff;
use buddy_protocol::{OperationError, OperationErrorCode, SessionTarget};

/// Finds them, on the host where the session works.
pub(super) async fn find(hosts: &dyn Hosts, target: &SessionTarget) -> anyhow::Result<RepositoryDiff> {
    let failed = |message: String| OperationError::new(OperationErrorCode::Failed, message);
    let host = hosts.attach(&target.wish()).await.map_err(failed)?;
    let found = RepositoryChanges::find(&host, Path::new(&target.cwd)).await.map_err(failed)?;
    Ok(RepositoryDiff { changed: changed_files(&found.diff), diff: found.diff, unknown: found.unknown })
}

/// The files that a unified diff is about. A renamed one has its new name, a deleted one its old name.
fn changed_files(diff: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut is_head = false;
    for line in diff.lines() {
        if line.starts_with("diff --git ") {
            is_head = true;
            files.extend(name_in_both(line));
        } else if line.starts_with("@@ ") {
            is_head = false;
        } else if is_head {
            let new = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("+++ b/"));
            let old = line.strip_prefix("--- a/");
            if let Some(name) = new.or(old) {
                // Some names have a tab behind them.
                let name = name.trim_end_matches('\t').to_owned();
                match files.last_mut() {
                    Some(last) => *last = name,
                    None => files.push(name),
                }
            }
        }
    }
    files
}

/// The name in the first line of a file's diff, where its two halves are the same. Names with unusual letters are quoted there,
/// and a line below has them.
fn name_in_both(line: &str) -> Option<String> {
    let names = line.strip_prefix("diff --git ")?;
    let halves = names.match_indices(" b/").find_map(|(at, _)| {
        let (old, new) = names.split_at_checked(at)?;
        let (old, new) = (old.strip_prefix("a/")?, new.strip_prefix(" b/")?);
        (old == new).then(|| old.to_owned())
    });
    Some(halves.unwrap_or_else(|| names.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::changed_files;

    #[test]
    fn every_file_of_a_diff_is_named_once() {
        let diff = "diff --git a/one b.txt b/one b.txt\nindex 1..2 100644\n--- a/one b.txt\t\n+++ b/one b.txt\t\n\
                    @@ -1 +1 @@\n-diff --git a/x b/x\n++++ b/wrong\n\
                    diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n\
                    diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                    diff --git a/picture.png b/picture.png\nBinary files differ\n";
        assert_eq!(changed_files(diff), ["one b.txt", "new", "gone", "picture.png"]);
        assert_eq!(changed_files(""), Vec::<String>::new());
    }
}
