//! The state that git keeps in the own directory of a repository: files there that are not free to write are compared with those before the
//! command, or judged by their text.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use buddy_protocol::fold_path;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::super::git_config::MAX_CONFIG;
use super::super::look::{Sights, list_beneath};
use super::super::names::GIT;
use super::super::quarantine::{Content, Moved, Spot, Stamp};
use super::super::stand_in::is_stand_in;
use super::{Known, KnownIndex, Watched, is_empty_directory, put_back, read};
use crate::git_state::{GitState, IndexEntry, SoundIndex, replacements, sound_index, without_replacements};

/// The largest file of packed references that is read. Those of the largest public repositories have some ten megabytes.
const MAX_PACKED: u64 = 256 * 1024 * 1024;

/// The largest index that is read. That of a repository with a million files has some hundred megabytes.
const MAX_INDEX: u64 = 512 * 1024 * 1024;

/// The largest file that is compared with its entry.
const MAX_ORDER: u64 = 16 * 1024 * 1024;

/// The digits of the name of an object.
const OBJECT_DIGITS: [usize; 2] = [40, 64];

const STEERS: &str = "git takes orders from it, or does not write it";
const CHANGED: &str = "git takes orders from it, or does not write it; its old content was put back";
const UNKNOWN_OPTIONS: &str = "it makes a later git command run programs or write elsewhere";
const REPLACES: &str = "it makes git take one object for another; the other references were put back";
const APPLIES: &str = "a later git command would apply the changes that it names by itself";

const CLAIMS_OTHERS: &str =
    "a later `git commit` would commit other files than the index lists; its list stays";

const LEADS_OUT: &str = "through it git would write or read outside the work tree, or in its own directory; the old one was put back";

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
                let entries = sound_index(&bytes).map(|index| index.entries).unwrap_or_default();
                let orders = entries.into_iter().filter(|entry| self.is_order(&path, entry)).collect();
                self.indexes.insert(path.clone(), KnownIndex { bytes, orders });
                if let Ok(found) = fs::symlink_metadata(&path) {
                    let known = Known { stamp: Some(Stamp::of(&found)), content: None, names: found.nlink() };
                    self.files.insert(path, known);
                }
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
                    self.note_file(file);
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
                GitState::Free | GitState::Inside => {}
                GitState::Judged(is_harmless) => {
                    let is_harmless = |text: &str| is_harmless(text);
                    if !read_text(path).is_some_and(|text| is_harmless(&text)) {
                        self.take_back(path, UNKNOWN_OPTIONS, moved);
                    }
                }
                GitState::Filtered(rest) => self.filter(path, rest, moved),
                GitState::PackedReferences => self.check_packed(path, moved),
                GitState::Index => self.check_index(path, moved),
                GitState::Autostash => self.take_back(path, &applies(path), moved),
                GitState::Steers if known.git_state.contains_key(path) => self.compare_state(path, moved),
                GitState::Steers if is_empty_directory(path) => {}
                GitState::Steers => drop(self.take(path, STEERS, moved)),
            }
        }
    }

    fn is_unchanged(&self, path: &Path) -> bool {
        let stamp = self.files.get(path).and_then(|known| known.stamp);
        stamp.is_some() && fs::symlink_metadata(path).ok().map(|found| Stamp::of(&found)) == stamp
    }

    /// Moves a file away, and puts its old content back if it had any.
    fn take_back(&self, path: &Path, why: &str, moved: &mut Vec<Moved>) {
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

    /// Puts an index back that git did not write, or that has new contents for files that programs run code from.
    fn check_index(&self, path: &Path, moved: &mut Vec<Moved>) {
        let Ok(spot) = Spot::of(path) else { return };
        let Ok(found) = spot.metadata() else { return };
        let index = spot.read(MAX_INDEX).ok().and_then(|bytes| sound_index(&bytes));
        let why = match index {
            None => LEADS_OUT.to_owned(),
            Some(SoundIndex { entries, corrected }) => {
                match entries.iter().find(|entry| self.is_new_order(path, entry)) {
                    None => {
                        let Some(corrected) = corrected else { return };
                        if self.take(path, CLAIMS_OTHERS, moved) {
                            put_back(path, Some(&Content::File(corrected, found.mode())));
                        }
                        return;
                    }
                    Some(entry) => {
                        let file = String::from_utf8_lossy(&entry.path);
                        format!(
                            "a later git command would write `{file}`, from which programs run code; the old one was put back"
                        )
                    }
                }
            }
        };
        if self.take(path, &why, moved) {
            let old = self.indexes.get(path).filter(|known| !known.bytes.is_empty());
            put_back(path, old.map(|known| Content::File(known.bytes.clone(), found.mode())).as_ref());
        }
    }

    /// Whether an entry has contents for a file that programs run code from, and they are neither those of before nor those of the file.
    fn is_new_order(&self, index: &Path, entry: &IndexEntry) -> bool {
        let is_known = || self.indexes.get(index).is_some_and(|known| known.orders.contains(entry));
        self.is_order(index, entry) && !is_known() && !is_content_of_file(index, entry)
    }

    fn is_order(&self, index: &Path, entry: &IndexEntry) -> bool {
        let path = PathBuf::from(OsStr::from_bytes(&entry.path));
        let names = fold_path(&path);
        let is_in = |(place, last): (usize, &String)| {
            let above = names.get(..place).unwrap_or_default();
            self.orders.has(above, 0, last, place + 1 < names.len())
        };
        let is_named = || {
            let file = work_tree(index).map(|top| top.join(&path));
            file.is_some_and(|file| self.named.iter().any(|named| file.starts_with(named)))
        };
        names.iter().enumerate().any(is_in) || is_named()
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

/// The work tree of an index, if its repository is in the usual place.
fn work_tree(index: &Path) -> Option<&Path> {
    let directory = index.parent().filter(|directory| directory.ends_with(GIT))?;
    directory.parent()
}

/// Whether an entry has the contents that its file in the work tree has now.
fn is_content_of_file(index: &Path, entry: &IndexEntry) -> bool {
    let Some(top) = work_tree(index) else { return false };
    let path = top.join(OsStr::from_bytes(&entry.path));
    let content = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_symlink() => {
            fs::read_link(&path).ok().map(|target| target.as_os_str().as_bytes().to_vec())
        }
        Ok(found) if found.is_file() => Spot::of(&path).and_then(|spot| spot.read(MAX_ORDER)).ok(),
        _ => None,
    };
    content.is_some_and(|content| object_names(&content).contains(&entry.object))
}

/// The names that git gives to contents.
fn object_names(content: &[u8]) -> [Vec<u8>; 2] {
    let head = format!("blob {}\0", content.len());
    let sha1 = Sha1::new().chain_update(&head).chain_update(content).finalize().to_vec();
    let sha256 = Sha256::new().chain_update(&head).chain_update(content).finalize().to_vec();
    [sha1, sha256]
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
