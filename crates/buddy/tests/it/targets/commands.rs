//! `/target` in a conversation.

use std::path::Path;

use buddy_testkit::model::turn;

use super::yard::{Machine, container, shell_on, with_engine};
use crate::stage::{Stage, shell};

#[tokio::test]
async fn targets_come_are_used_and_go() {
    let (machine, web) = (Machine::new(), container());
    let inside = format!("container:{}", web.name());
    let stage = Stage::new([
        turn().call("run_shell", shell("echo one > made")).text("First."),
        turn().text("Said first."),
        turn().call("run_shell", shell_on(&inside, "echo two > /var/tmp/made; cat /var/tmp/made")),
        turn().text("Said second."),
    ])
    .await;
    let mut talk = with_engine(&web, machine.known_to(stage.buddy(["--approve", "all"]))).converse();
    talk.write(b"/target\n").await;
    talk.stderr.wait_for("*  local   this machine", 1).await;
    for (line, answer) in [
        (format!("/target add ssh {}", machine.flag()), "  ssh:machine  "),
        (format!("/target add container {}:/var/tmp", web.name()), &*format!("  {inside}")),
        ("/target use ssh:machine".to_owned(), "*  ssh:machine"),
        ("/target use nowhere".to_owned(), "there is no target `nowhere`; there are ssh:machine, local"),
        (format!("/target add ssh {}", machine.flag()), "the session has `ssh:machine` already"),
        (
            "/target add container no-such-container".to_owned(),
            "`container:no-such-container` cannot be reached",
        ),
        ("/target sideways".to_owned(), "/target use NAME"),
    ] {
        talk.write(format!("{line}\n").as_bytes()).await;
        talk.stderr.wait_for(answer, 1).await;
    }
    talk.write(b"go\n").await;
    talk.stdout.wait_for("Said first.", 1).await;
    assert_eq!(std::fs::read_to_string(machine.path("made")).unwrap(), "one\n", "the default is used");
    talk.write(b"and there\n").await;
    talk.stdout.wait_for("Said second.", 1).await;
    talk.stderr.wait_for(&format!(" on {inside}"), 1).await;
    for name in ["local", "ssh:machine"] {
        talk.write(format!("/target remove {name}\n").as_bytes()).await;
    }
    talk.stderr.wait_for(&format!("*  {inside}"), 1).await;
    talk.write(format!("/target remove {inside}\n").as_bytes()).await;
    talk.stderr.wait_for("it is the only target", 1).await;
    talk.finish().await.expect_code(0);
    assert_eq!(stage.results()[1]["result"]["stdout"], "two\n");
    let log = stage.only_log().await;
    let left: Vec<&str> = log.transcript.targets().iter().map(|target| target.name.as_str()).collect();
    assert_eq!(left, [inside.as_str()]);
}

#[tokio::test]
async fn another_directory_on_the_same_host_is_another_directory() {
    let machine = Machine::new();
    std::fs::create_dir(machine.path("second")).unwrap();
    let stage = Stage::new([
        turn().call("run_shell", shell("pwd > here")),
        turn().text("Said first."),
        turn().call("run_shell", shell("pwd > here")),
        turn().text("Said second."),
    ])
    .await;
    let mut talk = machine.known_to(stage.buddy(["--approve", "all", "--tmux"])).converse();
    let places = [(machine.flag(), "Said first."), (format!("{}/second", machine.flag()), "Said second.")];
    for (count, (flag, said)) in (1..).zip(places) {
        talk.write(format!("/target add ssh {flag}\n/target use ssh:machine\n").as_bytes()).await;
        talk.stderr.wait_for("*  ssh:machine", count).await;
        talk.write(b"go\n").await;
        talk.stdout.wait_for(said, 1).await;
        talk.write(b"/target use local\n/target remove ssh:machine\n").await;
    }
    talk.finish().await.expect_code(0);
    machine.end_panes();
    for directory in ["", "second/"] {
        let here = std::fs::read_to_string(machine.path(&format!("{directory}here"))).unwrap_or_default();
        let expected = machine.path(directory).canonicalize().unwrap();
        assert_eq!(Path::new(here.trim()), expected, "{:?}", stage.results());
    }
}

#[tokio::test]
async fn panes_that_the_person_has_are_theirs_on_a_host_that_comes_later_too() {
    let machine = Machine::new();
    let stage = Stage::new([turn().call("run_shell", shell("echo mine > mine")), turn().text("Done.")]).await;
    let mut talk = machine.known_to(stage.buddy(["--approve", "all", "--tmux"])).converse();
    talk.write(b"/pane take\n").await;
    talk.stderr.wait_for("The panes are yours", 1).await;
    talk.write(format!("/target add ssh {}\n/target use ssh:machine\n", machine.flag()).as_bytes()).await;
    talk.stderr.wait_for("*  ssh:machine", 1).await;
    talk.write(b"go\n").await;
    talk.stderr.wait_for("● Run ", 1).await;
    talk.write(b"/pane give\n").await;
    talk.stdout.wait_for("Done.", 1).await;
    talk.finish().await.expect_code(0);
    machine.end_panes();
    assert!(stage.results()[0].to_string().contains("gave them back"), "{}", stage.results()[0]);
    assert!(machine.path("mine").exists());
}
