//! The machine that this process runs on.

mod supervisor;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use crate::{
    Bounds, Description, Exec, FileContent, Listing, Running, Target, TargetError, Written, drain, files,
};
pub(crate) use supervisor::Supervisor;

/// How long a process tree has between being asked to end and being killed.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(5);

/// How to start a supervisor: in service this program itself in its hidden mode.
#[derive(Debug, Clone)]
pub struct SupervisorCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

/// What a [`LocalTarget`] is made of.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// How to start a supervisor.
    pub supervisor: SupervisorCommand,
    /// What to say about this machine.
    pub description: Description,
    /// How long a process tree has between being asked to end and being killed; usually [`DEFAULT_GRACE`].
    pub grace: Duration,
}

/// The machine that this process runs on.
#[derive(Debug)]
pub struct LocalTarget {
    settings: LocalSettings,
}

impl LocalTarget {
    /// A target with these settings. Nothing is started or checked yet.
    pub fn new(settings: LocalSettings) -> Self {
        Self { settings }
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.settings.description.cwd.join(path)
    }
}

#[async_trait]
impl Target for LocalTarget {
    fn describe(&self) -> &Description {
        &self.settings.description
    }

    async fn start(&self, mut exec: Exec) -> Result<Running, TargetError> {
        exec.cwd = self.resolve(&exec.cwd);
        let supervisor = self.settings.supervisor.clone();
        drain::start(supervisor, exec, self.settings.grace).await
    }

    async fn read(&self, _bounds: &Bounds, path: &Path, limit: u64) -> Result<FileContent, TargetError> {
        let path = self.resolve(path);
        blocking(path.clone(), move || files::read(&path, limit)).await
    }

    async fn write(&self, _bounds: &Bounds, path: &Path, content: &[u8]) -> Result<Written, TargetError> {
        let (path, content) = (self.resolve(path), content.to_vec());
        blocking(path.clone(), move || files::write(&path, &content)).await
    }

    async fn list(
        &self,
        _bounds: &Bounds,
        path: &Path,
        depth: u32,
        limit: usize,
    ) -> Result<Listing, TargetError> {
        let path = self.resolve(path);
        blocking(path.clone(), move || files::list(&path, depth, limit)).await
    }
}

async fn blocking<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce() -> Result<T, TargetError> + Send + 'static,
) -> Result<T, TargetError> {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(TargetError::Io { action: "finish the work on", path, source: error.into() })
    })
}
