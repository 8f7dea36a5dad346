//! Targets of links in protected places: a protected place is an object, and not only a name.
//!
//! People who keep their dotfiles or keys in a folder of their own have links at the usual places, such as
//! `~/.config/git/config` or `~/.ssh/id_work`. The files that these lead to are protected in the same way, wherever they are. The links
//! are looked for once, and again when one of the directories that were looked through has changed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use buddy_exec::{follow_links, look_behind_link};
use buddy_policy::{Keeps, LinkedPlaces, PROTECTED, Places, guarded_names, order_names, secret_names};
use buddy_protocol::{OpenedRoots, fold_path};

/// The most entries of one protected directory that are looked at, nearer ones first, the depth, and the most directories. Each
/// directory is looked at again at every call, for its time only.
const PLACE: LookBounds = LookBounds { entries: 2_000, depth: 4, directories: 64 };

/// The same for the top of the home, and for a workspace. A jail looks through all of that.
const HOME: LookBounds = LookBounds { entries: 2_000, depth: 0, directories: 1 };
const WORK: LookBounds = LookBounds { entries: 50_000, depth: 8, directories: 2_000 };

/// The most targets. A link such as `.config` leads to five dozen places, most of which do not exist.
const MAX_TARGETS: usize = 1_000;

/// How often links in directories that links lead to are looked for, and the most directories that are looked through for that.
const MAX_ROUNDS: usize = 4;
const MAX_SEEN: usize = 4_000;

/// Directories of programs, which hold no secrets of an account. To hide one would stop every command.
const PROGRAMS: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix", "/proc", "/sys", "/dev", "/snap"];

/// Directories of a workspace that are large and hold nothing of the user's.
const PASSED: &[&str] = &[".git", "node_modules", "site-packages", "target"];

/// The links that were found, as long as nothing changes where they were looked for.
#[derive(Default)]
pub(super) struct LinkedTargets {
    /// By the home and the directories that were opened. Held for a look only.
    kept: Mutex<Option<(Vec<PathBuf>, Arc<FoundLinks>)>>,
}

/// How far one look for links goes.
#[derive(Debug, Clone, Copy)]
struct LookBounds {
    entries: usize,
    depth: usize,
    directories: usize,
}

/// Targets, and the directories that were looked through with their times.
#[derive(Default)]
struct FoundLinks {
    targets: BTreeMap<PathBuf, Vec<Keeps>>,
    seen: BTreeMap<PathBuf, Option<SystemTime>>,
}

impl LinkedTargets {
    /// The targets for these places, by their real paths and as beneath the names of the directories that the user opened.
    pub(super) fn of(&self, places: &Places) -> LinkedPlaces {
        let tops = places.home.iter().chain(&places.workspace).chain(&places.untrusted);
        let tops: Vec<PathBuf> = tops.cloned().collect();
        let found = self.found(&tops, places);
        let opened = || places.workspace.iter().chain(&places.scratch).chain(&places.untrusted);
        let named = opened().chain(&places.home);
        let roots: Vec<(&PathBuf, PathBuf)> = named.map(|root| (root, follow_links(root).real)).collect();
        let mut linked = LinkedPlaces::default();
        for (target, keeps) in &found.targets {
            // A directory that the user opened is not protected by a link to it, and a link to the whole home protects nothing.
            if roots.iter().any(|(_, real)| real.starts_with(target)) {
                continue;
            }
            let below = |(root, real): &(&PathBuf, PathBuf)| Some(root.join(target.strip_prefix(real).ok()?));
            let mut names: Vec<PathBuf> = roots.iter().filter_map(below).chain([target.clone()]).collect();
            names.sort();
            names.dedup();
            for keeps in keeps {
                linked_list(&mut linked, *keeps).extend(names.iter().cloned());
            }
        }
        linked
    }

    fn found(&self, tops: &[PathBuf], places: &Places) -> Arc<FoundLinks> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().as_ref().filter(|(of, _)| of == tops).map(|(_, found)| found.clone());
        if let Some(found) = known.filter(|found| found.seen.iter().all(|(at, time)| changed(at) == *time)) {
            return found;
        }
        let found = Arc::new(look(places));
        *kept() = Some((tops.to_owned(), found.clone()));
        found
    }
}

/// The list for a reason to protect a place.
fn linked_list(linked: &mut LinkedPlaces, keeps: Keeps) -> &mut Vec<PathBuf> {
    match keeps {
        Keeps::Secrets => &mut linked.keys,
        Keeps::ToolSecrets => &mut linked.logins,
        Keeps::SecretFiles | Keeps::NoSecrets => &mut linked.secrets,
        Keeps::Orders | Keeps::OrdersIn(_) | Keeps::OrderFiles => &mut linked.orders,
    }
}

fn changed(directory: &Path) -> Option<SystemTime> {
    fs::metadata(directory).ok()?.modified().ok()
}

fn look(places: &Places) -> FoundLinks {
    let mut found = FoundLinks::default();
    if let Some(home) = &places.home {
        let real_home = follow_links(home).real;
        for (name, keeps) in home_places() {
            found.look_at(&home.join(name), &real_home.join(name), keeps);
        }
        found.look_through(home, HOME, |name| by_name(home, name));
    }
    for root in places.workspace.iter().chain(&places.untrusted) {
        found.look_through(root, WORK, |path| by_name(root, path));
    }
    let tops = places.home.iter().chain(&places.workspace).chain(&places.untrusted);
    found.look_in_targets(&tops.map(|top| follow_links(top).real).collect::<Vec<_>>());
    found
}

/// Places of the home, with all the reasons to protect each.
fn home_places() -> impl Iterator<Item = (&'static str, &'static [Keeps])> {
    static PLACES: LazyLock<BTreeMap<&'static str, Vec<Keeps>>> = LazyLock::new(|| {
        let mut places: BTreeMap<&'static str, Vec<Keeps>> = BTreeMap::new();
        let is_wanted = |keeps| !matches!(keeps, Keeps::SecretFiles | Keeps::NoSecrets);
        for row in PROTECTED.iter().filter(|row| is_wanted(row.keeps)) {
            if !row.name.starts_with('/') && !row.name.contains('*') {
                places.entry(row.name).or_default().push(row.keeps);
            }
        }
        places
    });
    PLACES.iter().map(|(name, keeps)| (*name, keeps.as_slice()))
}

/// The reasons to protect the target of a link because of the link's name.
fn by_name(root: &Path, path: &Path) -> Vec<Keeps> {
    let (roots, names) = (OpenedRoots::new([root]), fold_path(path));
    let orders = roots.protects(order_names(), &names).then_some(Keeps::Orders);
    let secrets = roots.protects(secret_names(), &names).then_some(Keeps::SecretFiles);
    orders.into_iter().chain(secrets).collect()
}

impl FoundLinks {
    /// Looks at one place of the home: whether a link leads to it, and at the links in it.
    fn look_at(&mut self, named: &Path, real: &Path, keeps: &[Keeps]) {
        // A new link shows in the time of its directory.
        if let Some(parent) = named.parent() {
            self.seen.entry(parent.to_owned()).or_insert_with(|| changed(parent));
        }
        if fs::symlink_metadata(named).is_err() {
            return;
        }
        let target = follow_links(named).real;
        if target != real {
            self.add(target, keeps);
        }
        if named.is_dir() {
            self.look_through(named, PLACE, |_| keeps.to_vec());
        }
    }

    /// Looks for links beneath a directory. The reasons to protect a target depend on the link.
    fn look_through(&mut self, top: &Path, bounds: LookBounds, keeps: impl Fn(&Path) -> Vec<Keeps>) {
        let mut left = VecDeque::from([(top.to_owned(), 0)]);
        let LookBounds { mut entries, depth, mut directories } = bounds;
        while let Some((directory, level)) = left.pop_front() {
            if directories == 0 {
                return;
            }
            directories -= 1;
            self.seen.insert(directory.clone(), changed(&directory));
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                if entries == 0 {
                    return;
                }
                entries -= 1;
                let Ok(kind) = entry.file_type() else { continue };
                let is_passed = || PASSED.iter().any(|name| entry.file_name() == *name);
                if kind.is_symlink() {
                    let keeps = keeps(&entry.path());
                    if !keeps.is_empty() {
                        self.add(follow_links(&entry.path()).real, &keeps);
                    }
                    self.look_behind(&entry.path());
                } else if kind.is_dir() && level < depth && !is_passed() {
                    left.push_back((entry.path(), level + 1));
                }
            }
        }
    }

    /// Looks for the rest of protected names behind a link that has the first of their names.
    fn look_behind(&mut self, link: &Path) {
        let sets = [(guarded_names(), Keeps::Orders), (secret_names(), Keeps::SecretFiles)];
        for (set, keeps) in sets {
            let Some(behind) = look_behind_link(link, set) else { continue };
            let directories = behind.directories.into_iter();
            self.seen.extend(directories.map(|at| {
                let time = changed(&at);
                (at, time)
            }));
            for target in behind.there.into_iter().chain(behind.missing) {
                self.add(target, &[keeps]);
            }
        }
    }

    /// Looks at the links in directories that links lead to, but not in one that holds the home or a directory that the user opened.
    fn look_in_targets(&mut self, tops: &[PathBuf]) {
        let mut entered = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            let is_new = |target: &&PathBuf| {
                target.is_dir()
                    && !entered.contains(*target)
                    && !tops.iter().any(|top| top.starts_with(target))
            };
            let new: Vec<PathBuf> = self.targets.keys().filter(is_new).cloned().collect();
            for directory in new {
                let keeps = self.targets.get(&directory).cloned().unwrap_or_default();
                if self.seen.len() < MAX_SEEN {
                    self.look_through(&directory, PLACE, |_| keeps.clone());
                }
                entered.insert(directory);
            }
        }
    }

    fn add(&mut self, target: PathBuf, keeps: &[Keeps]) {
        // Orders count where nothing is yet; a secret has to be there, and to be the account's own.
        let is_own = fs::metadata(&target)
            .is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
            && !PROGRAMS.iter().any(|programs| target.starts_with(programs));
        let is_order =
            |keeps: &Keeps| matches!(keeps, Keeps::Orders | Keeps::OrdersIn(_) | Keeps::OrderFiles);
        let keeps: Vec<Keeps> = keeps.iter().copied().filter(|keeps| is_own || is_order(keeps)).collect();
        if keeps.is_empty() || self.targets.len() >= MAX_TARGETS {
            return;
        }
        let known = self.targets.entry(target).or_default();
        for keeps in keeps {
            if !known.contains(&keeps) {
                known.push(keeps);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn plant(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    #[test]
    fn targets_are_found_once_and_again_when_a_link_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (home, work) = (top.join("home"), top.join("home/work"));
        let link = |to: &str, from: &str| {
            fs::create_dir_all(home.join(from).parent().unwrap()).unwrap();
            symlink(home.join(to), home.join(from)).unwrap();
        };
        for name in ["work/gitconfig", "work/awsc", "Sync/key", "Sync/pw/mail", "Sync/npm", "work/conf/live"]
        {
            plant(&home.join(name));
        }
        link("work/gitconfig", ".config/git/config");
        link("work/not-yet", ".config/fish/conf.d/later.fish");
        link("work/awsc", ".aws/credentials");
        link("Sync/key", ".ssh/id_work");
        link("Sync/pw", ".password-store");
        link("Sync/npm", ".npmrc");
        link("work", ".config/nvim");
        link(".", ".config/tmux/all");
        symlink("/usr/bin", home.join(".ssh/programs")).unwrap();
        symlink("conf/live", work.join(".env")).unwrap();
        let places = Places { workspace: vec![work.clone()], home: Some(home.clone()), ..Places::default() };
        let targets = LinkedTargets::default();
        let linked = targets.of(&places);
        let has = |list: &[PathBuf], names: &[&str]| {
            let wanted: Vec<PathBuf> = names.iter().map(|name| home.join(name)).collect();
            assert!(wanted.iter().all(|path| list.contains(path)), "{wanted:?}: {list:?}");
        };
        has(&linked.orders, &["work/gitconfig", "work/not-yet", "Sync/key", "Sync/npm"]);
        has(&linked.keys, &["work/awsc", "Sync/key", "Sync/pw"]);
        has(&linked.logins, &["Sync/npm"]);
        has(&linked.secrets, &["work/conf/live"]);
        let all = [&linked.orders, &linked.keys, &linked.logins, &linked.secrets];
        let is_whole = |path: &PathBuf| *path == work || *path == home;
        assert!(!all.iter().any(|list| list.iter().any(is_whole)), "{linked:?}");
        assert!(!linked.keys.contains(&"/usr/bin".into()), "programs stay");
        assert_eq!(targets.of(&places), linked);
        plant(&home.join("Sync/new"));
        link("Sync/new", ".ssh/id_new");
        has(&targets.of(&places).keys, &["Sync/new"]);
    }
}
