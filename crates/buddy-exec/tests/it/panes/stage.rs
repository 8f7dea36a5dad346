//! A target with panes, a tmux server of its own, and a user at it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{
    Bounds, CaptureOptions, Description, Exit, HostMeans, Keys, LocalSettings, LocalTarget, OutputLimits,
    PaneCommand, PaneSelector, PaneText, Panes, Reach, Running, SupervisorCommand, Target, TargetError,
    TmuxSettings, TmuxTarget, Way,
};
use tempfile::TempDir;

use crate::jail::cell::{Kind, NOBODY, behind_mount, is_ordinary, supervisor};
use crate::stage::PATIENCE;

/// The most bytes that are kept of each output.
const KEEP: usize = 4 * 1024 * 1024;

/// The argument by which the program of this stage becomes a warden.
const HAS_WARDEN: Option<&str> = Some(buddy_exec::warden::WARD);

pub(crate) struct PaneStage {
    dir: TempDir,
    pub(crate) target: Arc<TmuxTarget>,
    /// The bounds of commands and keys.
    pub(crate) bounds: Bounds,
    /// The directory of a supervisor that other accounts can execute.
    _programs: TempDir,
}

impl PaneStage {
    pub(crate) fn new(shell: &str) -> Self {
        Self::with(shell, |program| supervisor(Kind::Full, program), HAS_WARDEN)
    }

    /// As on a host that has no jail.
    pub(crate) fn without_jail() -> Self {
        Self::with("/bin/bash", |program| supervisor(Kind::Full, program), None)
    }

    /// Of an account without rights.
    pub(crate) fn ordinary(shell: &str) -> Self {
        let stage = Self::with(shell, |program| supervisor(Kind::Ordinary, program), HAS_WARDEN);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(stage.path(""), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        stage
    }

    /// Commands may write in the directory `work` and nowhere else, and reach no network.
    pub(crate) fn jailed(shell: &str) -> Self {
        Self::jailed_as(Kind::Full, shell)
    }

    /// The same with some of the layers, or as another account.
    pub(crate) fn jailed_as(kind: Kind, shell: &str) -> Self {
        let stage = Self::with(shell, |program| supervisor(kind, program), HAS_WARDEN);
        let stage = stage.with_bounds();
        if is_ordinary(kind) && rustix::process::geteuid().is_root() {
            for path in [stage.path(""), stage.path("work")] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        stage
    }

    /// The same with another program in the place of bubblewrap.
    pub(crate) fn jailed_by(program: &str) -> Self {
        let behind = |supervise: &Path| {
            let mut words = behind_mount(program);
            words.push(supervise.to_str().unwrap().to_owned());
            SupervisorCommand { program: words[0].clone().into(), args: words.split_off(1) }
        };
        Self::with("/bin/bash", behind, HAS_WARDEN).with_bounds()
    }

    fn with_bounds(mut self) -> Self {
        std::fs::create_dir(self.path("work")).unwrap();
        let write = Reach::Beneath(vec![self.path("work")]);
        self.bounds = Bounds { write, network: false, ..Bounds::open() };
        self
    }

    fn with(shell: &str, supervisor: impl FnOnce(&Path) -> SupervisorCommand, warden: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let programs = tempfile::tempdir().unwrap();
        std::fs::set_permissions(programs.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = programs.path().join("supervise");
        std::fs::copy(env!("CARGO_BIN_EXE_buddy-supervise"), &program).unwrap();
        let warden =
            warden.map(|mode| SupervisorCommand { program: program.clone(), args: vec![mode.to_owned()] });
        let target = Arc::new(layer(dir.path(), shell, supervisor(&program), warden));
        Self { dir, target, bounds: Bounds::open(), _programs: programs }
    }

    /// The same as another process of the same user would have it.
    pub(crate) fn again(&self) -> TmuxTarget {
        again(self.dir.path(), "/bin/bash")
    }

    /// The stage after the process that had the target has ended.
    pub(crate) fn without_target(mut self) -> Self {
        self.target = Arc::new(again(&self.path("elsewhere"), "/bin/sh"));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("run/socket")
    }

    pub(crate) fn command(&self, text: &str) -> PaneCommand {
        PaneCommand {
            text: PaneText::Shell(text.to_owned()),
            cwd: self.dir.path().to_owned(),
            timeout: Some(PATIENCE),
            output: OutputLimits { keep_head: KEEP, keep_tail: KEEP, log: None },
            bounds: self.bounds.clone(),
        }
    }

    pub(crate) async fn start(&self, text: &str) -> Running {
        self.try_start(self.command(text)).await.unwrap().running
    }

    pub(crate) async fn try_start(
        &self,
        command: PaneCommand,
    ) -> Result<buddy_exec::PaneRunning, TargetError> {
        Panes::start(&*self.target, &PaneSelector::default(), command).await
    }

    /// Runs a command and returns its exit with the notes on it.
    pub(crate) async fn run(&self, text: &str) -> (Exit, String) {
        let mut run = self.try_start(self.command(text)).await.unwrap();
        let exit = run.running.wait().await.unwrap();
        (exit, run.notes.await.unwrap().join("\n"))
    }

    /// Runs a command that must print exactly this and end with this code.
    pub(crate) async fn check(&self, text: &str, printed: &str, code: i32) {
        let (exit, notes) = self.run(text).await;
        assert_eq!((exit.stdout.text().as_str(), exit.code), (printed, Some(code)), "{text:?} {notes}");
    }

    /// Types as the agent does.
    pub(crate) async fn keys(&self, text: &str) {
        let keys = Keys { literal_text: Some(text.to_owned()), enter: true, ..Keys::default() };
        self.target.send_keys(&self.bounds, &PaneSelector::default(), &keys).await.unwrap();
    }

    pub(crate) async fn screen(&self) -> String {
        let options = CaptureOptions { start: Some("-".to_owned()), ..CaptureOptions::default() };
        self.target.capture(&PaneSelector::default(), &options).await.unwrap().text
    }

    /// Waits until the pane shows a text. Polls: a screen has no events.
    pub(crate) async fn until_shown(&self, text: &str) -> String {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let screen = self.screen().await;
            if screen.contains(text) {
                return screen;
            }
            assert!(std::time::Instant::now() < end, "{text:?} was never shown:\n{screen}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Runs tmux on the server of this stage, past the target.
    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        tmux(&self.socket(), arguments)
    }

    /// Ends the server and waits until its process is gone: until then the next one may be taken for it.
    pub(crate) async fn end_server(&self) {
        let process = Path::new("/proc").join(self.tmux(&["display-message", "-p", "#{pid}"]));
        self.tmux(&["kill-server"]);
        let end = std::time::Instant::now() + PATIENCE;
        while process.exists() {
            assert!(std::time::Instant::now() < end, "the server is still there");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A user who sits at a pane that was just made.
    pub(crate) async fn person_at_new_pane(&self) -> Person {
        self.check("echo hello", "hello\n", 0).await;
        self.person()
    }

    /// A user who sits at the pane: a real client, in a pane of a server of the user's own.
    pub(crate) fn person(&self) -> Person {
        let socket = self.path("person.socket");
        let attach = format!("TMUX= exec tmux -S '{}' attach", self.socket().display());
        tmux(&socket, &["-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", &attach]);
        let person = Person { socket };
        let end = std::time::Instant::now() + PATIENCE;
        while self.tmux(&["list-clients", "-F", "#{client_name}"]).is_empty() {
            assert!(std::time::Instant::now() < end, "the user never got to the pane");
            std::thread::sleep(Duration::from_millis(20));
        }
        person
    }
}

impl Drop for PaneStage {
    fn drop(&mut self) {
        for socket in [self.path("person.socket"), self.socket()] {
            if socket.exists() {
                tmux(&socket, &["kill-server"]);
            }
        }
    }
}

pub(crate) struct Person {
    socket: PathBuf,
}

impl Person {
    pub(crate) fn types(&self, text: &str) {
        tmux(&self.socket, &["send-keys", "-l", "--", text]);
    }

    pub(crate) fn presses(&self, key: &str) {
        tmux(&self.socket, &["send-keys", key]);
    }
}

#[expect(clippy::disallowed_methods, reason = "a user runs tmux past the target")]
fn tmux(socket: &Path, arguments: &[&str]) -> String {
    let output = Command::new("tmux").arg("-S").arg(socket).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn again(dir: &Path, shell: &str) -> TmuxTarget {
    let program = |args: &[&str]| SupervisorCommand {
        program: env!("CARGO_BIN_EXE_buddy-supervise").into(),
        args: args.iter().map(|&word| word.to_owned()).collect(),
    };
    layer(dir, shell, program(&[]), HAS_WARDEN.map(|mode| program(&[mode])))
}

fn layer(
    dir: &Path,
    shell: &str,
    supervisor: SupervisorCommand,
    warden: Option<SupervisorCommand>,
) -> TmuxTarget {
    let description = Description {
        name: "local".into(),
        user: "someone".into(),
        host: "here".into(),
        os: "linux".into(),
        shell: shell.into(),
        cwd: dir.to_owned(),
        means: HostMeans::default(),
    };
    let grace = Duration::from_millis(300);
    let below: Arc<dyn Target> = Arc::new(LocalTarget::new(LocalSettings { supervisor, description, grace }));
    let env: Vec<(String, String)> = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("HOME".into(), dir.to_string_lossy().into_owned()),
    ];
    let settings = TmuxSettings {
        directory: dir.join("run"),
        locks: dir.join("locks"),
        session: "buddy-test".to_owned(),
        max_sessions: 2,
        max_panes: 3,
        shell: shell.to_owned(),
        own_env: env.clone(),
        env,
        warden,
        reconnect_within: PATIENCE,
        way: Way::Here,
    };
    TmuxTarget::new(below, settings).unwrap()
}
