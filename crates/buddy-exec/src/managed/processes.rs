//! All managed processes of a data directory: start, list, look at, end.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{Clock, Ids, UnixMillis};

use super::directory::Directory;
use super::launch::{Launch, Task, launch};
use super::stop::{Force, stop};
use super::sweep::sweep;
use super::{Condition, Follow, Identity, ManagedError, Record, State, Status, TAG, output_log};
use crate::{Limits, Stream, SupervisorCommand};

/// The most managed processes that run at the same time.
pub const MAX_LIVE: usize = 64;

/// The most ended processes that are kept with their output.
const KEPT_ENDED: usize = 100;

/// The settings of managed processes.
#[derive(Clone)]
pub struct ManagedSettings {
    /// The directory of their records and outputs; made when missing.
    pub directory: PathBuf,
    /// The command line of a keeper: in service this program itself in its hidden mode.
    pub keeper: SupervisorCommand,
    /// The time between asking a process tree to end and killing it.
    pub grace: Duration,
    /// The limits of one process as a whole, where this machine can enforce them; usually
    /// [`Limits::usual`].
    pub limits: Limits,
    /// Wall-clock time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
}

impl fmt::Debug for ManagedSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ManagedSettings").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The managed processes of a data directory. Everything here blocks; ending one may take as long as its grace.
#[derive(Debug, Clone)]
pub struct ManagedProcesses {
    pub(super) settings: ManagedSettings,
    quarantine: Option<PathBuf>,
}

impl ManagedProcesses {
    /// The managed processes of a directory. Nothing is started or read yet: earlier processes are found when
    /// they are asked for.
    pub fn new(settings: ManagedSettings) -> Self {
        Self { settings, quarantine: None }
    }

    /// The same processes, which move files that they leave where programs take orders from them into this
    /// directory. Without one they are removed.
    pub fn with_quarantine(self, directory: PathBuf) -> Self {
        Self { quarantine: Some(directory), ..self }
    }

    /// Starts one and returns once its command runs.
    pub fn start(&self, wish: &Launch) -> Result<Status, ManagedError> {
        if wish.argv.is_empty() {
            return Err(crate::TargetError::EmptyCommand.into());
        }
        let (id, directory) = self.make_room()?;
        let mut spec = wish.spec((TAG.to_owned(), id.clone()), self.settings.grace, self.settings.limits);
        spec.quarantine = self.quarantine.as_ref().map(|path| path.as_os_str().as_bytes().to_vec());
        let pinned = wish.pinned.iter().map(|path| path.as_os_str().as_bytes().to_vec()).collect();
        let task = Task { spec, directory: directory.clone(), record: self.record(id.clone(), wish), pinned };
        if let Err(error) = launch(&self.settings.keeper, wish, &task) {
            // A keeper that was lost on the way may have started the command.
            sweep(&id);
            let _ = directory.remove();
            return Err(error.into());
        }
        tracing::debug!(id, command = wish.command, "managed process started");
        self.status(&id)
    }

    /// The directory of one more process, unless too many run already.
    pub(super) fn make_room(&self) -> Result<(String, Directory), ManagedError> {
        let all = self.list()?;
        if all.iter().filter(|status| status.condition.is_live()).count() >= MAX_LIVE {
            return Err(ManagedError::TooMany { limit: MAX_LIVE });
        }
        self.forget_oldest(&all);
        let root = self.root();
        Directory::make(root, &*self.settings.ids)
            .map_err(ManagedError::io("make the directory of a managed process in", root))
    }

    /// All managed processes, the newest first.
    pub fn list(&self) -> Result<Vec<Status>, ManagedError> {
        let root = self.root();
        let ids = Directory::ids(root).map_err(ManagedError::io("list", root))?;
        // A process without a record is being started, or its start was cut short.
        let mut all: Vec<Status> = ids.iter().filter_map(|id| self.status(id).ok()).collect();
        all.sort_by_key(|status| std::cmp::Reverse(status.record.started_unix_ms));
        Ok(all)
    }

    /// Those that run without anybody having been asked about them and that can change one of these files.
    pub fn rivals(&self, files: &[PathBuf]) -> Result<Vec<Status>, ManagedError> {
        let mut all = self.list()?;
        all.retain(|status| {
            let writes = &status.record.unasked_writes;
            status.condition.is_live() && files.iter().any(|file| writes.covers(file))
        });
        Ok(all)
    }

    /// Those that run and are kept from files that hold secrets: from the ones that were there when they started.
    pub fn sealed_off(&self) -> Result<Vec<Status>, ManagedError> {
        let mut all = self.list()?;
        all.retain(|status| status.condition.is_live() && !status.record.had_secrets);
        Ok(all)
    }

    /// The status of one process.
    pub fn status(&self, id: &str) -> Result<Status, ManagedError> {
        let (_, record) = self.find(id)?;
        let condition = record.condition();
        let check = record.health.as_ref().filter(|_| condition == Condition::Running);
        let is_healthy = check.map(|health| health.holds(record.keeper.pid, record.has_printed_line));
        Ok(Status { record, condition, is_healthy })
    }

    /// Ends one with all its descendants, and returns its status then. One that has ended is left as it is.
    pub fn stop(&self, id: &str, force: Force) -> Result<Status, ManagedError> {
        let (directory, record) = self.find(id)?;
        if matches!(record.state, State::Ended { .. }) {
            return self.status(id);
        }
        if !stop(&record, self.settings.grace, force) {
            return Err(ManagedError::NotEnded { id: id.to_owned() });
        }
        let (_, record) = self.find(id)?;
        if !matches!(record.state, State::Ended { .. }) {
            let lost = Record { state: State::Lost, process: None, ..record };
            directory.write(&lost).map_err(ManagedError::io("write the record in", directory.path()))?;
        }
        self.status(id)
    }

    /// The last lines of its output, both streams as they came.
    pub fn tail(&self, id: &str, lines: usize) -> Result<Vec<u8>, ManagedError> {
        Ok(self.follow(id, lines)?.0)
    }

    /// The last lines of one stream; `None` if the streams were not kept apart.
    pub fn tail_of(&self, id: &str, stream: Stream, lines: usize) -> Result<Option<Vec<u8>>, ManagedError> {
        let (directory, _) = self.find(id)?;
        output_log::tail_of(directory.path(), stream, lines)
            .map_err(ManagedError::io("read the output in", directory.path()))
    }

    /// The last lines of its output, and a reader of the output after them.
    pub fn follow(&self, id: &str, lines: usize) -> Result<(Vec<u8>, Follow), ManagedError> {
        let (directory, _) = self.find(id)?;
        output_log::tail(directory.path(), lines)
            .map_err(ManagedError::io("read the output in", directory.path()))
    }

    pub(super) fn root(&self) -> &Path {
        &self.settings.directory
    }

    pub(super) fn find(&self, id: &str) -> Result<(Directory, Record), ManagedError> {
        let missing = || ManagedError::NotFound { id: id.to_owned() };
        let directory = Directory::find(self.root(), id).ok_or_else(missing)?;
        match directory.read() {
            Ok(record) if record.id == id => Ok((directory, record)),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(ManagedError::io("read the record in", directory.path())(error))
            }
            _ => Err(missing()),
        }
    }

    pub(super) fn record(&self, id: String, wish: &Launch) -> Record {
        let UnixMillis(started_unix_ms) = self.settings.clock.now();
        Record {
            id,
            name: wish.name.clone(),
            owner: wish.owner.clone(),
            command: wish.command.clone(),
            argv: wish.argv.clone(),
            cwd: wish.cwd.to_string_lossy().into_owned(),
            env_names: wish.env.iter().map(|(name, _)| name.clone()).collect(),
            had_secrets: wish.bounds.opens_secrets(),
            unasked_writes: wish.unasked_writes.clone(),
            started_unix_ms,
            restart: wish.restart,
            restarts: 0,
            health: wish.health.clone(),
            has_printed_line: false,
            keeper: Identity { pid: 0, start_time: 0, boot_id: String::new() },
            process: None,
            state: State::Running,
        }
    }

    /// Removes the oldest ended processes, so that their outputs do not pile up.
    fn forget_oldest(&self, newest_first: &[Status]) {
        let ended = newest_first.iter().filter(|status| !status.condition.is_live());
        for status in ended.skip(KEPT_ENDED) {
            if let Some(directory) = Directory::find(self.root(), &status.record.id) {
                let _ = directory.remove();
            }
        }
    }
}
