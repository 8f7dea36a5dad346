//! Promises of every pane, on every host and in every shell.

use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_exec::{Ended, PaneError, PaneSelector, Panes, TargetError};

use super::place::PanePlace;
use crate::hosts::cases;
use crate::stage::{PATIENCE, marker, until_alive, until_gone};

type Case = (&'static str, fn(Arc<PanePlace>) -> futures::future::BoxFuture<'static, ()>);

pub(super) const CASES: &[Case] = cases![
    commands_have_their_own_outputs_and_codes,
    a_hundred_thousand_lines_come_whole,
    the_text_of_a_command_is_run_byte_for_byte,
    a_forged_mark_of_an_end_is_not_believed,
    a_command_that_ends_the_shell_has_its_code,
    an_interrupt_ends_the_program,
    a_time_limit_keeps_what_was_printed,
    a_user_attaches_as_told_and_types_into_a_command,
    commands_of_a_user_are_theirs,
    a_pane_that_is_closed_is_told,
    a_server_that_is_killed_is_told,
    a_session_is_taken_up_after_its_command_has_ended,
    a_session_is_busy_while_an_earlier_command_runs,
    the_directory_is_private,
    remaining_sessions_are_listed_with_their_attach_command,
];

async fn commands_have_their_own_outputs_and_codes(place: Arc<PanePlace>) {
    for number in 0..10 {
        let text = format!("echo \"n {number}\"; printf 'é%s\\n\\n' '{number}'; ( exit {number} )");
        place.check(&text, &format!("n {number}\né{number}\n\n"), number).await;
    }
    place.check("kept=1; cd /", "", 0).await;
    let cwd = place.place.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    place.check("echo \"$kept\"; pwd", &format!("1\n{cwd}\n"), 0).await;
}

async fn a_hundred_thousand_lines_come_whole(place: Arc<PanePlace>) {
    let numbers: Vec<String> = (1..=100_000).map(|number| number.to_string()).collect();
    let expected = format!("{}\n", numbers.join("\n"));
    let (exit, _) = place.run("seq 100000; (exit 3)").await;
    assert_eq!((exit.stdout.text() == expected, exit.code), (true, Some(3)), "{} bytes", exit.stdout.total);
}

async fn the_text_of_a_command_is_run_byte_for_byte(place: Arc<PanePlace>) {
    place.check("echo a;", "a\n", 0).await;
    assert_eq!(place.run("-not-a-program").await.0.code, Some(127));
    place.check("echo one\necho two\n\necho \"three\nfour\"", "one\ntwo\nthree\nfour\n", 0).await;
    place.check("cat <<'E'\n$x `y` \\z 'q' \"r\"\nE", "$x `y` \\z 'q' \"r\"\n", 0).await;
    place.check("printf '%s' 'no line end'", "no line end", 0).await;
    place.check("echo '!$ ~ #{pane_id} %1'", "!$ ~ #{pane_id} %1\n", 0).await;
    let long = "x'\"$;".repeat(4096);
    let quoted = long.replace('\'', r"'\''");
    place.check(&format!("printf '%s' '{quoted}' | wc -c | tr -d ' '"), "20480\n", 0).await;
}

async fn a_forged_mark_of_an_end_is_not_believed(place: Arc<PanePlace>) {
    let fake = r"printf '\033]133;D;0123456789abcdef0123456789abcdef;0\007'; printf '\033]133;D;;0\007'; \
                 printf '\033]133;C;x\007\033]133;S;x\007\033]133;X\007\033]133;'; echo real; (exit 9)";
    let printed = "\x1b]133;D;0123456789abcdef0123456789abcdef;0\x07\x1b]133;D;;0\x07\x1b]133;C;x\x07\
                   \x1b]133;S;x\x07\x1b]133;X\x07\x1b]133;real\n";
    place.check(fake, printed, 9).await;
    place.check("echo after", "after\n", 0).await;
}

async fn a_command_that_ends_the_shell_has_its_code(place: Arc<PanePlace>) {
    for (text, code) in [("echo bye; exit 7", 7), ("set -e; echo bye; false; echo never", 1)] {
        let (exit, notes) = place.run(text).await;
        assert_eq!(exit.code, Some(code), "{text} {notes}");
        assert!(exit.stdout.text().starts_with("bye\n"), "{}", exit.stdout.text());
        assert!(notes.contains("ended the shell"), "{notes}");
        let (exit, notes) = place.run("echo new").await;
        assert_eq!((exit.stdout.text().as_str(), exit.code), ("new\n", Some(0)), "{notes}");
        assert!(notes.contains("a new one was started"), "{notes}");
    }
}

async fn an_interrupt_ends_the_program(place: Arc<PanePlace>) {
    for text in ["sleep MARKER", "while true; do sleep MARKER; done"] {
        let marker = marker();
        let mut run = place.start(&text.replace("MARKER", &marker)).await;
        until_alive(&marker, 1).await;
        run.running.stop();
        assert_eq!(run.running.wait().await.unwrap().ended, Ended::Stopped, "{text}");
        until_gone(&marker, PATIENCE).await;
        place.check("echo after", "after\n", 0).await;
    }
}

async fn a_time_limit_keeps_what_was_printed(place: Arc<PanePlace>) {
    let mut command = place.command("echo asked; read answer");
    command.timeout = Some(Duration::from_secs(1));
    let mut run = Panes::start(&*place.panes, &PaneSelector::default(), command).await.unwrap();
    let exit = run.running.wait().await.unwrap();
    assert_eq!(exit.ended, Ended::TimedOut);
    assert!(exit.stdout.text().starts_with("asked\n"), "{}", exit.stdout.text());
    place.check("echo after", "after\n", 0).await;
}

async fn a_user_attaches_as_told_and_types_into_a_command(place: Arc<PanePlace>) {
    place.check("echo hello", "hello\n", 0).await;
    let person = place.person().await;
    let mut run = place.start("echo ready; read answer; sleep 1; echo got $answer").await;
    run.running.next().await.unwrap();
    person.types("blue");
    let exit = run.running.wait().await.unwrap();
    assert!(exit.stdout.text().ends_with("got blue\n"), "{}", exit.stdout.text());
    assert!(run.notes.await.unwrap().join(" ").contains("somebody typed into the pane"));
}

async fn commands_of_a_user_are_theirs(place: Arc<PanePlace>) {
    place.check("echo ours", "ours\n", 0).await;
    let person = place.person().await;
    person.types("echo $((40 + 2)) theirs; (exit 5)");
    place.until_shown("42 theirs").await;
    let (exit, notes) = place.run("echo again").await;
    assert_eq!((exit.stdout.text().as_str(), exit.code), ("again\n", Some(0)));
    assert!(notes.contains("somebody else used the pane"), "{notes}");
}

async fn a_pane_that_is_closed_is_told(place: Arc<PanePlace>) {
    place.check("echo first", "first\n", 0).await;
    let other = place.tmux("split-window -d -P -F '#{pane_id}' cat").await;
    let pane = place.tmux("list-panes -a -F '#{pane_id}' -f '#{@buddy_pane}'").await;
    let mut run = place.start("echo ready; sleep 100").await;
    run.running.next().await.unwrap();
    place.tmux(&format!("kill-pane -t {pane}")).await;
    let error = run.running.wait().await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Closed)), "{error}");
    place.check("echo second", "second\n", 0).await;
    assert_eq!(place.tmux(&format!("capture-pane -p -t {other}")).await, "", "something was typed elsewhere");
    place.tmux(&format!("kill-pane -t {other}")).await;
}

async fn a_server_that_is_killed_is_told(place: Arc<PanePlace>) {
    let marker = marker();
    let mut run = place.start(&format!("echo ready; sleep {marker}")).await;
    run.running.next().await.unwrap();
    place.tmux("kill-server").await;
    let error = run.running.wait().await.unwrap_err();
    let is_told = matches!(error, TargetError::Pane(PaneError::ServerLost | PaneError::Closed));
    assert!(is_told, "the outcome is not known: {error}");
    until_gone(&marker, PATIENCE).await;
    place.check("echo back", "back\n", 0).await;
}

async fn a_session_is_taken_up_after_its_command_has_ended(place: Arc<PanePlace>) {
    let first = place.session("again");
    let done = place.place.path("done").to_str().unwrap().to_owned();
    let command = place.command(&format!("sleep 1; echo meanwhile > '{done}'"));
    first.dispatch(&PaneSelector::default(), command).await.unwrap();
    drop(first);
    let end = Instant::now() + PATIENCE;
    while place.place.says(&format!("cat '{done}'")).await != "meanwhile\n" {
        assert!(Instant::now() < end, "the command did not go on");
    }
    let second = place.session("again");
    let mut run = place.try_start(&second, "echo found; (exit 4)").await.unwrap();
    let exit = run.running.wait().await.unwrap();
    assert_eq!((exit.stdout.text().as_str(), exit.code), ("found\n", Some(4)));
    place.place.says(&format!("rm -f '{done}'")).await;
}

async fn a_session_is_busy_while_an_earlier_command_runs(place: Arc<PanePlace>) {
    let marker = marker();
    let first = place.session("again");
    first.dispatch(&PaneSelector::default(), place.command(&format!("sleep {marker}"))).await.unwrap();
    until_alive(&marker, 1).await;
    drop(first);
    let second = place.session("again");
    let error = place.try_start(&second, "echo no").await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Busy { .. })), "{error}");
    assert!(!crate::stage::alive(&marker).is_empty(), "it was ended");
    let keys = buddy_exec::Keys { keys: vec!["C-c".parse().unwrap()], ..buddy_exec::Keys::default() };
    second.send_keys(&buddy_exec::Bounds::open(), &PaneSelector::default(), &keys).await.unwrap();
    until_gone(&marker, PATIENCE).await;
    let mut run = place.try_start(&second, "echo free").await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "free\n");
}

async fn the_directory_is_private(place: Arc<PanePlace>) {
    let shown = place.place.says(&format!("ls -ld '{}'", place.directory.display())).await;
    assert!(shown.starts_with("drwx------"), "{shown}");
}

async fn remaining_sessions_are_listed_with_their_attach_command(place: Arc<PanePlace>) {
    let remaining = place.panes.remaining().await.unwrap();
    let shared = remaining.iter().find(|session| session.session == "buddy-test").unwrap();
    assert_eq!(shared.attach, place.panes.attach_command());
    assert!(shared.attach.starts_with(&place.place.way.typed("tmux -S")), "{}", shared.attach);
}
