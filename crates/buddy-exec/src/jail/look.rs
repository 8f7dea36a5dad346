//! A search of the places that a command may write: files that programs take orders from, and files that hold
//! secrets.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use buddy_protocol::NameSet;
use rustix::fs::FileType;

use super::names::{GIT, Names};
use super::walk::{Budget, Go, Listed, Unseen, UnseenReason, Visited, Visitor, as_text, walk};
use super::write_places::WritePlaces;
use crate::git_marks::{is_half, is_whole};
use crate::git_state::{GitState, git_state, shared_git_state};
use crate::link_look::look_behind_link;

/// Directories of a repository's own directory where branches and tags are files and directories of any name.
const REFERENCES: [&str; 2] = ["refs", "logs"];

/// Directories that git has in the own directory of a repository that is not named `.git`. All others there can be work trees.
const OWN_DIRECTORIES: &[&str] = &[
    "info",
    "logs",
    "modules",
    "objects",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    "worktrees",
];

/// A name of the own directory of a repository that has only linked work trees.
const BARE: &str = ".bare";

/// The socket of a process that watches the work tree for git, the only object besides files and directories that git makes.
const WATCHER: &str = "fsmonitor--daemon.ipc";

/// The digits of the shortest name of an object.
const OBJECT_DIGITS: usize = 40;

/// A part of a repository's own directory, by which a search knows that it is to find repositories.
const GIT_CONFIG: &str = ".git/config";

/// The most links that are followed in search of secrets.
const MAX_LINKS: usize = 2000;

/// The most links at the start of protected names that are looked behind: one search takes a few dozen steps for each. With more of them, a
/// command could read what is behind the others.
const MAX_BEGINNINGS: usize = 1000;

/// The most links that are noted by their names. Their names are rare.
const MAX_NAMED_LINKS: usize = 10_000;

/// The most entries of shared places that are searched, and the depth: tests leave much there.
const SHARED_ENTRIES: usize = 300_000;
const SHARED_DEPTH: usize = 24;
const SHARED_TIME: Duration = Duration::from_secs(1);

/// Directories of installed packages.
pub(super) const INSTALLED: &[&str] = &["node_modules", "site-packages"];

/// The most names of each directory of the home that are searched for secrets, the depth below the home, and the time for all: the search
/// is part of every start of a command. One directory for all would leave the others to those who can fill one.
const HOME_ENTRIES: usize = 20_000;
const HOME_DEPTH: usize = 3;
const HOME_TIME: Duration = Duration::from_secs(6);

/// The number of times that links behind links are searched for.
const MAX_LINKED_ROUNDS: usize = 8;

/// The result of a search. Paths are without links.
#[derive(Debug, Default)]
pub(super) struct Sights {
    /// Files and directories that programs take orders from, with everything below.
    pub(super) orders: BTreeSet<PathBuf>,
    /// Files that say where the own directory of a repository is.
    pub(super) git_files: BTreeSet<PathBuf>,
    /// Own directories of repositories.
    pub(super) git: BTreeSet<PathBuf>,
    /// Objects in them that git does not make: links, pipes, devices.
    pub(super) git_links: BTreeSet<PathBuf>,
    /// Objects in them that are not free to write, and why.
    pub(super) git_state: BTreeMap<PathBuf, GitState>,
    /// Directories that lack only a name or two to be such.
    pub(super) half_git: BTreeSet<PathBuf>,
    /// Links at the start of a name that programs take orders from, such as `.cargo`.
    pub(super) order_links: BTreeSet<PathBuf>,
    /// Files that hold secrets.
    pub(super) sealed: BTreeSet<PathBuf>,
    /// Directories elsewhere that links lead to.
    pub(super) linked: BTreeSet<PathBuf>,
    /// Links whose name is part of one that programs take orders from.
    pub(super) named_links: BTreeSet<PathBuf>,
    /// Whether there are more of them.
    pub(super) has_more_links: bool,
    /// The place where the search was cut short.
    pub(super) unseen: Option<Unseen>,
    /// Directories that lie too deep to be searched.
    pub(super) too_deep: Vec<PathBuf>,
    /// Directories that were not searched, or not to their end, since there are too many names.
    pub(super) unsearched: Vec<PathBuf>,
}

impl Sights {
    /// Whether the search was not cut short.
    pub(super) fn is_whole(&self) -> bool {
        self.unseen.is_none()
    }
}

/// Searches everything beneath the roots, but not the places in `past`.
pub(super) fn look(
    roots: &[PathBuf],
    orders: &Names,
    sealed: &Names,
    past: &[PathBuf],
    mut budget: Budget,
) -> Sights {
    let mut looker = Looker::new(orders, sealed, past, None, MAX_LINKS);
    for root in roots {
        walk(root, &mut budget, &mut looker);
    }
    let Budget { unseen, too_deep, unsearched, .. } = budget;
    let unseen = looker.sights.unseen.take().or(unseen);
    Sights { unseen, too_deep, unsearched, ..looker.sights }
}

/// Searches the top of the home for secrets, without the places in `past`.
pub(super) fn look_home(home: &Path, sealed: &Names, past: &[PathBuf]) -> Sights {
    let orders = Names::default();
    let mut looker = Looker::new(&orders, sealed, past, None, MAX_LINKS);
    let unsearched = walk_home(home, past, &mut looker);
    Sights { unsearched, ..looker.sights }
}

/// Finds further names of files in the top of the home.
pub(super) fn names_in_home(
    home: &Path,
    objects: &HashSet<(u64, u64)>,
    past: &[PathBuf],
) -> BTreeSet<PathBuf> {
    let mut finder = Finder::new(objects, past);
    if !objects.is_empty() {
        walk_home(home, past, &mut finder);
    }
    finder.found
}

/// Shows the top of the home, each of its directories with a budget of its own, and without installed packages. Returns directories for which
/// that was not enough.
fn walk_home(home: &Path, past: &[PathBuf], visitor: &mut dyn Visitor) -> Vec<PathBuf> {
    let mut visitor = WithoutPackages(visitor);
    let end = Instant::now() + HOME_TIME;
    let mut budget = Budget::small(HOME_ENTRIES, 0);
    walk(home, &mut budget, &mut visitor);
    let mut unsearched = budget.unsearched;
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let tops = fs::read_dir(home).into_iter().flatten().flatten().filter(is_directory);
    for top in tops.map(|entry| entry.path()).filter(|top| !past.contains(top)) {
        let mut budget = Budget::small(HOME_ENTRIES, HOME_DEPTH - 1).not_after(end);
        walk(&top, &mut budget, &mut visitor);
        unsearched.append(&mut budget.unsearched);
    }
    unsearched
}

/// A search that does not go into directories of installed packages.
struct WithoutPackages<'a>(&'a mut dyn Visitor);

impl Visitor for WithoutPackages<'_> {
    fn enter(&mut self, visited: &Visited<'_>) {
        self.0.enter(visited);
    }

    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
        if entry.is_directory() && INSTALLED.contains(&entry.folded.as_str()) {
            return Go::Past;
        }
        self.0.see(visited, entry)
    }
}

/// Searches for repositories and for nothing else.
pub(super) fn look_for_repositories(roots: &[PathBuf], mut budget: Budget) -> Sights {
    let orders = &Names::of(&NameSet::trees([GIT_CONFIG]));
    let sealed = &Names::default();
    let mut looker = Looker::new(orders, sealed, &[], None, 0);
    for root in roots {
        walk(root, &mut budget, &mut looker);
    }
    looker.sights
}

/// The most entries that a file tool searches for secrets when a file has more than one name, and the depth.
const TOOL_ENTRIES: usize = 100_000;
const TOOL_DEPTH: usize = 16;

/// Files of these names, which hold secrets.
pub(crate) fn secrets_beneath(roots: &[PathBuf], names: &NameSet) -> BTreeSet<PathBuf> {
    let budget = Budget::small(TOOL_ENTRIES, TOOL_DEPTH);
    look(roots, &Names::default(), &Names::of(names), &[], budget).sealed
}

/// The same directly in a directory.
pub(crate) fn secrets_in(directory: &Path, names: &NameSet) -> BTreeSet<PathBuf> {
    let budget = Budget::small(TOOL_ENTRIES, 0);
    look(&[directory.to_owned()], &Names::default(), &Names::of(names), &[], budget).sealed
}

/// Finds further names of files, by device and inode number.
pub(super) fn names_of_objects(
    roots: &[PathBuf],
    objects: &HashSet<(u64, u64)>,
    past: &[PathBuf],
) -> BTreeSet<PathBuf> {
    find_names(roots, objects, past, &mut Budget::usual())
}

/// The same for files with secrets, or the place where a search for all of them ended.
pub(super) fn secret_names_of(
    roots: &[PathBuf],
    objects: &HashSet<(u64, u64)>,
    past: &[PathBuf],
) -> Result<BTreeSet<PathBuf>, Unseen> {
    let mut budget = Budget::for_secrets();
    let found = find_names(roots, objects, past, &mut budget);
    budget.unseen.filter(Unseen::is_flood).map_or(Ok(found), Err)
}

fn find_names(
    roots: &[PathBuf],
    objects: &HashSet<(u64, u64)>,
    past: &[PathBuf],
    budget: &mut Budget,
) -> BTreeSet<PathBuf> {
    let mut finder = Finder::new(objects, past);
    if objects.is_empty() {
        return finder.found;
    }
    for root in roots {
        walk(root, budget, &mut finder);
    }
    finder.found
}

struct Finder<'a> {
    objects: &'a HashSet<(u64, u64)>,
    past: &'a [PathBuf],
    numbers: HashSet<u64>,
    found: BTreeSet<PathBuf>,
}

impl<'a> Finder<'a> {
    fn new(objects: &'a HashSet<(u64, u64)>, past: &'a [PathBuf]) -> Self {
        let numbers = objects.iter().map(|object| object.1).collect();
        Self { objects, past, numbers, found: BTreeSet::new() }
    }
}

impl Visitor for Finder<'_> {
    fn enter(&mut self, _: &Visited<'_>) {}

    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
        let path = || visited.path.join(&entry.name);
        if entry.is_directory() {
            return if !self.past.is_empty() && self.past.contains(&path()) { Go::Past } else { Go::Into };
        }
        if self.numbers.contains(&entry.number)
            && fs::symlink_metadata(path())
                .is_ok_and(|found| self.objects.contains(&(found.dev(), found.ino())))
        {
            self.found.insert(path());
        }
        Go::Past
    }
}

/// Files with more than one name, by device and inode number.
pub(super) fn linked_objects<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> HashSet<(u64, u64)> {
    let found = files.into_iter().filter_map(|file| fs::symlink_metadata(file).ok());
    found
        .filter(|found| found.is_file() && found.nlink() > 1)
        .map(|found| (found.dev(), found.ino()))
        .collect()
}

/// Searches places that everybody writes, and layers over caches. Only names at the very top count there, which
/// apply to everything below, and the targets of links in a workspace, also by way of further links. All else may
/// belong to other programs, which make repositories there too.
pub(super) fn look_shared(
    places: &WritePlaces,
    orders: &Names,
    past: &[PathBuf],
    linked: &BTreeSet<PathBuf>,
) -> Sights {
    let mut linked = linked.clone();
    let mut rounds = 0..MAX_LINKED_ROUNDS;
    loop {
        let sealed = &Names::default();
        let mut looker = Looker::new(orders, sealed, past, Some(&linked), MAX_LINKS);
        let mut budget = Budget::small(SHARED_ENTRIES, SHARED_DEPTH).within(SHARED_TIME);
        let in_layers = |path: &&PathBuf| places.is_in_layers(path);
        for root in places.open.iter().chain(linked.iter().filter(in_layers)) {
            walk(root, &mut budget, &mut looker);
        }
        let sights = Sights { unseen: budget.unseen, too_deep: budget.too_deep, ..looker.sights };
        let before = linked.len();
        linked.extend(sights.linked.iter().cloned());
        if linked.len() == before || rounds.next().is_none() {
            return sights;
        }
    }
}

/// A directory of a repository's own directory, or that itself.
#[derive(Debug, Clone)]
struct OwnDirectory {
    /// Its names below that one.
    names: Vec<String>,
    /// Whether everything below is free to write, or noted already.
    is_free: bool,
    /// Whether others than git make files in that one.
    is_shared: bool,
    /// Whether it lacks a name to be one.
    is_half: bool,
}

impl OwnDirectory {
    fn top(visited: &Visited<'_>, is_half: bool) -> Self {
        let is_of_git = |name: &String| name == GIT || name == BARE || name.ends_with(GIT);
        let is_shared = !visited.names.last().is_some_and(is_of_git) && !is_inside_git(visited);
        Self { names: Vec::new(), is_free: false, is_shared: is_shared || is_half, is_half }
    }
}

/// Whether a directory is that of a submodule or a work tree, which git alone makes.
fn is_inside_git(visited: &Visited<'_>) -> bool {
    let names = visited.names.iter().zip(visited.names.iter().skip(1));
    names.into_iter().any(|(above, name)| above == GIT && (name == "modules" || name == "worktrees"))
}

struct Looker<'a> {
    orders: &'a Names,
    sealed: &'a Names,
    past: &'a [PathBuf],
    /// In a place that everybody writes: directories in which repositories and names count all the same.
    shared: Option<&'a BTreeSet<PathBuf>>,
    sights: Sights,
    /// Whether the directory that was entered is a repository's own.
    is_git: bool,
    /// The part of a repository's own directory that it is, if any.
    own: Option<OwnDirectory>,
    /// Such directories that are entered later.
    later: HashMap<PathBuf, OwnDirectory>,
    links: usize,
    beginnings: usize,
}

impl Visitor for Looker<'_> {
    fn enter(&mut self, visited: &Visited<'_>) {
        let has_git_parts = !self.orders.git_parts().is_empty();
        self.is_git = has_git_parts && is_git_directory(visited);
        self.own = self.later.remove(visited.path);
        if self.is_git && self.is_ours(visited) {
            self.sights.git.insert(visited.path.to_owned());
            self.own = Some(OwnDirectory::top(visited, false));
        }
        if has_git_parts && !self.is_git && is_half_git(visited) && self.is_ours(visited) {
            self.sights.half_git.insert(visited.path.to_owned());
            self.own.get_or_insert_with(|| OwnDirectory::top(visited, true));
        }
    }

    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
        // The parts that git takes orders from are compared by themselves.
        if self.is_git && self.orders.git_parts().contains(&entry.folded) {
            return Go::Past;
        }
        let path = || visited.path.join(&entry.name);
        if entry.is_directory() && !self.past.is_empty() && self.past.contains(&path()) {
            return Go::Past;
        }
        if let Some(own) = self.own.take() {
            self.note_own(visited, entry, &own);
            self.own = Some(own);
        }
        if entry.folded == GIT && !entry.is_directory() && !self.orders.git_parts().is_empty() {
            if self.is_ours(visited) || visited.names_below().is_empty() {
                self.sights.git_files.insert(path());
            }
            return Go::Past;
        }
        let is_in =
            |names: &Names| names.has(visited.names, visited.depth, &entry.folded, entry.is_directory());
        let is_at_top = || self.orders.is_at_top(visited.names, visited.depth, &entry.folded);
        let is_order =
            is_in(self.orders) && (is_at_top() || self.is_ours(visited)) && !is_reference(visited, entry);
        if is_order {
            self.sights.orders.insert(path());
        }
        if entry.kind == FileType::Symlink {
            if self.is_ours(visited) {
                self.note_link(path, &entry.folded);
                let is_secret = |is_directory| {
                    self.sealed.has(visited.names, visited.depth, &entry.folded, is_directory)
                        && !is_reference(visited, entry)
                };
                let named = NamedSecret { file: is_secret(false), directory: is_secret(true) };
                self.follow(&path(), named);
                self.look_behind(visited, entry);
            }
        } else if is_in(self.sealed) && !is_reference(visited, entry) {
            self.seal(path(), entry.is_directory());
            return Go::Past;
        }
        if is_order || !self.leads_on(visited, entry) { Go::Past } else { Go::Into }
    }
}

impl<'a> Looker<'a> {
    fn new(
        orders: &'a Names,
        sealed: &'a Names,
        past: &'a [PathBuf],
        shared: Option<&'a BTreeSet<PathBuf>>,
        links: usize,
    ) -> Self {
        let (sights, later) = (Sights::default(), HashMap::new());
        Self {
            orders,
            sealed,
            past,
            shared,
            sights,
            is_git: false,
            own: None,
            later,
            links,
            beginnings: MAX_BEGINNINGS,
        }
    }

    /// Notes an entry of a directory in which git alone makes something.
    fn note_own(&mut self, visited: &Visited<'_>, entry: &Listed, own: &OwnDirectory) {
        let is_named = visited.names_below().iter().any(|name| name == GIT)
            || visited.names.last().is_some_and(|name| name == GIT);
        let path = || visited.path.join(&entry.name);
        match entry.kind {
            FileType::Directory => {
                let may_be_work_tree = (self.is_git && !is_named) || (own.is_half && own.names.is_empty());
                if !may_be_work_tree || OWN_DIRECTORIES.contains(&entry.folded.as_str()) {
                    let below = self.note_state(visited, entry, own);
                    self.later.insert(path(), below);
                }
            }
            FileType::RegularFile => drop(self.note_state(visited, entry, own)),
            _ if own.is_half => {}
            FileType::Socket if entry.folded == WATCHER => {}
            _ => drop(self.sights.git_links.insert(path())),
        }
    }

    /// Notes an entry that steers git, or that git does not write. Returns what it is as a directory.
    fn note_state(&mut self, visited: &Visited<'_>, entry: &Listed, own: &OwnDirectory) -> OwnDirectory {
        let mut below = own.clone();
        if own.is_free {
            return below;
        }
        below.names.push(entry.name.to_string_lossy().into_owned());
        let names: Vec<&str> = below.names.iter().map(String::as_str).collect();
        // The parts that git takes orders from are compared by themselves.
        let is_part = |from: usize| {
            let part = names.get(from..).unwrap_or_default().join("/");
            self.orders.git_parts().contains(&part)
        };
        let state = if own.is_shared { shared_git_state } else { git_state };
        let state = state(&names, entry.is_directory());
        below.is_free = !matches!(state, GitState::Inside);
        if !matches!(state, GitState::Inside | GitState::Free) && !(0..names.len()).any(is_part) {
            self.sights.git_state.insert(visited.path.join(&entry.name), state);
        }
        below
    }

    /// Whether anything below an entry can count. In a place that everybody writes, that is little, and the files of other programs are
    /// not searched, however many there are.
    fn leads_on(&self, visited: &Visited<'_>, entry: &Listed) -> bool {
        let Some(linked) = self.shared.filter(|_| entry.is_directory()) else { return true };
        let path = visited.path.join(&entry.name);
        let is_above_linked =
            || linked.range(path.clone()..).next().is_some_and(|first| first.starts_with(&path));
        let is_repository = || entry.folded == GIT && visited.names_below().is_empty();
        is_above_linked()
            || is_repository()
            || self.later.contains_key(&path)
            || self.is_ours(visited)
            || self.orders.leads_to_top(visited.names, visited.depth, &entry.folded)
    }

    /// Whether orders in a directory are this session's business: everywhere but in a place that everybody
    /// writes, where links have to lead to it. The repository at the very top applies to everything below.
    fn is_ours(&self, visited: &Visited<'_>) -> bool {
        let is_top = matches!(visited.names_below(), [name] if name == GIT);
        self.shared
            .is_none_or(|linked| is_top || visited.path.ancestors().any(|above| linked.contains(above)))
    }

    /// Notes a link through which a file can have a name that programs take orders from.
    fn note_link(&mut self, path: impl Fn() -> PathBuf, folded: &String) {
        if !self.orders.has_part(folded) {
            return;
        }
        if self.sights.named_links.len() < MAX_NAMED_LINKS {
            self.sights.named_links.insert(path());
        } else {
            self.sights.has_more_links = true;
        }
    }

    /// A link that the workspace carries leads to a secret in any place, and to orders for programs that go
    /// through it.
    fn follow(&mut self, link: &Path, named: NamedSecret) {
        if self.links == 0 {
            return;
        }
        self.links -= 1;
        let Ok(target) = link.canonicalize() else { return };
        let Ok(found) = target.metadata() else { return };
        let is_secret = (named.file && found.is_file()) || (named.directory && found.is_dir());
        if is_secret && !is_of_the_system(&target) && !has_only_certificates(link) {
            self.seal(target.clone(), found.is_dir());
        }
        if found.is_dir() && !self.orders.is_empty() {
            self.sights.linked.insert(target);
            return;
        }
        let names = buddy_protocol::fold_path(&target);
        let is_sealed = names.iter().enumerate().any(|(at, name)| {
            self.sealed.has(names.get(..at).unwrap_or_default(), 0, name, at + 1 < names.len())
        });
        if is_sealed && found.is_file() {
            self.sights.sealed.insert(target);
        }
    }

    /// A link at the start of a name leads to secrets by the rest of it, and to orders.
    fn look_behind(&mut self, visited: &Visited<'_>, entry: &Listed) {
        let begins = |names: &Names| names.may_begin(visited.names, &entry.folded);
        let (is_order, is_secret) = (begins(self.orders), begins(self.sealed));
        if !is_order && !is_secret {
            return;
        }
        let link = visited.path.join(&entry.name);
        if is_order {
            self.sights.order_links.insert(link.clone());
        }
        let Some(left) = self.beginnings.checked_sub(1) else {
            let unseen = || Unseen { at: as_text(visited.path), why: UnseenReason::TooManyNames };
            self.sights.unseen.get_or_insert_with(unseen);
            return;
        };
        self.beginnings = left;
        let behind = if is_secret { look_behind_link(&link, self.sealed.long()) } else { None };
        for secret in behind.into_iter().flat_map(|behind| behind.there) {
            let is_directory = secret.is_dir();
            self.seal(secret, is_directory);
        }
    }

    /// A directory of secrets is sealed file by file, so that its names are seen.
    fn seal(&mut self, path: PathBuf, is_directory: bool) {
        let files = if is_directory { files_beneath(&path) } else { BTreeSet::from([path]) };
        let real = |file: PathBuf| if file.is_symlink() { file.canonicalize().ok() } else { Some(file) };
        let files = files.into_iter().filter_map(real).filter(|file| !is_of_the_system(file));
        self.sights.sealed.extend(files.filter(|file| !has_only_certificates(file)));
    }
}

/// Whether a link has the name of a secret, as one to a file or to a directory.
#[derive(Clone, Copy)]
struct NamedSecret {
    file: bool,
    directory: bool,
}

/// Directories of programs and devices. A link to them is no secret, and to cover one could stop every command.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix", "/proc", "/sys", "/dev"];

fn is_of_the_system(path: &Path) -> bool {
    SYSTEM.iter().any(|place| path.starts_with(place))
}

/// The largest file that is searched for keys. Bundles of certificates have a few hundred kilobytes.
const MAX_BUNDLE: u64 = 1024 * 1024;

/// Whether a file in the format of keys and certificates has certificates and no key, as every Python environment brings one.
fn has_only_certificates(file: &Path) -> bool {
    // Copies such as `ca.pem.bak` too.
    let is_pem = file.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().contains(".pem"));
    let is_small = || fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= MAX_BUNDLE);
    if !is_pem || !is_small() {
        return false;
    }
    let text = fs::read(file).unwrap_or_default();
    let has = |words: &[u8]| memchr::memmem::find(&text, words).is_some();
    has(b"-----BEGIN CERTIFICATE-----") && !has(b"KEY-----")
}

/// Whether git would take a directory for the own directory of a repository, or of one of its work trees.
fn is_git_directory(visited: &Visited<'_>) -> bool {
    visited.names.last().is_some_and(|name| name == GIT) || is_whole(|name| visited.has(name))
}

/// Whether a directory becomes such with a name or two more. Where git keeps branches, they have these names too.
fn is_half_git(visited: &Visited<'_>) -> bool {
    let is_of_references = || visited.names_below().iter().any(|name| REFERENCES.contains(&name.as_str()));
    is_half(|name| visited.has(name)) && !is_of_references()
}

/// Whether git keeps a branch or a tag there. Their names begin with no dot, and their files with the name of an object.
fn is_reference(visited: &Visited<'_>, entry: &Listed) -> bool {
    // A workspace in a repository's own directory is not a place for branches because of a name above it.
    let from_root = visited.names.get(visited.depth.saturating_sub(1)..).unwrap_or_default();
    let inside = from_root.iter().skip_while(|name| *name != GIT);
    if !inside.skip(1).any(|name| REFERENCES.contains(&name.as_str())) || entry.folded.starts_with('.') {
        return false;
    }
    let starts_with_object = || {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let mut digits = [0; OBJECT_DIGITS];
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(visited.path.join(&entry.name));
        opened.and_then(|mut file| file.read_exact(&mut digits)).is_ok()
            && digits.iter().all(u8::is_ascii_hexdigit)
    };
    entry.is_directory() || (entry.kind == FileType::RegularFile && starts_with_object())
}

/// The most files of one directory that are listed one by one, and the depth.
const MAX_FILES: usize = 2000;
const MAX_FILE_DEPTH: usize = 8;

/// All files beneath a path, or the path itself when it is one. Links are files.
pub(super) fn files_beneath(path: &Path) -> BTreeSet<PathBuf> {
    list_beneath(path).files
}

/// Files beneath a path.
pub(super) struct FileList {
    pub(super) files: BTreeSet<PathBuf>,
    /// The reason why there may be more.
    pub(super) unseen: Option<Unseen>,
}

/// The same, and whether these are all.
pub(super) fn list_beneath(path: &Path) -> FileList {
    struct Files(BTreeSet<PathBuf>);
    impl Visitor for Files {
        fn enter(&mut self, _: &Visited<'_>) {}
        fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
            if !entry.is_directory() {
                self.0.insert(visited.path.join(&entry.name));
            }
            Go::Into
        }
    }
    let mut files = Files(BTreeSet::new());
    let mut budget = Budget::small(MAX_FILES, MAX_FILE_DEPTH);
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        walk(path, &mut budget, &mut files);
    } else {
        files.0.insert(path.to_owned());
    }
    FileList { files: files.0, unseen: budget.unseen }
}
