//! What is left behind: the terminal as it was, whatever ended the conversation, and what goes to the clipboard.

use buddy_testkit::model::turn;

use super::Screen;
use crate::exec_stops::{check_settled, ten_begun, ten_calls};
use crate::stage::{BUDDY, Stage};

/// A shell on a terminal, from which buddy is started.
async fn in_shell() -> Screen {
    let stage = Stage::new(vec![turn().text("A word to copy.")]).await;
    let screen = Screen::bare(stage, &["--version"], 80, 24, &[]);
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
    screen.wait_for("go on with: buddy resume").await;
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
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("BUDDY_APPROVE", "all")]);
    screen.wait_until("a prompt", super::has_prompt).await;
    screen.line("go");
    ten_begun(&screen.stage).await;
    let pane = screen.tmux(&["display-message", "-p", "-t", "screen", "#{pane_pid}"]).stdout;
    let buddy = String::from_utf8(pane).unwrap().trim().parse().unwrap();
    let asked = std::time::Instant::now();
    buddy_testkit::processes::signal(buddy, rustix::process::Signal::TERM);
    screen.wait_for("go on with: buddy resume").await;
    screen.wait_for("Pane is dead (status 130").await;
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
    screen.wait_for("> a draft").await;
    screen.keys(&["C-z"]);
    screen
        .wait_until("the shell", |shown| shown.lines().last().is_some_and(|line| line.starts_with("shell$")))
        .await;
    screen.line("echo in the shell; fg");
    screen.wait_for("in the shell\n").await;
    screen.wait_for("> a draft").await;
}

#[tokio::test]
async fn an_answer_goes_to_the_clipboard_of_the_terminal() {
    let screen = Screen::start([turn().text("A word to copy.")], 80, 24).await;
    screen.tmux(&["set-option", "-g", "set-clipboard", "on"]);
    screen.line("/copy");
    screen.wait_for("there is no answer yet").await;
    screen.line("say it");
    screen.wait_for("A word to copy.").await;
    screen.wait_idle().await;
    screen.line("/copy");
    screen.wait_for("sent to the clipboard").await;
    let kept = String::from_utf8(screen.tmux(&["show-buffer"]).stdout).unwrap();
    assert_eq!(kept, "A word to copy.");
}
