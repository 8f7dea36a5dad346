//! Settings of package managers, read for a question about their hosts.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// The most that is read of a file with settings.
const MAX_BYTES: u64 = 256 * 1024;
/// Copies of indexes that are looked at.
const MAX_NAMES: usize = 100;

/// The text of a file with settings; none where there is no such file. A command of the project may have put anything at its name.
pub(super) fn read_settings(path: &Path) -> Option<String> {
    // A pipe must not keep buddy waiting.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The names in a directory, in their order; none where there is no such directory.
pub(super) fn list_names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).take(MAX_NAMES).collect();
    names.sort();
    names
}
