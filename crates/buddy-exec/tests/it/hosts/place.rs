//! The places that the suite runs at.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use buddy_exec::{
    Bounds, Client, ContainerSettings, ContainerTransport, Exec, Exit, OutputLimits, Recorder,
    RemoteSettings, RemoteTarget, Running, SshSettings, SshTransport, Stdin, Target, TargetError, Transport,
    Way,
};
use buddy_testkit::container_host::ContainerHost;
use buddy_testkit::ssh_host::SshHost;
use tempfile::TempDir;

use crate::jail::cell::{Cell, Kind};
use crate::stage::{PATIENCE, Stage};

/// The usual directories of programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The time that a tree has to end when it is asked to.
pub(crate) const GRACE: Duration = Duration::from_millis(300);

/// A target with a directory of its own on its host.
pub(crate) struct Place {
    pub(crate) target: Arc<dyn Target>,
    /// The same target, if it is another host.
    pub(crate) remote: Option<Arc<RemoteTarget>>,
    /// The way for a user to get there, and the environment that their programs need for that.
    pub(crate) way: Way,
    pub(crate) person_env: Vec<(String, String)>,
    /// The directories of programs on the host.
    pub(crate) path: String,
    /// The home of the account on the host.
    pub(crate) home: String,
    /// The bounds of commands that are talked to.
    pub(crate) bounds: Bounds,
    /// Values that must live as long as the target.
    _held: Vec<Box<dyn Any + Send + Sync>>,
}

impl Place {
    pub(crate) fn local() -> Self {
        let stage = Stage::with_grace(GRACE);
        let target = stage.shared_target();
        let home = target.describe().cwd.to_str().unwrap().to_owned();
        let path = PATH.to_owned();
        let (remote, person_env) = (None, Vec::new());
        let (bounds, held): (_, Vec<Box<dyn Any + Send + Sync>>) = (Bounds::open(), vec![Box::new(stage)]);
        Self { target, remote, way: Way::Here, person_env, path, home, bounds, _held: held }
    }

    /// This machine, where commands that are talked to are in a jail.
    pub(crate) fn jailed(kind: Kind) -> Self {
        let cell = Cell::new(kind);
        let (target, bounds) = (cell.stage.shared_target(), cell.bounds());
        Self { target, bounds, _held: vec![Box::new(cell)], ..Self::local() }
    }

    pub(crate) async fn busybox() -> Self {
        let host = Busybox::new();
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().to_str().unwrap().to_owned();
        let path = host.tools.path().to_str().unwrap().to_owned();
        let place = Self::over(Arc::new(host), &cwd, vec![Box::new(folder)]).await;
        Self { path, ..place }
    }

    pub(crate) async fn ssh() -> Self {
        let host = SshHost::start().unwrap();
        let transport = SshTransport::attach(ssh_settings(host.config())).await.unwrap();
        Self::over_ssh(host, transport).await
    }

    /// A host over SSH that another process has started.
    pub(crate) async fn ssh_of(config: PathBuf) -> Self {
        let transport = SshTransport::attach(ssh_settings(config)).await.unwrap();
        Self::over(Arc::new(transport), "/tmp", Vec::new()).await
    }

    /// A container that another process has started.
    pub(crate) async fn container_of(name: String, env: Vec<(String, String)>) -> Self {
        let transport = ContainerTransport::attach(ContainerSettings { name, env }).await.unwrap();
        Self::over(Arc::new(transport), "/tmp", Vec::new()).await
    }

    pub(crate) async fn over_ssh(host: SshHost, transport: SshTransport) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().to_str().unwrap().to_owned();
        let path = format!("{}:/usr/bin:/bin", host.client_folder().unwrap().display());
        let (home, person_env) = (host.home(), vec![("PATH".to_owned(), path)]);
        let place = Self::over(Arc::new(transport), &cwd, vec![Box::new(folder), Box::new(host)]).await;
        Self { home: home.to_str().unwrap().to_owned(), person_env, ..place }
    }

    pub(crate) async fn container() -> Self {
        let host = ContainerHost::start(&cache()).unwrap();
        let (name, person_env) = (host.name().to_owned(), host.env());
        let settings = ContainerSettings { name, env: person_env.clone() };
        let transport = ContainerTransport::attach(settings).await.unwrap();
        let place = Self::over(Arc::new(transport), "/tmp", vec![Box::new(host)]).await;
        Self { home: "/root".to_owned(), person_env, ..place }
    }

    async fn over(transport: Arc<dyn Transport>, cwd: &str, held: Vec<Box<dyn Any + Send + Sync>>) -> Self {
        let settings = RemoteSettings { cwd: Some(cwd.to_owned()), grace: GRACE };
        let target = Arc::new(RemoteTarget::attach(transport, settings).await.unwrap());
        let (way, home) = (target.way(), cwd.to_owned());
        Self {
            target: target.clone(),
            remote: Some(target),
            way,
            person_env: Vec::new(),
            path: PATH.to_owned(),
            home,
            bounds: Bounds::open(),
            _held: held,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.target.describe().cwd.join(name)
    }

    pub(crate) async fn start(&self, exec: Exec) -> Result<Running, TargetError> {
        self.target.start(exec).await
    }

    pub(crate) async fn run(&self, exec: Exec) -> Exit {
        self.start(exec).await.unwrap().wait().await.unwrap()
    }

    /// Starts a script and returns once it has said `ready`.
    pub(crate) async fn start_ready(&self, exec: Exec) -> Running {
        let mut running = self.start(exec).await.unwrap();
        let mut said = Vec::new();
        while !said.windows(5).any(|window| window == b"ready") {
            said.extend(running.next().await.unwrap().bytes);
        }
        running
    }

    /// The output of a script.
    pub(crate) async fn says(&self, script: &str) -> String {
        self.run(sh(script)).await.stdout.text()
    }

    pub(crate) async fn write(&self, name: &str, content: &[u8]) -> buddy_exec::Written {
        let path = self.path(name);
        self.target.write(&Bounds::open(), &Recorder::off(), &path, content).await.unwrap()
    }

    pub(crate) async fn read(&self, name: &str) -> Result<Vec<u8>, TargetError> {
        let limit = 64 * 1024 * 1024;
        self.target.read(&Bounds::open(), &self.path(name), limit).await.map(|content| content.bytes)
    }
}

pub(crate) fn ssh_settings(config: PathBuf) -> SshSettings {
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    SshSettings {
        config: Some(config),
        alive_interval: Duration::from_secs(1),
        ..SshSettings::new("machine", env)
    }
}

/// The directory in which images are kept between runs.
#[expect(
    clippy::disallowed_methods,
    reason = "what is kept between runs of the tests is in the user's own cache"
)]
pub(crate) fn cache() -> PathBuf {
    let home = std::env::var_os("HOME").unwrap_or_else(|| "/root".into());
    PathBuf::from(home).join(".cache/buddy")
}

pub(crate) fn argv(argv: &[&str]) -> Exec {
    Exec {
        argv: argv.iter().map(ToString::to_string).collect(),
        cwd: PathBuf::new(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: Stdin::Null,
        timeout: Some(PATIENCE),
        output: OutputLimits { keep_head: 4 * 1024 * 1024, keep_tail: 64 * 1024, log: None },
        bounds: Bounds::open(),
        pty: None,
        way_out: None,
        end_mark: None,
    }
}

pub(crate) fn sh(script: &str) -> Exec {
    argv(&["/bin/sh", "-c", script])
}

/// A host that has one shell and one set of tools: busybox, run here with nothing else in its `PATH`.
struct Busybox {
    tools: TempDir,
}

impl Busybox {
    fn new() -> Self {
        let tools = tempfile::tempdir().unwrap();
        for name in [
            "sh", "cat", "chmod", "chown", "cp", "date", "dd", "env", "find", "grep", "head", "id", "kill",
            "ln", "ls", "mkdir", "mkfifo", "mktemp", "mv", "printf", "readlink", "rm", "rmdir", "seq",
            "setsid", "sleep", "stat", "sync", "tail", "tr", "uname", "wc",
        ] {
            std::os::unix::fs::symlink("/bin/busybox", tools.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink("/usr/bin/tmux", tools.path().join("tmux")).unwrap();
        Self { tools }
    }
}

#[async_trait]
impl Transport for Busybox {
    fn name(&self) -> &'static str {
        "busybox"
    }

    async fn connect(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn client(&self, argv: &[&str]) -> Client {
        let program = self.tools.path().join(argv[0]);
        let args = argv[1..].iter().map(ToString::to_string).collect();
        let env = vec![("PATH".to_owned(), self.tools.path().to_str().unwrap().to_owned())];
        Client { program, args, env }
    }
}
