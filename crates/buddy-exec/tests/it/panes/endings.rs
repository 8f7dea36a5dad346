//! Shells that end, panes that close, servers that die: reported clearly, repaired, and no key goes
//! elsewhere.

use std::fs;

use buddy_exec::{Bounds, PaneError, PaneSelector, Panes, TargetError};

use super::stage::PaneStage;
use crate::stage::{marker, until_gone};

#[tokio::test]
async fn files_of_a_pane_go_with_it() {
    let stage = PaneStage::new("/bin/bash");
    let (build, other) = (
        PaneSelector { pane: Some("build".to_owned()), ..PaneSelector::default() },
        PaneSelector { session: Some("2".to_owned()), ..PaneSelector::default() },
    );
    stage.check("echo shared", "shared\n", 0).await;
    stage.target.create_pane(&stage.bounds, &build).await.unwrap();
    stage.target.create_session(&stage.bounds, "2").await.unwrap();
    for pane in [&build, &other] {
        let mut run = stage.target.start(pane, stage.command("echo there")).await.unwrap();
        run.running.wait().await.unwrap();
    }
    let files_of = |number: &str| {
        let names = fs::read_dir(stage.path("run")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(&format!("{number}."))).count()
    };
    assert!(files_of("0") > 0 && files_of("1") > 0 && files_of("2") > 0);
    stage.target.kill_pane(&stage.bounds, &build).await.unwrap();
    assert_eq!((files_of("1"), files_of("2") > 0), (0, true));
    stage.target.kill_session(&stage.bounds, "2").await.unwrap();
    assert_eq!((files_of("2"), files_of("0") > 0), (0, true));
    stage.check("echo still", "still\n", 0).await;
}

#[tokio::test]
async fn files_of_an_ended_server_go_with_the_next_one() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    let left = stage.path(&format!("run/7.spool.{}", "0".repeat(32)));
    fs::create_dir(&left).unwrap();
    stage.tmux(&["kill-server"]);
    until_free(&stage).await;
    assert!(!left.exists());
}

#[tokio::test]
async fn the_history_of_every_pane_is_long() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    let build = PaneSelector { pane: Some("build".to_owned()), ..PaneSelector::default() };
    stage.target.create_pane(&stage.bounds, &build).await.unwrap();
    assert_eq!(stage.tmux(&["list-panes", "-a", "-F", "#{history_limit}"]), "20000\n20000");
}

#[tokio::test]
async fn a_shell_that_took_the_place_of_another_has_long_commands_waited_for() {
    let stage = PaneStage::new("/bin/bash");
    for _ in 0..2 {
        let (exit, notes) = stage.run("exec bash -l").await;
        assert!(exit.code.is_none() && notes.contains("replaced the shell"), "{exit:?} {notes}");
        stage.check("sleep 2; echo waited; (exit 4)", "waited\n", 4).await;
    }
}

#[tokio::test]
async fn a_command_that_ends_the_shell_has_its_code_and_the_next_gets_a_new_shell() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"] {
        let stage = PaneStage::new(shell);
        for (text, code) in [("echo bye; exit 7", 7), ("set -e; echo bye; false; echo never", 1)] {
            let (exit, notes) = stage.run(text).await;
            assert_eq!(exit.code, Some(code), "{shell} {text} {notes}");
            assert!(exit.stdout.text().starts_with("bye\n"), "{shell}: {}", exit.stdout.text());
            assert!(notes.contains("ended the shell"), "{notes}");
            let (exit, notes) = stage.run("echo new").await;
            assert_eq!((exit.stdout.text().as_str(), exit.code), ("new\n", Some(0)), "{shell}");
            assert!(notes.contains("a new one was started"), "{notes}");
        }
    }
}

#[tokio::test]
async fn a_command_that_replaces_the_shell_is_told_and_the_new_shell_is_set_up() {
    for (from, to) in [("/bin/bash", "zsh -f"), ("/bin/bash", "bash --norc"), ("/usr/bin/zsh", "dash")] {
        let stage = PaneStage::new(from);
        let (exit, notes) = stage.run(&format!("exec {to}")).await;
        assert_eq!(exit.code, None, "{from} {to}: {notes}");
        assert!(notes.contains("replaced the shell") && notes.contains("was set up"), "{from} {to}: {notes}");
        stage.check("echo in; (exit 4)", "in\n", 4).await;
    }
}

#[tokio::test]
async fn another_shell_inside_makes_the_pane_busy_until_it_ends() {
    let stage = PaneStage::new("/bin/bash");
    let selector = PaneSelector::default();
    stage.target.dispatch(&selector, stage.command("env -u BUDDY_PANE PS1='inner> ' sh -i")).await.unwrap();
    stage.until_shown("inner>").await;
    let error = stage.try_start(stage.command("echo lost")).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Busy { .. })), "{error}");
    stage.keys("echo by $((6 * 7)); exit").await;
    stage.until_shown("by 42").await;
    until_free(&stage).await;
    stage.check("echo ours", "ours\n", 0).await;
    assert!(!stage.screen().await.contains("lost"));
}

/// Waits until a command can be run again.
async fn until_free(stage: &PaneStage) {
    let end = std::time::Instant::now() + crate::stage::PATIENCE;
    while let Err(error) = stage.try_start(stage.command("true")).await {
        assert!(std::time::Instant::now() < end, "the pane never came free: {error}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_server_that_is_killed_is_told_and_the_next_command_has_a_new_one() {
    let stage = PaneStage::new("/bin/bash");
    let marker = marker();
    let mut running = stage.start(&format!("echo ready; sleep {marker}")).await;
    running.next().await.unwrap();
    stage.tmux(&["kill-server"]);
    let error = running.wait().await.unwrap_err();
    assert!(
        matches!(error, TargetError::Pane(PaneError::ServerLost | PaneError::Closed)),
        "the outcome is not known: {error}"
    );
    until_gone(&marker, crate::stage::PATIENCE).await;
    stage.check("echo back", "back\n", 0).await;
}

#[tokio::test]
async fn a_pane_that_is_closed_is_told_and_nothing_is_typed_into_another() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo first", "first\n", 0).await;
    let other = stage.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    let pane = stage.tmux(&["list-panes", "-a", "-F", "#{pane_id}", "-f", "#{@buddy_pane}"]);
    let mut running = stage.start("echo ready; sleep 100").await;
    running.next().await.unwrap();
    stage.tmux(&["kill-pane", "-t", &pane]);
    let error = running.wait().await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Closed)), "{error}");
    stage.check("echo second", "second\n", 0).await;
    assert_eq!(stage.tmux(&["capture-pane", "-p", "-t", &other]), "", "something was typed elsewhere");
}

#[tokio::test]
async fn a_window_that_is_renamed_and_panes_that_move_are_still_found() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    stage.tmux(&["rename-window", "mine"]);
    stage.check("echo two", "two\n", 0).await;
    stage.check(r"printf '\033]2;another title\007'", "\x1b]2;another title\x07", 0).await;
    stage.tmux(&["break-pane", "-d"]);
    stage.check("echo three", "three\n", 0).await;
}

#[tokio::test]
async fn a_pane_without_its_mark_gets_no_key() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    let pane = stage.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    stage.tmux(&["set-option", "-p", "-t", &pane, "@buddy_owner", "somebody"]);
    let error = stage.try_start(stage.command("touch was-run")).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Foreign { .. })), "{error}");
    let keys = buddy_exec::Keys {
        literal_text: Some("touch was-run".to_owned()),
        enter: true,
        ..buddy_exec::Keys::default()
    };
    assert!(stage.target.send_keys(&Bounds::open(), &PaneSelector::default(), &keys).await.is_err());
    stage.tmux(&["set-option", "-p", "-t", &pane, "@buddy_owner", "buddy-test"]);
    stage.tmux(&["set-option", "-p", "-u", "-t", &pane, "@buddy_pane"]);
    assert!(stage.target.send_keys(&Bounds::open(), &PaneSelector::default(), &keys).await.is_err());
    stage.tmux(&["set-option", "-p", "-t", &pane, "@buddy_pane", "shared"]);
    stage.check("ls -1", "locks\nrun\n", 0).await;
}

#[tokio::test]
async fn keys_that_would_go_to_several_panes_are_not_sent() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    let other = stage.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    stage.tmux(&["set-option", "-w", "synchronize-panes", "on"]);
    assert!(stage.try_start(stage.command("touch was-run")).await.is_err());
    assert_eq!(stage.tmux(&["capture-pane", "-p", "-t", &other]), "");
    assert!(!stage.path("was-run").exists());
}

#[tokio::test]
async fn a_foreign_session_is_left_alone() {
    let stage = PaneStage::new("/bin/bash");
    fs::create_dir_all(stage.path("run")).unwrap();
    stage.tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "buddy-test", "cat"]);
    let error = stage.try_start(stage.command("echo no")).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Foreign { .. })), "{error}");
    assert_eq!(stage.tmux(&["capture-pane", "-p", "-t", "buddy-test"]), "");
}

#[tokio::test]
async fn calls_with_bounds_need_a_jailed_pane() {
    let stage = PaneStage::without_jail();
    let bounds = Bounds { network: false, ..Bounds::open() };
    let mut command = stage.command("touch was-run");
    command.bounds = bounds.clone();
    let error = stage.try_start(command).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Bounded)), "{error}");
    let selector = PaneSelector::default();
    let keys = buddy_exec::Keys { enter: true, ..buddy_exec::Keys::default() };
    assert!(stage.target.send_keys(&bounds, &selector, &keys).await.is_err());
    assert!(stage.target.create_pane(&bounds, &selector).await.is_err());
    assert!(stage.target.create_session(&bounds, "other").await.is_err());
    assert!(!stage.socket().exists(), "no server was started");
}

#[tokio::test]
async fn sessions_and_panes_have_limits_and_the_default_ones_stay() {
    let stage = PaneStage::new("/bin/bash");
    let open = Bounds::open();
    let pane = |name: &str| PaneSelector { pane: Some(name.to_owned()), session: None };
    stage.check("echo one", "one\n", 0).await;
    assert!(stage.target.create_pane(&open, &pane("two")).await.unwrap());
    assert!(!stage.target.create_pane(&open, &pane("two")).await.unwrap(), "it is there already");
    assert!(stage.target.create_pane(&open, &pane("three")).await.unwrap());
    let error = stage.target.create_pane(&open, &pane("four")).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::TooMany { limit: 3, .. })), "{error}");
    let mut run = Panes::start(&*stage.target, &pane("two"), stage.command("echo in two")).await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "in two\n");
    stage.target.kill_pane(&open, &pane("two")).await.unwrap();
    assert!(stage.target.kill_pane(&open, &pane("two")).await.is_err(), "it is gone");
    let error = stage.target.kill_pane(&open, &PaneSelector::default()).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Protected { .. })), "{error}");

    assert!(stage.target.create_session(&open, "second").await.unwrap());
    let error = stage.target.create_session(&open, "third").await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::TooMany { limit: 2, .. })), "{error}");
    let remaining: Vec<String> =
        stage.target.remaining().await.unwrap().into_iter().map(|left| left.session).collect();
    assert_eq!(remaining, ["buddy-test", "second"]);
    stage.target.kill_session(&open, "second").await.unwrap();
    let error = stage.target.kill_session(&open, "buddy-test").await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::Protected { .. })), "{error}");
}

#[tokio::test]
async fn a_session_lives_on_and_the_next_buddy_takes_it_up() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("kept=42", "", 0).await;
    let second = stage.again();
    let selector = PaneSelector::default();
    let error = Panes::start(&second, &selector, stage.command("echo no")).await.unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::InUse { .. })), "{error}");
    let stage = stage.without_target();
    let mut run = Panes::start(&second, &selector, stage.command("echo $kept")).await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "42\n");
}

#[tokio::test]
async fn the_directory_of_the_socket_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    assert_eq!(fs::metadata(stage.path("run")).unwrap().permissions().mode() & 0o777, 0o700);
}
