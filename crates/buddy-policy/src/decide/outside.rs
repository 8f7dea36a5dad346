//! Changes outside the workspace, in development: what a yes opens to the call, or why no yes helps.

use std::path::{Path, PathBuf};

use buddy_protocol::Risk;

use super::sheet::{Sheet, Weight};
use crate::guarded::{holds_protected, is_guarded, is_secret, is_sensitive};
use crate::later::describe_later;
use crate::path::{clean, shown};
use crate::places::{holds_a_root, is_open};
use crate::{Found, Landing, Now, Policy};

/// Places of the system. Nothing of a project is there, and a change can break every program.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/run",
    "/var/spool",
];

/// How a reason begins that is about the rights of the account itself.
const NO_RIGHT: &str = "your account may not";

/// The way in which a call changes a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutsideManner {
    /// A tool for files changes exactly this name.
    Alone,
    /// A command writes the file where it stands.
    InPlace,
    /// A command makes, replaces or removes the name, for which it needs the directory.
    ByName,
    /// A command changes files beneath it.
    Beneath,
}

/// The reach of a yes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutsideOpening {
    /// This path and nothing beside it.
    Alone(PathBuf),
    /// This directory and everything in it.
    Directory(PathBuf),
}

/// A change that is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutsideChange<'a> {
    pub(crate) path: &'a Path,
    /// `write` or `remove`.
    pub(crate) verb: &'static str,
    pub(crate) manner: OutsideManner,
}

impl OutsideChange<'_> {
    /// The paths that a yes opens to the call. The error says why no yes helps.
    pub(crate) fn opening(&self, policy: &Policy, now: &Now<'_>) -> Result<OutsideOpening, String> {
        let (path, places) = (clean(self.path), &policy.places);
        if SYSTEM.iter().any(|place| path.starts_with(place)) {
            return Err("it is a system directory".to_owned());
        }
        if is_sensitive(&path, places) || is_secret(&path, places) {
            return Err("it can hold secrets".to_owned());
        }
        if is_guarded(&path, places) {
            return Err("it can run code later or loosen what buddy allows".to_owned());
        }
        if holds_a_root(&path, places) || holds_protected(&path, places) {
            return Err("protected places are in it".to_owned());
        }
        if let Some((_, to)) = now.links.iter().find(|(from, _)| path.starts_with(from)) {
            return Err(format!("a link leads from there to `{}`", shown(to)));
        }
        let Some(landing) = now.landings.iter().find(|landing| landing.path == path) else {
            return Err("buddy cannot tell what is there".to_owned());
        };
        match (self.manner, &landing.found) {
            (OutsideManner::Alone | OutsideManner::InPlace, Found::Closed(why)) => Err(why.clone()),
            (OutsideManner::Alone, _) | (OutsideManner::InPlace, Found::File | Found::Missing) => {
                Ok(OutsideOpening::Alone(path))
            }
            (OutsideManner::InPlace | OutsideManner::Beneath, Found::Directory) => {
                whole_directory(&path, policy)
            }
            (OutsideManner::ByName, Found::Directory) if self.verb == "write" => {
                whole_directory(&path, policy)
            }
            (OutsideManner::ByName | OutsideManner::Beneath, _) => directory_above(landing, policy),
        }
    }

    /// Asks about the change, and says what a yes opens.
    pub(crate) fn ask(&self, opening: OutsideOpening, policy: &Policy, sheet: &mut Sheet) {
        let named = shown(self.path);
        let verb = if self.verb == "remove" { "removes" } else { "writes" };
        let later = describe_later(self.path, &policy.places).map(|effect| format!(" and {effect}"));
        let later = later.unwrap_or_default();
        let change = format!("it {verb} `{named}`, which is outside the workspace{later}");
        let undo = if self.manner == OutsideManner::Alone { "" } else { "; undo does not cover it" };
        let opened = match &opening {
            OutsideOpening::Alone(_) => "a yes opens it alone, for this call".to_owned(),
            OutsideOpening::Directory(directory) => {
                format!("a yes opens all of `{}` to this command", shown(directory))
            }
        };
        let risk = if self.verb == "remove" { Risk::High } else { Risk::Medium };
        sheet.ask(Weight::Boundary, risk, format!("{change}: {opened}{undo}"));
        let directory = match &opening {
            OutsideOpening::Alone(path) => path.parent().unwrap_or(path),
            OutsideOpening::Directory(directory) => directory,
        };
        match whole_directory(directory, policy) {
            Ok(_) => {
                let way = format!("`write = [\"{}\"]` under `[jail]` in your own buddy.toml", shown(directory));
                sheet.way_by_opening(way, directory.to_owned());
            }
            Err(_) => sheet.way(
                "`write = [\"DIRECTORY\"]` under `[jail]` in your own buddy.toml, once the file is in a directory of its own".to_owned(),
            ),
        }
        match opening {
            OutsideOpening::Alone(path) => sheet.needs.written_alone.push(path),
            OutsideOpening::Directory(directory) => sheet.needs.written.push(directory),
        }
    }

    /// Whether the path is outside of what the jail lets a call change, in a folder that is worked on.
    pub(crate) fn is_outside(&self, policy: &Policy) -> bool {
        policy.is_confined() && !is_open(self.path, &policy.places)
    }
}

fn directory_above(landing: &Landing, policy: &Policy) -> Result<OutsideOpening, String> {
    match &landing.directory {
        Some(directory) => whole_directory(directory, policy),
        None => Err(format!("{NO_RIGHT} change the directory that it is in")),
    }
}

/// A directory is opened as a whole, so nothing in it may be protected.
fn whole_directory(directory: &Path, policy: &Policy) -> Result<OutsideOpening, String> {
    let places = &policy.places;
    let is_system =
        SYSTEM.iter().any(|place| directory.starts_with(place) || Path::new(place).starts_with(directory));
    if is_system || holds_a_root(directory, places) || holds_protected(directory, places) {
        let shown = shown(directory);
        return Err(format!("a yes would have to open all of `{shown}`, where protected places are"));
    }
    Ok(OutsideOpening::Directory(directory.to_owned()))
}

/// The directory that `[jail] write` can name so that commands write this path; none if that would open protected places.
pub fn openable_directory<'p>(path: &'p Path, policy: &Policy) -> Option<&'p Path> {
    path.parent().filter(|directory| whole_directory(directory, policy).is_ok())
}

/// Why no question opens a path outside the workspace to a command, and what to do instead.
pub(crate) fn outside_jail(change: &OutsideChange<'_>, why: &str, policy: &Policy) -> String {
    let (path, named) = (clean(change.path), shown(change.path));
    let is_removal = change.verb == "remove";
    let verb = if is_removal { "removes" } else { "writes" };
    // No setting and no command of the same account helps.
    if why.starts_with(NO_RIGHT) {
        return format!("it {verb} `{named}`, and {why}");
    }
    let places = &policy.places;
    let is_listed = !is_removal
        && !is_sensitive(&path, places)
        && !is_secret(&path, places)
        && !is_guarded(&path, places)
        && whole_directory(&path, policy).is_ok();
    let instead = match (is_removal, is_listed) {
        (true, _) => "Run the command yourself with `!`".to_owned(),
        (false, false) => {
            "Use a directory inside the workspace, or run the command yourself with `!`".to_owned()
        }
        (false, true) => format!(
            "Use a directory inside the workspace, or put `write = [\"{named}\"]` under `[jail]` in your buddy.toml (the directory must \
             exist), or run the command yourself with `!`"
        ),
    };
    format!(
        "it {verb} `{named}`, which is outside the workspace, and no question can open it, as {why}. {instead}"
    )
}
