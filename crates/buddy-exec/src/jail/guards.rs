//! The files that the kernel guards and seals for one command, found by names, and those that are
//! left to the sweep.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::baselines::{Baseline, Register, Turn};
use super::config_writes::{CONFIG, ConfigWrites};
use super::ground::Ground;
use super::links::{led_to, links_on_the_way, without_links};
use super::look::{
    Sights, files_beneath, linked_objects, look, look_home, names_in_home, names_of_objects, secret_names_of,
};
use super::names::{GIT, Names};
use super::plain_settings::is_plain;
use super::quarantine::Quarantine;
use super::refusal::{BOUNDS, Refusal};
use super::repositories::{behind_links, remote_directories, remote_gitfiles, repositories, with_links_in};
use super::resolve::{Resolved, What};
use super::stand_in::{StandIn, clear_left_behind, is_stand_in};
use super::walk::{Budget, Unseen, is_there};
use super::watched::{Watched, is_too_large};
use super::words::Place;
use super::write_places::{WritePlaces, roots_to_watch, shared_roots};
use crate::Bounds;
use crate::git_orders::{GitHome, NamedFiles, Repository, entries_to, gitfile_target, named_by};
use crate::link_look::look_behind_link;

/// The most names that the kernel guards, the nearest first: bubblewrap takes a quarter of a second for 200
/// mounts and a second for 500. The others are left to the sweep.
const MAX_COVERED: usize = 120;

/// The most secrets of the write roots that are sealed. A command with more of them in reach is refused:
/// decoys would otherwise leave the real one open.
const MAX_SEALED: usize = 400;

/// The most secrets elsewhere that get a mount each, the nearest first: each takes its time, and more of it the more there are. Rules of
/// Landlock keep commands from the others.
const MAX_MOUNTED_ELSEWHERE: usize = 100;

const TOO_MANY_NAMED: &str = "there are too many git repositories, or their settings name too many files; nothing could keep a command \
                             from changing the programs that they name";

/// The directory in which a repository has the own directories of its further work trees.
const WORK_TREES: &str = ".git/worktrees";

/// The guards of one command.
pub(super) struct Guards {
    pub(super) watched: Watched,
    /// Kept until the last process of the command is gone.
    pub(super) stand_ins: Vec<StandIn>,
    /// Writes settings of git.
    pub(super) configs: ConfigWrites,
}

/// The surroundings of a command, as far as its guards are concerned.
pub(super) struct Scene<'a> {
    pub(super) cwd: &'a Path,
    pub(super) home: Option<&'a Path>,
    /// The directory of programs' settings, when that is not in the home.
    pub(super) config_home: Option<&'a Path>,
    pub(super) place: Place,
    pub(super) quarantine: Option<PathBuf>,
}

impl Guards {
    /// Searches the roots, and adds to the ground the paths that the kernel has to guard and to
    /// seal.
    pub(super) fn put(bounds: &Bounds, ground: &mut Ground, scene: &Scene<'_>) -> Result<Self, Refusal> {
        let orders =
            if scene.place == Place::Light { Names::default() } else { Names::of(&bounds.guarded_names) };
        if scene.place == Place::Light {
            ground.guarded.clear();
            ground.missing.clear();
        }
        let sealed = Names::of(&bounds.sealed_names);
        let writes = WritePlaces::of(bounds, ground, scene.cwd);
        let roots = writes.searched.clone();
        let past: Vec<PathBuf> = ground.hidden.iter().map(|hidden| hidden.path.clone()).collect();
        for path in &ground.missing {
            clear_left_behind(path);
        }
        // No other command starts until this one has published its baseline.
        let (turn, register, others) = join(scene);
        let mut sights = look(&roots, &orders, &sealed, &past, budget_for(&sealed));
        sights.orders.retain(|path| !clear_left_behind(path));
        for other in &others {
            restrict_ground(ground, other);
            other.restrict(&mut sights);
        }
        clear_parts_left_behind(&sights.git, &orders);
        refuse_flood(&sights, &sealed)?;
        let found = std::mem::take(&mut sights.sealed);
        seal(found, bounds, ground, scene, &Searched { names: &sealed, roots: &roots, past: &past })?;
        let mut named = Named::find(&sights, &writes.searched, &writes, &orders, scene)?;
        for other in &others {
            named.restrict(other);
        }
        let removed = with_work_trees(&bounds.removed);
        let is_removed = |path: &Path| removed.iter().any(|removed| path.starts_with(removed));
        ground.guarded.retain(|guarded| !is_removed(&guarded.path));
        let near: Vec<&Path> = roots.iter().map(PathBuf::as_path).chain([scene.cwd]).collect();
        let opened: BTreeSet<PathBuf> = bounds.opened.iter().map(|path| without_links(path)).collect();
        let is_near = |path: &&PathBuf| is_near(path, &near) || is_too_large(path);
        let near_orders = sights.orders.iter().filter(is_near).filter(|path| !is_opened(path, bounds));
        let mut places: BTreeSet<PathBuf> =
            near_orders.flat_map(|path| without_opened(path, &opened)).collect();
        // Layers are mounted later.
        let there = named.there.iter().filter(|path| !writes.is_in_layers(path) && !is_opened(path, bounds));
        places.extend(sights.git_files.iter().cloned());
        places.extend(there.flat_map(|path| without_opened(path, &opened)));
        places.extend(parts_of(&sights.git, &orders).filter(|part| is_there(part)));
        places.retain(|path| !is_removed(path));
        let is_to_cover = |path: &PathBuf| !is_link(path) && !is_stand_in(path);
        let mut covered = nearest(places.iter().filter(|path| is_to_cover(path)).cloned(), MAX_COVERED);
        covered.extend(places.iter().filter(|path| is_link(path)).filter_map(|link| target(link, &roots)));
        let guarded = ground.guarded.iter().map(|guarded| &guarded.path).chain(&covered);
        let objects = linked_objects(&guarded.flat_map(|path| files_beneath(path)).collect::<Vec<_>>());
        let aliases = names_of_objects(&roots, &objects, &past).into_iter();
        covered.extend(nearest(aliases.filter(|path| !is_stand_in(path)), MAX_COVERED));
        let stays = sights.git.iter().filter(|git| !is_removed(git)).cloned().collect();
        let stand_ins =
            if scene.place == Place::Namespaces { stand_ins(&stays, &orders) } else { Vec::new() };
        covered.extend(stand_ins.iter().map(|stand_in| stand_in.path().to_owned()));
        let mut watched = Watched::new(writes, orders, sights, Quarantine(scene.quarantine.clone()));
        watched.past = past;
        watched.opened = opened;
        if scene.place != Place::Light {
            named.add(share_places(&mut watched, ground, scene)?);
        }
        for other in &others {
            watched.restrict_shared(other);
            named.restrict(other);
        }
        watched.missing = ground.missing.iter().cloned().chain(named.missing).collect();
        watched.named = named.there.into_iter().chain(named.links).collect();
        watched.covered = covered.iter().cloned().collect();
        watched.covered.extend(ground.guarded.iter().map(|guarded| guarded.path.clone()));
        note(&mut watched)?;
        watched.inherit(&others);
        watched.join(register);
        watched.publish(turn.as_ref());
        drop(turn);
        if scene.place != Place::Namespaces {
            watched.note_modes();
        }
        let configs = watched.known.git.iter().map(|git| git.join(CONFIG));
        let configs = configs.filter(|config| watched.covered.contains(config)).collect();
        let configs = ConfigWrites::new(configs, &watched.opened, watched.places.clone());
        ground.guarded.extend(covered.into_iter().map(resolved));
        Ok(Self { watched, stand_ins, configs })
    }
}

/// Removes stand-ins that killed supervisors left in repositories.
fn clear_parts_left_behind(gits: &BTreeSet<PathBuf>, orders: &Names) {
    for part in parts_of(gits, orders) {
        clear_left_behind(&part);
    }
}

/// The parts of repositories that git takes orders from, whether they are there or not.
fn parts_of(gits: &BTreeSet<PathBuf>, orders: &Names) -> impl Iterator<Item = PathBuf> {
    gits.iter().flat_map(|git| orders.git_parts().iter().map(|part| git.join(part)))
}

/// The budget of a search for orders, and for secrets of these names if there are any.
fn budget_for(sealed: &Names) -> Budget {
    if sealed.is_empty() { Budget::usual() } else { Budget::for_secrets() }
}

/// Refuses a command that could read secrets among names which are too many to look at.
fn refuse_flood(sights: &Sights, sealed: &Names) -> Result<(), Refusal> {
    match sights.unseen.as_ref().filter(|unseen| unseen.is_flood() && !sealed.is_empty()) {
        Some(unseen) => Err(too_many_names(unseen)),
        None => Ok(()),
    }
}

/// Adds the places that everybody writes, and returns what settings of git name there. It is compared at the end; there are too many files for the
/// kernel.
fn share_places(watched: &mut Watched, ground: &Ground, scene: &Scene<'_>) -> Result<Named, Refusal> {
    // A whole machine is never searched.
    watched.writable = ground.write.iter().filter(|root| root.parent().is_some()).cloned().collect();
    watched.share();
    Named::find(watched.known_shared(), &[], &watched.places, &Names::default(), scene)
}

/// Directories that are removed, and with a work tree that has its own directory elsewhere also that one.
fn with_work_trees(removed: &[PathBuf]) -> Vec<PathBuf> {
    let removed: Vec<PathBuf> = removed.iter().map(|path| without_links(path)).collect();
    let own =
        removed.iter().flat_map(|top| Repository::behind(&top.join(GIT))).map(|repository| repository.git);
    let is_of_work_tree = |git: &PathBuf| git.parent().is_some_and(|above| above.ends_with(WORK_TREES));
    let own: Vec<PathBuf> = own.filter(is_of_work_tree).collect();
    removed.into_iter().chain(own).collect()
}

/// Notes the state of these directories before buddy itself restores files in them. The kernel guards nothing meanwhile.
pub(super) fn watch_alone(bounds: &Bounds, scene: &Scene<'_>) -> Result<Watched, Refusal> {
    let ground = Ground::of(bounds)?;
    let orders = Names::of(&bounds.guarded_names);
    let writes = WritePlaces::of(bounds, &ground, scene.cwd).only_searched();
    let (turn, register, others) = join(scene);
    let mut sights = look(&writes.searched, &orders, &Names::default(), &[], Budget::usual());
    for other in &others {
        other.restrict(&mut sights);
    }
    let mut named = Named::find(&sights, &writes.searched, &writes, &orders, scene)?;
    for other in &others {
        named.restrict(other);
    }
    let mut watched = Watched::new(writes, orders, sights, Quarantine(scene.quarantine.clone()));
    watched.opened = bounds.opened.iter().map(|path| without_links(path)).collect();
    watched.writable = ground.write.iter().filter(|root| root.parent().is_some()).cloned().collect();
    watched.missing = named.missing.into_iter().collect();
    watched.named = named.there.into_iter().chain(named.links).collect();
    note(&mut watched)?;
    watched.inherit(&others);
    watched.join(register);
    watched.publish(turn.as_ref());
    Ok(watched)
}

/// Notes the state before the command. One that could change files which nobody can compare is refused.
fn note(watched: &mut Watched) -> Result<(), Refusal> {
    watched.note();
    watched.unguarded().map_or(Ok(()), |unseen| {
        let reason = format!("{unseen}; nothing could keep a command from changing files there");
        Err(Refusal::new(BOUNDS, reason))
    })
}

/// Places where nothing was when another command started, which still runs, count as missing.
fn restrict_ground(ground: &mut Ground, other: &Baseline) {
    let missing = ground.guarded.iter().filter(|guarded| other.misses(&guarded.path));
    ground.missing.extend(missing.map(|guarded| guarded.path.clone()));
    ground.guarded.retain(|guarded| !other.misses(&guarded.path));
}

/// The places that are searched for secrets of these names.
struct Searched<'a> {
    names: &'a Names,
    roots: &'a [PathBuf],
    past: &'a [PathBuf],
}

/// Adds to the ground the secrets that were found in the roots, and those in other places that the command reads.
fn seal(
    found: BTreeSet<PathBuf>,
    bounds: &Bounds,
    ground: &mut Ground,
    scene: &Scene<'_>,
    searched: &Searched<'_>,
) -> Result<(), Refusal> {
    let Searched { names, roots, past } = *searched;
    let is_closed = |path: &PathBuf| is_closed(path, bounds);
    let by_place = bounds.sealed.iter().filter(|path| is_there(path)).flat_map(|path| files_beneath(path));
    let mut found: BTreeSet<PathBuf> =
        found.into_iter().chain(by_place.filter(|path| !is_link(path))).collect();
    let here = read_here(bounds, roots, scene);
    if !names.is_empty() {
        let sights = look(&here, &Names::default(), names, past, Budget::for_secrets());
        if let Some(unseen) = sights.unseen.filter(Unseen::is_flood) {
            return Err(too_many_names(&unseen));
        }
        found.extend(sights.sealed);
    }
    ground.sealed = found.into_iter().filter(is_closed).collect();
    if ground.sealed.len() > MAX_SEALED {
        return Err(too_many_secrets("here"));
    }
    ground.sealed.extend(secrets_searched(bounds, names, roots, past)?.into_iter().filter(is_closed));
    let seen = [roots, &here].concat();
    let past = [past, &seen].concat();
    let home = scene.home.and_then(|home| home.canonicalize().ok());
    let is_seen = |path: &PathBuf| seen.iter().any(|seen| path.starts_with(seen));
    let home = home.filter(|home| !is_seen(home) && !names.is_empty());
    if let Some(home) = &home {
        let sights = look_home(home, names, &past);
        let is_new = |path: &PathBuf| !ground.sealed.contains(path);
        let elsewhere: Vec<PathBuf> = sights.sealed.into_iter().filter(is_closed).filter(is_new).collect();
        seal_elsewhere(elsewhere, ground, scene.place)?;
        if scene.place != Place::Light {
            ground.unsearched = sights.unsearched;
            let searched = bounds.searched.iter().filter_map(|path| path.canonicalize().ok());
            ground.searched = seen.iter().cloned().chain(searched).collect();
        }
    }
    seal_further_names(bounds, ground, scene, roots, searched.past)?;
    if let Some(home) = &home {
        let linked = linked_objects(ground.sealed.iter().chain(&ground.sealed_by_rules));
        let further = names_in_home(home, &linked, &past).into_iter().filter(is_closed);
        ground.sealed_by_rules.extend(further.filter(|path| !ground.sealed.contains(path)));
    }
    Ok(())
}

/// Seals files near the top of the home: the nearest by a mount, all others by rules. The light jail has mounts alone.
fn seal_elsewhere(files: Vec<PathBuf>, ground: &mut Ground, place: Place) -> Result<(), Refusal> {
    let mut files = nearest(files.into_iter(), usize::MAX);
    let mounted = match place {
        Place::Light => MAX_SEALED,
        Place::Namespaces => MAX_MOUNTED_ELSEWHERE,
        Place::Bare => files.len(),
    };
    let further = files.split_off(files.len().min(mounted));
    ground.sealed.extend(files);
    if place == Place::Light && !further.is_empty() {
        return Err(too_many_secrets("near the top of your home"));
    }
    ground.sealed_by_rules = further;
    Ok(())
}

/// Directories of the user's that the command reads and does not write: its own, and those that they opened.
fn read_here(bounds: &Bounds, roots: &[PathBuf], scene: &Scene<'_>) -> Vec<PathBuf> {
    let opened = bounds.anchors.iter().filter_map(|anchor| anchor.canonicalize().ok());
    let opened: Vec<PathBuf> = opened.chain([scene.cwd.to_owned()]).collect();
    let mut here = roots_to_watch(&opened, scene.cwd);
    here.retain(|path| !roots.iter().any(|root| path.starts_with(root)));
    here
}

fn too_many_secrets(place: &str) -> Refusal {
    let reason = format!(
        "more than {MAX_SEALED} files {place} have names of secrets, too many to keep from a command"
    );
    Refusal::new(BOUNDS, reason)
}

fn too_many_names(unseen: &Unseen) -> Refusal {
    Refusal::new(BOUNDS, format!("{unseen}; a command could read secrets there"))
}

/// Takes a place among the commands that run, and reads the baselines of the others. Without a quarantine
/// there is no place for them.
fn join(scene: &Scene<'_>) -> (Option<Turn>, Option<Register>, Vec<Baseline>) {
    let quarantine = scene.quarantine.as_deref().filter(|_| scene.place != Place::Light);
    let joined = quarantine.map(|quarantine| -> std::io::Result<_> {
        let turn = Turn::take(quarantine)?;
        let register = Register::join(&turn, quarantine)?;
        let others = register.others(&turn);
        Ok((Some(turn), Some(register), others))
    });
    match joined.transpose() {
        Ok(joined) => joined.unwrap_or_default(),
        Err(error) => {
            tracing::warn!(%error, "the baselines of other commands are not known");
            Default::default()
        }
    }
}

/// Seals the other hard links of sealed or hidden files, also where nothing may be written: they are as
/// readable as the first name.
fn seal_further_names(
    bounds: &Bounds,
    ground: &mut Ground,
    scene: &Scene<'_>,
    roots: &[PathBuf],
    past: &[PathBuf],
) -> Result<(), Refusal> {
    let beneath_hidden = ground.hidden.iter().filter(|hidden| hidden.exists());
    let hidden: Vec<PathBuf> = beneath_hidden.flat_map(|hidden| files_beneath(&hidden.path)).collect();
    let linked = linked_objects(ground.sealed.iter().chain(&hidden));
    let opened: Vec<PathBuf> = bounds
        .anchors
        .iter()
        .filter_map(|anchor| anchor.canonicalize().ok())
        .chain([scene.cwd.to_owned()])
        .collect();
    let opened = roots_to_watch(&opened, scene.cwd);
    let mut everywhere: Vec<PathBuf> = roots.iter().cloned().chain(opened).collect();
    everywhere.sort();
    everywhere.dedup_by(|inner, outer| inner.starts_with(&*outer));
    let further = secret_names_of(&everywhere, &linked, past);
    let mut further = further.map_err(|unseen| too_many_names(&unseen))?;
    // Other programs fill these.
    let mut shared: Vec<PathBuf> = shared_roots(&ground.write);
    shared.retain(|path| !everywhere.iter().any(|root| path.starts_with(root)));
    further.extend(names_of_objects(&shared, &linked, past));
    ground.sealed.extend(further.into_iter().filter(|path| is_closed(path, bounds)));
    ground.sealed.sort();
    ground.sealed.dedup();
    Ok(())
}

/// Whether a file that holds secrets stays closed to the command.
fn is_closed(path: &Path, bounds: &Bounds) -> bool {
    !is_opened(path, bounds) && !is_plain(path, &bounds.blank_names)
}

/// The files beneath these directories that a command with these bounds would find sealed.
pub(crate) fn sealed(bounds: &Bounds, roots: &[PathBuf]) -> Vec<PathBuf> {
    if bounds.sealed_names.is_empty() {
        return Vec::new();
    }
    let real: Vec<(&PathBuf, PathBuf)> =
        roots.iter().filter_map(|root| Some((root, root.canonicalize().ok()?))).collect();
    let wanted: Vec<PathBuf> = real.iter().map(|(_, real)| real.clone()).collect();
    let names = Names::of(&bounds.sealed_names);
    let wanted = roots_to_watch(&wanted, Path::new("/"));
    let mut found = look(&wanted, &Names::default(), &names, &bounds.hidden, Budget::for_secrets()).sealed;
    let is_wanted = |path: &&PathBuf| is_there(path) && wanted.iter().any(|root| path.starts_with(root));
    found.extend(bounds.sealed.iter().filter(is_wanted).flat_map(|path| files_beneath(path)));
    let is_closed = |path: &PathBuf| is_closed(path, bounds);
    let closed = nearest(found.into_iter().filter(is_closed), MAX_SEALED);
    // They are reported by the names that the directories were given by.
    let named = |path: PathBuf| {
        let below = real.iter().find_map(|(root, real)| Some(root.join(path.strip_prefix(real).ok()?)));
        below.unwrap_or(path)
    };
    closed.into_iter().map(named).collect()
}

/// Places that settings of git name, where a command could write.
#[derive(Default)]
struct Named {
    there: BTreeSet<PathBuf>,
    missing: BTreeSet<PathBuf>,
    /// Links on the way, which a command could replace.
    links: BTreeSet<PathBuf>,
}

impl Named {
    /// Of the repositories that were found, and those around some directories.
    fn find(
        sights: &Sights,
        around: &[PathBuf],
        writes: &WritePlaces,
        orders: &Names,
        scene: &Scene<'_>,
    ) -> Result<Self, Refusal> {
        let mut named = Self::default();
        if scene.place == Place::Light {
            return Ok(named);
        }
        let home = GitHome { home: scene.home, config: scene.config_home };
        let repositories = repositories(sights, around);
        let NamedFiles { files: mut places, is_whole } = named_by(&repositories, home);
        if !is_whole {
            return Err(Refusal::new(BOUNDS, TOO_MANY_NAMED.to_owned()));
        }
        places.extend(behind_links(&repositories, orders, &[], home));
        // Links in a directory of orders count as those with its name do.
        let orders_beneath = sights.orders.iter().flat_map(|order| files_beneath(order));
        places.extend(orders_beneath.filter_map(|order| led_to(&order)));
        places.extend(shared_remotes(&repositories, writes, orders));
        places.extend(remote_gitfiles(&repositories));
        for link in &sights.order_links {
            let Some(behind) = look_behind_link(link, orders.long()) else { continue };
            named.links.extend(behind.links.into_iter().filter(|link| writes.has(link)));
            places.extend(behind.there.into_iter().chain(behind.missing));
        }
        let places = with_links_in(places, |path| writes.has_inside(path));
        for path in places {
            named.links.extend(links_on_the_way(&path).into_iter().filter(|link| writes.has(link)));
            let real = without_links(&path);
            if writes.has_inside(&real) || !writes.has(&real) {
                continue;
            }
            if is_there(&real) { &mut named.there } else { &mut named.missing }.insert(real);
        }
        Ok(named)
    }

    /// Places where nothing was when another command started, which still runs, count as missing.
    fn restrict(&mut self, other: &Baseline) {
        self.missing.extend(self.there.iter().filter(|path| other.misses(path)).cloned());
        self.there.retain(|path| !other.misses(path));
    }

    fn add(&mut self, other: Self) {
        self.there.extend(other.there);
        self.missing.extend(other.missing);
        self.links.extend(other.links);
    }
}

/// Places that git takes orders from in repositories which these push to and which lie where commands write and no hook is found: hooks
/// run there.
fn shared_remotes(repositories: &BTreeSet<Repository>, writes: &WritePlaces, orders: &Names) -> Vec<PathBuf> {
    let entries = remote_directories(repositories).into_iter().flat_map(|at| entries_to(&at));
    let led_to = |entry: PathBuf| [gitfile_target(&entry), Some(entry)].into_iter().flatten();
    let gits = entries.flat_map(led_to).map(|git| without_links(&git));
    let gits = gits.filter(|git| writes.is_unsearched(git));
    gits.flat_map(|git| orders.git_parts().iter().map(move |part| git.join(part)).collect::<Vec<_>>())
        .collect()
}

/// A name counts as near where it stands directly in a directory that people open, or below hidden directories of it. One further
/// in would make its directories mounts too, which then can neither be renamed nor removed.
fn is_near(path: &Path, near: &[&Path]) -> bool {
    let is_in = |top: &&Path| {
        let Ok(below) = path.strip_prefix(top) else { return false };
        let above = below.parent().into_iter().flat_map(Path::components);
        above.into_iter().all(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
    };
    near.iter().any(is_in)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// The target of a link, if a command could write there.
fn target(link: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    link.canonicalize()
        .ok()
        .filter(|target| roots.iter().any(|root| target != root && target.starts_with(root)))
}

fn resolved(path: PathBuf) -> Resolved {
    let what = if path.is_dir() { What::Directory } else { What::File };
    Resolved { path, what }
}

/// The first ones by how deep they lie.
fn nearest(paths: impl Iterator<Item = PathBuf>, limit: usize) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort_by_key(|path| path.components().count());
    paths.truncate(limit);
    paths
}

fn stand_ins(gits: &BTreeSet<PathBuf>, orders: &Names) -> Vec<StandIn> {
    let gits = nearest(gits.iter().cloned(), MAX_COVERED / 4);
    let missing = gits.iter().flat_map(|git| orders.git_parts().iter().map(move |part| (git, part)));
    // If none can be made, the sweep has to do.
    missing.filter_map(|(git, part)| StandIn::at(git, part).ok().flatten()).collect()
}

/// Secrets in directories elsewhere that the command goes through.
fn secrets_searched(
    bounds: &Bounds,
    sealed: &Names,
    roots: &[PathBuf],
    past: &[PathBuf],
) -> Result<BTreeSet<PathBuf>, Refusal> {
    let is_seen = |path: &PathBuf| roots.iter().any(|root| path.starts_with(root));
    let mut searched: Vec<PathBuf> =
        bounds.searched.iter().filter_map(|path| path.canonicalize().ok()).collect();
    searched.retain(|path| !is_seen(path));
    searched.sort();
    searched.dedup_by(|inner, outer| inner.starts_with(&*outer));
    if searched.is_empty() || sealed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let sights = look(&searched, &Names::default(), sealed, past, Budget::for_secrets());
    if let Some(unseen) = sights.unseen {
        return Err(Refusal::new(BOUNDS, format!("{unseen}; name a smaller directory")));
    }
    if sights.sealed.len() > MAX_SEALED {
        return Err(too_many_secrets("there"));
    }
    Ok(sights.sealed)
}

/// A guarded place, or what is in it where something there was opened.
fn without_opened(path: &Path, opened: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    if !opened.iter().any(|opened| opened.starts_with(path)) {
        return vec![path.to_owned()];
    }
    let is_closed = |file: &PathBuf| !opened.iter().any(|opened| file.starts_with(opened));
    files_beneath(path).into_iter().filter(is_closed).collect()
}

fn is_opened(path: &Path, bounds: &Bounds) -> bool {
    bounds.opened.iter().any(|opened| opened == path || opened.canonicalize().is_ok_and(|real| real == path))
}

#[cfg(test)]
mod tests {
    use buddy_protocol::NameSet;

    use super::super::walk::UnseenReason;
    use super::*;

    #[test]
    fn a_search_for_secrets_that_ends_early_lets_no_command_start_that_must_not_read_them() {
        let cut = |why| Sights { unseen: Some(Unseen { at: "/w/a".into(), why }), ..Sights::default() };
        let names = Names::of(&NameSet::trees([".env"]));
        for why in [UnseenReason::TooManyNames, UnseenReason::TooSlow] {
            assert!(refuse_flood(&cut(why), &names).is_err(), "{why}");
            assert!(refuse_flood(&cut(why), &Names::default()).is_ok(), "nothing is kept from it: {why}");
        }
        assert!(refuse_flood(&Sights::default(), &names).is_ok());
    }
}
