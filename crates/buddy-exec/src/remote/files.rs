//! Files on another host, by short scripts that stream through the transport.

mod change;
mod keep;
mod listing;
mod look;

pub(super) use listing::{Judged, Rules};

use std::path::{Path, PathBuf};

use super::call::{call, nonces};
use super::fence::{self, Access, Fence};
use super::script;
pub(super) use crate::files::check_path;
use crate::{Bounds, Exit, NotFile, TargetError, Transport};

const REFUSALS: &str = include_str!("scripts/refusals.sh");
const RESOLVE: &str = include_str!("scripts/resolve.sh");
/// The longest answer to a request to resolve paths.
const RESOLVED_BYTES: usize = 1024 * 1024;

/// Entries that one call removes at most.
pub(super) const MAX_ENTRIES: usize = 200_000;

/// The files of one call.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    pub(super) transport: &'a dyn Transport,
    pub(super) bounds: &'a Bounds,
    pub(super) cwd: &'a Path,
}

/// A path that may be used.
pub(super) struct Spot {
    /// The requested path, made absolute.
    pub(super) named: PathBuf,
    /// The path to use: the real one if there are bounds.
    pub(super) path: String,
    /// `None` if everything may be touched.
    pub(super) fence: Option<Fence>,
}

impl Files<'_> {
    /// The resolved path, if the bounds let this call use it.
    pub(super) async fn spot(&self, path: &Path, access: Access) -> Result<Spot, TargetError> {
        let named = self.cwd.join(path);
        check_path(&named)?;
        if fence::is_open(self.bounds) {
            return Ok(Spot { path: text(&named)?, named, fence: None });
        }
        let (fence, real) = self.fence(&named).await?;
        fence.check(&named, &real, access)?;
        Ok(Spot { path: text(&real)?, named, fence: Some(fence) })
    }

    /// The same for a name itself: a link at its end is not followed.
    pub(super) async fn spot_itself(&self, path: &Path) -> Result<Spot, TargetError> {
        let named = self.cwd.join(path);
        check_path(&named)?;
        let (Some(parent), Some(name)) = (named.parent(), named.file_name()) else {
            return Err(TargetError::IsRoot { path: named });
        };
        if fence::is_open(self.bounds) {
            return Ok(Spot { path: text(&named)?, named: named.clone(), fence: None });
        }
        let (fence, real) = self.fence(parent).await?;
        let real = real.join(name);
        fence.check(&named, &real, Access::Write)?;
        Ok(Spot { path: text(&real)?, named: named.clone(), fence: Some(fence) })
    }

    /// The bounds as the host resolves them, and the resolved path.
    async fn fence(&self, path: &Path) -> Result<(Fence, PathBuf), TargetError> {
        let mut paths = vec![path.to_owned()];
        paths.extend(fence::to_resolve(self.bounds).into_iter().map(|path| self.cwd.join(path)));
        let words = paths.iter().map(|path| text(path)).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let script = script::plain(RESOLVE, &words, b"", nonces(self.transport)?);
        let exit = call(self.transport, script, RESOLVED_BYTES).await?;
        let said = String::from_utf8_lossy(&exit.stdout.head).into_owned();
        let real: Vec<PathBuf> =
            said.lines().map(|line| PathBuf::from(if line.is_empty() { "/" } else { line })).collect();
        match real.split_first() {
            Some((first, rest)) if exit.code == Some(0) && real.len() == paths.len() => {
                Ok((Fence::new(self.bounds, rest), first.clone()))
            }
            // A name with a line break in it somewhere on the way.
            _ => Err(TargetError::Outside { path: path.to_owned() }),
        }
    }

    /// Runs one of the scripts on a spot.
    pub(super) async fn run(
        &self,
        script: &str,
        spot: &Spot,
        arguments: &[&str],
        input: &[u8],
        keep: usize,
    ) -> Result<Exit, TargetError> {
        let strict = if spot.fence.is_some() { "yes" } else { "" };
        let words: Vec<&str> = [strict].iter().chain(arguments).copied().collect();
        let body = format!("{REFUSALS}{script}");
        let script = script::plain(&body, &words, input, nonces(self.transport)?);
        let exit = call(self.transport, script, keep).await?;
        match exit.code {
            Some(0) => Ok(exit),
            code => Err(why_not(code, spot, &exit)),
        }
    }
}

fn text(path: &Path) -> Result<String, TargetError> {
    path.to_str().map(str::to_owned).ok_or(TargetError::BadPath { why: "is not UTF-8" })
}

/// The error for the exit code of a script.
fn why_not(code: Option<i32>, spot: &Spot, exit: &Exit) -> TargetError {
    let path = spot.named.clone();
    let not_file = |what| TargetError::NotAFile { path: spot.named.clone(), what };
    let said = exit.stderr.text();
    if said.contains("No space left") || said.contains("quota exceeded") {
        return TargetError::NoSpace { path };
    }
    match code {
        Some(40) => TargetError::NotFound { path },
        Some(41) => TargetError::PermissionDenied { path },
        Some(42) => not_file(NotFile::Directory),
        Some(43) => TargetError::NotADirectory { path },
        Some(45) => TargetError::Outside { path },
        Some(46) => TargetError::Link { path, to: None },
        Some(49) => TargetError::Exists { path },
        Some(50) => not_file(NotFile::Fifo),
        Some(51) => not_file(NotFile::Socket),
        Some(52) => not_file(NotFile::Device),
        Some(53) => not_file(NotFile::Other),
        Some(54) => TargetError::IsRoot { path },
        Some(55) => TargetError::NotEmpty { path },
        Some(56) => TargetError::Mount { path },
        Some(57) => TargetError::TooMany { what: "entries to remove", limit: MAX_ENTRIES },
        _ => {
            let said = crate::transport::say(&said);
            TargetError::Io { action: "finish the work on", path, source: std::io::Error::other(said) }
        }
    }
}
