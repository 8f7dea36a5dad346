//! Grants: saved permissions of the user, and those that buddy offers.

use std::fmt::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use buddy_protocol::{Climbed, ClimbedBy};
use serde::{Deserialize, Serialize};

use crate::effect::{CommandLeaf, is_interpreter, is_wrapper};
use crate::path::{clean, is_beneath_any, shown};
use crate::rules::Match;
use crate::shell::ShellWord;
use crate::{
    ChangeableProgram, CommandPattern, GitTrip, PatternError, PinnedTrip, Places, RepositoryChange, TripEnd,
    TripRemote,
};

/// The name of the machine that buddy runs on.
const LOCAL: &str = "local";

/// A lasting permission. It applies on one target, and the caller decides how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The target that it is bound to.
    pub target: String,
    /// The calls that are granted.
    pub scope: Scope,
    /// Programs that commands can change, as they were when the user allowed them. No other such program is covered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<PinnedProgram>,
    /// Trips of git, with the ends that they had when the user allowed them. No other trip is covered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destinations: Vec<PinnedTrip>,
    /// Whether its text says that its commands can reach the network. Only such a grant lets a process run on in the background, which
    /// has the network of the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// A program that commands can change, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedProgram {
    /// The file.
    pub file: PathBuf,
    /// The digest of its content.
    pub digest: String,
}

/// The calls that a grant is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Commands that match this pattern, in the workspace.
    Commands(CommandPattern),
    /// One command line, to the letter, in one directory.
    Command {
        /// The command line.
        line: String,
        /// The directory.
        cwd: PathBuf,
    },
    /// Writing files beneath this directory.
    Writes(PathBuf),
    /// Writing this file.
    File(PathBuf),
    /// Changing the records of this repository, in one way.
    Repository {
        /// Its top directory.
        top: PathBuf,
        /// The change.
        change: RepositoryChange,
    },
    /// Reaching this host, by tools and by commands.
    Fetches(String),
    /// Reaching this host at this port although it is on this machine or in a private network.
    Nearby(String),
    /// Reaching several hosts, which one question named.
    Hosts {
        /// Hosts to fetch from.
        fetches: Vec<String>,
        /// Hosts with their ports that are on this machine or in a private network.
        nearby: Vec<String>,
    },
}

impl Scope {
    /// Whether it is about hosts alone.
    pub(crate) fn is_of_hosts(&self) -> bool {
        matches!(self, Self::Fetches(_) | Self::Nearby(_) | Self::Hosts { .. })
    }
}

/// A grant that the user can give, and exactly what else it would cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The grant.
    pub grant: Grant,
    /// Its coverage, for people.
    pub covers: String,
}

impl Offer {
    /// The same offer for these programs as they are now, and none if one of them cannot be told from another.
    pub(crate) fn pinned<'a>(
        mut self,
        programs: impl Iterator<Item = &'a ChangeableProgram>,
        places: &Places,
    ) -> Option<Self> {
        for program in programs {
            let (file, digest) = (program.file.clone(), program.digest.clone()?);
            let below = places.workspace.iter().find_map(|root| file.strip_prefix(root).ok());
            let _ =
                write!(self.covers, ", as long as `{}` stays the same file", shown(below.unwrap_or(&file)));
            self.grant.programs.push(PinnedProgram { file, digest });
        }
        Some(self)
    }

    /// The same offer for a trip of git that ends as it does now.
    pub(crate) fn bound(mut self, trip: &GitTrip, end: &TripEnd) -> Self {
        let addresses: Vec<String> =
            end.addresses.iter().map(|address| format!("`{}`", crate::display_command(address))).collect();
        let remote = match &trip.remote {
            TripRemote::Named(name) if end.addresses.iter().all(|address| address != name) => {
                format!("`{}` leads", crate::display_command(name))
            }
            _ => "it leads".to_owned(),
        };
        let _ = write!(self.covers, ", as long as {remote} to {}", addresses.join(", "));
        self.grant.destinations.push(PinnedTrip { trip: trip.clone(), end: end.clone() });
        self
    }

    /// The same offer, which says that its commands can reach the network.
    pub(crate) fn with_network(mut self) -> Self {
        self.covers.push_str("; it can reach the network");
        self.grant.network = true;
        self
    }
}

/// Programs whose first word is a subcommand, so that a grant is about that too.
const WITH_SUBCOMMANDS: &[&str] = &[
    "cargo",
    "git",
    "npm",
    "pnpm",
    "yarn",
    "go",
    "rustup",
    "pip",
    "pip3",
    "gh",
    "dotnet",
    "mvn",
    "gradle",
    "make",
    "uv",
    "poetry",
    "bundle",
    "mix",
    "terraform",
    "just",
    "apt",
    "apt-get",
    "brew",
    "dnf",
    "systemctl",
    "flutter",
    "dart",
    "composer",
    "rake",
    "meson",
    "bazel",
    "swift",
    "zig",
    "stack",
    "cabal",
    "conda",
    "task",
    "nix",
    "deno",
    "bun",
];
/// Programs of which only one exact command can be granted: their words decide everything.
const EXACT_ONLY: &[&str] = &[
    "rm",
    "rmdir",
    "mv",
    "dd",
    "shred",
    "truncate",
    "chmod",
    "chown",
    "chgrp",
    "kill",
    "curl",
    "wget",
    "nc",
    "ncat",
    "socat",
    "scp",
    "sftp",
    "rsync",
    "find",
    "sed",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "tee",
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "pnpx",
    "source",
    ".",
    "ln",
    "install",
    "cp",
    "tar",
    "unzip",
    "export",
    "declare",
    "set",
    "unset",
    "cd",
    "ping",
    "dig",
    "nslookup",
    "host",
    "telnet",
    "ftp",
    "psql",
    "mysql",
    "sqlite3",
    "redis-cli",
    "mongo",
    "aws",
    "gcloud",
    "az",
    "openssl",
    "gpg",
    "jq",
    "xdg-open",
    "open",
    "make",
    "just",
    "rake",
    "task",
];

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Commands(pattern) => formatter.write_str(&crate::display_command(pattern.as_str())),
            Scope::Command { line, .. } => formatter.write_str(&crate::display_command(line)),
            Scope::Writes(directory) => write!(formatter, "write beneath {}", shown(directory)),
            Scope::File(path) => write!(formatter, "write {}", shown(path)),
            Scope::Repository { top, change: RepositoryChange::Stage } => {
                write!(formatter, "stage in {}", shown(top))
            }
            Scope::Repository { top, change: RepositoryChange::Commit } => {
                write!(formatter, "commit in {}", shown(top))
            }
            Scope::Repository { top, change: RepositoryChange::Receive } => {
                write!(formatter, "push to {}", shown(top))
            }
            Scope::Fetches(host) | Scope::Nearby(host) => write!(formatter, "reach {host}"),
            Scope::Hosts { fetches, nearby } => {
                let all: Vec<&str> = fetches.iter().chain(nearby).map(String::as_str).collect();
                write!(formatter, "reach {}", all.join(", "))
            }
        }
    }
}

impl Grant {
    /// The grant as a notice names it: of a command with several lines, the first and how many follow.
    pub fn folded(&self) -> String {
        match &self.scope {
            Scope::Command { line, .. } => crate::display_command(&buddy_protocol::folded_command(line)),
            _ => self.to_string(),
        }
    }

    /// A grant on a target, of no program that commands can change.
    pub fn of(scope: Scope, target: &str) -> Self {
        let (programs, destinations) = (Vec::new(), Vec::new());
        Self { target: target.to_owned(), scope, programs, destinations, network: false }
    }

    /// Whether it is about this program as it is now.
    pub(crate) fn pins(&self, program: &ChangeableProgram) -> bool {
        let is_same = |pinned: &PinnedProgram| {
            pinned.file == program.file && program.digest.as_ref() == Some(&pinned.digest)
        };
        self.programs.iter().any(is_same)
    }

    /// The ends that trips such as this one had when the user allowed them.
    pub(crate) fn pinned_ends(&self, trip: &GitTrip) -> impl Iterator<Item = &TripEnd> {
        self.destinations.iter().filter(|pinned| pinned.trip.is_like(trip)).map(|pinned| &pinned.end)
    }

    /// Whether the user allowed a trip that ends here.
    pub(crate) fn leads(&self, trip: &GitTrip, end: &TripEnd) -> bool {
        self.pinned_ends(trip).any(|pinned| pinned == end)
    }

    /// A grant of commands that match a pattern such as `cargo *`.
    pub fn command(pattern: &str, target: &str) -> Result<Self, PatternError> {
        let scope = Scope::Commands(CommandPattern::parse(pattern)?);
        Ok(Self::of(scope, target))
    }

    /// Whether a simple command is covered. Concerns and files outside are the judge's business, who asks
    /// about them regardless of grants.
    pub(crate) fn covers_command(
        &self,
        leaf: &CommandLeaf,
        places: &Places,
        links: &[(PathBuf, PathBuf)],
    ) -> bool {
        let Scope::Commands(pattern) = &self.scope else { return false };
        let is_certain = |word: &ShellWord| matches!(word, ShellWord::Literal(_) | ShellWord::Glob(_));
        let is_inside = leaf
            .cwds
            .as_ref()
            .is_some_and(|cwds| cwds.iter().all(|cwd| is_beneath_any(cwd, &places.workspace)));
        self.target == places.target
            && is_inside
            && !leaf.is_foreign
            && leaf.words.iter().all(is_certain)
            && !is_too_broad(&leaf.program)
            && pattern.matches(&leaf.program, &leaf.words) == Match::Yes
            && stays_inside(leaf, |word| pattern.has_word(word), places, links)
    }

    /// Whether a whole command line is covered to the letter.
    pub(crate) fn covers_line(&self, command: &str, directory: &Path, places: &Places) -> bool {
        match &self.scope {
            Scope::Command { line, cwd } => {
                self.target == places.target && line == command && clean(cwd) == clean(directory)
            }
            _ => false,
        }
    }

    /// Whether writing this file is covered.
    pub(crate) fn covers_write(&self, path: &Path, places: &Places) -> bool {
        match &self.scope {
            Scope::Writes(directory) => {
                self.target == places.target && clean(path).starts_with(clean(directory))
            }
            _ => false,
        }
    }

    /// Whether writing exactly this file is covered.
    pub(crate) fn covers_file(&self, path: &Path, places: &Places) -> bool {
        matches!(&self.scope, Scope::File(granted) if clean(granted) == clean(path))
            && self.target == places.target
    }

    /// Whether this change of a repository is covered.
    pub(crate) fn covers_repository(&self, top: &Path, change: RepositoryChange, places: &Places) -> bool {
        let is_same =
            |granted: &Path, allowed: RepositoryChange| clean(granted) == clean(top) && allowed == change;
        matches!(&self.scope, Scope::Repository { top, change } if is_same(top, *change))
            && self.target == places.target
    }

    /// Whether fetching from this host is covered.
    pub(crate) fn covers_fetch(&self, host: &str, places: &Places) -> bool {
        let is_granted = match &self.scope {
            Scope::Fetches(granted) => granted == host,
            Scope::Hosts { fetches, .. } => fetches.iter().any(|granted| granted == host),
            _ => false,
        };
        is_granted && self.target == places.target
    }

    /// Whether reaching a host at a port is covered that is on this machine or in a private network.
    pub fn covers_nearby(&self, authority: &str, places: &Places) -> bool {
        let is_granted = match &self.scope {
            Scope::Nearby(granted) => granted == authority,
            Scope::Hosts { nearby, .. } => nearby.iter().any(|granted| granted == authority),
            _ => false,
        };
        is_granted && self.target == places.target
    }
}

/// The end of a sentence that names the target, where it is another one than this machine.
fn describe_target(target: &str) -> String {
    if target == LOCAL { String::new() } else { format!(" on `{target}`") }
}

/// What can be offered for several hosts that one question names: `fetches` by their names, `nearby` with their ports.
pub fn hosts_offer(fetches: Vec<String>, nearby: Vec<String>, target: &str) -> Offer {
    let list = |hosts: &[String]| hosts.iter().map(|host| format!("`{host}`")).collect::<Vec<_>>().join(", ");
    let mut covers = Vec::new();
    if !fetches.is_empty() {
        covers.push(format!("every fetch and upload of tools and commands at {}", list(&fetches)));
    }
    if !nearby.is_empty() {
        covers.push(format!("every connection of tools and commands to {}", list(&nearby)));
    }
    let at = describe_target(target);
    let covers = format!("{}, and at no other host{at}", covers.join(", "));
    Offer { grant: Grant::of(Scope::Hosts { fetches, nearby }, target), covers }
}

/// Whether a host is this machine itself, which data does not leave.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What can be offered for reaching a host at a port that is on this machine or in a private network.
pub fn nearby_offer(authority: &str, target: &str) -> Offer {
    let at = describe_target(target);
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    // In the jail a command that does not name it has a localhost of its own.
    let naming =
        if is_this_machine(host) && target == LOCAL { "of commands that name it" } else { "commands" };
    let covers = format!("every connection of tools and {naming} to `{authority}`, and to no other port{at}");
    Offer { grant: Grant::of(Scope::Nearby(authority.to_owned()), target), covers }
}

/// The offers for a command whose uncovered parts are these.
pub(crate) fn offers(
    command: &str,
    cwd: &Path,
    leaves: &[&CommandLeaf],
    places: &Places,
    links: &[(PathBuf, PathBuf)],
) -> Vec<Offer> {
    let target = &places.target;
    let at = describe_target(target);
    let mut patterns: Vec<Option<CommandPattern>> = leaves.iter().map(|leaf| pattern(leaf)).collect();
    patterns.dedup();
    let mut offers = Vec::new();
    if let [Some(pattern)] = patterns.as_slice() {
        let grant = Grant::of(Scope::Commands(pattern.clone()), target);
        if leaves.iter().all(|leaf| grant.covers_command(leaf, places, links)) {
            let start = pattern.as_str().trim_end_matches(" *");
            let covers = format!(
                "every command{at} that starts with `{start}` and names no file outside the workspace"
            );
            offers.push(Offer { grant, covers });
        }
    }
    let covers = format!(
        "exactly `{}`, in `{}`{at}, whatever the files it uses contain then",
        crate::display_command(command),
        shown(cwd)
    );
    let scope = Scope::Command { line: command.to_owned(), cwd: cwd.to_path_buf() };
    offers.push(Offer { grant: Grant::of(scope, target), covers });
    offers
}

/// The offer to write beneath the workspace that holds a file.
pub(crate) fn write_offer(path: &Path, places: &Places) -> Option<Offer> {
    let roots = places.workspace.iter().chain(&places.scratch).map(|root| clean(root));
    let directory =
        roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count())?;
    let covers = format!(
        "every write of a file beneath `{}`{}, except places that decide what runs later",
        shown(&directory),
        describe_target(&places.target)
    );
    Some(Offer { grant: Grant::of(Scope::Writes(directory), &places.target), covers })
}

/// The offer to write one file.
pub(crate) fn file_offer(path: &Path, places: &Places) -> Offer {
    let covers =
        format!("every write of `{}`, and of no other file{}", shown(path), describe_target(&places.target));
    Offer { grant: Grant::of(Scope::File(path.to_owned()), &places.target), covers }
}

/// The offer to change a repository in one way.
pub(crate) fn repository_offer(top: &Path, change: RepositoryChange, places: &Places) -> Offer {
    let what = match change {
        RepositoryChange::Stage => "every `git_add` in the repository",
        RepositoryChange::Commit => "every `git_commit` in the repository",
        RepositoryChange::Receive => "every `git_push` to the repository",
    };
    let covers = format!("{what} `{}`, and nothing else{}", shown(top), describe_target(&places.target));
    let scope = Scope::Repository { top: top.to_owned(), change };
    Offer { grant: Grant::of(scope, &places.target), covers }
}

/// The offer to fetch from a host.
pub(crate) fn fetch_offer(host: &str, places: &Places) -> Offer {
    let covers = format!(
        "every fetch and upload of tools and commands at `{host}`, and at no other host{}",
        describe_target(&places.target)
    );
    Offer { grant: Grant::of(Scope::Fetches(host.to_owned()), &places.target), covers }
}

/// Whether no word of a command leads out of the workspace, by itself or by way of these links, except words that the user
/// wrote down.
pub(crate) fn stays_inside(
    leaf: &CommandLeaf,
    is_written_down: impl Fn(&str) -> bool,
    places: &Places,
    links: &[(PathBuf, PathBuf)],
) -> bool {
    let is_open =
        |path: &Path| is_beneath_any(path, &places.workspace) || is_beneath_any(path, &places.scratch);
    let is_inside = |cwd: &PathBuf, path: &str| {
        let Climbed { path, by } = places.climb(&cwd.join(path), None);
        is_open(&path) && by != ClimbedBy::Unknown
    };
    let leads_inside = |word: &ShellWord| {
        let text = word.unexpanded();
        let mut cwds = leaf.cwds.iter().flatten();
        is_written_down(&text) || cwds.all(|cwd| leading(&text).iter().all(|path| is_inside(cwd, path)))
    };
    // The host is not asked about a command that names too many.
    let is_looked_at = NamedPaths::of(leaf, |_| false).is_some();
    let named = NamedPaths::of(leaf, |word| is_written_down(&word.unexpanded()));
    let Some(named) = named.filter(|_| is_looked_at) else { return false };
    let leads_out = |(from, to): &(PathBuf, PathBuf)| {
        let is_named = named.paths.contains(from)
            || named.patterns.iter().any(|directory| from.starts_with(clean(directory)));
        is_named && !is_open(&clean(to))
    };
    leaf.words.iter().skip(1).all(leads_inside) && !links.iter().any(leads_out)
}

/// The paths that the words of a command could name, for the host to say where links lead.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NamedPaths {
    /// Paths as they are written: a link before a `..` decides where that leads.
    pub paths: Vec<PathBuf>,
    /// Directories in which patterns choose names.
    pub patterns: Vec<PathBuf>,
}

/// The most paths that the words of one command may name. No grant covers one with more.
const MAX_NAMED: usize = 1000;

/// The most letters of options that can stand before a path in one word.
const MAX_LETTERS: usize = 8;

impl NamedPaths {
    /// Those of a command; none where there are too many.
    pub(crate) fn of(leaf: &CommandLeaf, is_past: impl Fn(&ShellWord) -> bool) -> Option<Self> {
        let mut named = Self::default();
        for word in leaf.words.iter().skip(1).filter(|word| !is_past(word)) {
            let text = word.unexpanded();
            for cwd in leaf.cwds.iter().flatten() {
                for piece in pieces(&text) {
                    named.add(cwd, piece, matches!(word, ShellWord::Glob(_)));
                }
            }
            if named.paths.len() + named.patterns.len() > MAX_NAMED {
                return None;
            }
        }
        Some(named)
    }

    fn add(&mut self, cwd: &Path, piece: &str, is_pattern: bool) {
        match piece.find(['*', '?', '[']).filter(|_| is_pattern) {
            Some(at) => {
                let before = piece.get(..at).unwrap_or_default();
                let directory = before.rsplit_once('/').map_or("", |(directory, _)| directory);
                self.paths.push(cwd.join(directory));
                self.patterns.push(cwd.join(directory));
            }
            None => self.paths.push(cwd.join(piece)),
        }
    }

    /// Adds those of another command.
    pub(crate) fn extend(&mut self, other: Self) {
        self.paths.extend(other.paths);
        self.patterns.extend(other.patterns);
    }
}

/// The parts of a word that can be a path: all of it, what stands after `=`, `:` or `,`, and what stands after letters of
/// options.
fn pieces(word: &str) -> Vec<&str> {
    let is_network = word.contains("://") && !word.starts_with("file:");
    if is_network {
        return Vec::new();
    }
    let parts = std::iter::once(word).chain(word.split(['=', ':', ',']));
    let mut pieces: Vec<&str> = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        pieces.push(part);
        if part.starts_with('-') {
            let starts = part.char_indices().skip(1).take(MAX_LETTERS).map(|(at, _)| at);
            pieces.extend(starts.filter_map(|at| part.get(at..)));
        }
    }
    pieces.dedup();
    pieces
}

/// The paths in a word that can lead elsewhere than below the directory of the command: `/x`, `--out=/x`, `-C../x`,
/// `a:/x`.
fn leading(word: &str) -> Vec<&str> {
    let is_network = word.contains("://") && !word.starts_with("file:");
    if is_network {
        // Hosts are judged apart.
        return Vec::new();
    }
    let leads =
        |piece: &&str| piece.starts_with(['/', '~']) || piece.split('/').any(|component| component == "..");
    let pieces = word.split(['=', ':', ',']).map(|piece| {
        // The letter of an option can stand directly before its path.
        let start = piece.find(['/', '~']).into_iter().chain(piece.find("../")).chain(piece.find(".."));
        match start.min() {
            Some(start) if piece.starts_with('-') => piece.get(start..).unwrap_or(piece),
            _ => piece,
        }
    });
    pieces.filter(leads).collect()
}

/// The widest pattern that may be offered for a command: its program, with its subcommand.
fn pattern(leaf: &CommandLeaf) -> Option<CommandPattern> {
    if is_too_broad(&leaf.program) || leaf.is_foreign || leaf.has_assignments {
        return None;
    }
    let text = if WITH_SUBCOMMANDS.contains(&leaf.program.as_str()) {
        let subcommand = leaf.words.get(1).and_then(ShellWord::literal).filter(|word| is_subcommand(word))?;
        format!("{} {subcommand} *", leaf.program)
    } else {
        format!("{} *", leaf.program)
    };
    CommandPattern::parse(&text).ok()
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|character| character.is_ascii_alphanumeric() || "-_:".contains(character))
        && !matches!(word, "exec" | "x" | "dlx" | "eval" | "config" | "push" | "shell" | "develop")
}

fn is_too_broad(program: &str) -> bool {
    program.is_empty() || EXACT_ONLY.contains(&program) || is_interpreter(program) || is_wrapper(program)
}
