//! The contents of a folder, file by file, so that any later change is found.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Files by their path below the folder, each with a hash of its content and mode. Links are not followed.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(BTreeMap<String, u64>);

impl Snapshot {
    /// Takes a snapshot of a folder, without the entries at these paths in it.
    pub(crate) fn take(folder: &Path, without: &[&str]) -> Self {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            walk(&entry.path(), entry.file_name().to_string_lossy().into_owned(), without, &mut files);
        }
        Self(files)
    }

    /// The paths that are new, gone or different in a later snapshot.
    pub(crate) fn changes(&self, later: &Self) -> Vec<String> {
        let gone = self.0.keys().filter(|path| !later.0.contains_key(*path));
        let changed =
            later.0.iter().filter(|(path, sum)| self.0.get(*path) != Some(sum)).map(|(path, _)| path);
        gone.chain(changed).cloned().collect()
    }
}

fn walk(path: &Path, name: String, without: &[&str], files: &mut BTreeMap<String, u64>) {
    let Ok(metadata) = path.symlink_metadata() else { return };
    if without.contains(&name.as_str()) {
        return;
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            walk(&entry.path(), name, without, files);
        }
        return;
    }
    let mut sum = DefaultHasher::new();
    metadata.permissions().mode().hash(&mut sum);
    if metadata.is_symlink() {
        fs::read_link(path).ok().hash(&mut sum);
    } else {
        fs::read(path).ok().hash(&mut sum);
    }
    files.insert(name, sum.finish());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_found() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("kept"))?;
        for name in ["same", "gone", "kept/changed", "mode", "left-out"] {
            fs::write(path(name), "before")?;
        }
        let before = Snapshot::take(folder.path(), &["left-out"]);
        fs::remove_file(path("gone"))?;
        fs::write(path("kept/changed"), "after")?;
        fs::write(path("left-out"), "after")?;
        fs::set_permissions(path("mode"), fs::Permissions::from_mode(0o777))?;
        std::os::unix::fs::symlink("nowhere", path("new"))?;
        let after = Snapshot::take(folder.path(), &["left-out"]);
        assert_eq!(before.changes(&after), ["gone", "kept/changed", "mode", "new"]);
        Ok(())
    }
}
