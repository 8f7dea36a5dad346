//! Ways to other sessions of this account on this machine, as they are now. Which there can be is in policy's table.
//!
//! Sockets with names that nobody can guess are found by looking: the kernel lists every socket that somebody listens on. Who that is takes
//! long to find out, so it is done once for each socket.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use buddy_policy::{KEPT_AGENTS, OTHER_SESSIONS, Reached, SessionRow, TMUX_DIRECTORY};
use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::environment::Environment;

/// All local sockets of this network namespace.
const LISTED: &str = "/proc/net/unix";

/// The flag of a socket that somebody listens on, as the list has it.
const LISTENING: &str = "00010000";

/// Finds ways to other sessions.
#[derive(Debug)]
pub(super) struct OtherSessions {
    never: Vec<PathBuf>,
    once_allowed: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    account: u32,
    /// Sockets that were looked at, by their number, with the places of those that are ways; held for a look only.
    known: Mutex<HashMap<u64, Option<PathBuf>>>,
}

/// Ways that are closed to every command.
#[derive(Debug, Default)]
pub(super) struct Ways {
    pub(super) closed: Vec<PathBuf>,
    /// The paths that are reached inside of these.
    pub(super) kept: Vec<PathBuf>,
}

impl OtherSessions {
    /// The ways that this environment leads to.
    pub(super) fn new(environment: &Environment) -> Self {
        let account = rustix::process::getuid().as_raw();
        let templates = Templates { environment, account };
        let of = |reached: Reached| {
            let rows = OTHER_SESSIONS.iter().filter(move |row| row.reached == reached);
            rows.flat_map(|row| row.places).flat_map(|place| templates.paths(place)).collect::<Vec<_>>()
        };
        let mut never = of(Reached::Never);
        never.extend(own_console());
        Self {
            never,
            once_allowed: of(Reached::OnceAllowed),
            kept: KEPT_AGENTS.iter().flat_map(|place| templates.paths(place)).collect(),
            account,
            known: Mutex::default(),
        }
    }

    /// Makes the directory of tmux where it is missing, so that servers are hidden that start while a command runs.
    pub(super) fn make_directory(&self) {
        let path = TMUX_DIRECTORY.replace("{uid}", &self.account.to_string());
        // One of another account, or a link, is none that tmux would use.
        let _ = fs::DirBuilder::new().mode(0o700).create(path);
    }

    /// Those that are closed to every command. A directory with something in it that is needed is left alone: hiding it would take more
    /// away than sessions.
    pub(super) fn closed(&self, needed: &[&Path]) -> Ways {
        let is_fit = |path: &PathBuf| !needed.iter().any(|needed| needed.starts_with(path));
        let mut closed: BTreeSet<PathBuf> = self.never.iter().filter_map(|path| real(path)).collect();
        closed.extend(self.listeners(&closed));
        closed.retain(is_fit);
        let is_inside = |path: &PathBuf| closed.iter().any(|way| path.starts_with(way));
        let kept = self.kept.iter().filter_map(|path| real(path)).filter(is_inside).collect();
        Ways { closed: closed.into_iter().collect(), kept }
    }

    /// Those that a command reaches once it was allowed.
    pub(super) fn once_allowed(&self) -> Vec<PathBuf> {
        self.once_allowed.iter().filter_map(|path| real(path)).collect()
    }

    /// Sockets of programs in the table, but for those in places that are closed anyway.
    fn listeners(&self, closed: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let listed = fs::read(LISTED).unwrap_or_default();
        let listed = String::from_utf8_lossy(&listed);
        let is_open =
            |socket: &Listening<'_>| !closed.iter().any(|place| Path::new(socket.path).starts_with(place));
        let now: Vec<Listening<'_>> = listed.lines().filter_map(Listening::of).filter(is_open).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |socket: &&Listening<'_>| !known.contains_key(&socket.number) && self.is_ours(socket);
        let new: Vec<&Listening<'_>> = now.iter().filter(is_new).collect();
        let found = if new.is_empty() { HashMap::new() } else { self.held_by_listeners(&new) };
        let place = |socket: &Listening<'_>| {
            let named = || is_named(socket.path).then(|| PathBuf::from(socket.path));
            let looked_at = || found.get(&socket.number).cloned().or_else(named);
            known.get(&socket.number).cloned().unwrap_or_else(looked_at)
        };
        *known = now.iter().map(|socket| (socket.number, place(socket))).collect();
        // One that was removed is no way, and something else can have its name by now.
        known.values().flatten().filter_map(|path| real(path)).collect()
    }

    /// Whether this account made a socket, as far as its name tells.
    fn is_ours(&self, socket: &Listening<'_>) -> bool {
        let is_ours = |file: fs::Metadata| file.uid() == self.account && file.file_type().is_socket();
        !socket.path.starts_with('/') || fs::metadata(socket.path).is_ok_and(is_ours)
    }

    /// The places of those of some sockets that a program of the table has open.
    fn held_by_listeners(&self, sockets: &[&Listening<'_>]) -> HashMap<u64, PathBuf> {
        let mut found = HashMap::new();
        let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        for process in processes.map(|entry| entry.path()) {
            let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
            let is_ours = || fs::metadata(&process).is_ok_and(|found| found.uid() == self.account);
            if !rows().any(|row| row.listeners.contains(&name.trim_end())) || !is_ours() {
                continue;
            }
            let open = fs::read_dir(process.join("fd")).into_iter().flatten().filter_map(Result::ok);
            let links: HashSet<PathBuf> = open.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
            let held = sockets.iter().filter(|socket| links.contains(Path::new(&socket.link())));
            // A name that does not begin at the root was meant from the directory of its process.
            let directory = fs::read_link(process.join("cwd")).unwrap_or_default();
            found.extend(held.map(|socket| (socket.number, directory.join(socket.path))));
        }
        found
    }
}

/// The rows that no command reaches.
fn rows() -> impl Iterator<Item = &'static SessionRow> {
    OTHER_SESSIONS.iter().filter(|row| row.reached == Reached::Never)
}

/// Whether the name of a socket by itself tells what it is.
fn is_named(path: &str) -> bool {
    let fits = |pattern: &str| {
        pattern.split_once('*').is_some_and(|(before, after)| {
            path.strip_prefix(before).is_some_and(|rest| rest.len() >= after.len() && rest.ends_with(after))
        })
    };
    rows().flat_map(|row| row.places).any(|place| fits(place))
}

/// A socket that somebody listens on.
#[derive(Debug, PartialEq, Eq)]
struct Listening<'a> {
    number: u64,
    path: &'a str,
}

impl<'a> Listening<'a> {
    /// The one of a line of the kernel's list. None for others, and for those without a name in the file system.
    fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (flags, number) = (fields.nth(3)?, fields.nth(2)?);
        // The name is the rest of the line, spaces included.
        let path = line.split_once(&format!(" {number} "))?.1;
        let is_file = flags == LISTENING && !path.is_empty() && !path.starts_with('@');
        is_file.then_some(Self { number: number.parse().ok()?, path })
    }

    /// How the kernel shows it among the open files of a process.
    fn link(&self) -> String {
        format!("socket:[{}]", self.number)
    }
}

/// The place without links, where this account can write: nothing else is a way. A jail refuses links that a command could replace.
fn real(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    accessat(CWD, &real, Access::WRITE_OK, AtFlags::EACCESS).is_ok().then_some(real)
}

/// The terminal that buddy runs at, where that is a console: jails have no other terminals anyway.
fn own_console() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok()?;
    let path = PathBuf::from(name.into_string().ok()?);
    (!path.starts_with("/dev/pts")).then_some(path)
}

/// The values for the places of the table.
struct Templates<'a> {
    environment: &'a Environment,
    account: u32,
}

impl Templates<'_> {
    /// The paths that a place stands for. None for patterns, and where a variable is not set.
    fn paths(&self, place: &str) -> Vec<PathBuf> {
        if place.contains('*') {
            return Vec::new();
        }
        let place =
            place.replace("{uid}", &self.account.to_string()).replace("{user}", &self.environment.user);
        if let Some(below) = place.strip_prefix("~/") {
            return self.environment.home.iter().map(|home| home.join(below)).collect();
        }
        let Some(variable) = place.strip_prefix('$') else { return vec![place.into()] };
        let (name, below) = variable.split_once('/').unwrap_or((variable, ""));
        let value = self.environment.get(name).unwrap_or_default();
        paths_in(value).map(|path| if below.is_empty() { path } else { path.join(below) }).collect()
    }
}

/// The paths in values such as `/tmp/socket,1,0`, `unix:/tmp/socket` and `unix:path=/tmp/socket,guid=7;unix:abstract=x`.
fn paths_in(value: &str) -> impl Iterator<Item = PathBuf> {
    let path = |part: &str| {
        let path = part.split_once('/')?.1.split(',').next()?;
        Some(Path::new("/").join(path.trim_start_matches('/')))
    };
    value.split(';').filter(|part| !part.contains("://") || part.starts_with("unix://")).filter_map(path)
}

#[cfg(test)]
mod tests;
