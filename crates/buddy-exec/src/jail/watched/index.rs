//! The index of a repository after a command: which files git would write from it that programs run code from.
//!
//! An entry counts by all names of its path: those through links of the work tree, and through links that git would make from the same
//! index. A new link or submodule also counts where it takes the place of a directory above such files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use buddy_protocol::fold_path;

use super::super::links::{led_to, without_links};
use super::super::look::{Sights, list_beneath};
use super::super::names::{GIT, Names};
use super::super::quarantine::{Content, Moved, Spot};
use super::{Watched, is_link, named_directory, put_back, read};
use crate::git_orders::{clean, read as read_text};
use crate::git_state::{
    DirectoryFault, EntryKind, GitState, IndexEntry, LinkTable, ObjectKind, ObjectStore, SoundIndex,
    new_entries, object_name, sound_index, without_paths,
};

/// The largest index that is read. That of a repository with a million files has some hundred megabytes.
pub(super) const MAX_INDEX: u64 = 512 * 1024 * 1024;

/// The largest file that is compared with its entry.
const MAX_ORDER: u64 = 16 * 1024 * 1024;

/// How often links behind links of an index are looked for, as for the kernel.
const MAX_ROUNDS: usize = 40;

/// The lengths of names of objects.
const NAME_LENGTHS: [usize; 2] = [20, 32];

const CLAIMS_OTHERS: &str =
    "a later `git commit` would commit other files than the index lists; its list stays";

const LEADS_OUT: &str = "through it git would write or read outside the work tree, or in its own directory; the old one was put back";

const UNREAD: &str = "it has a directory in the place of its files, and buddy cannot read which ones; the old one was put back";

impl Watched {
    /// Checks indexes, after all else was swept: a file that was moved away must not come back from the index.
    pub(super) fn sweep_indexes(&self, now: &Sights, moved: &mut Vec<Moved>) {
        let indexes = now.git_state.iter().filter(|(_, state)| matches!(state, GitState::Index));
        for (path, _) in indexes.filter(|(path, _)| !self.is_opened(path) && !self.is_unchanged(path)) {
            self.check_index(path, now, moved);
        }
    }

    /// Puts an index back that git did not write, or that has new contents for files that programs run code from.
    fn check_index(&self, path: &Path, now: &Sights, moved: &mut Vec<Moved>) {
        let Ok(spot) = Spot::of(path) else { return };
        let Ok(found) = spot.metadata() else { return };
        let bytes = spot.read(MAX_INDEX).unwrap_or_default();
        let fault = match sound_index(&bytes) {
            None => Some(IndexFault::whole(LEADS_OUT)),
            Some(index) => self.fault_of(path, (&bytes, &index), now).or_else(|| {
                index.corrected.map(|rest| IndexFault { why: CLAIMS_OTHERS.to_owned(), rest: Some(rest) })
            }),
        };
        if let Some(IndexFault { why, rest }) = fault
            && self.take(path, &why, moved)
        {
            let old = || self.indexes.get(path).filter(|bytes| !bytes.is_empty()).cloned();
            put_back(path, rest.or_else(old).map(|bytes| Content::File(bytes, found.mode())).as_ref());
        }
    }

    /// The reason why an index does not stay as it is.
    fn fault_of(
        &self,
        path: &Path,
        (bytes, index): (&[u8], &SoundIndex),
        now: &Sights,
    ) -> Option<IndexFault> {
        let git = path.parent()?;
        let before = self.indexes.get(path).and_then(|bytes| sound_index(bytes));
        let store = ObjectStore::of(&shared_directory(git).join("objects"), index.object_length());
        let new = match new_entries(before.as_ref(), index, |name| store.read(ObjectKind::Tree, name)) {
            Ok(new) if new.is_empty() => return None,
            Ok(new) => new,
            Err(DirectoryFault::Unread) => return Some(IndexFault::whole(UNREAD)),
            Err(DirectoryFault::LeadsOut) => return Some(IndexFault::whole(LEADS_OUT)),
        };
        let mut judge = IndexJudge::new(self, self.work_tree(git, now), now);
        judge.add_links(index.entries(), &store);
        let is_fault = |entry: &&IndexEntry| judge.is_order(entry) && !judge.is_content_of_file(entry);
        let faults: Vec<&IndexEntry> = new.iter().filter(is_fault).collect();
        let first = faults.first()?;
        let file = String::from_utf8_lossy(&first.path);
        let by = if first.kind() == EntryKind::Leading { "through" } else { "from" };
        let why = format!("a later git command would write `{file}`, {by} which programs run code");
        let paths: BTreeSet<&[u8]> = faults.iter().map(|entry| entry.path.as_slice()).collect();
        let was_there = before.iter().flat_map(SoundIndex::entries).any(|entry| paths.contains(&*entry.path));
        // An entry that was there before has old contents, which come back with the whole index.
        let rest = if was_there { None } else { without_paths(bytes, index.object_length(), &paths) };
        let end = if rest.is_some() { "its other entries stay" } else { "the old one was put back" };
        Some(IndexFault { why: format!("{why}; {end}"), rest })
    }

    /// The work tree of an own directory of a repository: it is in it, or a file there names the directory.
    fn work_tree(&self, git: &Path, now: &Sights) -> Option<PathBuf> {
        if git.ends_with(GIT) {
            return git.parent().map(Path::to_owned);
        }
        let sights = [&self.known, now, &self.known_shared];
        let mut files = sights.into_iter().flat_map(|sights| &sights.git_files);
        let file = files.find(|file| named_directory(file).is_some_and(|named| named == git))?;
        file.parent().map(Path::to_owned)
    }
}

/// The reason why an index does not stay as it is, and what takes its place instead of the old one.
struct IndexFault {
    why: String,
    rest: Option<Vec<u8>>,
}

impl IndexFault {
    fn whole(why: &str) -> Self {
        Self { why: why.to_owned(), rest: None }
    }
}

/// The directory that has the objects of a repository: its own, or that which it shares with other work trees.
fn shared_directory(git: &Path) -> PathBuf {
    let shared = read_text(&git.join("commondir")).map(|shared| clean(&git.join(shared.trim())));
    shared.unwrap_or_else(|| git.to_owned())
}

/// Judges the entries of one index.
struct IndexJudge<'a> {
    orders: &'a Names,
    roots: &'a [PathBuf],
    /// The top of the work tree, or nothing if it is not known.
    top: PathBuf,
    /// Exact places that programs run code from, with everything below.
    places: BTreeSet<PathBuf>,
    links: LinkTable,
    /// Whether there are links that are not known, so that every new entry counts.
    is_blind: bool,
}

impl<'a> IndexJudge<'a> {
    fn new(watched: &'a Watched, top: Option<PathBuf>, now: &Sights) -> Self {
        let top = top.unwrap_or_default();
        let both = [&watched.known, now];
        let gits = both.into_iter().flat_map(|sights| &sights.git);
        let parts: BTreeSet<PathBuf> = gits.flat_map(|git| watched.parts_of(git)).collect();
        let exact = watched.named.iter().chain(&watched.covered).chain(&watched.missing).chain(&parts);
        // To open a directory means to work on it.
        let places: BTreeSet<PathBuf> = exact.filter(|place| !top.starts_with(place)).cloned().collect();
        let mut links = LinkTable::default();
        for link in both.into_iter().flat_map(|sights| &sights.named_links) {
            add_link(&mut links, link);
        }
        let orders = both.into_iter().flat_map(|sights| &sights.orders);
        for place in watched.named.iter().chain(&parts).chain(orders) {
            // Links in a directory of orders count as those with its name do. No command adds any that are not found.
            let list = list_beneath(place);
            list.files.iter().filter(|file| is_link(file)).for_each(|link| add_link(&mut links, link));
        }
        let is_blind = both.into_iter().any(|sights| sights.has_more_links);
        Self { orders: &watched.orders, roots: &watched.roots, top, places, links, is_blind }
    }

    /// Adds the links that git would make from the index, as far as a file behind them can count.
    fn add_links<'e>(&mut self, entries: impl Iterator<Item = &'e IndexEntry>, store: &ObjectStore) {
        let mut left: Vec<(PathBuf, &IndexEntry)> =
            entries.filter(|entry| entry.is_link()).map(|entry| (self.path_of(entry), entry)).collect();
        for _ in 0..MAX_ROUNDS {
            let (counting, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(path, _)| self.leads_to_order(path));
            if counting.is_empty() {
                return;
            }
            for (path, entry) in counting {
                let target = link_text(&path).filter(|text| is_content(text, &entry.object));
                let target = target.or_else(|| store.read(ObjectKind::Blob, &entry.object));
                match (target, path.parent()) {
                    (Some(target), Some(above)) => {
                        add_target(&mut self.links, &path, &clean(&above.join(OsStr::from_bytes(&target))));
                    }
                    _ => self.is_blind = true,
                }
            }
            left = others;
        }
        self.is_blind = true;
    }

    fn path_of(&self, entry: &IndexEntry) -> PathBuf {
        self.top.join(OsStr::from_bytes(&entry.path))
    }

    /// Whether programs run code from a file with the path of an entry, or through it if it leads on.
    fn is_order(&self, entry: &IndexEntry) -> bool {
        let path = self.path_of(entry);
        if entry.kind() == EntryKind::Leading {
            return self.leads_to_order(&path);
        }
        self.is_blind
            || self.links.names(&path).is_none_or(|names| names.iter().any(|name| self.is_order_name(name)))
    }

    /// Whether a file behind a link at this path can be one that programs run code from.
    fn leads_to_order(&self, path: &Path) -> bool {
        let leads = |name: &PathBuf| self.is_order_name(name) || self.is_above_order(name);
        self.is_blind || self.links.names(path).is_none_or(|names| names.iter().any(leads))
    }

    fn is_order_name(&self, path: &Path) -> bool {
        let names = fold_path(path);
        let depth = self.depth_above(path);
        let is_in = |(place, last): (usize, &String)| {
            let above = names.get(..place).unwrap_or_default();
            self.orders.has(above, depth, last, place + 1 < names.len())
        };
        names.iter().enumerate().skip(depth).any(is_in)
            || path.ancestors().any(|above| self.places.contains(above))
    }

    /// Whether files that programs run code from would be below a directory of this name.
    fn is_above_order(&self, path: &Path) -> bool {
        let mut below = self.places.range(path.to_owned()..);
        below.next().is_some_and(|place| place.starts_with(path)) || self.orders.begins(&fold_path(path))
    }

    /// The number of names of the directory that the user opened, below which a name of a file counts.
    fn depth_above(&self, path: &Path) -> usize {
        let tops = self.roots.iter().chain([&self.top]).filter(|top| path.starts_with(top));
        tops.map(|top| fold_path(top).len()).max().unwrap_or_default()
    }

    /// Whether an entry is what the work tree has at its path, so that the sweep of the work tree has judged it.
    fn is_content_of_file(&self, entry: &IndexEntry) -> bool {
        if self.top.as_os_str().is_empty() {
            return false;
        }
        let path = self.path_of(entry);
        let Ok(spot) = Spot::of(&path) else { return false };
        let Ok(found) = spot.metadata() else { return false };
        let is_program = found.mode() & 0o111 != 0;
        let content = match entry.kind() {
            EntryKind::File => spot.read(MAX_ORDER).ok(),
            EntryKind::Program => spot.read(MAX_ORDER).ok().filter(|_| is_program),
            EntryKind::Leading if entry.is_link() => link_text(&path),
            // A submodule that is there.
            EntryKind::Leading => return found.is_dir() && fs::symlink_metadata(path.join(GIT)).is_ok(),
            EntryKind::Directory => None,
        };
        content.is_some_and(|content| is_content(&content, &entry.object))
    }
}

fn add_link(links: &mut LinkTable, link: &Path) {
    if let Some(target) = led_to(link) {
        add_target(links, link, &target);
    }
}

/// Adds a link with its target, and with that without further links.
fn add_target(links: &mut LinkTable, link: &Path, target: &Path) {
    links.add(link, &without_links(target));
    links.add(link, target);
}

fn link_text(path: &Path) -> Option<Vec<u8>> {
    match read(&Spot::of(path).ok()?)?.content? {
        Content::Link(target) => Some(target.to_path().as_os_str().as_bytes().to_vec()),
        Content::File(..) => None,
    }
}

/// Whether an object has this content, as a file or as a link.
fn is_content(content: &[u8], object: &[u8]) -> bool {
    NAME_LENGTHS.contains(&object.len()) && object_name(ObjectKind::Blob, content, object.len()) == object
}
