//! Panes at a place, and a user who gets to them by the command that buddy prints.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_exec::{
    Bounds, CaptureOptions, Exit, OutputLimits, PaneCommand, PaneRunning, PaneSelector, PaneText, Panes,
    TargetError, TmuxSettings, TmuxTarget, Way, pane_directory,
};
use tempfile::TempDir;

use crate::hosts::place::{Place, sh};
use crate::stage::PATIENCE;

/// The most bytes that are kept of each output.
const KEEP: usize = 4 * 1024 * 1024;

pub(crate) struct PanePlace {
    pub(crate) place: Place,
    pub(crate) panes: Arc<TmuxTarget>,
    pub(crate) shell: String,
    /// The directory of the panes on the host.
    pub(crate) directory: PathBuf,
    here: TempDir,
}

impl PanePlace {
    pub(crate) async fn new(place: Place, shell: &str) -> Self {
        let here = tempfile::tempdir().unwrap();
        let directory = pane_directory(&*place.target, &env(&place), "test").await.unwrap();
        let panes = Arc::new(layer(&place, shell, &directory, &here, "buddy-test", PATIENCE));
        Self { place, panes, shell: shell.to_owned(), directory, here }
    }

    /// Panes in another session, as another process would have them.
    pub(crate) fn session(&self, name: &str) -> TmuxTarget {
        layer(&self.place, &self.shell, &self.directory, &self.here, name, PATIENCE)
    }

    /// The same for a process that gives a lost connection up after this time.
    pub(crate) fn impatient(&self, name: &str, limit: Duration) -> TmuxTarget {
        layer(&self.place, &self.shell, &self.directory, &self.here, name, limit)
    }

    pub(crate) fn command(&self, text: &str) -> PaneCommand {
        PaneCommand {
            text: PaneText::Shell(text.to_owned()),
            cwd: self.place.path(""),
            timeout: Some(PATIENCE * 2),
            output: OutputLimits { keep_head: KEEP, keep_tail: KEEP, log: None },
            bounds: Bounds::open(),
        }
    }

    pub(crate) async fn start(&self, text: &str) -> PaneRunning {
        self.try_start(&self.panes, text).await.unwrap()
    }

    pub(crate) async fn try_start(&self, panes: &TmuxTarget, text: &str) -> Result<PaneRunning, TargetError> {
        Panes::start(panes, &PaneSelector::default(), self.command(text)).await
    }

    pub(crate) async fn run(&self, text: &str) -> (Exit, String) {
        let mut run = self.start(text).await;
        let exit = run.running.wait().await.unwrap();
        (exit, run.notes.await.unwrap().join("\n"))
    }

    /// Runs a command that must print exactly this and end with this code.
    pub(crate) async fn check(&self, text: &str, printed: &str, code: i32) {
        let (exit, notes) = self.run(text).await;
        assert_eq!((exit.stdout.text().as_str(), exit.code), (printed, Some(code)), "{text:?} {notes}");
    }

    /// Waits until the pane, with its history, shows a text.
    pub(crate) async fn until_shown(&self, text: &str) {
        let options = CaptureOptions { start: Some("-".to_owned()), ..CaptureOptions::default() };
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.panes.capture(&PaneSelector::default(), &options).await.unwrap().text;
            if screen.contains(text) {
                return;
            }
            assert!(Instant::now() < end, "{text:?} was never shown:\n{screen}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Runs tmux on the host, past the panes.
    pub(crate) async fn tmux(&self, arguments: &str) -> String {
        let script =
            format!("PATH='{}' tmux -S '{}/socket' {arguments}", self.place.path, self.directory.display());
        self.place.run(sh(&script)).await.stdout.text().trim().to_owned()
    }

    /// A user who attaches by the command that buddy prints for that.
    pub(crate) async fn person(&self) -> Person {
        let socket = self.here.path().join("person.socket");
        let attach = format!("TMUX= {}", self.panes.attach_command());
        let env = self.place.person_env.clone();
        let person = Person { socket, env };
        person.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", &attach]);
        let end = Instant::now() + PATIENCE;
        while self.tmux("list-clients -F '#{client_name}'").await.is_empty() {
            assert!(Instant::now() < end, "the user never got to the pane by {attach}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        person
    }
}

impl Drop for PanePlace {
    fn drop(&mut self) {
        if !matches!(self.place.way, Way::Container { .. }) {
            // No other test has this server.
            drop(Person { socket: self.directory.join("socket"), env: Vec::new() });
        }
    }
}

/// A user at a terminal of this machine.
pub(crate) struct Person {
    socket: PathBuf,
    env: Vec<(String, String)>,
}

impl Person {
    pub(crate) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
        self.tmux(&["send-keys", "Enter"]);
    }

    #[expect(clippy::disallowed_methods, reason = "a user runs tmux past the target")]
    fn tmux(&self, arguments: &[&str]) {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(arguments).envs(self.env.iter().cloned());
        command.output().unwrap();
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn env(place: &Place) -> Vec<(String, String)> {
    vec![
        ("PATH".to_owned(), place.path.clone()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("HOME".to_owned(), place.home.clone()),
    ]
}

fn layer(
    place: &Place,
    shell: &str,
    directory: &std::path::Path,
    here: &TempDir,
    session: &str,
    reconnect_within: Duration,
) -> TmuxTarget {
    let settings = TmuxSettings {
        directory: directory.to_owned(),
        locks: here.path().join("locks"),
        session: session.to_owned(),
        max_sessions: 4,
        max_panes: 3,
        shell: shell.to_owned(),
        env: env(place),
        own_env: env(place),
        warden: None,
        reconnect_within,
        way: place.way.clone(),
    };
    TmuxTarget::new(place.target.clone(), settings).unwrap()
}
