//! Conversations that share a terminal with the user, on a real tmux.

use std::path::{Path, PathBuf};

use buddy_protocol::Fact;
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::{Program, Started};
use buddy_testkit::ssh_host::SshHost;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

/// A stage whose tmux server ends with it.
pub(crate) struct PaneStage(pub(crate) Stage);

impl PaneStage {
    pub(crate) async fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self(Stage::new(turns.into_iter().collect::<Vec<_>>()).await)
    }

    fn socket(&self) -> PathBuf {
        self.0.home.data().join("run/tmux/socket")
    }

    pub(crate) fn buddy(&self, arguments: &[&str]) -> Program {
        self.0.buddy(arguments).env("BUDDY_ENV", "production").env("BUDDY_APPROVE", "all")
    }

    fn converse(&self) -> Started {
        self.buddy(&["--tmux"]).converse()
    }

    /// Commands have the bounds of the usual mode, with the working directory trusted and all asks answered with yes.
    fn in_development(&self, arguments: &[&str]) -> Program {
        self.0.buddy(arguments).env("BUDDY_APPROVE", "all")
    }

    /// Waits until nothing is in the working directory that only a jail needs there.
    async fn until_clean(&self) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while self.0.home.work().join("buddy.toml").exists() {
            assert!(std::time::Instant::now() < end, "the jail still holds names");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// The answer of tmux on the server of this stage.
    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        tmux(&self.socket(), arguments)
    }

    /// Waits until the pane shows a text. Polls: a screen has no events.
    async fn until_shown(&self, text: &str) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !self.tmux(&["capture-pane", "-p"]).contains(text) {
            assert!(
                std::time::Instant::now() < end,
                "{text:?} was never shown: {}",
                self.tmux(&["capture-pane", "-p"])
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// A user who attaches with a real client, in a pane of a server of the user's own.
    async fn person(&self) -> Person {
        let person = Person(self.0.home.path().join("person.socket"));
        let attach = format!("TMUX= exec tmux -S '{}' attach", self.socket().display());
        tmux(&person.0, &["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", &attach]);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while self.tmux(&["list-clients"]).is_empty() {
            assert!(std::time::Instant::now() < end, "the user never got to the pane");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        person
    }

    /// The names of the tools that the model was offered.
    fn offered(&self) -> Vec<String> {
        let requests = self.0.requests();
        let tools = requests.last().unwrap().body["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for PaneStage {
    fn drop(&mut self) {
        if self.socket().exists() {
            tmux(&self.socket(), &["kill-server"]);
        }
    }
}

/// Somebody at the pane; leaves when dropped.
struct Person(PathBuf);

impl Person {
    /// Types a line and sends it.
    fn types(&self, line: &str) {
        tmux(&self.0, &["send-keys", "-l", "--", line]);
        tmux(&self.0, &["send-keys", "Enter"]);
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        tmux(&self.0, &["kill-server"]);
    }
}

/// Runs tmux on a server past buddy, as a user would.
#[expect(clippy::disallowed_methods, reason = "a user runs tmux past buddy")]
fn tmux(socket: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("tmux").arg("-S").arg(socket).args(arguments).output();
    String::from_utf8_lossy(&output.unwrap().stdout).trim().to_owned()
}

fn keys(text: &str) -> Value {
    json!({"literal_text": text, "enter": true, "why": "the test", "risk": "low", "mutation": false, "privesc": false})
}

#[tokio::test]
async fn commands_run_in_a_terminal_that_stays() {
    let stage = PaneStage::new([
        turn().call("run_shell", shell("kept=$((6 * 7)); printf 'é\\n'; (exit 3)")),
        turn().call("run_shell", shell("echo \"kept $kept\" | tee seen")),
        turn().text("Done."),
    ])
    .await;
    let mut started = stage.converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["exit_code"], 3, "{}", results[0]);
    assert_eq!(results[0]["result"]["stdout"], "é\n");
    assert_eq!(results[1]["result"]["stdout"], "kept 42\n");
    assert_eq!(std::fs::read_to_string(stage.0.home.work().join("seen")).unwrap(), "kept 42\n");
    let attach = format!("tmux -S {} attach -t buddy-buddy", stage.socket().display());
    let told = finished.to_string();
    assert_eq!(told.matches(&attach).count(), 2, "at the start and at the end: {told}");
    assert!(told.contains("The tmux session buddy-buddy keeps running with 1 pane"), "{told}");
    assert!(told.contains("Production mode: commands run with your full permissions."), "{told}");
    assert!(stage.offered().contains(&"tmux_send_keys".to_owned()));
}

/// The agent starts an interpreter, types into it and reads what it says.
fn interpreter() -> Vec<Turn> {
    let mut background = shell("/usr/bin/python3 -q -i");
    background["wait"] = json!(false);
    vec![
        turn().call("run_shell", background),
        turn().call("tmux_send_keys", keys("print('the answer', 6 * 7)")),
        turn().call("capture-pane", json!({"delay": "1s"})),
        turn().call("capture-pane", json!({})),
        turn().call("run_shell", shell("echo no > no")),
        turn().text("Done."),
    ]
}

async fn check_interpreter(stage: PaneStage, mut started: Started) {
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["dispatched"], true, "{}", results[0]);
    let shown = results[2]["result"]["text"].as_str().unwrap();
    assert!(shown.contains("the answer 42"), "{shown}");
    assert_eq!(results[3]["result"]["unchanged"], true, "{}", results[3]);
    assert_eq!(results[4]["error"]["code"], "pane_busy", "{}", results[4]);
    assert!(!stage.0.home.work().join("no").exists());
}

#[tokio::test]
async fn an_interactive_program_is_driven_by_keys_and_captures() {
    let stage = PaneStage::new(interpreter()).await;
    let started = stage.converse();
    check_interpreter(stage, started).await;
}

#[tokio::test]
async fn an_interactive_program_in_the_jail_is_driven_by_keys_and_captures() {
    let stage = PaneStage::new(interpreter()).await;
    let started = stage.in_development(&["--trust", "--tmux"]).converse();
    check_interpreter(stage, started).await;
}

#[tokio::test]
async fn the_person_takes_the_panes_and_gives_them_back() {
    let stage =
        PaneStage::new([turn().call("run_shell", shell("echo mine > mine")), turn().text("Done.")]).await;
    let mut started = stage.converse();
    started.write(b"/pane take\n").await;
    started.stderr.wait_for("The panes are yours", 1).await;
    started.write(b"go\n").await;
    started.stderr.wait_for("● Run ", 1).await;
    assert!(!stage.0.home.work().join("mine").exists(), "the agent waits");
    started.write(b"/pane give\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.0.home.work().join("mine").exists());
    assert!(stage.0.results()[0].to_string().contains("gave them back"));
    let log = stage.0.only_log().await;
    let taken: Vec<bool> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::SessionChanged(changed) => changed.panes_taken,
            _ => None,
        })
        .collect();
    assert_eq!(taken, [true, false], "the log says who had them");
}

#[tokio::test]
async fn without_panes_their_tools_are_not_offered() {
    let stage = PaneStage::new([turn().call("tmux_capture_pane", json!({})), turn().text("Done.")]).await;
    let mut started = stage.buddy(&[]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.offered().iter().all(|name| !name.starts_with("tmux")), "{:?}", stage.offered());
    assert_eq!(stage.0.results()[0]["error"]["code"], "tool_off");
    assert!(!stage.socket().exists(), "a pipe is no terminal, so nothing is shared");
}

/// The facts that a command finds out about the server that its terminal belongs to.
const REACH: &str = r#"echo "tmux=${TMUX-none} ${TMUX_PANE-none}"
ls "$BUDDY_RUN" 2>/dev/null | wc -l
tmux -S "$BUDDY_RUN/tmux/socket" list-sessions >/dev/null 2>&1 && echo reached
echo in > inside; { echo out > "$(printf %s "$HOME")/outside"; } 2>/dev/null || echo kept"#;

#[tokio::test]
async fn in_development_the_terminal_is_jailed_and_keeps_its_state() {
    let stage = PaneStage(
        Stage::apart(vec![
            turn().call("run_shell", shell("kept=$((6 * 7)); export BUDDY_RUN=\"$HOME/data/run\"; cd /")),
            turn().call("run_shell", shell(&format!("echo kept $kept; {REACH}"))),
            turn().text("Done."),
        ])
        .await,
    );
    let mut started = stage.in_development(&["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[1]["result"]["stdout"], "kept 42\ntmux=none none\n0\nkept\n", "{}", results[1]);
    assert_eq!(std::fs::read_to_string(stage.0.home.work().join("inside")).unwrap(), "in\n");
    let told = finished.to_string();
    assert!(told.contains("tmux -S") && !told.contains("Production mode"), "{told}");
    assert!(!told.contains("keeps running"), "nothing goes on in it: {told}");
    stage.until_clean().await;
}

#[tokio::test]
async fn what_earlier_lines_left_in_the_shell_has_no_say_in_a_command_that_ran_without_a_question() {
    let reading = json!({"command": "ls", "why": "w", "risk": "low", "mutation": false, "privesc": false});
    let function = "ls() { echo wrong; echo wrong > wrong; }; PATH=/nowhere; alias cat=ls; : > kept";
    let stage = PaneStage::new([
        turn().call("run_shell", shell(function)),
        turn().call("run_shell", reading),
        turn().text("Done."),
    ])
    .await;
    let mut started = stage.in_development(&["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    let results = stage.0.results();
    let listed = results[1]["result"]["stdout"].as_str().unwrap();
    assert!(listed.contains("kept\n") && !listed.contains("wrong"), "{listed}");
    assert!(!stage.0.home.work().join("wrong").exists());
}

#[tokio::test]
async fn when_the_mode_gets_narrower_the_terminal_gets_another_shell() {
    let stage = PaneStage::new([
        turn().call("run_shell", shell("echo wide > file; echo $$ > wide-shell")),
        turn().text("First."),
        turn().call("tmux_send_keys", keys("ls")),
        turn().call("tmux_send_keys", keys("echo narrow > file")),
        turn().text("Second."),
    ])
    .await;
    let mut started = stage.in_development(&["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("First.", 1).await;
    let wide = stage.tmux(&["list-panes", "-F", "#{pane_pid} #{@buddy_bounds}"]);
    started.write(b"/plan\ngo on\n").await;
    started.stdout.wait_for("Second.", 1).await;
    let narrow = stage.tmux(&["list-panes", "-F", "#{pane_pid} #{@buddy_bounds}"]);
    started.finish().await.expect_code(0);
    let differ = |index: usize| wide.split(' ').nth(index) != narrow.split(' ').nth(index);
    assert!(differ(0) && differ(1), "another process with other bounds: {wide}, {narrow}");
    let results = stage.0.results();
    assert_eq!(results[1]["result"]["sent"], true, "{}", results[1]);
    assert_eq!(results[2]["error"]["code"], "forbidden", "{}", results[2]);
    assert_eq!(stage.0.home.text("file"), "wide\n");
}

#[tokio::test]
async fn keys_are_asked_for_where_commands_have_bounds() {
    let stage = PaneStage::new([turn().call("tmux_send_keys", keys("ls")), turn().text("Done.")]).await;
    let mut started = stage.0.buddy(["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    assert!(started.stderr.text().contains("$ ls"), "{}", started.stderr.text());
    started.write(b"n\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(!finished.stderr.contains("keeps running"), "nothing was typed anywhere: {finished}");
    assert_eq!(stage.0.results()[0]["error"]["code"], "denied");
}

#[tokio::test]
async fn what_a_command_in_the_terminal_changed_is_undone() {
    let stage =
        PaneStage::new([turn().call("run_shell", shell("echo new > file")), turn().text("Done.")]).await;
    std::fs::write(stage.0.home.work().join("file"), "old\n").unwrap();
    let mut started = stage.in_development(&["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.0.home.text("file"), "new\n");
    let listed = stage.0.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(entries[0]["changes"], 1, "what the jail needs on the disk is no change: {entries}");
    stage.0.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(stage.0.home.text("file"), "old\n");
}

/// Keys do not say what they change, so undo names them and reverts nothing older in their place.
#[tokio::test]
async fn keys_that_were_typed_are_named_before_anything_older_is_undone() {
    for mode in ["development", "production"] {
        let edit = json!({"path": "a.txt", "old": "one", "new": "two"});
        let typed = turn().call("tmux_send_keys", keys("echo typed > typed"));
        let stage = PaneStage::new([turn().call("edit_file", edit), typed, turn().text("Done.")]).await;
        let work = stage.0.home.work();
        std::fs::write(work.join("a.txt"), "one\n").unwrap();
        let mut started = stage.in_development(&["--trust", "--tmux"]).env("BUDDY_ENV", mode).converse();
        started.write(b"go\n").await;
        started.stdout.wait_for("Done.", 1).await;
        stage.until_shown("echo typed > typed").await;
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while std::fs::read_to_string(work.join("typed")).unwrap_or_default() != "typed\n" {
            assert!(std::time::Instant::now() < end, "{mode}: the keys had no effect");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        started.finish().await.expect_code(0);
        let first = stage.0.buddy(["undo", "--yes"]).run().await.expect_code(1);
        for expected in ["undo cannot restore this change", "echo typed > typed", "nothing was undone"] {
            assert!(first.stderr.contains(expected), "{mode}: {expected}: {first}");
        }
        assert_eq!(stage.0.home.text("a.txt"), "two\n", "{mode}: nothing older is reverted: {first}");
        stage.0.buddy(["undo", "--yes"]).run().await.expect_code(0);
        assert_eq!(stage.0.home.text("a.txt"), "one\n", "{mode}");
        assert_eq!(stage.0.home.text("typed"), "typed\n", "{mode}: undo has nothing of the keys");
    }
}

#[tokio::test]
async fn what_goes_on_in_a_jailed_terminal_lives_on_and_is_taken_up() {
    let stage = PaneStage::new([
        turn().call("run_shell", shell("kept=42; sleep 600 &")),
        turn().text("First."),
        turn().call("run_shell", shell("echo $kept > kept; kill %1")),
        turn().text("Second."),
    ])
    .await;
    let mut started = stage.in_development(&["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("First.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(finished.to_string().contains("keeps running with 1 pane"), "{finished}");
    let mut started = stage.in_development(&["--tmux"]).converse();
    started.write(b"go on\n").await;
    started.stdout.wait_for("Second.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.0.home.text("kept"), "42\n");
    stage.until_clean().await;
}

#[tokio::test]
async fn a_run_without_a_user_is_told_that_jobs_of_its_pane_go_on() {
    let turns = vec![turn().call("run_shell", shell("sleep 600 & echo begun")), turn().text("Done.")];
    let stage = PaneStage(Stage::apart(turns).await);
    stage.0.usual(["exec", "--trust", "--tmux", "go"]).run().await.expect_code(0);
    assert!(!stage.tmux(&["list-panes", "-a"]).is_empty(), "the job outlives the run");
    let body = &stage.0.requests()[0].body;
    let tools = body["tools"].as_array().unwrap();
    let shell = tools.iter().find(|tool| tool["function"]["name"] == "run_shell").unwrap().to_string();
    assert!(
        shell.contains("a tmux pane that the user can attach to") && shell.contains("after this run too"),
        "{shell}"
    );
    for absent in ["Nothing outlives", "False or 0", "the user shares", "wait: false"] {
        assert!(!shell.contains(absent), "{absent}: {shell}");
    }
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("those that the same pane started"), "{system}");
    stage.tmux(&["kill-server"]);
    stage.until_clean().await;
}

/// The screen for the agent after a user typed into the interpreter that it started.
const PERSON_AT_PYTHON: &str = include_str!("screens/person-at-python.txt");

#[tokio::test]
async fn the_agent_sees_what_a_person_typed_into_its_program() {
    let mut background = shell("clear; /usr/bin/python3 -q -i");
    background["wait"] = json!(false);
    let stage = PaneStage::new([
        turn().call("run_shell", background),
        turn().text("Your turn."),
        turn().call("tmux_capture_pane", json!({})),
        turn().text("Seen."),
    ])
    .await;
    let mut started = stage.in_development(&["--trust", "--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Your turn.", 1).await;
    stage.until_shown(">>>").await;
    let person = stage.person().await;
    person.types("for number in range(3): print('line', number * 21)");
    // Python reads on only when it has asked for more.
    stage.until_shown("\n...").await;
    person.types("");
    stage.until_shown("line 42\n>>>").await;
    started.write(b"what is there?\n").await;
    started.stdout.wait_for("Seen.", 1).await;
    started.finish().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[1]["result"]["text"], PERSON_AT_PYTHON.trim_end(), "{}", results[1]);
    assert_eq!(results[1]["result"]["program"], "python3", "{}", results[1]);
}

#[tokio::test]
async fn without_a_jail_there_is_no_shared_terminal() {
    let stage = PaneStage::new([]).await;
    // One that others could have changed is not passed over, as one that fails would be.
    let line = "cp /bin/false planted && chmod 777 planted && exec unshare --map-root-user --mount \
                sh -c 'mount --bind planted /usr/bin/bwrap && exec \"$BUDDY\" --trust --tmux'";
    let finished = stage.0.in_bash(line).run().await.expect_code(1);
    assert!(finished.to_string().contains("bubblewrap"), "{finished}");
    assert!(!stage.socket().exists());
}

#[tokio::test]
async fn commands_on_another_host_run_in_a_terminal_there() {
    let host = SshHost::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let stage = PaneStage::new([
        turn().call("run_shell", shell("kept=$((6 * 7)); echo \"$TMUX\" > in; (exit 3)")),
        turn().call("run_shell", shell("echo \"kept $kept\"; pwd")),
        turn().text("Done."),
    ])
    .await;
    let path = format!("{}:/usr/bin:/bin", host.client_folder().unwrap().display());
    let program = stage.buddy(&["--tmux", "--ssh", "machine", "-C", there]).env("PATH", path);
    let mut started = program.converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let told = started.finish().await.expect_code(0).to_string();
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["exit_code"], 3, "{}", results[0]);
    assert_eq!(results[1]["result"]["stdout"], format!("kept 42\n{there}\n"));
    let inside = std::fs::read_to_string(folder.path().join("in")).unwrap();
    let socket = inside.split(',').next().unwrap();
    assert!(Path::new(socket).starts_with(host.home()), "{socket}");
    let attach = format!("ssh -t machine tmux -S {socket} attach -t buddy-buddy");
    assert_eq!(told.matches(&attach).count(), 2, "at the start and at the end: {told}");
    let refused = stage.buddy(&[]).env("TMUX", inside.trim()).run().await.expect_code(1);
    assert!(refused.to_string().contains("type into itself"), "{refused}");
    tmux(Path::new(socket), &["kill-server"]);
    assert!(!stage.socket().exists(), "there is none here");
}

#[tokio::test]
async fn a_shared_terminal_on_another_host_is_refused_where_commands_have_bounds() {
    let host = SshHost::start().unwrap();
    let stage = PaneStage::new([]).await;
    let path = format!("{}:/usr/bin:/bin", host.client_folder().unwrap().display());
    let finished = stage.0.buddy(["--tmux", "--ssh", "machine"]).env("PATH", path).run().await.expect_code(1);
    assert!(finished.to_string().contains("there is no jail over there"), "{finished}");
}

#[tokio::test]
async fn buddy_does_not_start_inside_its_own_pane() {
    let stage = PaneStage::new([]).await;
    let inside = format!("{},123,0", stage.socket().display());
    let finished = stage.buddy(&[]).env("TMUX", inside).run().await.expect_code(1);
    assert!(finished.to_string().contains("type into itself"), "{finished}");
    let finished = stage.buddy(&[]).env("BUDDY_PANE", "1").run().await.expect_code(1);
    assert!(finished.to_string().contains("type into itself"), "in a jailed one: {finished}");
    let elsewhere = stage.buddy(&[]).env("TMUX", "/tmp/tmux-0/default,123,0").run().await;
    elsewhere.expect_code(0);
}

#[tokio::test]
async fn a_headless_run_uses_a_pane_only_when_it_is_asked_for() {
    let look = || {
        turn()
            .call("run_shell", shell("printf '%s' \"${BUDDY_PANE:+pane}\"; printf '\\033[31mred\\033[0m\\a'"))
    };
    let stage = PaneStage::new([look(), turn().text("Done."), look(), turn().text("Done.")]).await;
    stage.buddy(&["exec", "--tmux", "work", "go"]).run().await.expect_code(0);
    let stdout = stage.0.results()[0]["result"]["stdout"].to_string();
    assert!(stdout.contains("pane") && stdout.contains("red"), "{stdout}");
    assert!(!stdout.contains("u001b") && !stdout.contains("u0007"), "{stdout}");
    stage.buddy(&["exec", "go"]).run().await.expect_code(0);
    let stdout = stage.0.results()[0]["result"]["stdout"].to_string();
    assert!(!stdout.contains("pane") && stdout.contains("red"), "{stdout}");
    assert!(
        !stdout.contains("u001b") && !stdout.contains("u0007"),
        "no control sequence reaches the model: {stdout}"
    );
}

#[tokio::test]
async fn a_user_can_attach_before_the_first_command_and_sees_it_typed() {
    let turns = [turn().call("run_shell", shell("touch made")), turn().text("Done.")];
    for is_production in [true, false] {
        let stage = PaneStage::new(turns.clone()).await;
        let program = if is_production {
            stage.buddy(&["--tmux"])
        } else {
            stage.in_development(&["--tmux", "--trust"])
        };
        let mut started = program.converse();
        started.stderr.wait_for("attach -t", 1).await;
        let _person = stage.person().await;
        stage.until_shown("buddy types its commands here.").await;
        started.write(b"go\n").await;
        started.stdout.wait_for("Done.", 1).await;
        assert!(stage.0.home.work().join("made").exists());
        stage.until_shown("touch made").await;
        let result = stage.0.results().remove(0);
        assert_eq!(result["result"]["notes"], Value::Null, "the shell is no replacement: {result}");
        started.finish().await.expect_code(0);
    }
}

#[tokio::test]
async fn a_session_to_which_no_command_came_ends_with_buddy() {
    let stage = PaneStage::new([turn().text("Done.")]).await;
    let mut started = stage.converse();
    started.stderr.wait_for("attach -t", 1).await;
    assert!(stage.tmux(&["list-sessions"]).contains("buddy-buddy"));
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(!finished.stderr.contains("keeps running"), "{finished}");
}

#[tokio::test]
async fn variables_stay_in_the_pane_and_commands_that_only_read_run_beside_it() {
    let commands = ["X=5; touch one", "echo \"$X\" > seen", "echo \"[$X]\""];
    let turns = commands.map(|command| turn().call("run_shell", shell(command)));
    let stage = PaneStage::new(turns.into_iter().chain([turn().text("Done.")])).await;
    stage.in_development(&["exec", "--tmux", "--trust", "go"]).run().await.expect_code(0);
    assert_eq!(std::fs::read_to_string(stage.0.home.work().join("seen")).unwrap(), "5\n");
    assert_eq!(stage.0.results()[2]["result"]["stdout"], "[]\n", "{:#?}", stage.0.results());
}

#[tokio::test]
async fn a_secret_that_git_brings_back_is_sealed_from_the_next_command() {
    let tracked = "git init -q && echo sesame-4711 > .env && git add -f .env && git commit -qm x && rm .env";
    let stashed = "git init -q && git commit -q --allow-empty -m x && echo sesame-4711 > .env && git add -f .env && git stash -q";
    let identity = "export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=x \
                    GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=x@y";
    for (before, restore, arguments) in [
        (tracked, "git checkout -q -- .", &["--trust"][..]),
        (tracked, "git restore .", &["--trust", "--tmux"]),
        (tracked, "git reset -q --hard", &["--trust"]),
        (stashed, "git stash pop -q", &["--trust"]),
    ] {
        let calls = ["touch began", restore, "sh show.sh; echo looked"].map(shell);
        let turns = calls.into_iter().map(|call| turn().call("run_shell", call));
        let stage = PaneStage(Stage::apart(turns.chain([turn().text("Done.")]).collect::<Vec<_>>()).await);
        let work = stage.0.home.work();
        std::fs::write(work.join("show.sh"), "cat .env").unwrap();
        stage.0.in_bash(&format!("{identity}; {before}")).run().await.expect_code(0);
        assert!(!work.join(".env").exists());
        let mut started = stage.in_development(arguments).converse();
        started.write(b"go\n").await;
        started.stdout.wait_for("Done.", 1).await;
        started.finish().await.expect_code(0);
        stage.until_clean().await;
        let results = stage.0.results();
        assert_eq!(std::fs::read_to_string(work.join(".env")).unwrap(), "sesame-4711\n", "{results:#?}");
        let looked = results[2]["result"]["stdout"].as_str().unwrap_or_default();
        assert!(looked.contains("looked") && !looked.contains("sesame"), "{restore}: {results:#?}");
    }
}
