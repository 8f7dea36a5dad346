//! The port: the operations of every execution target.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::managed::ManagedProcesses;
use crate::{
    Bounds, Deleted, Deletion, Denial, Exec, Exit, FileContent, GlobQuery, GlobResult, GrepQuery, GrepResult,
    LineRange, Lines, ListOptions, Listing, Panes, Recorder, Running, TargetError, Written,
};

/// A host on which commands run and files live.
///
/// Relative paths are taken from the `cwd` of the [`Description`]. Nothing here decides what is
/// allowed: each call comes with its [`Bounds`], and the target keeps to them.
#[async_trait]
pub trait Target: Send + Sync {
    /// The description of this target, in words for people and models.
    fn describe(&self) -> &Description;

    /// Refuses bounds with a directory whose name leads elsewhere than when it was first used, before anything is done.
    async fn check(&self, _: &Bounds) -> Result<(), TargetError> {
        Ok(())
    }

    /// Whether bounds that only hide files work for commands here. Found out once, by using them. True if a
    /// target hides nothing from commands anyway.
    async fn can_hide(&self) -> bool {
        true
    }

    /// Files beneath these directories that commands with these bounds cannot read, since they hold secrets.
    /// Empty if nothing keeps commands from them.
    async fn sealed(&self, _: &Bounds, _: &[PathBuf]) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The accesses that the jail of a failed command with these bounds refused, going by its output. Empty
    /// if there is no jail.
    fn denials(&self, _output: &str, _bounds: &Bounds, _cwd: &Path) -> Vec<Denial> {
        Vec::new()
    }

    /// Starts a command and returns once it runs, or with the reason why it does not.
    async fn start(&self, exec: Exec) -> Result<Running, TargetError>;

    /// The managed processes of this host; `None` if it cannot keep any.
    fn managed(&self) -> Option<&ManagedProcesses> {
        None
    }

    /// Whether it gives a command a terminal of its own on request.
    fn has_terminals(&self) -> bool {
        false
    }

    /// Starts a command whose live output is delivered whole, even to a slow reader: the command waits.
    ///
    /// A target whose [`Target::start`] drops chunks has to do this in another way.
    async fn start_followed(&self, exec: Exec) -> Result<Running, TargetError> {
        self.start(exec).await
    }

    /// Runs a command to its end and leaves its background processes running, such as a server.
    ///
    /// A target whose [`Target::start`] kills background processes has to do this in another way.
    async fn run_leaving(&self, exec: Exec) -> Result<Exit, TargetError> {
        self.start(exec).await?.wait().await
    }

    /// Closes everything that is kept open for the next call, such as a connection, when there will
    /// be none.
    async fn rest(&self) {}

    /// The terminals that the agent shares with people here; `None` if there are none.
    fn panes(&self) -> Option<&dyn Panes> {
        None
    }

    /// Reads up to `limit` bytes of a regular file. Anything else is refused without waiting for it.
    async fn read(&self, bounds: &Bounds, path: &Path, limit: u64) -> Result<FileContent, TargetError>;

    /// Reads some lines of a regular file, holding no more of it in memory than requested.
    async fn read_lines(&self, bounds: &Bounds, path: &Path, range: LineRange) -> Result<Lines, TargetError>;

    /// Replaces a file in one step, with its parent directories made when missing.
    ///
    /// A reader sees the old content or the new, never a mixture; the mode of an existing file is kept. A symbolic link is
    /// not written through.
    async fn write(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        content: &[u8],
    ) -> Result<Written, TargetError>;

    /// Makes a directory and the missing ones above it. Returns false if it existed already.
    async fn make_directory(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
    ) -> Result<bool, TargetError>;

    /// Moves a file to another name, which must be free. Missing directories are made.
    async fn rename(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        from: &Path,
        to: &Path,
    ) -> Result<(), TargetError>;

    /// Removes a file, a link (never its target) or a directory. The roots of the bounds stay.
    async fn delete(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        deletion: Deletion,
    ) -> Result<Deleted, TargetError>;

    /// Lists a directory and, with a `depth` above 1, the directories below it. Symbolic links are never followed.
    async fn list(&self, bounds: &Bounds, path: &Path, options: ListOptions) -> Result<Listing, TargetError>;

    /// Searches the text of files. Dropping the future stops the search.
    async fn grep(&self, bounds: &Bounds, path: &Path, query: GrepQuery) -> Result<GrepResult, TargetError>;

    /// Finds files by their names. Dropping the future stops the search.
    async fn glob(&self, bounds: &Bounds, path: &Path, query: GlobQuery) -> Result<GlobResult, TargetError>;
}

/// The description of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Short name, such as `local`.
    pub name: String,
    /// The user that commands run as.
    pub user: String,
    /// The name of the host.
    pub host: String,
    /// Operating system and version.
    pub os: String,
    /// The shell that understands command lines here.
    pub shell: String,
    /// The directory that relative paths are taken from.
    pub cwd: PathBuf,
    /// The means of the host, as far as they are known.
    pub means: HostMeans,
}

/// The means of a host: its processors, memory and programs, and the time zone of its clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostMeans {
    /// Processors that commands can use.
    pub cores: Option<usize>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// The time zone: its name, and its distance from UTC in seconds.
    pub zone: Option<(String, i32)>,
    /// Those of [`TOLD_PROGRAMS`] that are there; `None` if nobody looked.
    pub programs: Option<Vec<String>>,
}

/// Programs whose presence decides how a task is done.
pub const TOLD_PROGRAMS: &[&str] = &[
    "python3", "pip", "uv", "node", "npm", "cargo", "go", "java", "gcc", "make", "git", "rg", "jq", "curl",
    "apt-get", "docker", "podman",
];
