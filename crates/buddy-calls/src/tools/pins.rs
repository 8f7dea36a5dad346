//! Pins: the files that an approved command would run, scripts and makefiles alike, remembered as they were when the user
//! was asked. Policy says which, and bounds how many.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use buddy_exec::{Bounds, Target};
use sha2::{Digest, Sha256};

/// Bytes of a file that are looked at. A longer one changes unseen only behind that.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Files with the digest of each; none for what is not there or cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pins(Vec<(PathBuf, Option<[u8; 32]>)>);

/// The text of those files that a command could read itself.
pub(crate) async fn read_pins(
    paths: &[PathBuf],
    target: &dyn Target,
    bounds: &Bounds,
    max_bytes: u64,
) -> Vec<String> {
    let mut texts = Vec::with_capacity(paths.len());
    for path in paths {
        let file = target.read(bounds, path, max_bytes).await.ok();
        texts.extend(file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()));
    }
    texts
}

impl Pins {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files that a rival could change. A module of Python of which no file is here comes from elsewhere, where commands
    /// do not write.
    pub(crate) fn held(&self) -> impl Iterator<Item = &PathBuf> {
        let is_here = |path: &Path| self.0.iter().any(|(pinned, file)| pinned == path && file.is_some());
        let is_pinned = |path: &Path| self.0.iter().any(|(pinned, _)| pinned == path);
        let is_elsewhere = move |path: &Path| {
            // The three names under which a module of the project is looked for are pinned together.
            let stem = match path.file_name().and_then(OsStr::to_str) {
                Some("__main__.py" | "__init__.py") => path.parent().map(Path::to_path_buf),
                _ => path.extension().filter(|end| *end == "py").map(|_| path.with_extension("")),
            };
            let Some(stem) = stem else { return false };
            let names = [stem.with_added_extension("py"), stem.join("__main__.py"), stem.join("__init__.py")];
            names.iter().all(|name| is_pinned(name)) && !names.iter().any(|name| is_here(name))
        };
        self.0.iter().map(|(path, _)| path).filter(move |path| !is_elsewhere(path))
    }

    /// The files as they are now.
    pub(crate) async fn take(paths: &[PathBuf], target: &dyn Target) -> Self {
        let mut pins = Vec::with_capacity(paths.len());
        for path in paths {
            let file = target.read(&Bounds::open(), path, MAX_BYTES).await.ok();
            pins.push((path.clone(), file.map(|file| Sha256::digest(&file.bytes).into())));
        }
        Self(pins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_here_is_held_against_nobody() {
        let module = ["/w/http/server.py", "/w/http/server/__main__.py", "/w/http/server/__init__.py"];
        let pins = |here: &[&str]| {
            let paths = module.iter().chain(&["/w/run.sh", "/w/lone.py"]);
            let pin = |path: &&str| (PathBuf::from(path), here.contains(path).then_some([0; 32]));
            Pins(paths.map(pin).collect()).held().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(pins(&[]), ["/w/run.sh", "/w/lone.py"], "a script that is missing could be planted");
        assert_eq!(pins(&["/w/http/server/__init__.py"]).len(), 5);
        assert_eq!(pins(&["/w/http/server.py", "/w/run.sh"]).len(), 5);
    }
}
