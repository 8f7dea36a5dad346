//! The rules of `.gitignore` files, for a walk that goes down a tree.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, OFlags, ResolveFlags, statat};

use super::beneath;
use super::view::{Opened, View};

/// The most bytes that are read of one file of rules. Real ones have a few kilobytes.
const MAX_RULES: u64 = 256 * 1024;

/// The rules that apply in one directory: its own and those of the directories above it.
#[derive(Debug, Default)]
pub(crate) struct Ignored {
    above: Option<Arc<Ignored>>,
    own: Option<IgnoreRules>,
}

/// The rules of one directory.
#[derive(Debug)]
struct IgnoreRules {
    matcher: Gitignore,
    /// From the directory of the rules down to where the walk begins; empty when the rules are within the walk.
    prefix: PathBuf,
    /// From where the walk begins down to the directory of the rules.
    below: PathBuf,
}

impl Ignored {
    /// The rules of the directories above the one where a walk begins, from the top of its repository on. Only files
    /// within the bounds are read.
    pub(crate) fn above(view: &View, top: &Opened) -> Arc<Self> {
        let nothing = Arc::new(Self::default());
        let open = |path: &Path| view.open(path, OFlags::PATH | OFlags::DIRECTORY).ok();
        if has_repository(&top.fd) {
            return nothing;
        }
        let above = view.above(&top.real);
        let is_repository =
            |path: &PathBuf| open(path).is_some_and(|directory| has_repository(&directory.fd));
        let Some(first) = above.iter().rposition(is_repository) else { return nothing };
        above.iter().skip(first).fold(nothing, |ignored, path| match open(path) {
            Some(directory) => {
                let prefix = top.real.strip_prefix(path).unwrap_or(Path::new(""));
                ignored.with(&directory.fd, prefix, Path::new(""))
            }
            None => ignored,
        })
    }

    /// The rules inside a directory that is at this path below the walk's beginning. `has` says which names
    /// it has, so that missing files are not looked for.
    pub(crate) fn enter(
        self: Arc<Self>,
        directory: &OwnedFd,
        below: &Path,
        has: impl Fn(&str) -> bool,
    ) -> Arc<Self> {
        if !has(".gitignore") && !has(".ignore") && !has(".git") {
            return self;
        }
        self.with(directory, Path::new(""), below)
    }

    /// Whether the rules leave out this path, which is relative to the walk's beginning.
    pub(crate) fn covers(&self, path: &Path, is_directory: bool) -> bool {
        if path.file_name().is_some_and(|name| name == ".git") {
            return true;
        }
        let mut level = Some(self);
        while let Some(ignored) = level {
            match ignored.own.as_ref().map_or(Match::None, |rules| rules.judge(path, is_directory)) {
                Match::Ignore(()) => return true,
                Match::Whitelist(()) => return false,
                Match::None => level = ignored.above.as_deref(),
            }
        }
        false
    }

    fn with(self: Arc<Self>, directory: &OwnedFd, prefix: &Path, below: &Path) -> Arc<Self> {
        // The matcher is given paths relative to its own directory.
        let mut builder = GitignoreBuilder::new("");
        let mut is_empty = true;
        for name in [".git/info/exclude", ".gitignore", ".ignore"] {
            for line in read_rules(directory, Path::new(name)).unwrap_or_default().lines() {
                is_empty = false;
                // A rule that is not understood ignores nothing.
                let _ = builder.add_line(None, line);
            }
        }
        match builder.build() {
            Ok(matcher) if !is_empty => {
                let rules = IgnoreRules { matcher, prefix: prefix.to_owned(), below: below.to_owned() };
                Arc::new(Self { above: Some(self), own: Some(rules) })
            }
            _ => self,
        }
    }
}

impl IgnoreRules {
    fn judge(&self, path: &Path, is_directory: bool) -> Match<()> {
        let within = path.strip_prefix(&self.below).unwrap_or(path);
        let judged = if self.prefix.as_os_str().is_empty() {
            self.matcher.matched(within, is_directory)
        } else {
            self.matcher.matched(self.prefix.join(within), is_directory)
        };
        judged.map(|_| ())
    }
}

fn has_repository(directory: &OwnedFd) -> bool {
    statat(directory, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// The text of a file of rules, if it is a file and not a link to one.
fn read_rules(directory: &OwnedFd, name: &Path) -> Option<String> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let file = File::from(beneath::open(directory, name, OFlags::RDONLY | OFlags::NONBLOCK, resolve).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_RULES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
