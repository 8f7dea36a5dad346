//! A target with panes, over one without.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::attend::{Handed, Manner, attend};
use super::begin::begin;
use super::host::Host;
use super::link::Link;
use super::names::{SHARED, checked};
use super::place::is_from_elsewhere;
use super::sessions::{self, Absent, PaneLimits};
use super::shells::{Shell, Shells, sealed_objects};
use super::{keys, lock, person::Hands, records, rest, screen};
use crate::managed::ManagedProcesses;
use crate::{
    Bounds, CaptureOptions, Deleted, Deletion, Denial, Description, Exec, Exit, FileContent, FileLock,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Keys, LineRange, Lines, ListOptions, Listing, PaneCommand,
    PaneError, PaneRunning, PaneSelector, Panes, Reach, Recorder, Remaining, Running, Screen, Stdin,
    SupervisorCommand, Target, TargetError, Way, Written,
};

/// The usual time limit for restoring a lost connection: longer than a change of networks or a short
/// sleep takes.
pub const RECONNECT_WITHIN: Duration = Duration::from_mins(2);

/// The time that a command without a timeout of its own waits for its turn.
const TURN_LIMIT: Duration = Duration::from_mins(10);

/// The notice for the agent about a pane whose shell had other bounds.
const OTHER_BOUNDS: &str = "the shell of the pane had other bounds than hold now, or a file with secrets was made or replaced \
                            since it began, so a new one was started; variables and jobs of the old one are gone";

/// The settings of a [`TmuxTarget`].
#[derive(Debug, Clone)]
pub struct TmuxSettings {
    /// A directory on the target for the socket and the files of panes. Private to the account.
    pub directory: PathBuf,
    /// A directory on this machine for locks, so that two buddies do not type into one pane, and for records of the panes that
    /// buddy made.
    pub locks: PathBuf,
    /// The default session.
    pub session: String,
    /// The most sessions, the default one included.
    pub max_sessions: u32,
    /// The most panes in one session.
    pub max_panes: u32,
    /// The shell of the panes.
    pub shell: String,
    /// The environment of the shells.
    pub env: Vec<(String, String)>,
    /// The environment of tmux, and of scripts beside it: its `PATH` has no directory in which commands can write.
    pub own_env: Vec<(String, String)>,
    /// The command line of a warden on the target, which owns the jail of a shell. Without one, panes are for
    /// calls that have no bounds.
    pub warden: Option<SupervisorCommand>,
    /// The time limit for restoring a connection to the target that was lost during a command.
    pub reconnect_within: Duration,
    /// The way for a user to get to the target.
    pub way: Way,
}

/// A target with panes.
///
/// Only [`Panes::start`] and [`Panes::dispatch`] use a pane. A command of [`Target::start`] is a tool's own
/// business and needs its streams for itself, so it goes to the target below, as files do.
pub struct TmuxTarget {
    below: Arc<dyn Target>,
    host: Arc<Host>,
    session: String,
    limits: PaneLimits,
    shells: Shells,
    locks_in: PathBuf,
    /// By session and pane. Locked for a look or a change only.
    links: Mutex<HashMap<(String, String), Arc<Link>>>,
    /// One link is made at a time, so that no pane is made twice.
    opening: Semaphore,
    /// The locks of the sessions that were used.
    locks: Mutex<HashMap<String, FileLock>>,
    /// The tasks that wait for the ends of commands.
    runs: Mutex<JoinSet<()>>,
    hands: Hands,
}

impl TmuxTarget {
    /// Panes over a target. Nothing is started before a pane is needed.
    pub fn new(below: Arc<dyn Target>, settings: TmuxSettings) -> Result<Self, TargetError> {
        let host = Host {
            target: below.clone(),
            env: settings.own_env,
            directory: settings.directory,
            records: settings.locks.clone(),
            reconnect_within: settings.reconnect_within,
            way: settings.way,
        };
        host.check()?;
        let shells =
            Shells::new(&host, &settings.shell, settings.env, &below.describe().cwd, settings.warden);
        Ok(Self {
            below,
            host: Arc::new(host),
            session: checked(&settings.session)?.to_owned(),
            limits: PaneLimits { sessions: settings.max_sessions, panes: settings.max_panes },
            shells,
            locks_in: settings.locks,
            links: Mutex::default(),
            opening: Semaphore::new(1),
            locks: Mutex::default(),
            runs: Mutex::default(),
            hands: Hands::default(),
        })
    }

    /// The same panes, whose jails move files that commands leave where programs take orders from them into
    /// this directory. Without one they are removed.
    pub fn with_quarantine(mut self, directory: PathBuf) -> Self {
        self.shells.quarantine = Some(directory);
        self
    }

    /// Makes sure that there is a tmux, that no other buddy uses the default session, and that it is none of somebody else's. Starts
    /// nothing.
    pub async fn claim(&self) -> Result<(), TargetError> {
        self.host.run("exec tmux -V", &[], Stdin::Null).await?;
        self.lock(&self.session)?;
        sessions::check_own(&self.host, &self.session).await
    }

    /// Makes the default session, so that a user can attach before the first command. Its pane waits: the bounds of its shell
    /// are those of that command.
    pub async fn open_session(&self) -> Result<(), TargetError> {
        self.lock(&self.session)?;
        sessions::session(&self.host, &self.session, &Shell::waiting(), self.limits).await.map(drop)
    }

    /// Tests whether the target keeps a command to bounds, so that it could keep the shell of a pane to them.
    pub async fn try_jail(&self) -> Result<(), TargetError> {
        let bounds = Bounds { write: Reach::Nothing, network: false, ..Bounds::open() };
        let hidden = vec![self.host.directory.clone()];
        self.host.run_in(Bounds { hidden, ..bounds }, "exit 0").await
    }

    /// Ends idle jailed sessions, for when buddy ends. All others live on.
    pub async fn end_idle(&self) -> Result<(), TargetError> {
        let links: Vec<Arc<Link>> = self.links().values().cloned().collect();
        let is_used = links.iter().any(|link| link.session == self.session);
        rest::end_idle(&self.host, links).await?;
        if is_used { Ok(()) } else { rest::end_waiting(&self.host, &self.session, self.limits).await }
    }

    fn links(&self) -> MutexGuard<'_, HashMap<(String, String), Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self, pane: &PaneSelector) -> Result<(String, String), PaneError> {
        let session = pane.session.as_deref().unwrap_or(&self.session);
        let name = pane.pane.as_deref().unwrap_or(SHARED);
        if let Some(names) = self.by_id(session, name) {
            return Ok(names);
        }
        // As people and tmux write it: the session, a colon, the pane.
        let (session, name) = match name.split_once(':') {
            Some((before, name)) if pane.session.is_none() || pane.session.as_deref() == Some(before) => {
                (before, name)
            }
            _ => (session, name),
        };
        Ok((checked(session)?.to_owned(), checked(name)?.to_owned()))
    }

    /// The names of a pane that is meant by its id, such as `%3`, which is what a command that was left in it is told with. Only
    /// ids that buddy wrote down lead anywhere.
    fn by_id(&self, session: &str, id: &str) -> Option<(String, String)> {
        id.strip_prefix('%')?;
        if let Some(names) = self.links().iter().find_map(|(names, link)| (link.id == id).then_some(names)) {
            return Some(names.clone());
        }
        let record = records::load(&self.host.records, checked(session).ok()?).ok()?;
        let found = record.panes.iter().find(|(_, known)| *known == id)?;
        Some((session.to_owned(), found.0.clone()))
    }

    /// What the shell of a pane must be for a call with these bounds.
    async fn shell(&self, pane: &PaneSelector, bounds: &Bounds) -> Result<Shell, TargetError> {
        let (session, name) = self.names(pane)?;
        let sealed = if self.shells.are_jailed() { sealed_objects(bounds).await } else { Vec::new() };
        self.shells.shell(&self.host, (&session, &name), bounds, &sealed)
    }

    /// The link to a pane with a shell of any bounds, for a caller that only looks at it or ends it. If
    /// shells are jailed no pane is made for that, as its bounds are not known.
    async fn any_link(&self, pane: &PaneSelector) -> Result<Arc<Link>, TargetError> {
        let absent = if self.shells.are_jailed() { Absent::Never } else { Absent::Leave };
        Ok(self.link(pane, absent, &Bounds::open()).await?.0)
    }

    /// The link to an existing pane. The default one is made when it is missing.
    async fn link(
        &self,
        pane: &PaneSelector,
        absent: Absent,
        bounds: &Bounds,
    ) -> Result<(Arc<Link>, bool), TargetError> {
        let names = self.names(pane)?;
        let _one = self.opening.acquire().await.map_err(|_| PaneError::Closed)?;
        let known = self.links().get(&names).filter(|link| link.is_open()).cloned();
        if let Some(link) = known {
            return Ok((link, false));
        }
        let shell = self.shell(pane, bounds).await?;
        let (session, name) = &names;
        self.lock(session)?;
        let absent = if name == SHARED && absent == Absent::Leave { Absent::Make } else { absent };
        let mut is_made = false;
        if *session == self.session && absent != Absent::Never {
            let first = PaneSelector { session: Some(session.clone()), pane: None };
            let shell = self.shell(&first, bounds).await?;
            is_made = sessions::session(&self.host, session, &shell, self.limits).await?;
        }
        let mut place = sessions::pane(&self.host, session, name, absent, &shell, self.limits).await?;
        let has_no_shell = place.is_dead || place.is_waiting();
        if has_no_shell && absent == Absent::Never {
            return Err(PaneError::Missing { what: "pane", name: name.clone() }.into());
        }
        if has_no_shell {
            // tmux does not report the output of a dead pane, so its shell is restarted before it is
            // followed.
            place.pid = sessions::respawn(&self.host, session, &place.id, &shell).await?;
            place.bounds.clone_from(&shell.bounds);
        }
        let found = shell.found(&place.bounds);
        let link = Arc::new(Link::open(self.host.clone(), (session, name), &place, found).await?);
        if is_made || place.is_new || has_no_shell {
            link.settle().await?;
        }
        self.links().insert(names, link.clone());
        Ok((link, place.is_new))
    }

    fn lock(&self, session: &str) -> Result<(), TargetError> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if !locks.contains_key(session) {
            locks.insert(session.to_owned(), lock::take(&self.locks_in, session)?);
        }
        Ok(())
    }

    /// Types a command and waits until it runs.
    async fn begin(
        &self,
        pane: &PaneSelector,
        command: &PaneCommand,
        manner: Manner,
    ) -> Result<Handed, TargetError> {
        match self.begin_once(pane, command, manner).await {
            // Nothing was typed, so a new pane may have it.
            Err(TargetError::Pane(PaneError::Vanished)) => self.begin_once(pane, command, manner).await,
            begun => begun,
        }
    }

    async fn begin_once(
        &self,
        pane: &PaneSelector,
        command: &PaneCommand,
        manner: Manner,
    ) -> Result<Handed, TargetError> {
        let mut notes = Vec::new();
        if self.hands.free().await? {
            notes.push("the user had the panes and gave them back; capture to see what changed".to_owned());
        }
        let (link, _) = self.link(pane, Absent::Leave, &command.bounds).await?;
        if link.is_dispatched.load(Ordering::Relaxed) {
            return Err(PaneError::Busy { program: "a command that was not waited for".to_owned() }.into());
        }
        let turn = turn(&link, command.timeout.unwrap_or(TURN_LIMIT)).await?;
        let shell = self.shell(pane, &command.bounds).await?;
        if link.fits(&shell) {
            link.adopt(shell);
        } else {
            link.change(shell).await?;
            notes.push(OTHER_BOUNDS.to_owned());
        }
        link.ready().await?;
        // From here on a command may be in the pane. The caller may go away at any time; the task that types
        // it does not.
        let (hand, handed) = oneshot::channel();
        let command = command.clone();
        self.spawn(async move {
            match begin(link, &command, turn, notes).await {
                Ok(begun) => attend(begun, manner, command.timeout, hand).await,
                Err(error) => drop(hand.send(Err(error))),
            }
        });
        handed.await.unwrap_or_else(|_| Err(PaneError::Closed.into()))
    }

    /// The link to a pane whose shell has exactly these bounds. One with others is replaced if no program
    /// runs in it.
    async fn fitting_link(
        &self,
        pane: &PaneSelector,
        absent: Absent,
        bounds: &Bounds,
    ) -> Result<(Arc<Link>, bool), TargetError> {
        let (link, is_new) = self.link(pane, absent, bounds).await?;
        let shell = self.shell(pane, bounds).await?;
        if link.fits(&shell) {
            link.adopt(shell);
        } else {
            let _turn = turn(&link, Duration::ZERO).await?;
            link.change(shell).await?;
        }
        Ok((link, is_new))
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        while runs.try_join_next().is_some() {}
        runs.spawn(work);
    }
}

async fn turn(link: &Link, limit: Duration) -> Result<OwnedSemaphorePermit, TargetError> {
    let busy = || PaneError::Busy { program: "another command of buddy's".to_owned() };
    let turn = timeout(limit, link.turn.clone().acquire_owned()).await.map_err(|_| busy())?;
    turn.map_err(|_| busy().into())
}

/// Whether a value of the variable `TMUX` says that its process runs in a pane of buddy's: of the server in `directory`, or of
/// one that a buddy on another machine has here.
pub fn is_inside(tmux: &str, directory: &Path) -> bool {
    let socket = tmux.split(',').next().unwrap_or_default();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let socket = Path::new(socket);
    is_from_elsewhere(socket) || real(socket) == real(&directory.join("socket"))
}

#[async_trait]
impl Panes for TmuxTarget {
    async fn start(&self, pane: &PaneSelector, command: PaneCommand) -> Result<PaneRunning, TargetError> {
        Ok(self.begin(pane, &command, Manner::Waited).await?.take().1)
    }

    async fn dispatch(&self, pane: &PaneSelector, command: PaneCommand) -> Result<String, TargetError> {
        let command = PaneCommand { timeout: None, ..command };
        Ok(self.begin(pane, &command, Manner::Left).await?.take().0)
    }

    async fn capture(&self, pane: &PaneSelector, options: &CaptureOptions) -> Result<Screen, TargetError> {
        let link = self.any_link(pane).await?;
        screen::capture(&link, options).await
    }

    async fn send_keys(&self, bounds: &Bounds, pane: &PaneSelector, keys: &Keys) -> Result<(), TargetError> {
        self.hands.free().await?;
        let (link, _) = self.fitting_link(pane, Absent::Leave, bounds).await?;
        keys::send(&link, keys).await
    }

    async fn create_session(&self, bounds: &Bounds, name: &str) -> Result<bool, TargetError> {
        let first = self.shell(&PaneSelector::default(), bounds).await?;
        let shell = self.shell(&PaneSelector { session: Some(name.to_owned()), pane: None }, bounds).await?;
        // The default session counts towards the limit, even before it is needed.
        self.lock(&self.session)?;
        sessions::session(&self.host, &self.session, &first, self.limits).await?;
        self.lock(name)?;
        sessions::session(&self.host, name, &shell, self.limits).await
    }

    async fn kill_session(&self, _: &Bounds, name: &str) -> Result<(), TargetError> {
        sessions::kill_session(&self.host, checked(name)?, &self.session).await?;
        self.links().retain(|(session, _), _| session != name);
        // Another buddy may make one of this name now.
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }

    async fn create_pane(&self, bounds: &Bounds, pane: &PaneSelector) -> Result<bool, TargetError> {
        Ok(self.fitting_link(pane, Absent::Make, bounds).await?.1)
    }

    async fn kill_pane(&self, _: &Bounds, pane: &PaneSelector) -> Result<(), TargetError> {
        let link = self.any_link(pane).await?;
        let names = self.names(pane)?;
        sessions::kill_pane(&self.host, &names.0, &names.1, &link.id).await?;
        self.links().remove(&names);
        Ok(())
    }

    fn hand_over(&self) {
        self.hands.set(true);
    }

    fn take_back(&self) {
        self.hands.set(false);
    }

    fn attach_command(&self) -> String {
        sessions::attach(&self.host, &self.session)
    }

    async fn remaining(&self) -> Result<Vec<Remaining>, TargetError> {
        sessions::remaining(&self.host).await
    }
}

#[async_trait]
impl Target for TmuxTarget {
    fn describe(&self) -> &Description {
        self.below.describe()
    }

    fn managed(&self) -> Option<&ManagedProcesses> {
        self.below.managed()
    }

    fn has_terminals(&self) -> bool {
        self.below.has_terminals()
    }

    async fn can_hide(&self) -> bool {
        self.below.can_hide().await
    }

    async fn sealed(&self, bounds: &Bounds, roots: &[PathBuf]) -> Vec<PathBuf> {
        self.below.sealed(bounds, roots).await
    }

    fn denials(&self, output: &str, bounds: &Bounds, cwd: &Path) -> Vec<Denial> {
        self.below.denials(output, bounds, cwd)
    }

    async fn rest(&self) {
        self.below.rest().await;
    }

    fn panes(&self) -> Option<&dyn Panes> {
        Some(self)
    }

    async fn check(&self, bounds: &Bounds) -> Result<(), TargetError> {
        self.below.check(bounds).await
    }

    async fn start(&self, exec: Exec) -> Result<Running, TargetError> {
        self.below.start(exec).await
    }

    async fn start_followed(&self, exec: Exec) -> Result<Running, TargetError> {
        self.below.start_followed(exec).await
    }

    async fn run_leaving(&self, exec: Exec) -> Result<Exit, TargetError> {
        self.below.run_leaving(exec).await
    }

    async fn read(&self, bounds: &Bounds, path: &Path, limit: u64) -> Result<FileContent, TargetError> {
        self.below.read(bounds, path, limit).await
    }

    async fn read_lines(&self, bounds: &Bounds, path: &Path, range: LineRange) -> Result<Lines, TargetError> {
        self.below.read_lines(bounds, path, range).await
    }

    async fn write(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        content: &[u8],
    ) -> Result<Written, TargetError> {
        self.below.write(bounds, recorder, path, content).await
    }

    async fn make_directory(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
    ) -> Result<bool, TargetError> {
        self.below.make_directory(bounds, recorder, path).await
    }

    async fn rename(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        from: &Path,
        to: &Path,
    ) -> Result<(), TargetError> {
        self.below.rename(bounds, recorder, from, to).await
    }

    async fn delete(
        &self,
        bounds: &Bounds,
        recorder: &Recorder,
        path: &Path,
        deletion: Deletion,
    ) -> Result<Deleted, TargetError> {
        self.below.delete(bounds, recorder, path, deletion).await
    }

    async fn list(&self, bounds: &Bounds, path: &Path, options: ListOptions) -> Result<Listing, TargetError> {
        self.below.list(bounds, path, options).await
    }

    async fn grep(&self, bounds: &Bounds, path: &Path, query: GrepQuery) -> Result<GrepResult, TargetError> {
        self.below.grep(bounds, path, query).await
    }

    async fn glob(&self, bounds: &Bounds, path: &Path, query: GlobQuery) -> Result<GlobResult, TargetError> {
        self.below.glob(bounds, path, query).await
    }
}
