//! The machine that this process runs on.

mod supervisor;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::control::Leftovers;
use crate::exec::Chunks;
use crate::files::{self, Roots, View};
use crate::managed::ManagedProcesses;
use crate::search::{self, Stop};
use crate::{
    Bounds, Deleted, Deletion, Denial, Description, Exec, Exit, FileContent, GlobQuery, GlobResult,
    GrepQuery, GrepResult, Limits, LineRange, Lines, ListOptions, Listing, OutputLimits, Recorder, Running,
    Stdin, Target, TargetError, Written, drain, jail,
};
pub use supervisor::SupervisorCommand;
pub(crate) use supervisor::{PIPE_BYTES, Supervisor, Terms};

/// The time between asking a process tree to end and killing it.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(5);

/// The reason why a command that is run to its end has no piped stdin.
pub(crate) const NOBODY_WRITES: &str = "a command that is run to its end has nobody who writes to its stdin";

/// The time limit of a command that does nothing.
const TRY_LIMIT: Duration = Duration::from_secs(20);

/// The settings of a [`LocalTarget`].
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// The command line of a supervisor.
    pub supervisor: SupervisorCommand,
    /// The description of this machine.
    pub description: Description,
    /// The time between asking a process tree to end and killing it; usually [`DEFAULT_GRACE`].
    pub grace: Duration,
}

/// The machine that this process runs on.
#[derive(Debug)]
pub struct LocalTarget {
    settings: LocalSettings,
    roots: Arc<Roots>,
    managed: Option<ManagedProcesses>,
    limits: Limits,
    /// The fate of background processes that commands leave.
    leftovers: Leftovers,
    quarantine: Option<PathBuf>,
    /// Whether files can be hidden from commands that are not confined otherwise.
    can_hide: OnceCell<bool>,
}

impl LocalTarget {
    /// A target with these settings. Nothing is started or checked yet.
    pub fn new(settings: LocalSettings) -> Self {
        Self {
            settings,
            roots: Arc::default(),
            managed: None,
            limits: Limits::usual(),
            leftovers: Leftovers::default(),
            quarantine: None,
            can_hide: OnceCell::new(),
        }
    }

    /// The same target, with these limits on each command as a whole, where this machine can enforce them.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same target, which moves files that commands leave where programs take orders from them into this
    /// directory. Without one they are removed.
    pub fn with_quarantine(self, directory: PathBuf) -> Self {
        Self { quarantine: Some(directory), ..self }
    }

    /// The same target, which also keeps managed processes.
    pub fn with_managed(self, managed: ManagedProcesses) -> Self {
        Self { managed: Some(managed), ..self }
    }

    /// The same target, where background processes stay when the command has ended by itself.
    pub fn leaving_leftovers(self) -> Self {
        Self { leftovers: Leftovers::Stay, ..self }
    }

    async fn try_to_hide(&self) -> bool {
        // Any directory will do that every machine has and that no program needs to start.
        let bounds = Bounds { hidden: vec![PathBuf::from("/tmp")], ..Bounds::open() };
        let exec = Exec {
            argv: vec!["/bin/true".to_owned()],
            cwd: PathBuf::from("/"),
            env: Vec::new(),
            stdin: Stdin::Null,
            pty: None,
            timeout: Some(TRY_LIMIT),
            output: OutputLimits::default(),
            bounds,
            way_out: None,
            end_mark: None,
        };
        match self.start(exec).await {
            Ok(mut running) => running.wait().await.is_ok_and(|exit| exit.code == Some(0)),
            Err(error) => {
                tracing::warn!(%error, "files cannot be hidden from commands");
                false
            }
        }
    }

    /// The usual terms.
    fn terms(&self) -> Terms {
        Terms {
            grace: self.settings.grace,
            limits: self.limits,
            leftovers: self.leftovers,
            chunks: Chunks::default(),
            quarantine: self.quarantine.clone(),
        }
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.settings.description.cwd.join(path)
    }

    /// Does file work on a blocking thread, with the path made absolute and the bounds in effect.
    async fn files<T: Send + 'static>(
        &self,
        bounds: &Bounds,
        path: &Path,
        work: impl FnOnce(&View, &Path) -> Result<T, TargetError> + Send + 'static,
    ) -> Result<T, TargetError> {
        let path = self.resolve(path);
        let (roots, bounds) = (self.roots.clone(), bounds.clone());
        let named = path.clone();
        let done = spawn_blocking(move || {
            files::check_path(&path)?;
            let path = files::climb_no_link(&path)?;
            work(&View::new(&roots, &bounds)?, &path)
        });
        done.await.unwrap_or_else(|error| {
            Err(TargetError::Io { action: "finish the work on", path: named, source: error.into() })
        })
    }
}

#[async_trait]
impl Target for LocalTarget {
    fn has_terminals(&self) -> bool {
        true
    }

    fn describe(&self) -> &Description {
        &self.settings.description
    }

    fn managed(&self) -> Option<&ManagedProcesses> {
        self.managed.as_ref()
    }

    async fn can_hide(&self) -> bool {
        *self.can_hide.get_or_init(|| self.try_to_hide()).await
    }

    async fn sealed(&self, bounds: &Bounds, roots: &[PathBuf]) -> Vec<PathBuf> {
        let (bounds, roots) = (bounds.clone(), roots.to_vec());
        spawn_blocking(move || jail::sealed(&bounds, &roots)).await.unwrap_or_default()
    }

    fn denials(&self, output: &str, bounds: &Bounds, cwd: &Path) -> Vec<Denial> {
        jail::denials(output, bounds, cwd)
    }

    async fn check(&self, bounds: &Bounds) -> Result<(), TargetError> {
        let (roots, anchors) = (self.roots.clone(), bounds.anchors.clone());
        let looked_at = spawn_blocking(move || anchors.iter().try_for_each(|anchor| roots.check(anchor)));
        looked_at.await.unwrap_or_else(|error| {
            let path = self.settings.description.cwd.clone();
            Err(TargetError::Io { action: "look at", path, source: error.into() })
        })
    }

    async fn start(&self, mut exec: Exec) -> Result<Running, TargetError> {
        exec.cwd = self.resolve(&exec.cwd);
        let terms = Terms { chunks: exec.chunks(), ..self.terms() };
        drain::start(self.settings.supervisor.clone(), exec, terms).await
    }

    async fn start_followed(&self, mut exec: Exec) -> Result<Running, TargetError> {
        exec.cwd = self.resolve(&exec.cwd);
        let terms = Terms { chunks: Chunks::Whole, ..self.terms() };
        drain::start(self.settings.supervisor.clone(), exec, terms).await
    }

    async fn run_leaving(&self, mut exec: Exec) -> Result<Exit, TargetError> {
        exec.refuse_piped(NOBODY_WRITES)?;
        exec.cwd = self.resolve(&exec.cwd);
        let terms = Terms { leftovers: Leftovers::Stay, ..self.terms() };
        let mut running = drain::start(self.settings.supervisor.clone(), exec, terms).await?;
        running.wait().await
    }

    async fn read(&self, bounds: &Bounds, path: &Path, limit: u64) -> Result<FileContent, TargetError> {
        self.files(bounds, path, move |view, path| files::read(view, path, limit)).await
    }

    async fn read_lines(&self, bounds: &Bounds, path: &Path, range: LineRange) -> Result<Lines, TargetError> {
        self.files(bounds, path, move |view, path| files::read_lines(view, path, range)).await
    }

    async fn write(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        content: &[u8],
    ) -> Result<Written, TargetError> {
        let (recorder, content) = (recorder.clone(), content.to_vec());
        self.files(bounds, path, move |view, path| files::write(view, &recorder, path, &content)).await
    }

    async fn make_directory(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
    ) -> Result<bool, TargetError> {
        let recorder = recorder.clone();
        self.files(bounds, path, move |view, path| files::make_directory(view, &recorder, path)).await
    }

    async fn rename(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        from: &Path,
        to: &Path,
    ) -> Result<(), TargetError> {
        let (recorder, to) = (recorder.clone(), self.resolve(to));
        self.files(bounds, from, move |view, from| {
            files::check_path(&to)?;
            let to = files::climb_no_link(&to)?;
            files::rename(view, &recorder, from, &to)
        })
        .await
    }

    async fn delete(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        deletion: Deletion,
    ) -> Result<Deleted, TargetError> {
        let (recorder, keep) = (recorder.clone(), self.settings.description.cwd.clone());
        self.files(bounds, path, move |view, path| files::delete(view, &recorder, path, deletion, &keep))
            .await
    }

    async fn list(&self, bounds: &Bounds, path: &Path, options: ListOptions) -> Result<Listing, TargetError> {
        self.files(bounds, path, move |view, path| files::list(view, path, options)).await
    }

    async fn grep(&self, bounds: &Bounds, path: &Path, query: GrepQuery) -> Result<GrepResult, TargetError> {
        let guard = StopOnDrop::default();
        let stop = guard.0.clone();
        self.files(bounds, path, move |view, path| search::grep(view, path, &query, &stop)).await
    }

    async fn glob(&self, bounds: &Bounds, path: &Path, query: GlobQuery) -> Result<GlobResult, TargetError> {
        let guard = StopOnDrop::default();
        let stop = guard.0.clone();
        self.files(bounds, path, move |view, path| search::glob(view, path, &query, &stop)).await
    }
}

/// Stops a search when its caller no longer waits for it.
#[derive(Default)]
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}
