//! A target on another host.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::call::nonces;
use super::drive::{self, NotStarted, RemoteLimits};
use super::files::{self, Files};
use super::probe;
use super::script::{self, Nonces, Script};
use super::search;
use super::spare::Spare;
use crate::exec::Chunks;
use crate::local::NOBODY_WRITES;
use crate::{
    Bounds, Deleted, Deletion, Description, Exec, Exit, FileContent, GlobQuery, GlobResult, GrepQuery,
    GrepResult, LineRange, Lines, ListOptions, Listing, Recorder, Running, Target, TargetError, Transport,
    Way, Written,
};

/// The most bytes that a command with its environment may take. A host takes 128 KiB a word and 2 MiB in all
/// by default.
const MAX_COMMAND_BYTES: usize = 1024 * 1024;
/// The most input of one call: it is kept on the host while the command runs.
const MAX_INPUT_BYTES: usize = 256 * 1024 * 1024;

/// The settings of a [`RemoteTarget`].
#[derive(Debug, Clone)]
pub struct RemoteSettings {
    /// The directory to work in; `None` for the one that the host puts new sessions in.
    pub cwd: Option<String>,
    /// The time between asking a process tree to end and killing it.
    pub grace: Duration,
}

/// Another host.
///
/// Commands need a Linux host with a POSIX shell, `setsid`, `env`, `grep` and `/proc`. There is no jail on
/// the host: a command with bounds is refused.
pub struct RemoteTarget {
    transport: Arc<dyn Transport>,
    /// The shell for the next command.
    spare: Arc<Spare>,
    description: Description,
    /// The home of the user on the host.
    home: Option<PathBuf>,
    /// The environment of a session on the host, cleaned.
    env: Vec<(String, String)>,
    grace: Duration,
}

impl RemoteTarget {
    /// Connects and finds out the host's properties, in one round trip.
    pub async fn attach(
        transport: Arc<dyn Transport>,
        settings: RemoteSettings,
    ) -> Result<Self, TargetError> {
        transport.connect().await?;
        let found = probe::probe(&*transport, settings.cwd.as_deref()).await?;
        let spare = Spare::one();
        spare.fill(&drive::reader(&*transport));
        Ok(Self {
            transport,
            spare,
            description: found.description,
            home: found.home,
            env: found.env,
            grace: settings.grace,
        })
    }

    /// The home of the user on the host.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The way for a user to get there by hand.
    pub fn way(&self) -> Way {
        self.transport.way()
    }

    /// The environment that commands on the host should get: that of a session, cleaned.
    pub fn command_env(&self) -> &[(String, String)] {
        &self.env
    }

    pub(super) fn files<'a>(&'a self, bounds: &'a Bounds) -> Files<'a> {
        Files { transport: &*self.transport, bounds, cwd: &self.description.cwd }
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.description.cwd.join(path)
    }

    /// Starts a command by a script that is made for it.
    async fn begin(
        &self,
        mut exec: Exec,
        manner: Chunks,
        script: fn(&Exec, Duration, Nonces) -> Script,
    ) -> Result<Running, TargetError> {
        exec.cwd = self.resolve(&exec.cwd);
        check(&exec)?;
        let limits =
            RemoteLimits { timeout: exec.timeout, grace: self.grace, output: exec.output.clone(), manner };
        let script = script(&exec, self.grace, nonces(&*self.transport)?);
        let started = drive::start(&*self.transport, self.spare.clone(), script, limits).await;
        started.map_err(|error| why_not(error, &exec, self.transport.name()))
    }
}

#[async_trait]
impl Target for RemoteTarget {
    fn describe(&self) -> &Description {
        &self.description
    }

    async fn rest(&self) {
        let (transport, spare) = (self.transport.clone(), self.spare.clone());
        // This may wait for a host that does not answer.
        let ended = tokio::task::spawn_blocking(move || {
            spare.close();
            transport.hang_up();
        });
        let _ = ended.await;
    }

    async fn start(&self, exec: Exec) -> Result<Running, TargetError> {
        let manner = exec.chunks();
        self.begin(exec, manner, script::supervised).await
    }

    async fn start_followed(&self, exec: Exec) -> Result<Running, TargetError> {
        self.begin(exec, Chunks::Whole, script::supervised).await
    }

    async fn run_leaving(&self, exec: Exec) -> Result<Exit, TargetError> {
        exec.refuse_piped(NOBODY_WRITES)?;
        self.begin(exec, Chunks::Sampled, script::leaving).await?.wait().await
    }

    async fn read(&self, bounds: &Bounds, path: &Path, limit: u64) -> Result<FileContent, TargetError> {
        self.files(bounds).read(path, limit).await
    }

    async fn read_lines(&self, bounds: &Bounds, path: &Path, range: LineRange) -> Result<Lines, TargetError> {
        self.files(bounds).read_lines(path, range).await
    }

    async fn write(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        content: &[u8],
    ) -> Result<Written, TargetError> {
        self.files(bounds).keep_write(recorder, path, content).await?;
        self.files(bounds).write(path, content).await
    }

    async fn make_directory(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
    ) -> Result<bool, TargetError> {
        self.files(bounds).keep_directory(recorder, path).await?;
        self.files(bounds).make_directory(path).await
    }

    async fn rename(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        from: &Path,
        to: &Path,
    ) -> Result<(), TargetError> {
        self.files(bounds).keep_rename(recorder, from, to).await?;
        self.files(bounds).rename(from, to).await
    }

    async fn delete(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        deletion: Deletion,
    ) -> Result<Deleted, TargetError> {
        self.files(bounds).keep_delete(recorder, path, deletion).await?;
        self.files(bounds).delete(path, deletion).await
    }

    async fn list(&self, bounds: &Bounds, path: &Path, options: ListOptions) -> Result<Listing, TargetError> {
        self.files(bounds).list(path, options).await
    }

    async fn grep(&self, bounds: &Bounds, path: &Path, query: GrepQuery) -> Result<GrepResult, TargetError> {
        search::grep((self, &self.env), &self.files(bounds), path, &query).await
    }

    async fn glob(&self, bounds: &Bounds, path: &Path, query: GlobQuery) -> Result<GlobResult, TargetError> {
        search::glob((self, &self.env), &self.files(bounds), path, &query).await
    }
}

/// Refuses commands that cannot run on the host as they are meant.
fn check(exec: &Exec) -> Result<(), TargetError> {
    let Some(program) = exec.argv.first() else { return Err(TargetError::EmptyCommand) };
    let not_started = |why: &str| TargetError::CommandNotStarted {
        program: program.clone(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidInput, why.to_owned()),
    };
    // No layer on the host could hide files from a command; only the file tools keep to that.
    if !(exec.bounds.only_hide() && exec.bounds.network) {
        return Err(TargetError::NotJailed {
            layer: "host".to_owned(),
            reason: "buddy has no jail on another host, so a command that must be kept from something does not run there; \
                     ask the user to approve it, or work with the file tools"
                .to_owned(),
        });
    }
    if exec.pty.is_some() {
        return Err(not_started("commands on another host have no terminal"));
    }
    files::check_path(&exec.cwd)?;
    let words = exec.argv.iter().chain(exec.env.iter().flat_map(|(name, value)| [name, value]));
    let size: usize = words.clone().map(|word| word.len() + 1).sum();
    let length = match &exec.stdin {
        crate::Stdin::Null | crate::Stdin::Piped => 0,
        crate::Stdin::Bytes(bytes) => bytes.len(),
    };
    for (what, size, limit) in [
        ("the command with its environment", size, MAX_COMMAND_BYTES),
        ("the input", length, MAX_INPUT_BYTES),
    ] {
        if size > limit {
            return Err(TargetError::TooLarge { what, size: size as u64, limit: limit as u64 });
        }
    }
    if words.clone().any(|word| word.contains('\0')) {
        return Err(not_started("a NUL cannot be in a command"));
    }
    if program.is_empty() || program.contains('=') {
        return Err(not_started("on another host a program's name is not empty and has no `=` in it"));
    }
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_letter);
    if !exec.env.iter().all(|(name, _)| is_name(name)) {
        return Err(not_started("on another host names of variables have letters, digits and `_` only"));
    }
    Ok(())
}

/// The error for a command that the script on the host refused.
fn why_not(error: NotStarted, exec: &Exec, target: &str) -> TargetError {
    let (what, how) = match error {
        NotStarted::Failed(error) => return error,
        NotStarted::Refused { what, how } => (what, how),
    };
    let kind = match how.as_str() {
        "missing" => std::io::ErrorKind::NotFound,
        "file" => std::io::ErrorKind::NotADirectory,
        _ => std::io::ErrorKind::PermissionDenied,
    };
    match what.as_str() {
        "directory" => TargetError::CwdUnusable { cwd: exec.cwd.clone(), source: kind.into() },
        "program" => TargetError::CommandNotStarted {
            program: exec.argv.first().cloned().unwrap_or_default(),
            source: kind.into(),
        },
        _ => TargetError::NotSupported { target: target.to_owned(), reason: format!("{what}: {how}") },
    }
}
