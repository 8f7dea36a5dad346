//! The bounds of each mode: what a call may touch on a host. What is protected comes from policy's one table.

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_calls::{AllowedBy, CallRights};
use buddy_exec::cache_layers::APPROVED_LAYERS;
use buddy_exec::{Bounds, CacheLayers, CachePlace, ProgramPath, Reach, git_store};
use buddy_policy::{
    FoundCache, Mode, Needs, Places, Policy, cache_places, guarded_names, home_secrets, secret_names,
    secret_places, tool_secret_names, tool_secrets,
};
use buddy_protocol::NameSet;
use sha2::{Digest, Sha256};

use super::sessions::{OtherSessions, Ways};
use crate::environment::Environment;
use crate::host::Host;

/// In the data directory, what agents may read: files that they share with people, which they write too, and logs.
const SHARED: &str = "shared";
const LOGS: &str = "logs";

/// Directories of buddy's own are nobody else's.
const OWN_MODE: u32 = 0o700;

/// How much of a digest and of a name is in the name of a workspace's layers.
const ID_BYTES: usize = 8;
const ID_CHARACTERS: usize = 40;

/// Where things are on a host.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) home: Option<PathBuf>,
    /// The homes whose keys and logins are hidden: this one, and that of the account if `HOME` names another directory.
    homes: Vec<PathBuf>,
    /// The directories of buddy itself. Whatever is in them says who may do what, or what happened, also files that buddy has not made
    /// yet.
    pub(super) own: Vec<PathBuf>,
    /// The parts of it that agents may read.
    pub(super) own_readable: Vec<PathBuf>,
    /// Where files are written that nobody keeps, and those that agents share with people.
    pub(super) scratch: Vec<PathBuf>,
    /// Where the layers over caches are; none on another host.
    layers: Option<PathBuf>,
    /// Caches of package managers.
    caches: Vec<CachePlace>,
    /// The variables of commands.
    pub(super) variables: Vec<(String, String)>,
    /// Ways to other sessions of the account.
    sessions: Arc<OtherSessions>,
    is_remote: bool,
}

impl Ground {
    /// That of this machine, or of another host, where buddy may be used too.
    pub(super) fn of(environment: &Environment, host: &Host) -> Self {
        let home = host.home.clone();
        let (data, own) = match (&host.remote, &home) {
            (None, _) => (Some(environment.data.clone()), environment.own_directories()),
            (Some(_), home) => {
                let below = |name: &str| home.as_ref().map(|home| home.join(name));
                let data = below(".buddy");
                (data.clone(), data.into_iter().chain(below(".config/buddy")).collect())
            }
        };
        let is_remote = host.remote.is_some();
        let account_home = environment.account_home.iter().filter(|_| !is_remote);
        let homes: Vec<PathBuf> = home.iter().chain(account_home).cloned().collect();
        let here = |name: &'static str| data.iter().filter(|_| !is_remote).map(move |data| data.join(name));
        let scratch = [PathBuf::from("/tmp")].into_iter().chain(here(SHARED)).collect();
        let own_readable = here(SHARED).chain(here(LOGS)).collect();
        let sessions = Arc::new(OtherSessions::new(environment));
        let layers = environment.layers().filter(|_| !is_remote);
        let caches = home.as_deref().map(|home| caches(home, host)).unwrap_or_default();
        let variables = host.env.clone();
        Self { home, homes, own, own_readable, scratch, layers, caches, variables, sessions, is_remote }
    }

    /// Makes the directories of buddy that are missing on this machine: only one that is there can be hidden from commands. Where
    /// buddy cannot make one, no command of the same account can.
    pub(super) fn make_own(&self) {
        if self.is_remote {
            return;
        }
        for directory in self.own.iter().chain(&self.own_readable) {
            let _ = DirBuilder::new().recursive(true).mode(OWN_MODE).create(directory);
        }
    }

    /// Layers over the caches of package managers, for the commands of a workspace. Commands that may read secrets have their own:
    /// toolchains and tools in a cache are programs, and any other command could have replaced them.
    fn cache_layers(&self, workspace: &[PathBuf], may_read_secrets: bool) -> Option<CacheLayers> {
        let (layers, first) = (self.layers.as_ref()?, workspace.first()?);
        let real = first.canonicalize().unwrap_or_else(|_| first.clone());
        let end = if may_read_secrets { APPROVED_LAYERS } else { "" };
        let directory = layers.join(format!("{}{end}", workspace_id(&real)));
        Some(CacheLayers { directory, all: layers.clone(), places: self.caches.clone() })
    }

    /// The `PATH` of commands, with the directories in which they can write.
    pub(super) fn command_programs(&self, places: &Places) -> ProgramPath {
        let path = self.variables.iter().find(|(name, _)| name == "PATH").map_or("", |(_, path)| path);
        let changeable = places.workspace.iter().chain(&places.scratch).cloned();
        let caches = self.caches.iter().map(|cache| cache.at.clone());
        ProgramPath::here(path, changeable).with_layers(caches)
    }

    /// Ways to other sessions that are closed to every command.
    fn closed_ways(&self, places: &Places) -> Ways {
        let Places { workspace, untrusted, scratch, .. } = places;
        let needed = workspace.iter().chain(untrusted).chain(scratch).chain(&self.home);
        self.sessions.closed(&needed.map(PathBuf::as_path).collect::<Vec<_>>())
    }

    /// Makes what has to be there before commands start.
    pub(super) fn make_ways(&self) {
        if !self.is_remote {
            self.sessions.make_directory();
        }
    }

    /// Places with secrets that are there now. On another host names alone seal them, since a look at each would take long.
    fn secrets(&self, places: impl Iterator<Item = &'static Path>) -> Vec<PathBuf> {
        if self.is_remote {
            return Vec::new();
        }
        // An absolute place stays what it is.
        let nowhere = [PathBuf::from("/")];
        let homes = if self.homes.is_empty() { &nowhere[..] } else { &self.homes };
        let is_known = |place: &&Path| !self.homes.is_empty() || place.is_absolute();
        let there = |home: &Path, place: &Path| {
            let named = home.join(place);
            // Most places are missing, and one look says so; to resolve a path takes one for each of its names.
            named.symlink_metadata().ok()?;
            let real = named.canonicalize().ok()?;
            let real_home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
            // A link in the home, as people make who keep their settings elsewhere, hides nothing: what it leads to is hidden.
            Some(if real == real_home.join(place) { named } else { real })
        };
        let in_homes = |place: &'static Path| homes.iter().filter_map(move |home| there(home, place));
        places.filter(is_known).flat_map(in_homes).collect()
    }
}

/// The reach of a call under a policy.
pub(super) fn bounds(ground: &Ground, policy: &Policy, call: &CallRights<'_>, network: bool) -> Bounds {
    let needs = call.needs;
    let is_thought_about = call.by == AllowedBy::Person || (needs.runs && needs.is_ruled);
    let is_production = policy.mode == Mode::Production;
    if is_production && needs.gains_rights && (is_thought_about || call.is_allowed) {
        // No kernel lets a jailed command take the rights of another account. Nobody is asked about one only where a lasting rule or the
        // command line allows everything.
        return Bounds::open();
    }
    if is_production && policy.is_exposed && needs.runs && (is_thought_about || call.is_allowed) {
        // Nothing would hold. What changes something was asked about, unless the command line or a lasting rule allows it.
        return Bounds::open();
    }
    if ground.is_remote && needs.runs && (is_thought_about || call.is_allowed) {
        // Nothing over there would hold: a command that only reads runs, and every other one was asked about or is granted.
        return Bounds::open();
    }
    let Places { workspace, untrusted, scratch, .. } = &policy.places;
    let is_opening = call.by == AllowedBy::Person && !needs.keeps_seals;
    let is_open_command = needs.runs && (is_opening || needs.is_ruled);
    let opens_logins = is_open_command || (needs.runs && needs.takes_logins && call.by == AllowedBy::Person);
    let mut hidden = ground.own.clone();
    if !(is_production && opens_logins) {
        hidden.extend(ground.secrets(home_secrets().chain(secret_places())));
    }
    if !opens_logins {
        hidden.extend(ground.secrets(tool_secrets()));
    }
    let opening =
        LinkOpening { keys: is_production && opens_logins, logins: opens_logins, all: is_open_command };
    let sealed = add_linked(&policy.places, &mut hidden, opening);
    // Logs have what other sessions were allowed to read. A tool reads those of its own conversation; a command could read them all.
    let logs = needs.logs.iter().filter(|_| !needs.runs);
    let mut shown: Vec<PathBuf> =
        ground.own_readable.iter().filter(|at| scratch.contains(at)).chain(logs).cloned().collect();
    let mut ways = Vec::new();
    // On another host nothing would be hidden.
    if needs.runs && !ground.is_remote {
        let Ways { closed, kept } = ground.closed_ways(&policy.places);
        // In development a command reaches no socket of others, but it could put one of its own where programs of other sessions look for
        // theirs. Its `/run` is empty.
        let is_place = |path: &PathBuf| path.is_dir() && scratch.iter().any(|root| path.starts_with(root));
        ways.extend(closed.into_iter().filter(|path| is_production || is_place(path)));
        if is_production {
            shown.extend(kept);
        }
        let is_reached = is_production && opens_logins;
        if is_reached { &mut shown } else { &mut ways }.extend(ground.sessions.once_allowed());
    }
    let is_still = call.is_read_only || policy.mode == Mode::Plan;
    let changed = changed(ground, policy);
    let write = match (is_production, is_still) {
        (true, _) => Reach::Anywhere,
        (false, true) => Reach::Nothing,
        (false, false) => {
            let is_opened = call.by == AllowedBy::Person || (needs.opens_granted && call.is_allowed);
            let asked = needs.written.iter().filter(|_| is_opened);
            Reach::Beneath(changed.iter().chain(scratch).chain(asked).cloned().collect())
        }
    };
    let is_confined = matches!(write, Reach::Beneath(_)) && call.by == AllowedBy::Person;
    let write_alone = needs.written_alone.iter().filter(|_| is_confined).cloned().collect();
    let has_layers = needs.runs && matches!(write, Reach::Beneath(_));
    let caches = has_layers.then(|| ground.cache_layers(workspace, is_open_command)).flatten();
    let is_confined_here = matches!(write, Reach::Beneath(_)) && !ground.is_remote;
    let git_stores = if is_confined_here { git_stores(&changed) } else { Vec::new() };
    Bounds {
        write,
        write_alone,
        git_stores,
        removed: needs.removed.clone(),
        searched: needs.searched.clone(),
        caches,
        opened: opened(needs, call.by, is_production, &hidden),
        hidden,
        ways,
        shown,
        guarded: guarded(ground, &policy.places, is_production),
        guarded_names: if is_production { NameSet::default() } else { all_guarded_names(&policy.places) },
        blank_names: tool_secret_names().clone(),
        sealed,
        sealed_names: if is_open_command { NameSet::default() } else { secret_names().clone() },
        anchors: workspace.iter().chain(scratch).chain(untrusted).cloned().collect(),
        network: network && policy.mode != Mode::Plan,
        ..Bounds::open()
    }
}

/// The targets of links that are open to a call.
#[derive(Clone, Copy)]
struct LinkOpening {
    keys: bool,
    logins: bool,
    /// Also those that are sealed.
    all: bool,
}

/// Hides the targets of links to keys and logins, as the places are that the links are in. Returns those that are sealed instead: files
/// that hold secrets by convention, and everything in a directory that the user opened.
fn add_linked(places: &Places, hidden: &mut Vec<PathBuf>, opening: LinkOpening) -> Vec<PathBuf> {
    let Places { workspace, untrusted, scratch, linked, .. } = places;
    let opened = || workspace.iter().chain(untrusted).chain(scratch);
    let is_opened =
        |path: &PathBuf| opened().any(|root| path.starts_with(root) || real_starts_with(path, root));
    let keys = linked.keys.iter().filter(|_| !opening.keys);
    let logins = linked.logins.iter().filter(|_| !opening.logins);
    hidden.extend(keys.chain(logins).filter(|path| !is_opened(path) && is_real(path)).cloned());
    if opening.all {
        return Vec::new();
    }
    let inside = linked.keys.iter().chain(&linked.logins).filter(|path| is_opened(path));
    inside.chain(&linked.secrets).filter(|path| is_real(path)).cloned().collect()
}

/// The names of the table, and those that the user's settings of git add.
fn all_guarded_names(places: &Places) -> NameSet {
    let mut names = guarded_names().clone();
    names.trees.extend(places.git_names.trees.iter().cloned());
    names
}

/// The directories of the workspace that calls may change. One that is not there, or that a link leads out of, opens nothing.
fn changed(ground: &Ground, policy: &Policy) -> Vec<PathBuf> {
    let workspace = &policy.places.workspace;
    let narrowed = policy.limits.narrow(workspace);
    if policy.limits.files.is_none() || ground.is_remote {
        return narrowed;
    }
    let roots: Vec<PathBuf> = workspace.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let is_within = |path: &PathBuf| {
        path.canonicalize().is_ok_and(|real| roots.iter().any(|root| real.starts_with(root)))
    };
    narrowed.into_iter().filter(is_within).collect()
}

/// The stores of these directories' repositories that lie elsewhere and are known to belong to them.
fn git_stores(tops: &[PathBuf]) -> Vec<PathBuf> {
    let stores = tops.iter().filter_map(|top| git_store(top));
    stores.filter(|store| store.is_confirmed).map(|store| store.at).collect()
}

/// The caches that commands on a host would use.
fn caches(home: &Path, host: &Host) -> Vec<CachePlace> {
    let variable =
        |wanted: &str| host.env.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let place = |cache: FoundCache| CachePlace {
        name: cache.name.to_owned(),
        at: cache.at,
        redirect: cache.redirect.map(|(name, value)| (name.to_owned(), value.to_owned())),
        linked: cache.linked.iter().map(|&name| name.to_owned()).collect(),
    };
    cache_places(home, variable).into_iter().map(place).collect()
}

/// The name of a workspace's layers: one that people recognise, and a digest of the whole path.
fn workspace_id(workspace: &Path) -> String {
    let digest = Sha256::digest(workspace.as_os_str().as_bytes());
    let mut short = String::new();
    for byte in digest.iter().take(ID_BYTES) {
        let _ = write!(short, "{byte:02x}");
    }
    let name = workspace.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || "-_.".contains(*character);
    let name: String = name.chars().filter(is_plain).take(ID_CHARACTERS).collect();
    format!("{name}-{short}")
}

/// Places that are read and not changed: logs, and where people are asked, what settings of git name. A command cannot be held to a name
/// that a link is on the way to, so only the real ones count; the jail looks after such links by itself.
fn guarded(ground: &Ground, places: &Places, is_production: bool) -> Vec<PathBuf> {
    let logs = ground.own_readable.iter().filter(|place| !places.scratch.contains(place));
    let is_changed = |path: &&PathBuf| {
        places
            .workspace
            .iter()
            .chain(&places.scratch)
            .any(|root| path.starts_with(root) || real_starts_with(path, root))
    };
    let linked = places.linked.orders.iter().filter(is_changed);
    let named = places.git_orders.iter().chain(linked).filter(|_| !is_production);
    logs.chain(named.filter(|path| is_real(path))).cloned().collect()
}

fn real_starts_with(path: &Path, root: &Path) -> bool {
    root.canonicalize().is_ok_and(|real| path.starts_with(real))
}

/// Whether no link is on the way, as far as the path exists.
fn is_real(path: &Path) -> bool {
    path.ancestors()
        .find_map(|above| Some((above, above.canonicalize().ok()?)))
        .is_some_and(|(above, real)| above == real)
}

/// The places that are free for this call: what a lasting rule opens, and what the user was asked about. Commands get nothing that is hidden
/// from them in development, where they are confined whatever was approved.
fn opened(needs: &Needs, by: AllowedBy, is_production: bool, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let asked = needs.asked.iter().filter(|_| by == AllowedBy::Person);
    let is_free =
        |path: &&PathBuf| !needs.runs || is_production || !hidden.iter().any(|place| path.starts_with(place));
    needs.ruled.iter().chain(asked).filter(is_free).cloned().collect()
}

#[cfg(test)]
mod tests;
