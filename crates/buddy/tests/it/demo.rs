//! A machine with no key and no network: the built-in demo does something true and says what it is.

use buddy_testkit::home::Home;
use buddy_testkit::program::Program;

use crate::stage::{BUDDY, Stage};

/// buddy in an empty home, with nothing configured.
fn bare(home: &Home) -> Program {
    Program::new(BUDDY).cwd(home.work()).env("HOME", home.path())
}

#[tokio::test]
async fn it_answers_and_says_that_it_is_a_demo() {
    let home = Home::new();
    std::fs::write(home.work().join("one"), "").unwrap();
    std::fs::write(home.work().join("two"), "").unwrap();
    let finished = bare(&home).args(["exec", "-m", "demo", "hello"]).run().await.expect_code(0);
    assert!(finished.text().starts_with("[demo] This directory has 2 entries."), "{finished}");
    assert!(home.path().join(".buddy/buddy.db").exists());
}

#[tokio::test]
async fn its_command_is_denied_when_nobody_is_there_to_ask() {
    let home = Home::new();
    let finished = bare(&home).args(["exec", "-m", "demo", "run touch sentinel"]).run().await.expect_code(5);
    assert!(finished.text().contains("It was not done"), "{finished}");
    assert!(!home.work().join("sentinel").exists());
}

#[tokio::test]
async fn its_tour_asks_for_a_real_approval_in_a_conversation() {
    let home = Home::new();
    let mut started = bare(&home).converse();
    started.write(b"tour\n").await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("hello from buddy", 1).await;
    started.stdout.wait_for("Say `connect`", 1).await;
    let asked = started.stderr.text();
    let file = asked.split_whitespace().find(|word| word.starts_with("/tmp/buddy-tour-")).unwrap();
    assert!(!std::path::Path::new(file).exists(), "{file} is left behind");
    started.write(b"connect\n").await;
    started.stdout.wait_for("ANTHROPIC_API_KEY", 1).await;
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn its_tour_of_an_untrusted_folder_shows_what_is_possible_there() {
    let stage = Stage::apart(Vec::new()).await;
    std::fs::write(stage.home.work().join("notes.md"), "").unwrap();
    let mut started = stage.usual(["-m", "demo"]).converse();
    started.write(b"tour\n").await;
    started.stderr.wait_for("this folder is untrusted, so the command cannot change anything in it", 1).await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("Commands that only read run without a prompt", 1).await;
    started.stdout.wait_for("notes.md", 1).await;
    started.stdout.wait_for("run `/trust` to allow changes here", 1).await;
    assert_eq!(started.stderr.text().matches("approve? [y/n]").count(), 1, "reading asks nothing");
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn it_can_be_asked_for_by_name() {
    let home = Home::new();
    let finished =
        bare(&home).env("OPENAI_API_KEY", "sk-nothing").args(["exec", "-m", "demo", "connect"]).run().await;
    assert!(finished.expect_code(0).text().starts_with("[demo] To connect a real model"));
}
