//! The state after the end: the terminal as it was, whatever ended the conversation, and what goes to the clipboard.

use buddy_testkit::model::turn;

use super::Screen;
use crate::exec_stops::{check_settled, ten_begun, ten_calls};
use crate::stage::{BUDDY, Stage};

/// A shell on a terminal, from which buddy is started.
async fn in_shell() -> Screen {
    in_shell_with(Stage::new(vec![turn().text("A word to copy.")]).await, &[]).await
}

/// The same on this stage, with these variables too.
async fn in_shell_with(stage: Stage, variables: &[(&str, &str)]) -> Screen {
    let screen = Screen::bare(stage, &["--version"], 80, 24, variables);
    let variables = screen.variables();
    let words: Vec<&str> = ["respawn-pane", "-k", "-t", "screen", "--", "env", "-i"].into_iter().collect();
    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
    let shell = ["PS1=shell$ ", "/bin/sh", "-i"];
    let all: Vec<&str> = words.into_iter().chain(variables).chain(shell).collect();
    screen.tmux(&all);
    screen.wait_for("shell$").await;
    screen.line(&format!("{BUDDY} -c tmux.enabled=false --trust"));
    screen.wait_until("a prompt", super::has_prompt).await;
    screen
}

/// Whether the terminal echoes, reads lines and wraps, and the shell takes a command.
async fn check_restored(screen: &Screen) {
    screen
        .wait_until("the shell", |shown| shown.lines().last().is_some_and(|line| line.starts_with("shell$")))
        .await;
    screen.line("stty -a | tr ' ' '\\n' | grep -x -e echo -e icanon -e isig | sort | xargs echo modes");
    screen.wait_for("modes echo icanon isig").await;
    screen.line("printf '%0100d' 0 | wc -c; printf '%0100d\\n' 0");
    screen.wait_for(&format!("{}\n{}", "0".repeat(80), "0".repeat(20))).await;
}

#[tokio::test]
async fn the_terminal_is_as_it_was_after_leaving() {
    let screen = in_shell().await;
    screen.keys(&["C-d"]);
    check_restored(&screen).await;
}

#[tokio::test]
async fn the_terminal_is_as_it_was_after_a_signal() {
    let screen = in_shell().await;
    let pane =
        String::from_utf8(screen.tmux(&["display-message", "-p", "-t", "screen", "#{pane_pid}"]).stdout)
            .unwrap();
    let shell: i32 = pane.trim().parse().unwrap();
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    let buddy = rustix::process::Pid::from_raw(children.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(buddy, rustix::process::Signal::TERM).unwrap();
    check_restored(&screen).await;
}

#[tokio::test]
async fn a_request_to_end_with_ten_commands_ends_all_of_them_and_keeps_the_session() {
    let stage = Stage::new(vec![ten_calls(), turn().text("Well.")]).await;
    let screen = in_shell_with(stage, &[("BUDDY_APPROVE", "all")]).await;
    screen.line("go");
    ten_begun(&screen.stage).await;
    let pane = screen.tmux(&["display-message", "-p", "-t", "screen", "#{pane_pid}"]).stdout;
    let shell = String::from_utf8(pane).unwrap().trim().to_owned();
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    let buddy = children.trim().parse().unwrap();
    let asked = std::time::Instant::now();
    buddy_testkit::processes::signal(buddy, rustix::process::Signal::TERM);
    screen.wait_for("Resume with  buddy resume").await;
    screen.line("echo status $?");
    screen.wait_for("status 130").await;
    assert!(asked.elapsed() < std::time::Duration::from_secs(10), "{:?}", asked.elapsed());
    screen.tmux(&["kill-server"]);
    let path = screen.stage.home.path();
    assert_eq!(buddy_testkit::processes::wait_until_gone(path, std::time::Duration::from_secs(2)), []);
    check_settled(&screen.stage).await;
}

#[tokio::test]
async fn suspending_gives_the_terminal_back_and_fg_goes_on() {
    let screen = in_shell().await;
    screen.text("a draft");
    screen.wait_for("› a draft").await;
    screen.keys(&["C-z"]);
    screen
        .wait_until("the shell", |shown| shown.lines().last().is_some_and(|line| line.starts_with("shell$")))
        .await;
    screen.line("echo in the shell; fg");
    screen.wait_for("in the shell\n").await;
    screen.wait_for("› a draft").await;
}

#[tokio::test]
async fn an_answer_goes_to_the_clipboard_of_the_terminal() {
    let screen = Screen::start([turn().text("A word to copy.")], 80, 24).await;
    screen.tmux(&["set-option", "-g", "set-clipboard", "on"]);
    screen.line("/copy");
    screen.wait_for("There is no answer yet.").await;
    screen.line("say it");
    screen.wait_for("A word to copy.").await;
    screen.wait_idle().await;
    screen.line("/copy");
    screen.wait_for("Copied to the terminal's clipboard").await;
    let kept = String::from_utf8(screen.tmux(&["show-buffer"]).stdout).unwrap();
    assert_eq!(kept, "A word to copy.");
}

/// A panic beside the conversation gives the terminal back, as it cannot know that somebody goes on with it.
#[tokio::test]
async fn a_panic_that_is_caught_leaves_a_screen_that_works() {
    let stage = Stage::new([turn().text("Here I am.")]).await;
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("BUDDY_PANIC_AT", "desk.surroundings")]);
    screen.wait_for("panicked").await;
    screen.text("are you there?");
    screen.wait_for("› are you there?").await;
    screen.keys(&["Enter"]);
    let shown = screen.wait_for("Here I am.").await;
    assert_eq!(
        shown.matches("are you there?").count(),
        1,
        "nothing is echoed beside what is painted: {shown}"
    );
    // The end of the turn looks around again. A key that comes while the terminal is given back is nobody's.
    let is_told = |shown: &str| shown.matches("panicked with message").count() > 1;
    screen.wait_until("the next panic", is_told).await;
    screen.leave().await;
}

#[tokio::test]
async fn line_by_line_an_interrupt_at_the_prompt_leaves_at_the_second_press_alone() {
    let stage = Stage::new(vec![turn().text("Still here.")]).await;
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("TERM", "dumb")]);
    let is_prompted = |shown: &str| shown.lines().last().is_some_and(|line| line.trim() == ">");
    screen.wait_until("a prompt", is_prompted).await;
    screen.text("half a line");
    screen.keys(&["C-c"]);
    screen
        .wait_until("a new prompt", |shown| {
            shown.contains("Press ctrl-c again to leave.") && is_prompted(shown)
        })
        .await;
    screen.line("hello");
    screen.wait_until("the answer", |shown| shown.contains("Still here.") && is_prompted(shown)).await;
    screen.keys(&["C-c"]);
    screen
        .wait_until("another one", |shown| shown.matches("Press ctrl-c again to leave.").count() == 2)
        .await;
    screen.keys(&["C-c"]);
    screen.wait_for("Resume with  buddy resume").await;
    screen.wait_dead().await;
}
