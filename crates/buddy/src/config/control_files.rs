//! The files by which a project controls buddy, as they are in its folder now.
//!
//! They are read to be compared and shown, never to take effect: that does the copy of what the user trusted
//! ([`TrustStore`](super::TrustStore)). The folder is opened once, and the kernel resolves each name beneath it, so that a link
//! leads nowhere else. `AGENTS.md` and the project's own commands are not among them: they are words for the model, which give
//! no rights.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use buddy_policy::Rules;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use similar::TextDiff;

use super::document::{ConfigError, line_of};

/// The names of a project's configuration; the first that there is counts.
pub(crate) const CONFIG_FILES: [&str; 2] = ["buddy.toml", "agent.toml"];
/// The rules of a project.
pub(crate) const RULES_FILE: &str = ".buddy/rules.toml";
/// All of them.
pub(super) const CONTROL_FILES: [&str; 3] = [CONFIG_FILES[0], CONFIG_FILES[1], RULES_FILE];

/// The largest configuration file; people write kilobytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// How often an open is tried again when the kernel could not be sure because of a rename at the same time.
const TRIES: usize = 128;
/// The most lines of a change that are shown at once.
const MAX_LINES: usize = 60;

/// The object at the name of a control file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ControlFileContent {
    /// Nothing.
    Absent,
    /// This text.
    Text(String),
    /// Something that is not read, for this reason.
    Refused(String),
}

impl ControlFileContent {
    /// The text, if there is one that is read.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Refused(_) => None,
        }
    }
}

/// A control file that is not what the user trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UntrustedChange {
    /// Its name in the folder.
    pub(crate) name: &'static str,
    /// The text that the user trusted and that takes effect.
    pub(crate) trusted: Option<String>,
    /// The object that is there now.
    pub(crate) now: ControlFileContent,
}

impl UntrustedChange {
    /// A change that was shown to the user, with the text of the file then; `None` if there is no such control file.
    pub(crate) fn seen(name: &str, trusted: Option<String>, now: Option<String>) -> Option<Self> {
        let name = CONTROL_FILES.into_iter().find(|known| *known == name)?;
        Some(Self { name, trusted, now: now.map_or(ControlFileContent::Absent, ControlFileContent::Text) })
    }

    /// Whether the user can let it take effect.
    pub(crate) fn is_acceptable(&self) -> bool {
        !matches!(self.now, ControlFileContent::Refused(_))
    }

    /// Whether it can be trusted: rules that nobody can read or understand would stop every call later on.
    pub(super) fn check(&self, folder: &Path) -> Result<(), ConfigError> {
        let path = folder.join(self.name);
        match &self.now {
            ControlFileContent::Refused(why) if self.name == RULES_FILE => {
                Err(ConfigError::new(path.to_string_lossy(), format!("not a file of rules: {why}")))
            }
            ControlFileContent::Text(text) if self.name == RULES_FILE => read_rules(&path, text).map(drop),
            ControlFileContent::Text(_) | ControlFileContent::Absent | ControlFileContent::Refused(_) => {
                Ok(())
            }
        }
    }

    /// The values in force and their sources, for stderr.
    pub(crate) fn warning(&self, folder: &Path) -> String {
        let path = folder.join(self.name);
        let path = path.display();
        let next = "Review it with: buddy trust";
        match (&self.trusted, &self.now) {
            (Some(_), ControlFileContent::Refused(why)) => {
                format!("{path} is not used, as {why}. The version that you trusted stays in effect.")
            }
            (None, ControlFileContent::Refused(why)) => format!("{path} is not used, as {why}."),
            (Some(_), ControlFileContent::Absent) => format!(
                "{path} was removed since you trusted this folder. The version that you trusted stays in effect. {next}"
            ),
            (Some(_), ControlFileContent::Text(_)) => format!(
                "{path} changed since you trusted this folder. The version that you trusted stays in effect. {next}"
            ),
            (None, _) => format!("{path} is not used, as you have not reviewed it. {next}"),
        }
    }

    /// The change, line by line, and how much of a long one was left out.
    pub(crate) fn diff(&self) -> Vec<String> {
        let now = self.now.text().unwrap_or_default();
        let trusted = self.trusted.as_deref().unwrap_or_default();
        let before = format!("{} (trusted)", self.name);
        let after = format!("{} (now)", self.name);
        let diff = TextDiff::from_lines(trusted, now).unified_diff().header(&before, &after).to_string();
        let mut lines: Vec<String> = diff.lines().map(str::to_owned).collect();
        let more = lines.len().saturating_sub(MAX_LINES);
        if more > 0 {
            lines.truncate(MAX_LINES);
            lines.push(format!("… and {more} more lines"));
        }
        lines
    }
}

/// The rules in a text. The error names the line that is wrong.
pub(crate) fn read_rules(file: &Path, text: &str) -> Result<Rules, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        ConfigError::at(file, line_of(text, start), format!("not a file of rules: {}", error.message()))
    })
}

/// The name of a text by its content.
pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut name, byte| {
        // A text takes whatever is written to it.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// A folder, opened once.
pub(super) struct Folder {
    /// Its real path.
    pub(super) path: PathBuf,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The time at which it was made, in nanoseconds; none where the file system does not keep it. A file system gives the inode
    /// number of a directory that was removed to the next one.
    pub(super) born_ns: Option<u64>,
    handle: OwnedFd,
}

/// The number by which the kernel calls a file system of layers, such as that of a container.
const OVERLAY: i64 = 0x794c_7630;

impl Folder {
    pub(super) fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.canonicalize()?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = File::from(rustix::fs::open(&path, flags, Mode::empty())?);
        let metadata = handle.metadata()?;
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born_ns = born.and_then(|born| u64::try_from(born.as_nanos()).ok());
        Ok(Self { path, device: metadata.dev(), inode: metadata.ino(), born_ns, handle: handle.into() })
    }

    /// The same, to be known again later. A directory of a lower layer gets another time when its first change copies it to the
    /// upper one, so this makes that copy: setting the mode that it has is such a change.
    pub(super) fn open_to_keep(directory: &Path) -> io::Result<Self> {
        let folder = Self::open(directory)?;
        let is_layered = rustix::fs::fstatfs(&folder.handle).is_ok_and(|found| found.f_type == OVERLAY);
        if !is_layered {
            return Ok(folder);
        }
        // In a directory of somebody else this fails, and the first change of theirs asks once more.
        let _ = std::fs::metadata(&folder.path)
            .and_then(|found| std::fs::set_permissions(&folder.path, found.permissions()));
        Self::open(directory)
    }

    /// The object at a name in it.
    pub(super) fn read(&self, name: &str) -> ControlFileContent {
        match self.text(name) {
            Ok(text) => ControlFileContent::Text(text),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                ControlFileContent::Absent
            }
            Err(error) => ControlFileContent::Refused(match Errno::from_io_error(&error) {
                Some(Errno::XDEV) => "a link leads out of this folder".to_owned(),
                Some(Errno::LOOP) => "it is a link that leads nowhere".to_owned(),
                _ => format!("it cannot be read: {error}"),
            }),
        }
    }

    fn text(&self, name: &str) -> io::Result<String> {
        read_regular(File::from(self.beneath(name)?))
    }

    fn beneath(&self, name: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tried = 0;
        loop {
            match openat2(&self.handle, name, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) if tried < TRIES => tried += 1,
                opened => return Ok(opened?),
            }
        }
    }
}

/// The text of an open file, which must be a regular one of a sensible size.
pub(super) fn read_regular(file: File) -> io::Result<String> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
    }
    Ok(text)
}
