//! The ends of trips of git: from which repository and to which addresses a command connects, read by git itself.
//!
//! Git is asked with the environment that the command gets, so includes and rewriting count as they would. It starts nothing for that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use buddy_exec::{Stdin, TargetError};
use buddy_policy::{GitDestination, GitTrip, TripEnd, TripRemote, without_login};
use futures::future::{join, join_all, join3};
use sha2::{Digest, Sha256};

use super::shield::Reach;
use super::start::{self, Call, Said, Surroundings, Work, directory_marks, run};
use crate::tools::tool::Sight;

/// The most remotes of one trip. One with more has no known end.
const MAX_REMOTES: usize = 20;
/// The largest file that is read beside the settings.
const MAX_FILE_BYTES: u64 = 64 * 1024;
/// The remote that git takes if nothing says another.
const USUAL: &str = "origin";

/// Settings that decide how git connects, by their beginnings.
const CONNECTING: &[&str] = &[
    "core.askpass",
    "core.gitproxy",
    "core.sshcommand",
    "credential.",
    "http.",
    "https.",
    "lfs.customtransfer.",
    "lfs.pushurl",
    "lfs.standalonetransferagent",
    "lfs.url",
    "protocol.",
    "ssh.",
];
/// The same for settings of a remote, by their ends.
const OF_REMOTES: &[&str] = &[
    ".lfspushurl",
    ".lfsurl",
    ".mirror",
    ".proxy",
    ".proxyauthmethod",
    ".push",
    ".receivepack",
    ".uploadpack",
    ".vcs",
];
/// Headers hold tokens, which are renewed.
const RENEWED: &str = ".extraheader";

/// The ends of these trips as they are now.
pub(crate) async fn trip_ends(trips: &[GitTrip], sight: &Sight) -> Vec<GitDestination> {
    let ends = trips
        .iter()
        .map(|trip| async { GitDestination { trip: trip.clone(), end: trip_end(trip, sight).await } });
    join_all(ends).await
}

/// The end of a trip. None if git does not say it, or not all of it.
async fn trip_end(trip: &GitTrip, context: &dyn Surroundings) -> Option<TripEnd> {
    let at = trip.directory.as_path();
    let places = ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"];
    let (places, settings, top) = join3(
        ask(&places, at, context),
        ask(&["config", "--list", "--includes", "-z"], at, context),
        ask(&["rev-parse", "--show-toplevel"], at, context),
    )
    .await;
    let places = places?.text();
    let mut places = places.lines().map(PathBuf::from);
    let (Some(repository), Some(store), None) = (places.next(), places.next(), places.next()) else {
        return None;
    };
    let settings = Settings::of(&settings?);
    let top = top.map(|said| PathBuf::from(said.text().trim_end_matches('\n')));
    let look = Look { trip, context, settings, store: &store, top };
    if look.reaches_submodules().await {
        return None;
    }
    let names = look.remotes().await?;
    let (addresses, identity) = join(look.addresses(&names), look.identity(&repository)).await;
    let connects = look.connects(&names).await;
    Some(TripEnd { repository, identity: identity?, addresses: addresses?, connects })
}

/// The answer of git, if it has one.
async fn ask(arguments: &[&str], cwd: &Path, context: &dyn Surroundings) -> Option<Said> {
    let work = Work::One(start::arguments(arguments));
    let names = BTreeSet::new();
    let call = Call { work, cwd, reach: Reach::Settings, names: &names, stdin: Stdin::Null };
    run(call, context).await.ok().filter(|said| said.is_success() && !said.is_cut)
}

/// The settings of a repository, each with its values in their order.
struct Settings(BTreeMap<String, Vec<String>>);

impl Settings {
    fn of(said: &Said) -> Self {
        let mut settings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for record in said.records() {
            let (key, value) = record.split_once('\n').unwrap_or((&record, "true"));
            settings.entry(key.to_owned()).or_default().push(value.to_owned());
        }
        Self(settings)
    }

    fn last(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.last().map(String::as_str)
    }

    fn is_on(&self, key: &str) -> bool {
        self.last(key).is_some_and(|value| !matches!(value, "" | "0" | "no" | "off" | "false"))
    }

    fn is_remote(&self, name: &str) -> bool {
        ["url", "pushurl"].iter().any(|key| self.0.contains_key(&format!("remote.{name}.{key}")))
    }

    /// The names of all remotes.
    fn remotes(&self) -> BTreeSet<String> {
        let name = |key: &String| Some(key.strip_prefix("remote.")?.rsplit_once('.')?.0.to_owned());
        self.0.keys().filter_map(name).collect()
    }

    /// An address with the longest beginning replaced that settings of this kind rewrite; the address itself if none does. None if two
    /// rewrite the same beginning.
    fn rewritten(&self, address: &str, kind: &str) -> Option<String> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for (key, values) in &self.0 {
            if let Some(base) = key.strip_prefix("url.").and_then(|rest| rest.strip_suffix(kind)) {
                let fitting = values.iter().filter(|value| address.starts_with(value.as_str()));
                found.extend(fitting.map(|value| (base, value.as_str())));
            }
        }
        let Some(longest) = found.iter().map(|(_, value)| value.len()).max() else {
            return Some(address.to_owned());
        };
        found.retain(|(_, value)| value.len() == longest);
        let [(base, value)] = found.as_slice() else { return None };
        Some(format!("{base}{}", address.strip_prefix(value).unwrap_or_default()))
    }
}

/// A look at a trip.
struct Look<'a> {
    trip: &'a GitTrip,
    context: &'a dyn Surroundings,
    settings: Settings,
    /// The directory that the repository shares with other work trees.
    store: &'a Path,
    /// The top of the work tree.
    top: Option<PathBuf>,
}

impl Look<'_> {
    /// Whether git can connect for submodules, whose remotes are their own.
    async fn reaches_submodules(&self) -> bool {
        let is_asked = !self.trip.pushes
            || self.settings.is_on("push.recursesubmodules")
            || self.settings.is_on("submodule.recurse");
        if !self.trip.recurses || !is_asked {
            return false;
        }
        let is_named =
            |key: &String| matches!(key.rsplit_once('.'), Some((of, "url")) if of.starts_with("submodule."));
        self.settings.0.keys().any(is_named)
            || match &self.top {
                Some(top) => self.has(&top.join(".gitmodules")).await,
                None => false,
            }
    }

    /// Whether a file is there, or could be.
    async fn has(&self, file: &Path) -> bool {
        !matches!(self.read(file).await, Err(TargetError::NotFound { .. }))
    }

    async fn read(&self, file: &Path) -> Result<Vec<u8>, TargetError> {
        let content = self.context.target().read(self.context.bounds(), file, MAX_FILE_BYTES).await?;
        Ok(content.bytes)
    }

    /// The names or addresses of the remotes.
    async fn remotes(&self) -> Option<Vec<String>> {
        let settings = &self.settings;
        let all = || -> Vec<String> { settings.remotes().into_iter().collect() };
        let names = match &self.trip.remote {
            TripRemote::Named(name) => vec![name.clone()],
            TripRemote::All => all(),
            TripRemote::Usual if !self.trip.pushes && settings.is_on("fetch.all") => all(),
            TripRemote::Usual => {
                let branch = ask(&["branch", "--show-current"], &self.trip.directory, self.context).await?;
                vec![self.usual(branch.text().trim_end())]
            }
        };
        (names.len() <= MAX_REMOTES).then_some(names)
    }

    /// The remote that git uses on a branch if none is named.
    fn usual(&self, branch: &str) -> String {
        let settings = &self.settings;
        let of_branch = |key: &str| settings.last(&format!("branch.{branch}.{key}"));
        let pushed = || of_branch("pushremote").or_else(|| settings.last("remote.pushdefault"));
        let pushed = if self.trip.pushes { pushed() } else { None };
        let remotes = settings.remotes();
        let only = remotes.first().filter(|_| remotes.len() == 1).map(String::as_str);
        pushed.or_else(|| of_branch("remote")).or(only).unwrap_or(USUAL).to_owned()
    }

    async fn addresses(&self, names: &[String]) -> Option<Vec<String>> {
        let found = join_all(names.iter().map(|name| self.addresses_of(name))).await;
        let found: Option<Vec<Vec<String>>> = found.into_iter().collect();
        Some(found?.concat().iter().map(|address| without_login(address)).collect())
    }

    async fn addresses_of(&self, name: &str) -> Option<Vec<String>> {
        if self.settings.is_remote(name) {
            let pushed: &[&str] = if self.trip.pushes { &["--push", "--all"] } else { &[] };
            let arguments = [&["remote", "get-url"], pushed, &["--end-of-options", name]].concat();
            let said = ask(&arguments, &self.trip.directory, self.context).await?.text();
            return Some(said.lines().map(str::to_owned).collect());
        }
        // A group of remotes, and remotes of former times, which are files.
        let is_file = |directory: &str| self.store.join(directory).join(name);
        let is_group = self.settings.0.contains_key(&format!("remotes.{name}"));
        let is_name = !name.contains('/');
        if is_group
            || is_name && (self.has(&is_file("remotes")).await || self.has(&is_file("branches")).await)
        {
            return None;
        }
        let pushed = self.settings.rewritten(name, ".pushinsteadof")?;
        if self.trip.pushes && pushed != name {
            return Some(vec![pushed]);
        }
        Some(vec![self.settings.rewritten(name, ".insteadof")?])
    }

    /// The marks of the repository and of the directory that it shares.
    async fn identity(&self, repository: &Path) -> Option<String> {
        let own = directory_marks(repository, self.context).await?;
        if repository == self.store {
            return Some(own);
        }
        let shared = directory_marks(self.store, self.context).await?;
        Some(format!("{own}, {} {shared}", self.store.to_str()?))
    }

    /// The digest of the settings that decide how git connects to these remotes, with those that files of the work tree bring for LFS.
    async fn connects(&self, names: &[String]) -> String {
        let is_of_remote = |key: &str| {
            let is_end = |end: &&&str| key.ends_with(**end);
            let Some(end) = OF_REMOTES.iter().find(is_end) else { return false };
            names.iter().any(|name| key == format!("remote.{name}{end}"))
        };
        let decides = |key: &str| {
            !key.ends_with(RENEWED)
                && (CONNECTING.iter().any(|begin| key.starts_with(begin)) || is_of_remote(key))
        };
        let mut digest = Sha256::new();
        for (key, values) in self.settings.0.iter().filter(|(key, _)| decides(key)) {
            for text in std::iter::once(key.clone()).chain(values.iter().map(|value| without_login(value))) {
                digest.update(text.as_bytes());
                digest.update([0]);
            }
        }
        if let Some(top) = &self.top {
            digest.update(self.read(&top.join(".lfsconfig")).await.unwrap_or_default());
        }
        let mut text = String::new();
        for byte in digest.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
