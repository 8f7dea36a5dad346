//! The state before a command of names that programs take orders from, and the changes since.
//!
//! The kernel guards as much as it can. Everything else is compared: new files are moved to quarantine, and
//! changed files too, with the old content put back.

mod index;
mod new_git;
mod references;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use buddy_protocol::fold_path;

use super::baselines::{Baseline, Register, Turn, register_changed_at};
use super::config_writes::CONFIG;
use super::git_config::{ConfigPlace, MAX_CONFIG, judge_change, with_harmless_additions};
use super::look::{Sights, files_beneath, linked_objects, list_beneath, look, look_shared, names_of_objects};
use super::names::Names;
use super::quarantine::{Content, Moved, Quarantine, Spot, Stamp, SweepNote, file_time, is_since};
use super::repositories::{remote_gitfiles, repositories};
use super::setuid;
use super::stand_in::is_stand_in;
use super::walk::{Budget, Unseen, is_there};
use super::write_places::WritePlaces;
use crate::link_look::look_behind_link;

/// The largest file that can be put back, and the most bytes that are kept of all of them.
const MAX_KEPT_FILE: u64 = 256 * 1024;
const MAX_KEPT: usize = 16 * 1024 * 1024;

/// Directories of what waits to be continued. git makes them itself, and none of them a link.
const UNFINISHED: &[&str] = &["rebase-apply", "rebase-merge", "sequencer"];

/// The most moves that are reported.
const MAX_TOLD: usize = 50;

const ORDERS: &str = "programs run code from files of this name";
const LEADS_TO_ORDERS: &str = "programs look for code to run behind a link of this name";
const GIT_ORDERS: &str = "git runs code from it";
const CHANGED: &str = "programs run code from this file; buddy put its old content back";
const LOST: &str = "programs run code from this file; its old content was not kept";
const TOO_MANY: &str = "programs run code from it, and it has more files than buddy compares; buddy put back those that were there before";
const TOO_DEEP: &str = "it lies too deep to be looked through";
const NOT_OF_GIT: &str =
    "git makes no links and no pipes in its own directory, and would write to what they lead to";
const FURTHER_NAME: &str =
    "programs run code from this file, and it was renamed; buddy put a copy in its place";
const LEADS_AWAY: &str = "it leads git to settings elsewhere";
const RUNS_PROGRAMS: &str = "it makes git run programs; the harmless part was put back";

/// The state before the command, and where to look for changes.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) roots: Vec<PathBuf>,
    pub(super) orders: Names,
    /// Directories in which a command could make a file with the setuid bit.
    pub(super) writable: Vec<PathBuf>,
    /// Directories that are not searched, as commands do not reach them.
    pub(super) past: Vec<PathBuf>,
    /// Exact paths that did not exist.
    pub(super) missing: Vec<PathBuf>,
    pub(super) known: Sights,
    /// Everything that a command can write. Places in which only parts are searched are so after its last process is gone.
    pub(super) places: WritePlaces,
    known_shared: Sights,
    /// Files that settings of git name, and links on the way to them.
    pub(super) named: BTreeSet<PathBuf>,
    /// Paths that the kernel guards.
    pub(super) covered: BTreeSet<PathBuf>,
    /// The modes of those files, which rules for paths do not protect without mounts.
    modes: BTreeMap<PathBuf, u32>,
    /// Files that the command may change because the user or one of their rules said so.
    pub(super) opened: BTreeSet<PathBuf>,
    /// The files among all these.
    files: BTreeMap<PathBuf, Known>,
    /// Directories that had more files before the command than are listed.
    unlisted: BTreeMap<PathBuf, Unseen>,
    /// Directories of state in repositories that are too large to be compared.
    large_state: BTreeSet<PathBuf>,
    /// Lines of packed references that replaced objects before the command.
    replacements: BTreeMap<PathBuf, BTreeSet<Vec<u8>>>,
    /// The indexes of repositories.
    indexes: BTreeMap<PathBuf, Vec<u8>>,
    kept: usize,
    quarantine: Quarantine,
    /// The place of the command among others that run.
    register: Option<Register>,
    /// Whether another command ran at any moment since. It is not bound by the covers of this one: if it replaces a file below a
    /// cover, this command can write the new one.
    had_company: bool,
    /// When a command last began or ended.
    register_changed: Option<SystemTime>,
    /// The time of the first search.
    began: (i64, i64),
}

#[derive(Debug)]
struct Known {
    /// None if another command may have changed the file before this one started.
    stamp: Option<Stamp>,
    content: Option<Content>,
    /// The number of its names.
    names: u64,
    /// Whether the kernel guards it by its only name. Such a file changes only at the hands of a command that is not bound by
    /// this cover.
    is_held: bool,
}

impl Watched {
    pub(super) fn new(places: WritePlaces, orders: Names, known: Sights, quarantine: Quarantine) -> Self {
        Self {
            roots: places.searched.clone(),
            orders,
            writable: Vec::new(),
            past: Vec::new(),
            missing: Vec::new(),
            known,
            places,
            known_shared: Sights::default(),
            named: BTreeSet::new(),
            covered: BTreeSet::new(),
            modes: BTreeMap::new(),
            opened: BTreeSet::new(),
            files: BTreeMap::new(),
            unlisted: BTreeMap::new(),
            large_state: BTreeSet::new(),
            replacements: BTreeMap::new(),
            indexes: BTreeMap::new(),
            kept: 0,
            quarantine,
            register: None,
            had_company: false,
            register_changed: None,
            began: file_time(),
        }
    }

    /// Searches the places in which only parts are searched.
    pub(super) fn share(&mut self) {
        self.known_shared = self.look_shared(&self.known.linked);
    }

    /// The findings there.
    pub(super) fn known_shared(&self) -> &Sights {
        &self.known_shared
    }

    /// Is bound by the baseline of another command in places that everybody writes.
    pub(super) fn restrict_shared(&mut self, other: &Baseline) {
        other.restrict(&mut self.known_shared);
    }

    /// Whether there is nothing to watch.
    pub(super) fn is_idle(&self) -> bool {
        self.writable.is_empty()
            && self.missing.is_empty()
            && ((self.roots.is_empty() && self.places.open.is_empty()) || self.orders.is_empty())
    }

    /// Notes the state of everything that programs take orders from.
    pub(super) fn note(&mut self) {
        let both = [&self.known, &self.known_shared];
        let gits = both.iter().flat_map(|known| &known.git);
        let parts: Vec<PathBuf> = gits.flat_map(|git| self.parts_of(git)).collect();
        let orders = both.iter().flat_map(|known| {
            known
                .orders
                .iter()
                .chain(&known.git_files)
                .chain(known.git_links.iter().filter(|path| is_link(path)))
        });
        let places = orders.chain(&parts).chain(&self.named);
        let listed: Vec<_> =
            places.map(|path| (path.clone(), self.covered.contains(path), list_beneath(path))).collect();
        let unlisted = listed.iter().filter_map(|(path, _, list)| Some((path.clone(), list.unseen.clone()?)));
        self.unlisted = unlisted.collect();
        // A directory that is too large to be compared is always covered, and has too many files to be read.
        let files = listed
            .into_iter()
            .filter(|(_, is_covered, list)| !is_covered || list.unseen.is_none())
            .flat_map(|(_, is_covered, list)| list.files.into_iter().map(move |file| (is_covered, file)));
        // A cover goes when somebody outside replaces the file below it, as git does with settings.
        let is_held =
            |is_covered: bool, file: &Path| is_covered && !has_further_names(file) && !self.is_config(file);
        let files: Vec<(bool, PathBuf)> =
            files.map(|(is_covered, file)| (is_held(is_covered, &file), file)).collect();
        for (is_held, file) in files {
            if !is_stand_in(&file) {
                self.note_file(file, is_held);
            }
        }
        self.note_state();
    }

    /// Notes the modes of the files that the kernel guards.
    pub(super) fn note_modes(&mut self) {
        let files = self.covered.iter().flat_map(|path| files_beneath(path));
        let mode = |file: PathBuf| {
            let found = fs::symlink_metadata(&file).ok().filter(fs::Metadata::is_file)?;
            Some((file, found.mode()))
        };
        self.modes = files.filter_map(mode).collect();
    }

    fn note_file(&mut self, path: PathBuf, is_held: bool) {
        let Some(FoundFile { stamp, content, names }) = Spot::of(&path).ok().and_then(|spot| read(&spot))
        else {
            return;
        };
        let content = content.filter(|content| match content {
            Content::File(bytes, _) => self.kept + bytes.len() <= MAX_KEPT,
            Content::Link(_) => true,
        });
        if let Some(Content::File(bytes, _)) = &content {
            self.kept += bytes.len();
        }
        self.files.insert(path, Known { stamp: Some(stamp), content, names, is_held });
    }

    /// The places in a repository's own directory that git takes orders from.
    fn parts_of(&self, git: &Path) -> Vec<PathBuf> {
        self.orders.git_parts().iter().map(|part| git.join(part)).collect()
    }

    /// Takes the present state for the one before: no process of the command has run since the last search.
    /// Other commands may have, so their baselines bind this one too.
    pub(super) fn adopt(&mut self) {
        let turn = self.register.as_ref().map(|register| Turn::take(register.quarantine()));
        let Ok(turn) = turn.transpose() else { return };
        let others = match (&self.register, &turn) {
            (Some(register), Some(turn)) => register.others(turn),
            _ => Vec::new(),
        };
        self.known = self.look();
        self.known_shared = self.look_shared(&self.known.linked);
        for other in &others {
            other.restrict(&mut self.known);
            other.restrict(&mut self.known_shared);
        }
        self.missing.retain(|path| !is_there(path) || others.iter().any(|other| other.misses(path)));
        self.files.clear();
        self.kept = 0;
        self.note();
        self.inherit(&others);
        self.publish(turn.as_ref());
    }

    /// Takes over the contents that other commands found before they could change them.
    pub(super) fn inherit(&mut self, others: &[Baseline]) {
        self.had_company |= !others.is_empty();
        for other in others {
            self.files.retain(|file, _| !other.lacks_file(file));
            for (file, content) in &other.files {
                if let Some(known) = self.files.get_mut(file).filter(|known| known.content != *content) {
                    known.stamp = None;
                    known.content.clone_from(content);
                }
            }
            for (packed, lines) in &other.replacements {
                if let Some(known) = self.replacements.get_mut(packed) {
                    known.retain(|line| lines.contains(line));
                }
            }
        }
    }

    /// Takes its place among the commands that run.
    pub(super) fn join(&mut self, register: Option<Register>) {
        self.register_changed =
            register.as_ref().and_then(|register| register_changed_at(register.quarantine()));
        self.register = register;
    }

    /// Publishes the baseline for commands that start later.
    pub(super) fn publish(&mut self, turn: Option<&Turn>) {
        let both = [&self.known, &self.known_shared];
        let names = both.iter().flat_map(|known| {
            let gits = known.git.iter().chain(&known.git_links).chain(&known.half_git);
            let gits = gits.chain(known.git_state.keys()).chain(&known.order_links);
            known.orders.iter().chain(&known.git_files).chain(gits)
        });
        let baseline = Baseline {
            roots: self.roots.clone(),
            is_whole: self.known.is_whole(),
            began: self.began,
            names: names.chain(&self.named).cloned().collect(),
            covered: self.covered.clone(),
            missing: self.missing.iter().cloned().collect(),
            files: self.files.iter().map(|(path, known)| (path.clone(), known.content.clone())).collect(),
            replacements: self.replacements.clone(),
        };
        if let (Some(register), Some(turn)) = (self.register.as_mut(), turn)
            && let Err(error) = register.publish(turn, baseline)
        {
            tracing::warn!(%error, "the baseline of a command was not published");
        }
    }

    /// Moves away the command's changes at names that programs take orders from. The number of reported moves
    /// is bounded.
    pub(super) fn sweep(&mut self) -> Vec<SweepNote> {
        self.look_for_company();
        let now = self.look();
        self.sweep_roots(&now).into_iter().map(SweepNote::Moved).collect()
    }

    /// The same after the last process of the command is gone: also in places that everybody writes, where a
    /// running command may need its files. Also reports directories that were not searched.
    pub(super) fn sweep_all(&mut self) -> Vec<SweepNote> {
        self.look_for_company();
        let now = self.look();
        let mut moved = self.sweep_roots(&now);
        let linked = self.known.linked.union(&now.linked).cloned().collect();
        let shared = self.look_shared(&linked);
        self.sweep_sights(
            &self.known_shared,
            &shared,
            |file| self.leads_home(file, &[&shared, &now]),
            &mut moved,
        );
        self.sweep_indexes(&shared, &mut moved);
        moved.truncate(MAX_TOLD);
        let unseen = [&self.known, &now, &self.known_shared, &shared].map(|sights| sights.unseen.clone());
        let unlisted = self.unlisted.values().next().cloned();
        let unseen: Option<Unseen> = unseen.into_iter().flatten().chain(unlisted).next();
        unseen.map(SweepNote::Unseen).into_iter().chain(moved.into_iter().map(SweepNote::Moved)).collect()
    }

    /// Notes whether another command has begun or ended since the last look.
    fn look_for_company(&mut self) {
        let Some(register) = &self.register else { return };
        let changed = register_changed_at(register.quarantine());
        self.had_company |= changed != self.register_changed;
        self.register_changed = changed;
    }

    fn sweep_roots(&self, now: &Sights) -> Vec<Moved> {
        setuid::strip(&self.writable, &self.past, self.began);
        for (file, mode) in &self.modes {
            if fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.mode() != *mode) {
                // Only this account can have changed it, so this account can change it back.
                let _ = fs::set_permissions(file, fs::Permissions::from_mode(*mode));
            }
        }
        let mut moved = Vec::new();
        // The next command could move up a directory that was never searched.
        for path in now.too_deep.iter().filter(|path| !self.known.too_deep.contains(path)) {
            self.take(path, TOO_DEEP, &mut moved);
        }
        self.sweep_sights(&self.known, now, |file| leads_to(file, now), &mut moved);
        for path in self.named.iter().filter(|path| is_there(path)) {
            self.compare(path, &mut moved);
        }
        // A file of any name leads git on if a remote names it.
        for file in remote_gitfiles(&repositories(now, &self.roots)) {
            let is_known = self.named.contains(&file) || self.known.git_files.contains(&file);
            if !is_known && !leads_to(&file, now) && !self.is_opened(&file) {
                self.take(&file, LEADS_AWAY, &mut moved);
            }
        }
        for path in &self.missing {
            if is_there(path) && !is_stand_in(path) && !self.is_opened(path) {
                self.take(path, ORDERS, &mut moved);
            }
        }
        self.sweep_indexes(now, &mut moved);
        moved.truncate(MAX_TOLD);
        moved
    }

    /// Whether a file of a shared place that names a directory names one that is searched, or that no command
    /// writes: a work tree there belongs to a repository elsewhere.
    fn leads_home(&self, file: &Path, looked_at: &[&Sights]) -> bool {
        looked_at.iter().any(|sights| leads_to(file, sights))
            || named_directory(file).is_some_and(|target| !self.places.has(&target))
    }

    fn sweep_sights(
        &self,
        known: &Sights,
        now: &Sights,
        leads_well: impl Fn(&Path) -> bool,
        moved: &mut Vec<Moved>,
    ) {
        // First, so that a directory is moved as a whole.
        self.sweep_state(known, now, moved);
        for path in now.orders.iter().filter(|path| !self.is_opened(path)).chain(&now.git_files) {
            let is_link_to_git = now.git_files.contains(path);
            if known.orders.contains(path) || known.git_files.contains(path) {
                self.compare(path, moved);
            } else if !is_link_to_git {
                self.take(path, ORDERS, moved);
            } else if !leads_well(path) {
                self.take(path, LEADS_AWAY, moved);
            }
        }
        for link in now.order_links.iter().filter(|link| !self.is_opened(link)) {
            self.check_order_link(link, known.order_links.contains(link), moved);
        }
        for git in &now.git {
            if known.git.contains(git) {
                self.check_known_git(git, moved);
            } else {
                self.check_new_git(git, &leads_well, moved);
            }
        }
        for path in &now.git_links {
            if !known.git_links.contains(path) {
                self.take(path, NOT_OF_GIT, moved);
            } else if is_link(path) {
                self.compare(path, moved);
            }
        }
        // A file tool or the next command could add the rest.
        for git in now.half_git.difference(&known.half_git) {
            self.check_new_git(git, &leads_well, moved);
        }
    }

    /// A link at the start of a name that programs take orders from. A new one goes; one that was there leads to nothing new. It is itself
    /// compared by its own name.
    fn check_order_link(&self, link: &Path, is_known: bool, moved: &mut Vec<Moved>) {
        let names = self.orders.long();
        if !is_known && names.leads_on_by_dot(&fold_path(link)) {
            self.take(link, LEADS_TO_ORDERS, moved);
            return;
        }
        let Some(behind) = look_behind_link(link, names) else { return };
        // A link of an everyday name goes if the rest of the name is there.
        if !is_known && !behind.there.is_empty() {
            self.take(link, LEADS_TO_ORDERS, moved);
        }
        let is_new = |path: &&PathBuf| !self.named.contains(*path) && !self.missing.contains(path);
        for path in behind.there.iter().filter(is_new) {
            if is_known && self.places.has(path) && !self.places.has_inside(path) && !self.is_opened(path) {
                self.take(path, ORDERS, moved);
            }
        }
    }

    fn look(&self) -> Sights {
        look(&self.roots, &self.orders, &Names::default(), &self.past, Budget::usual())
    }

    fn look_shared(&self, linked: &BTreeSet<PathBuf>) -> Sights {
        let past: Vec<PathBuf> = self.past.iter().chain(&self.roots).cloned().collect();
        look_shared(&self.places, &self.orders, &past, linked)
    }

    fn take(&self, path: &Path, why: &str, moved: &mut Vec<Moved>) -> bool {
        // If the first search was cut short, an unknown file may have been there before.
        let is_root = self.roots.iter().any(|root| path.starts_with(root));
        let known = if is_root { &self.known } else { &self.known_shared };
        let is_moved = || !known.too_deep.is_empty() && self.came_up(path);
        if !known.is_whole() && !is_since(path, self.began) && !is_moved() {
            return false;
        }
        match self.quarantine.take(path, why) {
            Ok(taken) => {
                moved.push(taken);
                true
            }
            // It is gone, or another jail has moved it.
            Err(_) => false,
        }
    }

    /// Whether a directory above has changed since: it may have been moved here from a place that was not
    /// searched.
    fn came_up(&self, path: &Path) -> bool {
        let is_below = |above: &&Path| self.roots.iter().any(|root| above.starts_with(root) && above != root);
        path.ancestors().skip(1).take_while(is_below).any(|above| is_since(above, self.began))
    }

    /// Compares a file that was there before. Of files that the kernel guards by name, only those with
    /// further names are compared as long as the command runs alone: nobody but the user changes the others then.
    fn compare(&self, path: &Path, moved: &mut Vec<Moved>) {
        let is_covered = self.covered.contains(path) && !self.had_company;
        let (list, was_whole) = (list_beneath(path), !self.unlisted.contains_key(path));
        if list.unseen.is_some() && was_whole && !is_covered {
            return self.take_whole(path, moved);
        }
        for file in list.files.into_iter().filter(|file| !self.is_opened(file)) {
            let Some(known) = self.files.get(&file) else {
                if !is_covered && (was_whole || is_since(&file, self.began)) {
                    self.take(&file, ORDERS, moved);
                }
                continue;
            };
            if known.is_held && !self.had_company {
                continue;
            }
            let Some(found) = Spot::of(&file).ok().and_then(|spot| read(&spot)) else { continue };
            if Some(found.stamp) == known.stamp {
                continue;
            }
            let (old, new) = (known.content.as_ref(), found.content.as_ref());
            let is_harmless = (new.is_some() && new == old)
                || (self.is_config(&file) && self.is_harmless_change(&file, old, new));
            let why = match old {
                _ if is_harmless && !self.has_new_name(&file, &found, known) => continue,
                _ if is_harmless => FURTHER_NAME,
                Some(_) => CHANGED,
                None => LOST,
            };
            let merged = if self.is_config(&file) { self.merged(&file, old, new) } else { None };
            let why = if merged.is_some() { RUNS_PROGRAMS } else { why };
            if self.take(&file, why, moved) {
                put_back(&file, merged.as_ref().or(old));
            }
        }
    }

    /// Whether a file has a name more than before, at a place that the command may write.
    fn has_new_name(&self, file: &Path, found: &FoundFile, known: &Known) -> bool {
        found.names > known.names.max(1) && {
            let objects = linked_objects([&file.to_owned()]);
            names_of_objects(&self.roots, &objects, &self.past).iter().any(|name| name != file)
        }
    }

    /// Moves away a directory whose files cannot be compared one by one, and puts back those that were there.
    fn take_whole(&self, path: &Path, moved: &mut Vec<Moved>) {
        if !self.take(path, TOO_MANY, moved) {
            return;
        }
        for (file, known) in self.files.iter().filter(|(file, _)| file.starts_with(path)) {
            let mut above: Vec<&Path> =
                file.ancestors().skip(1).take_while(|above| above.starts_with(path)).collect();
            above.reverse();
            for directory in above {
                let _ = Spot::of(directory).and_then(|spot| spot.make_directory());
            }
            put_back(file, known.content.as_ref());
        }
    }

    /// A directory in the workspace whose files cannot all be compared, and that the kernel does not guard either.
    pub(super) fn unguarded(&self) -> Option<&Unseen> {
        let is_held = |path: &PathBuf| self.covered.contains(path) || self.is_opened(path);
        let is_here = |path: &PathBuf| self.roots.iter().any(|root| path.starts_with(root));
        self.unlisted.iter().find(|(path, _)| is_here(path) && !is_held(path)).map(|(_, unseen)| unseen)
    }

    /// Whether all that is at a place may be changed.
    fn is_opened(&self, path: &Path) -> bool {
        let is_free = |path: &Path| self.opened.iter().any(|opened| path.starts_with(opened));
        let is_above = || self.opened.iter().any(|opened| opened.starts_with(path));
        is_free(path)
            || (is_above() && {
                let list = list_beneath(path);
                list.unseen.is_none() && list.files.iter().all(|file| is_free(file))
            })
    }

    /// Whether a file has the settings of a repository that was there before.
    fn is_config(&self, file: &Path) -> bool {
        file.file_name().is_some_and(|name| name == CONFIG)
            && file
                .parent()
                .is_some_and(|git| self.known.git.contains(git) || self.known_shared.git.contains(git))
    }

    fn is_harmless_change(&self, config: &Path, old: Option<&Content>, new: Option<&Content>) -> bool {
        let (Some(Content::File(old, _)), Some(Content::File(new, _))) = (old, new) else { return false };
        let at = ConfigPlace { git: config.parent().unwrap_or(config), places: &self.places };
        judge_change(&at, old, new).is_ok()
    }

    /// The old settings with what was added to them and is harmless.
    fn merged(&self, config: &Path, old: Option<&Content>, new: Option<&Content>) -> Option<Content> {
        let (Some(Content::File(old, mode)), Some(Content::File(new, _))) = (old, new) else { return None };
        let at = ConfigPlace { git: config.parent().unwrap_or(config), places: &self.places };
        with_harmless_additions(&at, old, new).map(|text| Content::File(text, *mode))
    }

    fn check_known_git(&self, git: &Path, moved: &mut Vec<Moved>) {
        for part in self.orders.git_parts().iter().map(|part| git.join(part)) {
            if is_stand_in(&part) || !is_there(&part) || self.is_opened(&part) {
                continue;
            }
            if self.covered.contains(&part) || self.files.keys().any(|known| known.starts_with(&part)) {
                self.compare(&part, moved);
            } else if !is_empty_directory(&part) {
                self.take(&part, GIT_ORDERS, moved);
            }
        }
        self.check_unfinished(git, moved);
    }

    /// Moves away links in the place of a rebase, a cherry-pick or a revert that waits to be continued.
    fn check_unfinished(&self, git: &Path, moved: &mut Vec<Moved>) {
        for directory in UNFINISHED.iter().map(|name| git.join(name)) {
            let is_link = fs::symlink_metadata(&directory).is_ok_and(|found| found.is_symlink());
            if is_link && is_since(&directory, self.began) {
                self.take(&directory, LEADS_AWAY, moved);
            }
        }
    }

    /// Moves away a file that needs lines taken out, and puts the rest back.
    fn filter(&self, path: &Path, rest: impl Fn(&str) -> Option<String>, moved: &mut Vec<Moved>) {
        let Ok(spot) = Spot::of(path) else { return };
        let Ok(found) = spot.metadata() else { return };
        if is_stand_in(path) {
            return;
        }
        let text = spot.read(MAX_CONFIG).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let harmless = match text.as_deref().map(&rest) {
            Some(None) => return,
            Some(Some(harmless)) => Some(harmless.into_bytes()),
            None => None,
        };
        if self.take(path, RUNS_PROGRAMS, moved)
            && let Some(harmless) = harmless
        {
            put_back(path, Some(&Content::File(harmless, found.mode())));
        }
    }
}

/// Whether a place is a directory in which nothing is.
fn is_empty_directory(path: &Path) -> bool {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    is_directory && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Whether a file cannot be put back, or a directory not be compared, so that it must not be changed in the first place.
pub(super) fn is_too_large(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        (found.is_file() && found.len() > MAX_KEPT_FILE)
            || (found.is_dir() && list_beneath(path).unseen.is_some())
    })
}

fn has_further_names(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.nlink() > 1)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// A file or a link as it is now.
struct FoundFile {
    stamp: Stamp,
    content: Option<Content>,
    names: u64,
}

fn read(spot: &Spot) -> Option<FoundFile> {
    let found = spot.metadata().ok()?;
    let content = if found.is_symlink() {
        spot.read_link().ok().map(|target| Content::Link(target.into()))
    } else {
        spot.read(MAX_KEPT_FILE).ok().map(|bytes| Content::File(bytes, found.mode()))
    };
    Some(FoundFile { stamp: Stamp::of(&found), content, names: found.nlink() })
}

/// If the content cannot be put back, it is in quarantine, and in the undo of the session.
fn put_back(path: &Path, content: Option<&Content>) {
    let Ok(spot) = Spot::of(path) else { return };
    let _unlocked = spot.unlock();
    let _ = match content {
        Some(Content::File(bytes, mode)) => spot.write_new(bytes, *mode),
        Some(Content::Link(target)) => spot.link_new(&target.to_path()),
        None => Ok(()),
    };
}

/// Whether a file that names a directory names the own directory of a repository that is searched too.
fn leads_to(file: &Path, now: &Sights) -> bool {
    named_directory(file).is_some_and(|target| now.git.contains(&target))
}

/// The directory that a file names, without links.
fn named_directory(file: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(Spot::of(file).ok()?.read(MAX_CONFIG).ok()?).ok()?;
    let named = text.strip_prefix("gitdir:").unwrap_or(&text).trim();
    file.parent()?.join(named).canonicalize().ok()
}
