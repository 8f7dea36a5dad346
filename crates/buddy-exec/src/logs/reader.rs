//! Reading a log by its name.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::files::lines_of;
use crate::{LineRange, Lines, TargetError};

/// The prefix and suffix of every log's name.
const BEGIN: &str = "exec-";
const END: &str = ".log";

/// Reads some lines of a log in this directory. A name that is not the plain name of a log is not found.
pub fn read_log_lines(logs: &Path, name: &str, range: LineRange) -> Result<Lines, TargetError> {
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if !is_plain || !name.starts_with(BEGIN) || !name.ends_with(END) {
        let missing = std::io::ErrorKind::NotFound.into();
        return Err(TargetError::from_io("read", &PathBuf::from(name), missing));
    }
    let path = logs.join(name);
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(no_link).open(&path);
    let file = opened.map_err(|error| TargetError::from_io("read", &path, error))?;
    lines_of(file, range).map_err(|error| TargetError::from_io("read", &path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_logs_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        std::fs::write(logs.join("exec-itm_1.log"), "one\ntwo\n").unwrap();
        std::fs::write(folder.path().join("exec-secret.log"), "secret").unwrap();
        std::os::unix::fs::symlink(folder.path().join("exec-secret.log"), logs.join("exec-link.log"))
            .unwrap();
        let range = LineRange { first: 2, count: 9, max_bytes: 100 };
        assert_eq!(read_log_lines(&logs, "exec-itm_1.log", range).unwrap().bytes, b"two\n");
        for name in [
            "../exec-secret.log",
            "exec-/../../exec-secret.log",
            "exec-link.log",
            "exec-none.log",
            "",
            "x.log",
        ] {
            assert!(read_log_lines(&logs, name, range).is_err(), "{name}");
        }
    }
}
