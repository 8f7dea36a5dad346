//! The state that git keeps in the own directory of a repository: files there that are not free to write are compared with those before the
//! command, or judged by their text.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::git_config::MAX_CONFIG;
use super::super::look::{Sights, list_beneath};
use super::super::quarantine::{Content, Moved, Spot, Stamp};
use super::super::stand_in::is_stand_in;
use super::index::MAX_INDEX;
use super::{Known, Watched, is_empty_directory, put_back, read};
use crate::git_state::{GitState, replacements, without_replacements};

/// The largest file of packed references that is read. Those of the largest public repositories have some ten megabytes.
const MAX_PACKED: u64 = 256 * 1024 * 1024;

/// The digits of the name of an object.
const OBJECT_DIGITS: [usize; 2] = [40, 64];

const STEERS: &str = "git takes orders from it, or does not write it";
const CHANGED: &str = "git takes orders from it, or does not write it; its old content was put back";
const UNKNOWN_OPTIONS: &str = "it makes a later git command run programs or write elsewhere";
const REPLACES: &str = "it makes git take one object for another; the other references were put back";
const APPLIES: &str = "a later git command would apply the changes that it names by itself";

impl Watched {
    /// Notes the state before the command. Directories of other programs with more files than are listed are not compared.
    pub(super) fn note_state(&mut self) {
        self.large_state.clear();
        self.replacements.clear();
        self.indexes.clear();
        let known = [&self.known, &self.known_shared];
        let state: Vec<_> = known.iter().flat_map(|known| known.git_state.clone()).collect();
        for (path, state) in state {
            if matches!(state, GitState::Index) {
                let bytes = Spot::of(&path).and_then(|spot| spot.read(MAX_INDEX)).unwrap_or_default();
                self.indexes.insert(path.clone(), bytes);
                if let Ok(found) = fs::symlink_metadata(&path) {
                    let known = Known {
                        stamp: Some(Stamp::of(&found)),
                        content: None,
                        names: found.nlink(),
                        is_held: false,
                    };
                    self.files.insert(path, known);
                }
                continue;
            }
            // References are judged by themselves, and those of a repository are many.
            if matches!(state, GitState::References) && path.is_dir() {
                continue;
            }
            let list = list_beneath(&path);
            if list.unseen.is_some() {
                self.large_state.insert(path);
                continue;
            }
            if matches!(state, GitState::PackedReferences) {
                let packed = Spot::of(&path).and_then(|spot| spot.read(MAX_PACKED)).unwrap_or_default();
                let lines: BTreeSet<Vec<u8>> = replacements(&packed).map(<[u8]>::to_vec).collect();
                self.replacements.insert(path, lines);
            }
            for file in list.files.into_iter().filter(|file| !is_stand_in(file)) {
                if !self.files.contains_key(&file) {
                    self.note_file(file, false);
                }
            }
        }
    }

    /// Moves away changes of the state that steer a later git command.
    pub(super) fn sweep_state(&self, known: &Sights, now: &Sights, moved: &mut Vec<Moved>) {
        for (path, state) in now.git_state.iter().filter(|(path, _)| !self.is_opened(path)) {
            if self.is_unchanged(path) {
                continue;
            }
            match state {
                // Indexes come last.
                GitState::Free | GitState::Inside | GitState::Index => {}
                GitState::Judged(is_harmless) => {
                    let is_harmless = |text: &str| is_harmless(text);
                    if !read_text(path).is_some_and(|text| is_harmless(&text)) {
                        self.take_back(path, UNKNOWN_OPTIONS, moved);
                    }
                }
                GitState::Filtered(rest) => self.filter(path, rest, moved),
                GitState::PackedReferences => self.check_packed(path, moved),
                GitState::References => self.check_references(path, moved),
                GitState::Autostash => self.take_back(path, &applies(path), moved),
                GitState::Steers if known.git_state.contains_key(path) => self.compare_state(path, moved),
                GitState::Steers if is_empty_directory(path) => {}
                GitState::Steers => drop(self.take(path, STEERS, moved)),
            }
        }
    }

    pub(super) fn is_unchanged(&self, path: &Path) -> bool {
        let stamp = self.files.get(path).and_then(|known| known.stamp);
        stamp.is_some() && fs::symlink_metadata(path).ok().map(|found| Stamp::of(&found)) == stamp
    }

    /// Moves a file away, and puts its old content back if it had any.
    pub(super) fn take_back(&self, path: &Path, why: &str, moved: &mut Vec<Moved>) {
        let old = self.files.get(path).and_then(|known| known.content.as_ref());
        let now = Spot::of(path).ok().and_then(|spot| read(&spot)).and_then(|found| found.content);
        if old.is_some() && old == now.as_ref() {
            return;
        }
        if self.take(path, why, moved) {
            put_back(path, old);
        }
    }

    /// Compares a file or a directory that was there before.
    fn compare_state(&self, path: &Path, moved: &mut Vec<Moved>) {
        if self.large_state.contains(path) {
            return;
        }
        let list = list_beneath(path);
        if list.unseen.is_some() {
            return self.take_whole(path, moved);
        }
        for file in list.files.into_iter().filter(|file| !self.is_unchanged(file)) {
            let why = if self.files.contains_key(&file) { CHANGED } else { STEERS };
            self.take_back(&file, why, moved);
        }
    }

    /// Takes replacements of objects that are new out of packed references.
    fn check_packed(&self, path: &Path, moved: &mut Vec<Moved>) {
        let Ok(spot) = Spot::of(path) else { return };
        let Ok(found) = spot.metadata() else { return };
        let was_there = |line: &[u8]| self.replacements.get(path).is_some_and(|lines| lines.contains(line));
        match spot.read(MAX_PACKED) {
            Err(_) => self.take_back(path, REPLACES, moved),
            Ok(packed) => {
                let Some(rest) = without_replacements(&packed, was_there) else { return };
                if self.take(path, REPLACES, moved) {
                    put_back(path, Some(&Content::File(rest, found.mode())));
                }
            }
        }
    }
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(Spot::of(path).ok()?.read(MAX_CONFIG).ok()?).ok()
}

/// Says how to get at the changes that were put aside.
fn applies(path: &Path) -> String {
    let text = read_text(path).unwrap_or_default();
    let object = text.trim();
    let is_object =
        OBJECT_DIGITS.contains(&object.len()) && object.chars().all(|digit| digit.is_ascii_hexdigit());
    if is_object {
        format!(
            "{APPLIES}; `git stash show -p {object}` shows them, and `git stash apply {object}` applies them"
        )
    } else {
        APPLIES.to_owned()
    }
}
