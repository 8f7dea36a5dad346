//! Listing directories, and the `.gitignore` rules for lists and searches.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::super::fence::Access;
use super::{Files, Spot};
use crate::{Entry, EntryKind, ListOptions, Listing, TargetError};

const LIST: &str = include_str!("../scripts/list.sh");
const RULES: &str = include_str!("../scripts/rules.sh");
/// The most bytes that are taken of a list.
const LIST_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes that are taken of all rules.
const RULES_BYTES: usize = 4 * 1024 * 1024;
/// The kind of a file in its raw mode.
const KIND: u32 = 0o170_000;

impl Files<'_> {
    pub(in super::super) async fn list(
        &self,
        path: &Path,
        options: ListOptions,
    ) -> Result<Listing, TargetError> {
        let spot = self.spot(path, Access::Read).await?;
        let depth = options.depth.max(1);
        let words = [spot.path.as_str(), &depth.to_string(), &LIST_BYTES.to_string()];
        let exit = self.run(LIST, &spot, &words, b"", LIST_BYTES).await?;
        let rules = if options.with_ignored { Rules::default() } else { self.rules(&spot, depth).await? };
        let mut entries: Vec<Entry> = exit.stdout.head.split(|&byte| byte == 0).filter_map(entry).collect();
        entries.sort_by(|a, b| {
            let depth = |entry: &Entry| entry.path.components().count();
            depth(a).cmp(&depth(b)).then_with(|| a.path.cmp(&b.path))
        });
        let mut listing = Listing {
            truncated: exit.stdout.head.len() >= LIST_BYTES,
            unreadable: u32::try_from(exit.stderr.text().lines().count()).unwrap_or(u32::MAX),
            ..Listing::default()
        };
        for entry in entries {
            if spot.hides(&entry.path) {
                continue;
            }
            match rules.judge(&entry.path, entry.kind == EntryKind::Directory) {
                Judged::Shown if listing.entries.len() == options.limit => listing.truncated = true,
                Judged::Shown => listing.entries.push(entry),
                Judged::Named => listing.ignored += 1,
                Judged::Below => {}
            }
        }
        listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(listing)
    }

    /// The rules of a directory, of those above it up to its repository, and of those below it.
    pub(in super::super) async fn rules(&self, spot: &Spot, depth: u32) -> Result<Rules, TargetError> {
        let words = [spot.path.as_str(), &depth.to_string()];
        let exit = self.run(RULES, spot, &words, b"", RULES_BYTES).await?;
        Ok(Rules::read(&exit.stdout.head, Path::new(&spot.path)))
    }
}

impl Spot {
    /// Whether a path below this directory is hidden.
    pub(in super::super) fn hides(&self, below: &Path) -> bool {
        self.fence.as_ref().is_some_and(|fence| fence.hides(&Path::new(&self.path).join(below)))
    }

    /// Whether the content of a file that a search came by is not read: one below this directory, or this
    /// file.
    pub(in super::super) fn seals(&self, below: &Path, is_directory: bool) -> bool {
        let place = Path::new(&self.path);
        let path = if is_directory { place.join(below) } else { place.to_owned() };
        self.fence.as_ref().is_some_and(|fence| fence.seals(&path))
    }
}

/// One entry as the script gives it: raw mode, size, time, name.
fn entry(line: &[u8]) -> Option<Entry> {
    let mut parts = line.splitn(4, |&byte| byte == b' ');
    let mut word = || std::str::from_utf8(parts.next()?).ok();
    let mode = u32::from_str_radix(word()?, 16).ok()?;
    let size = word()?.parse().ok()?;
    let modified_unix_ms = milliseconds(word()?)?;
    let name = std::ffi::OsStr::from_bytes(parts.next()?);
    let path = Path::new(name).strip_prefix("./").ok()?.to_owned();
    let kind = match mode & KIND {
        0o100_000 => EntryKind::File,
        0o040_000 => EntryKind::Directory,
        0o120_000 => EntryKind::Symlink,
        _ => EntryKind::Other,
    };
    Some(Entry { path, kind, size, modified_unix_ms })
}

fn milliseconds(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some(seconds.parse::<i64>().ok()?.saturating_mul(1_000).saturating_add(fraction.parse().ok()?))
}

/// The verdict of the rules on an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Judged {
    Shown,
    /// A rule names it.
    Named,
    /// A rule names a directory above it.
    Below,
}

/// The rules that apply below a directory, the outermost first.
#[derive(Debug, Default)]
pub(in super::super) struct Rules {
    is_on: bool,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    matcher: Gitignore,
    /// From the directory of the rules down to the listed one; empty when the rules are below it.
    prefix: PathBuf,
    /// From the listed directory down to the directory of the rules.
    below: PathBuf,
}

impl Rules {
    fn read(said: &[u8], top: &Path) -> Self {
        let parts: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
        let files = parts.chunks_exact(2).filter_map(|pair| {
            let [path, text] = pair else { return None };
            Some((std::str::from_utf8(path).ok()?, String::from_utf8_lossy(text)))
        });
        let levels = files.filter_map(|(path, text)| level(path, &text, top)).collect();
        Self { is_on: true, levels }
    }

    /// The verdict on a path below the directory.
    pub(in super::super) fn judge(&self, path: &Path, is_directory: bool) -> Judged {
        if !self.is_on {
            return Judged::Shown;
        }
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        if above.into_iter().any(|above| self.names(above, true)) {
            return Judged::Below;
        }
        if self.names(path, is_directory) { Judged::Named } else { Judged::Shown }
    }

    fn names(&self, path: &Path, is_directory: bool) -> bool {
        if path.file_name().is_some_and(|name| name == ".git") {
            return true;
        }
        for level in self.levels.iter().rev() {
            let Ok(within) = path.strip_prefix(&level.below) else { continue };
            match level.matcher.matched(level.prefix.join(within), is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn level(path: &str, text: &str, top: &Path) -> Option<Level> {
    let directory = Path::new(path.strip_suffix("/.git/info/exclude").unwrap_or(path));
    let directory = if path.ends_with("/.git/info/exclude") { directory } else { directory.parent()? };
    let ups = directory.components().filter(|component| *component == Component::ParentDir).count();
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        // A rule that is not understood ignores nothing.
        let _ = builder.add_line(None, line);
    }
    let names: Vec<_> = top.components().collect();
    let prefix = names.iter().skip(names.len().saturating_sub(ups)).collect();
    let below = if ups > 0 { PathBuf::new() } else { directory.strip_prefix(".").ok()?.to_owned() };
    Some(Level { matcher: builder.build().ok()?, prefix, below })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_back_with_spaces_in_its_name() {
        let found = entry(b"81a4 12 1700000000.250 ./a b/c d").unwrap();
        assert_eq!((found.path.to_str(), found.size, found.kind), (Some("a b/c d"), 12, EntryKind::File));
        assert_eq!(found.modified_unix_ms, 1_700_000_000_250);
        assert_eq!(entry(b"41ed 0 5 ./d").unwrap().modified_unix_ms, 5_000);
        assert_eq!(entry(b"no entry"), None);
    }

    #[test]
    fn rules_hold_for_what_is_below_their_directory() {
        let said = b"./../.gitignore\0/w/target\n*.log\0./.gitignore\0!keep.log\n\0./src/.gitignore\0gen\n\0";
        let rules = Rules::read(said, Path::new("/repo/w"));
        let judge = |path: &str, is_directory| rules.judge(Path::new(path), is_directory);
        assert_eq!(judge("target", true), Judged::Named);
        assert_eq!(judge("target/debug/x", false), Judged::Below);
        assert_eq!(judge("a.log", false), Judged::Named);
        assert_eq!(judge("keep.log", false), Judged::Shown);
        assert_eq!(judge("src/gen", true), Judged::Named);
        assert_eq!(judge("gen", true), Judged::Shown);
        assert_eq!(judge(".git", true), Judged::Named);
        assert_eq!(Rules::default().judge(Path::new(".git"), true), Judged::Shown);
    }
}
