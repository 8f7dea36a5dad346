//! A conversation on another host, over a real SSH server.

use std::path::PathBuf;

use buddy_testkit::model::turn;

use crate::screen::size::{Size, at_each_size};
use crate::screen::{Screen, has_prompt};
use crate::stage::{Stage, shell};
use crate::targets::yard::Machine;

at_each_size!(remote_prompt);

async fn remote_prompt(size: Size) {
    let machine = Machine::new();
    let turns = [turn().call("run_shell", shell("mkdir made; ls -d made")), turn().text("It is made there.")];
    let stage = Stage::new(turns.to_vec()).await;
    let flag = machine.flag();
    let screen = knowing(&machine, stage, &["--ssh", &flag, "-c", "tmux.enabled=true"], size);
    screen.wait_for("(ssh machine)› ").await;
    // A row may end anywhere in a command that is longer than it.
    let is_told = |shown: &str| unbroken(shown).contains(ATTACH);
    let shared = Shared::told(&screen.wait_until("the command to attach", is_told).await);
    screen.line("!pwd; echo $((6 * 7))");
    // While it still runs, what is said next would stand above it.
    let has_ended = |shown: &str| shown.lines().any(|line| line == "  42") && !shown.contains("esc stops");
    screen.wait_until("the end of the command", has_ended).await;
    screen.line("make it");
    screen.wait_for_words("It is made there.").await;
    let shown = screen.wait_idle().await;
    assert!(machine.path("made").is_dir(), "the call ran on the other host");
    assert!(shared.shown(&screen).contains("mkdir made"), "the user sees there what the agent typed");
    // The part before is about folders with names that differ from run to run.
    let (_, talk) = shown.split_at(shown.find("! pwd").unwrap());
    size.check("remote_prompt", talk);
    screen.leave().await;
}

/// buddy on a terminal, with a client that knows the machine.
fn knowing(machine: &Machine, stage: Stage, arguments: &[&str], size: Size) -> Screen {
    let variables = machine.variables();
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Screen::bare(stage, arguments, size.columns, size.rows, &variables)
}

#[tokio::test]
async fn the_prompt_and_what_the_person_runs_follow_the_target() {
    let machine = Machine::new();
    let screen = knowing(&machine, Stage::new(vec![]).await, &["--trust"], Size::USUAL);
    screen.wait_until("a prompt", has_prompt).await;
    screen.line(&format!("/target add ssh {}", machine.flag()));
    screen.wait_for("  ssh:machine  ").await;
    screen.line("!touch here");
    screen.wait_until("its end", |_| screen.stage.home.work().join("here").is_file()).await;
    screen.line("/target use ssh:machine");
    screen.wait_for("(ssh machine)›").await;
    screen.line("!touch there");
    screen.wait_until("its end", |_| machine.path("there").is_file()).await;
    assert!(!machine.path("here").exists() && !screen.stage.home.work().join("there").exists());
    screen.line("/target use local");
    screen.wait_gone("(ssh machine)›").await;
    screen.line("/target remove ssh:machine");
    let is_alone = |shown: &str| {
        let last = shown.rsplit("Target ").next().unwrap_or_default();
        last.contains("*  local") && !last.contains("ssh:machine")
    };
    screen.wait_until("one target", is_alone).await;
    screen.leave().await;
    assert_eq!(screen.stage.only_log().await.transcript.targets().len(), 1);
}

/// The end of the command to attach, as [`unbroken`] gives it.
const ATTACH: &str = "attach-tbuddy-buddy";

/// A screen without its spaces and ends of rows.
fn unbroken(screen: &str) -> String {
    screen.split_whitespace().collect()
}

/// The terminal that the agent shares with the user on the other host.
struct Shared(PathBuf);

impl Shared {
    /// As the screen tells how to attach to it.
    fn told(screen: &str) -> Self {
        let told = unbroken(screen);
        let (_, rest) = told.split_once("ssh-tmachinetmux-S").unwrap();
        let (socket, _) = rest.split_once(ATTACH).unwrap();
        Self(socket.into())
    }

    fn shown(&self, screen: &Screen) -> String {
        let socket = self.0.display().to_string();
        let output = screen.tmux_at(&socket, &["capture-pane", "-p", "-t", "buddy-buddy"]);
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Shared {
    #[expect(clippy::disallowed_methods, reason = "what is shared on the other host ends with the test")]
    fn drop(&mut self) {
        let _ = std::process::Command::new("tmux").arg("-S").arg(&self.0).arg("kill-server").output();
    }
}
