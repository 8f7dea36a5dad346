//! People at the same pane, interactive programs, and the hand-over.

use std::time::Duration;

use buddy_exec::{Bounds, CaptureOptions, Keys, PaneError, PaneSelector, Panes, TargetError};

use super::stage::PaneStage;
use crate::stage::PATIENCE;

#[tokio::test]
async fn commands_of_a_user_are_theirs_and_the_agent_is_told() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/bin/dash"] {
        let stage = PaneStage::new(shell);
        stage.check("echo ours", "ours\n", 0).await;
        let person = stage.person();
        person.types("echo $((40 + 2)) theirs; (exit 5)");
        person.presses("Enter");
        stage.until_shown("42 theirs").await;
        let (exit, notes) = stage.run("echo again").await;
        assert_eq!((exit.stdout.text().as_str(), exit.code), ("again\n", Some(0)), "{shell}");
        assert!(notes.contains("somebody else used the pane"), "{shell}: {notes}");
        let (_, notes) = stage.run("echo once more").await;
        assert!(!notes.contains("somebody else"), "{shell}: told once: {notes}");
    }
}

#[tokio::test]
async fn a_line_that_a_user_did_not_send_is_neither_run_nor_mixed_in() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"] {
        let stage = PaneStage::new(shell);
        stage.check("echo ours", "ours\n", 0).await;
        let person = stage.person();
        person.types("touch half-typed; ");
        stage.until_shown("half-typed").await;
        stage.check("echo mine", "mine\n", 0).await;
        assert!(!stage.path("half-typed").exists(), "{shell}");
    }
}

#[tokio::test]
async fn an_open_quote_of_a_user_swallows_no_command() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo ours", "ours\n", 0).await;
    let person = stage.person();
    person.types("echo 'open");
    person.presses("Enter");
    stage.until_shown("\n>").await;
    stage.check("touch ran; echo mine", "mine\n", 0).await;
    assert!(stage.path("ran").exists());
}

/// A shell that has read a command and is slow to begin it, and cannot be interrupted.
async fn check_slow_to_begin(slow: &str) {
    let stage = PaneStage::new("/bin/bash");
    stage.check(&format!("mkfifo silent; trap '' INT; ulimit() {{ {slow}; }}"), "", 0).await;
    let error = stage.try_start(stage.command("echo once >> ran")).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Unsure { .. })), "{slow}: {error}");
    assert!(error.to_string().contains("unknown"), "{slow}: {error}");
    tokio::time::sleep(Duration::from_secs(4)).await;
    let ran = std::fs::read_to_string(stage.path("ran")).unwrap_or_default();
    assert!(ran.lines().count() <= 1, "{slow}: {ran}");
}

#[tokio::test]
async fn a_command_that_begins_after_it_was_given_up_is_not_run_again() {
    check_slow_to_begin("read -t 8 <>silent").await;
}

#[tokio::test]
async fn a_command_that_may_begin_yet_is_not_run_again() {
    check_slow_to_begin("command sleep 8").await;
}

#[tokio::test]
async fn typing_while_a_command_runs_is_told() {
    let stage = PaneStage::new("/bin/bash");
    let person = stage.person_at_new_pane().await;
    let mut run =
        stage.try_start(stage.command("echo ready; read answer; sleep 1; echo got $answer")).await.unwrap();
    run.running.next().await.unwrap();
    person.types("blue");
    person.presses("Enter");
    let exit = run.running.wait().await.unwrap();
    assert!(exit.stdout.text().ends_with("got blue\n"), "{}", exit.stdout.text());
    assert!(run.notes.await.unwrap().join(" ").contains("somebody typed into the pane"));
}

#[tokio::test]
async fn a_user_who_scrolls_back_does_not_catch_keys() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    stage.tmux(&["copy-mode"]);
    stage.check("echo two", "two\n", 0).await;
}

#[tokio::test]
async fn python_is_driven_by_keys_and_seen_by_captures() {
    let stage = PaneStage::new("/bin/bash");
    let selector = PaneSelector::default();
    let id = stage.target.dispatch(&selector, stage.command("/usr/bin/python3 -q -i")).await.unwrap();
    assert!(id.starts_with('%'));
    stage.until_shown(">>>").await;
    stage.keys("x = 6 * 7; print('the answer', x)").await;
    stage.until_shown("the answer 42").await;
    let usual = CaptureOptions::default();
    let first = stage.target.capture(&selector, &usual).await.unwrap();
    assert!(first.program.starts_with("python3"), "{}", first.program);
    assert!(stage.target.capture(&selector, &usual).await.unwrap().is_unchanged);
    let leave = Keys { keys: vec!["C-d".parse().unwrap()], ..Keys::default() };
    stage.target.send_keys(&Bounds::open(), &selector, &leave).await.unwrap();
    let end = std::time::Instant::now() + PATIENCE;
    while stage.try_start(stage.command("true")).await.is_err() {
        assert!(std::time::Instant::now() < end, "python never ended");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stage.check("echo shell again", "shell again\n", 0).await;
}

#[tokio::test]
async fn the_end_of_a_dispatched_command_is_told_once() {
    let stage = PaneStage::new("/bin/bash");
    let selector = PaneSelector::default();
    let usual = CaptureOptions::default();
    let told = "the command that was left running in the pane ended with exit code 3";
    for is_captured in [true, false] {
        stage.target.dispatch(&selector, stage.command("read line; (exit 3)")).await.unwrap();
        assert_eq!(stage.target.capture(&selector, &usual).await.unwrap().note, None);
        stage.keys("go").await;
        let end = std::time::Instant::now() + PATIENCE;
        let note = loop {
            assert!(std::time::Instant::now() < end, "its end is never told");
            if is_captured {
                if let Some(note) = stage.target.capture(&selector, &usual).await.unwrap().note {
                    break note;
                }
            } else if let Ok(mut run) = stage.try_start(stage.command("true")).await {
                run.running.wait().await.unwrap();
                break run.notes.await.unwrap().join("; ");
            }
        };
        assert_eq!(note, told, "by a capture: {is_captured}");
        assert_eq!(stage.target.capture(&selector, &usual).await.unwrap().note, None);
    }
}

#[tokio::test]
async fn keys_are_typed_as_they_are() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    for text in ["; echo 'a' \"b\" $HOME;", "-l -t %0", "#{pane_id} #(touch ran)", "it's {x} ~ \\ é;"] {
        let selector = PaneSelector::default();
        stage.target.dispatch(&selector, stage.command("head -n 1 > typed")).await.unwrap();
        stage.keys(text).await;
        let end = std::time::Instant::now() + PATIENCE;
        while std::fs::read_to_string(stage.path("typed")).unwrap_or_default() != format!("{text}\n") {
            assert!(
                std::time::Instant::now() < end,
                "{text:?} became {:?}",
                std::fs::read(stage.path("typed"))
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        while stage.try_start(stage.command("rm -f typed")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn the_agent_waits_while_the_user_has_the_panes_and_then_is_told() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    stage.target.hand_over();
    let mut waiting = std::pin::pin!(stage.try_start(stage.command("echo mine")));
    let early = tokio::time::timeout(Duration::from_millis(200), &mut waiting).await;
    assert!(early.is_err(), "the agent did not wait");
    stage.target.take_back();
    let mut run = waiting.await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "mine\n");
    assert!(run.notes.await.unwrap().join(" ").contains("gave them back"));
}

#[tokio::test]
async fn the_alternate_screen_is_taken_where_there_is_one() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo below", "below\n", 0).await;
    let options = CaptureOptions { include_alternate_screen: true, ..CaptureOptions::default() };
    let selector = PaneSelector::default();
    let without = stage.target.capture(&selector, &options).await.unwrap();
    assert!(without.text.contains("below"), "there is none, so the usual one is taken: {}", without.text);
    let command = stage.command(r"printf '\033[?1049h'; echo ab''ove; read wait; printf '\033[?1049l'");
    stage.target.dispatch(&selector, command).await.unwrap();
    stage.until_shown("above").await;
    let saved = stage.target.capture(&selector, &options).await.unwrap();
    assert!(saved.text.contains("below") && !saved.text.contains("above"), "{}", saved.text);
    stage.keys("").await;
}
