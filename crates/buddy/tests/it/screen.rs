//! Conversations on a real terminal: keys in, screen out.
//!
//! The terminal is one of tmux's, on a server of the test's own. Screens are compared with stored ones.

mod approvals;
mod commands;
mod editing;
mod first_start;
mod leaving;
mod looks;
mod past;
mod person;
mod shared;
mod turns;
mod window;

use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use buddy_testkit::model::{Turn, turn};
use tokio::time::{Instant, sleep};

use crate::stage::{BUDDY, Stage, shell};

/// How long something may take to show on the screen of a busy machine.
const LIMIT: Duration = Duration::from_secs(30);
/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(40);

/// buddy on a terminal.
struct Screen {
    stage: Stage,
    socket: PathBuf,
    /// Variables beside the usual ones, each with its value.
    variables: Vec<String>,
}

impl Screen {
    /// A conversation in a trusted directory, on a terminal of this size.
    async fn start(turns: impl IntoIterator<Item = Turn>, columns: u32, rows: u32) -> Self {
        let stage = Stage::new(turns.into_iter().collect::<Vec<_>>()).await;
        Self::on(stage, &["--trust"], columns, rows).await
    }

    /// buddy with these arguments on a stage.
    async fn on(stage: Stage, arguments: &[&str], columns: u32, rows: u32) -> Self {
        let screen = Self::bare(stage, arguments, columns, rows, &[]);
        screen.wait_until("a prompt", has_prompt).await;
        screen
    }

    /// The same with some variables, and without waiting for anything.
    fn bare(stage: Stage, arguments: &[&str], columns: u32, rows: u32, variables: &[(&str, &str)]) -> Self {
        let socket = stage.home.path().join("terminal");
        let variables = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let screen = Self { stage, socket, variables };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let keep = ["-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"];
        let new = ["new-session", "-d", "-x", &columns, "-y", &rows, "-s", "screen", "--"];
        let words: Vec<&str> = keep.into_iter().chain(new).collect();
        screen.buddy(&words, arguments);
        screen
    }

    /// Starts buddy on the same terminal again.
    async fn again(&self, arguments: &[&str]) {
        self.buddy(&["respawn-pane", "-k", "-t", "screen", "--"], arguments);
        self.tmux(&["clear-history", "-t", "screen"]);
        self.wait_until("a prompt", has_prompt).await;
    }

    fn buddy(&self, words: &[&str], arguments: &[&str]) {
        let variables = self.variables();
        let variables = variables.iter().map(String::as_str);
        let own = [BUDDY, "-c", "display.motion=false", "-c", "tmux.enabled=false"];
        let all: Vec<&str> = words
            .iter()
            .copied()
            .chain(["env", "-i"])
            .chain(variables)
            .chain(own)
            .chain(arguments.iter().copied())
            .collect();
        self.tmux(&all);
    }

    fn variables(&self) -> Vec<String> {
        let home = &self.stage.home;
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", home.path().display().to_string()),
            ("BUDDY_HOME", home.data().display().to_string()),
            ("BUDDY_BASE_URL", format!("{}/v1", self.stage.server.url())),
            ("BUDDY_MODEL", "scripted".to_owned()),
            ("BUDDY_API_KEY", "sk-test".to_owned()),
            ("TERM", "tmux-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("EDITOR", home.path().join("editor").display().to_string()),
        ]
        .map(|(name, value)| format!("{name}={value}"))
        .into_iter()
        .chain(self.variables.iter().cloned())
        .collect()
    }

    #[expect(clippy::disallowed_methods, reason = "the terminal of the test is tmux's")]
    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut command = std::process::Command::new("tmux");
        let work = self.stage.home.work();
        command.arg("-S").arg(&self.socket).args(arguments).current_dir(work);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Types a text.
    fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "screen", "-l", "--", text]);
    }

    /// Presses keys by tmux's names for them.
    fn keys(&self, keys: &[&str]) {
        let words: Vec<&str> = ["send-keys", "-t", "screen"].iter().chain(keys).copied().collect();
        self.tmux(&words);
    }

    /// Types a line and sends it.
    fn line(&self, text: &str) {
        self.text(text);
        self.keys(&["Enter"]);
    }

    /// What is on the screen, with what differs from run to run taken out.
    fn screen(&self) -> String {
        self.captured(&["capture-pane", "-p", "-t", "screen"])
    }

    /// The same with everything that scrolled away.
    fn everything(&self) -> String {
        self.captured(&["capture-pane", "-p", "-S", "-", "-t", "screen"])
    }

    fn captured(&self, words: &[&str]) -> String {
        let output = self.tmux(words);
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<String> = text.lines().map(|line| settled(line).trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until a text is on the screen, and returns the screen.
    async fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text)).await
    }

    /// Waits until a text is gone from the screen.
    async fn wait_gone(&self, text: &str) -> String {
        self.wait_until(text, |screen| !screen.contains(text)).await
    }

    async fn wait_until(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "waited for `{what}`:\n{screen}");
            sleep(LOOK).await;
        }
    }

    /// Waits until a question can be answered: keys in the same breath belong to the draft.
    async fn wait_for_question(&self, text: &str) -> String {
        let screen = self.wait_for(text).await;
        sleep(Duration::from_millis(1100)).await;
        screen
    }

    /// Waits until nothing runs, and returns the screen.
    async fn wait_idle(&self) -> String {
        self.wait_until("the end of the turn", |screen| !screen.contains("working") && has_prompt(screen))
            .await
    }

    /// Leaves, and returns the last screen.
    async fn leave(&self) -> String {
        self.keys(&["C-d"]);
        self.wait_for("go on with: buddy resume").await
    }
}

impl Drop for Screen {
    #[expect(clippy::disallowed_methods, reason = "the terminal ends with the test")]
    fn drop(&mut self) {
        let _ = std::process::Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// Whether the input is there.
fn has_prompt(screen: &str) -> bool {
    let is_settled = screen.lines().last().is_some_and(|status| status.contains("scripted"));
    is_settled && screen.lines().rev().take(3).any(|line| line == ">" || line.starts_with("> "))
}

/// A line without what differs from run to run.
fn settled(line: &str) -> String {
    let mut line = line.to_owned();
    while let Some(at) = line.find("ses_0") {
        line.replace_range(at..at + 30, "ses_ID");
    }
    // Also where the end of the row cut it.
    while let Some((before, rest)) = line.split_once("/tmp/buddy-it-") {
        let end = rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        line = format!("{before}/HOME{end}");
    }
    let place = format!("{}@{}", user(), rustix::system::uname().nodename().to_string_lossy());
    line.replace(&place, "ann@atlas")
}

fn user() -> String {
    let uid = rustix::process::getuid().as_raw();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
    let mut names = accounts.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    names.next().unwrap()
}

/// A model that wants to make a directory and then says that it is done.
fn making(name: &str) -> [Turn; 2] {
    [turn().text("I make it.").call("run_shell", shell(&format!("mkdir {name}"))), turn().text("So be it.")]
}
