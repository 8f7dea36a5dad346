//! Denials: the accesses that the jail refused in a failed command, found from the command's output and its
//! bounds.
//!
//! The kernel reports to nobody what it refused. So a line of the output that speaks of a refusal is compared
//! with the bounds and with the rights of the account: a path that the account could not use without a jail
//! either is not the jail's doing.

use std::path::{Path, PathBuf};

use buddy_protocol::{OpenedRoots, fold_path};
use rustix::fs::{Access, access};

use crate::git_orders::clean;
use crate::git_store::git_store;
use crate::{Bounds, Reach};

/// Messages of programs that the kernel refused something.
const REFUSED: &[&str] = &[
    "Permission denied",
    "permission denied",
    "Read-only file system",
    "read-only file system",
    "Operation not permitted",
    "operation not permitted",
    "EACCES",
    "EROFS",
    "EPERM",
    "PermissionError",
];
/// Messages that a file is missing, as hidden files are.
const MISSING: &[&str] = &["No such file or directory", "no such file or directory", "ENOENT", "cannot open"];
/// Messages that a mount is at the path, or further down.
const BUSY: &[&str] = &["Device or resource busy", "EBUSY"];
/// Messages that there is no network.
const NO_NETWORK: &[&str] = &[
    "Network is unreachable",
    "network is unreachable",
    "Temporary failure in name resolution",
    "Could not resolve host",
    "Could not resolve hostname",
    "could not resolve host",
    "Name or service not known",
    "getaddrinfo",
    "EAI_AGAIN",
    "ENETUNREACH",
    "no such host",
    "failed to lookup address",
];
/// Messages of clients that nothing listens at a local socket.
const NO_SOCKET: &[&str] = &[
    "Cannot connect to the Docker daemon",
    "Failed to connect to bus",
    "cannot open display",
    "connection to your authentication agent",
];
/// Messages of git that it cannot write to the repository it pushes to, which is a directory then.
const CLOSED_REMOTE: &[&str] = &["unable to create temporary object directory"];
/// Messages of programs that did not get the rights of another account.
const NO_RIGHTS: &[&str] = &[
    "no new privileges",
    "effective uid is not 0",
    "must be setuid root",
    "setuid bit set",
    "must be suid",
    "cannot set groups",
];

/// The most lines about a refusal that are looked at.
const MAX_LINES: usize = 100;
/// The most denials of one command that are reported.
const MAX_DENIALS: usize = 3;
/// The longest subject.
const MAX_SUBJECT: usize = 300;

/// Characters that surround paths in messages.
const AROUND: &str = "'\"`()[]:;,=<>‘’";

/// An access that the jail of a command refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The kind of access.
    pub kind: DenialKind,
    /// The path as the command named it, where it is about one.
    pub subject: Option<String>,
    /// The same path in full.
    pub path: Option<PathBuf>,
}

/// Kinds of access that a jail refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DenialKind {
    /// Writing outside of the write roots.
    Write,
    /// Writing in a cache where no layer covers it, as in a directory of `PATH`.
    Cache,
    /// Using a hidden file.
    Hidden,
    /// Reading a file that can hold secrets.
    Sealed,
    /// Changing a file that programs take orders from.
    Guarded,
    /// Moving or removing a directory that a protected file is in.
    Held,
    /// Writing to the store of a repository outside of the write roots, which is not known to belong to the work tree. The path is the store.
    Store,
    /// Pushing to a directory outside of the write roots.
    Remote,
    /// Reaching the network.
    Network,
    /// Reaching a local socket.
    Socket,
    /// Taking the rights of another account.
    Rights,
    /// An access was refused, and nothing tells whether that was the jail: a guess.
    Unknown,
}

impl Denial {
    fn of(kind: DenialKind) -> Self {
        Self { kind, subject: None, path: None }
    }

    fn about(kind: DenialKind, shown: &str, path: PathBuf) -> Self {
        Self { kind, subject: Some(shown.chars().take(MAX_SUBJECT).collect()), path: Some(path) }
    }
}

/// The accesses that the jail of a command with these bounds refused, going by the output of the command.
/// Each one once, the first few.
pub fn denials(output: &str, bounds: &Bounds, cwd: &Path) -> Vec<Denial> {
    if bounds.is_open() {
        return Vec::new();
    }
    let mut found: Vec<Denial> = Vec::new();
    for line in output.lines().filter(|line| speaks(line)).take(MAX_LINES) {
        let Some(denial) = judge(line, bounds, cwd).map(|denial| in_store(denial, cwd)) else { continue };
        let is_known = found.iter().any(|known| known.kind == denial.kind && known.path == denial.path);
        if !is_known {
            found.push(denial);
        }
    }
    // A guess is worth nothing beside a known denial.
    if found.iter().any(|denial| denial.kind != DenialKind::Unknown) {
        found.retain(|denial| denial.kind != DenialKind::Unknown);
    }
    found.truncate(MAX_DENIALS);
    found
}

/// The same denial, about the store of the work tree that the command ran in if the path is in there.
fn in_store(denial: Denial, cwd: &Path) -> Denial {
    let Some(path) = denial.path.as_deref().filter(|_| denial.kind == DenialKind::Write) else {
        return denial;
    };
    let store =
        cwd.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).and_then(git_store);
    match store.filter(|store| path.starts_with(&store.at)) {
        Some(store) => Denial { kind: DenialKind::Store, path: Some(store.at), ..denial },
        None => denial,
    }
}

fn has(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}

fn speaks(line: &str) -> bool {
    [REFUSED, MISSING, BUSY, NO_NETWORK, NO_SOCKET, NO_RIGHTS, CLOSED_REMOTE]
        .iter()
        .any(|words| has(line, words))
}

fn judge(line: &str, bounds: &Bounds, cwd: &Path) -> Option<Denial> {
    let is_confined = !bounds.only_hide();
    if is_confined && has(line, NO_RIGHTS) {
        return Some(Denial::of(DenialKind::Rights));
    }
    if !bounds.network && has(line, NO_NETWORK) {
        return Some(Denial::of(DenialKind::Network));
    }
    if is_confined && has(line, CLOSED_REMOTE) {
        return Some(Denial::of(DenialKind::Remote));
    }
    if is_confined && let Some(denial) = socket(line, cwd) {
        return Some(denial);
    }
    let named = || paths(line).map(|shown| (shown, clean(&cwd.join(shown))));
    if has(line, REFUSED) {
        // The program that speaks comes first, and its subject last.
        let all: Vec<(&str, PathBuf)> = named().collect();
        let known = all.into_iter().rev().find_map(|(shown, path)| refused(shown, path, bounds));
        return known.or_else(|| {
            // If every named path can be used in the jail as well as outside, the jail has no part in it.
            let is_unclear = is_confined && !named().any(|(_, path)| path.symlink_metadata().is_ok());
            is_unclear.then(|| Denial::of(DenialKind::Unknown))
        });
    }
    if has(line, BUSY) && is_confined {
        return Some(Denial::of(DenialKind::Held));
    }
    named().find_map(|(shown, path)| {
        let is_there = path.symlink_metadata().is_ok();
        (is_there && is_hidden(&path, bounds)).then(|| Denial::about(DenialKind::Hidden, shown, path))
    })
}

/// A client that did not reach an existing local socket.
fn socket(line: &str, cwd: &Path) -> Option<Denial> {
    let is_refused = has(line, REFUSED) || has(line, MISSING) || has(line, NO_SOCKET);
    let is_socket = |path: &Path| {
        use std::os::unix::fs::FileTypeExt as _;
        path.metadata().is_ok_and(|found| found.file_type().is_socket())
    };
    let named = paths(line)
        .map(|word| (word, clean(&cwd.join(word.trim_start_matches("unix").trim_start_matches("//")))));
    let mut there = named.filter(|(_, path)| is_refused && is_socket(path));
    if let Some((shown, path)) = there.next() {
        return Some(Denial::about(DenialKind::Socket, shown, path));
    }
    has(line, NO_SOCKET).then(|| Denial::of(DenialKind::Socket))
}

/// The denial of a path by the bounds, if the account itself could use it.
fn refused(shown: &str, path: PathBuf, bounds: &Bounds) -> Option<Denial> {
    if bounds.opened.contains(&path) {
        return None;
    }
    let (opened, names) = (OpenedRoots::new(&bounds.anchors), fold_path(&path));
    let kind = if is_hidden(&path, bounds) {
        DenialKind::Hidden
    } else if opened.protects(&bounds.sealed_names, &names)
        || bounds.sealed.iter().any(|place| path.starts_with(place))
    {
        DenialKind::Sealed
    } else if opened.protects(&bounds.guarded_names, &names)
        || bounds.guarded.iter().any(|place| path.starts_with(place))
    {
        DenialKind::Guarded
    } else if is_path(shown, &path) && !is_writable(&path, bounds) && could_write(&path) {
        let mut caches = bounds.caches.iter().flat_map(|caches| &caches.places);
        if caches.any(|cache| path.starts_with(&cache.at)) { DenialKind::Cache } else { DenialKind::Write }
    } else {
        return None;
    };
    Some(Denial::about(kind, shown, path))
}

/// Whether a word is a path and not just a word of the message.
fn is_path(shown: &str, path: &Path) -> bool {
    path.is_absolute() && (shown.contains('/') || path.symlink_metadata().is_ok())
}

fn is_hidden(path: &Path, bounds: &Bounds) -> bool {
    let beneath = |places: &[PathBuf]| places.iter().any(|place| path.starts_with(place));
    (beneath(&bounds.hidden) || beneath(&bounds.ways)) && !beneath(&bounds.shown)
}

fn is_writable(path: &Path, bounds: &Bounds) -> bool {
    match &bounds.write {
        Reach::Anywhere => true,
        Reach::Nothing => false,
        Reach::Beneath(roots) => {
            let further = bounds.write_alone.iter().chain(&bounds.git_stores);
            roots.iter().chain(further).any(|root| path.starts_with(root))
        }
    }
}

/// Whether the account could write there without a jail: the file, or the nearest existing directory above. A
/// word that is no path has nothing near it.
fn could_write(path: &Path) -> bool {
    let is_there = path.symlink_metadata().is_ok();
    let near = if is_there { Some(path) } else { path.parent().filter(|parent| parent.is_dir()) };
    let near = near.or_else(|| {
        path.ancestors().skip(2).take(2).find(|above| above.is_dir() && *above != Path::new("/"))
    });
    near.is_some_and(|near| access(near, Access::WRITE_OK).is_ok())
}

/// The words of a line that may be paths.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let is_around = |letter: char| letter.is_whitespace() || AROUND.contains(letter);
    let is_path = |word: &&str| !word.is_empty() && !word.starts_with('-');
    line.split(is_around)
        .filter(is_path)
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use buddy_protocol::NameSet;

    use super::*;

    /// A workspace in a home that has further files.
    struct Stage {
        home: tempfile::TempDir,
    }

    impl Stage {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            for directory in ["w", "w/src", "elsewhere", ".ssh"] {
                std::fs::create_dir(home.path().join(directory)).unwrap();
            }
            for file in [".ssh/id", "w/secrets.yml", "elsewhere/file"] {
                std::fs::write(home.path().join(file), "x").unwrap();
            }
            Self { home }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.home.path().join(name)
        }

        fn bounds(&self) -> Bounds {
            Bounds {
                write: Reach::Beneath(vec![self.at("w")]),
                hidden: vec![self.at(".ssh")],
                anchors: vec![self.at("w")],
                guarded_names: NameSet::trees([".git/hooks", ".vscode"]),
                guarded: vec![self.at("w/scripts/hooks")],
                sealed_names: NameSet::default().with_files(["secrets.*"]),
                network: false,
                ..Bounds::open()
            }
        }

        #[track_caller]
        fn check(&self, output: &str, expected: &[DenialKind]) {
            let output = output.replace('~', self.home.path().to_str().unwrap());
            let found = denials(&output, &self.bounds(), &self.at("w"));
            let kinds: Vec<DenialKind> = found.iter().map(|denial| denial.kind).collect();
            assert_eq!(kinds, expected, "{output}");
        }
    }

    #[test]
    fn the_path_in_a_message_says_why() {
        let stage = Stage::new();
        stage.check("ok\ncat: secrets.yml: Permission denied\n", &[DenialKind::Sealed]);
        stage.check("error: open(\"./src/../secrets.yml\"): EACCES", &[DenialKind::Sealed]);
        stage.check("sh: 1: cannot create .git/hooks/x: Read-only file system", &[DenialKind::Guarded]);
        stage.check("cp: cannot create 'scripts/hooks/x': Read-only file system", &[DenialKind::Guarded]);
        stage.check("touch: cannot touch '~/elsewhere/new': Read-only file system", &[DenialKind::Write]);
        stage.check("touch: cannot touch '../elsewhere/file': Read-only file system", &[DenialKind::Write]);
        stage.check("PermissionError: [Errno 13] Permission denied: '~/elsewhere/a/b'", &[DenialKind::Write]);
        stage.check("/bin/sh: line 1: ~/elsewhere/file: Read-only file system", &[DenialKind::Write]);
        let output = format!("/bin/sh: line 1: {}: Read-only file system", stage.at("elsewhere/x").display());
        let found = denials(&output, &stage.bounds(), &stage.at("w"));
        assert_eq!(found[0].path, Some(stage.at("elsewhere/x")), "not the program that says so");
        stage.check("cat: ~/.ssh/id: No such file or directory", &[DenialKind::Hidden]);
        stage.check("mv: cannot move 'scripts' to 'x': Device or resource busy", &[DenialKind::Held]);
        stage.check(
            "error: remote unpack failed: unable to create temporary object directory",
            &[DenialKind::Remote],
        );
        stage.check("curl: (6) Could not resolve host: example.com", &[DenialKind::Network]);
        stage.check("sudo: The \"no new privileges\" flag is set", &[DenialKind::Rights]);
    }

    #[test]
    fn a_name_that_begins_above_the_opened_directory_says_why_too() {
        let stage = Stage::new();
        let anchors = vec![stage.at(".docker"), stage.at(".vscode/x")];
        let sealed_names = NameSet::trees([".docker/config.json"]);
        let bounds = Bounds { anchors: anchors.clone(), sealed_names, ..stage.bounds() };
        for (at, file, expected) in [
            (0, "config.json", Some(DenialKind::Sealed)),
            (0, ".vscode/tasks.json", Some(DenialKind::Guarded)),
            (1, "file", None),
        ] {
            let path = anchors[at].join(file);
            assert_eq!(refused(file, path, &bounds).map(|denial| denial.kind), expected, "{file}");
        }
    }

    #[test]
    fn failures_without_the_jail_are_not_reported() {
        let stage = Stage::new();
        for plain in [
            "secrets.yml is fine",
            "cat: src/missing: No such file or directory",
            "cat: ~/.ssh/missing: No such file or directory",
            "bash: ./src: Permission denied",
        ] {
            stage.check(plain, &[]);
        }
        let found = denials("x: Permission denied", &Bounds::open(), &stage.at("w"));
        assert_eq!(found, [], "without bounds there is no jail");
    }

    #[test]
    fn a_guess_is_one_and_gives_way_to_what_is_known() {
        let stage = Stage::new();
        stage.check("fatal: Operation not permitted", &[DenialKind::Unknown]);
        stage.check("touch: cannot touch '/nonexistent/a/b/c': Permission denied", &[DenialKind::Unknown]);
        stage.check(
            "fatal: Operation not permitted\ncat: secrets.yml: Permission denied",
            &[DenialKind::Sealed],
        );
    }

    #[test]
    fn a_socket_that_is_there_is_told_from_one_that_is_not() {
        let stage = Stage::new();
        let listener = UnixListener::bind(stage.at("elsewhere/a.sock")).unwrap();
        stage.check("dial unix ~/elsewhere/a.sock: connect: permission denied", &[DenialKind::Socket]);
        stage.check(
            "cannot reach unix://~/elsewhere/a.sock: No such file or directory",
            &[DenialKind::Socket],
        );
        drop(listener);
        stage.check("dial unix ~/elsewhere/b.sock: connect: no such file or directory", &[]);
        stage.check("Cannot connect to the Docker daemon. Is it running?", &[DenialKind::Socket]);
    }

    #[test]
    fn many_refusals_are_few_denials() {
        let stage = Stage::new();
        let line =
            |number: usize| format!("touch: cannot touch '../elsewhere/{number}': Permission denied\n");
        let output: String = (0..1000).map(line).collect();
        assert_eq!(denials(&output, &stage.bounds(), &stage.at("w")).len(), MAX_DENIALS);
    }
}
