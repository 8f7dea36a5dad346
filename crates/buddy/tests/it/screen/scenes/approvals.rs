//! Each answer to an approval: what is shown, what is done, and what the model is told.

use buddy_testkit::model::turn;

use crate::screen::making;
use crate::screen::size::{Size, at_each_size};
use crate::stage::run;

at_each_size!(
    yes,
    in_session,
    chosen_grant,
    granted_in_own_words,
    another_command,
    denied,
    denied_with_words,
    left_by_escape,
);

/// Answers the approval of a command that makes a directory, and sees the turn through.
async fn check(size: Size, scene: &str, keys: &[&str], is_done: bool, model_sees: &str) {
    let screen = size.start(making("made")).await;
    screen.line("make it");
    size.check("question", &screen.wait_for_question("Run this command?").await);
    assert!(!screen.stage.home.work().join("made").exists(), "nothing is done before the answer");
    screen.keys(keys);
    screen.wait_for("So be it.").await;
    size.check(scene, &screen.wait_idle().await);
    assert_eq!(screen.stage.home.work().join("made").exists(), is_done);
    let seen = screen.stage.results()[0].to_string();
    assert!(seen.contains(model_sees), "{seen}");
}

async fn yes(size: Size) {
    check(size, "yes", &["y"], true, r#""exit_code":0"#).await;
}

async fn in_session(size: Size) {
    check(size, "in_session", &["a"], true, r#""exit_code":0"#).await;
}

async fn chosen_grant(size: Size) {
    let screen = size.start(making("made")).await;
    screen.line("make it");
    screen.wait_for_question("Run this command?").await;
    screen.keys(&["p"]);
    size.check("grants", &screen.wait_for_whole("esc Back").await);
    screen.keys(&["Escape"]);
    screen.wait_gone("everywhere").await;
    screen.keys(&["p"]);
    screen.wait_for_words("esc Back").await;
    screen.keys(&["Down", "Enter"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("made").is_dir());
    let grants = std::fs::read_to_string(screen.stage.home.data().join("grants.json")).unwrap();
    assert!(grants.contains("mkdir"), "{grants}");
}

async fn granted_in_own_words(size: Size) {
    let turns = [run("mkdir one"), run("mkdir one/two"), run("mkdir other"), turn().text("So be it.")];
    let screen = size.start(turns).await;
    screen.line("make them");
    screen.wait_for_question("▌ mkdir one").await;
    screen.keys(&["p"]);
    screen.wait_for("› mkdir *").await;
    screen.keys(&["C-u"]);
    screen.text("mkdir other*");
    screen.keys(&["Enter"]);
    size.check("refused_words", &screen.wait_for_whole("does not cover this call").await);
    assert!(!screen.stage.home.work().join("one").exists(), "nothing is done by words that do not hold");
    screen.keys(&["C-u"]);
    screen.text("mkdir one*");
    screen.wait_for("› mkdir one*").await;
    screen.keys(&["Enter"]);
    screen.wait_for_question("▌ mkdir other").await;
    assert!(screen.stage.home.work().join("one/two").is_dir(), "it was not asked for");
    screen.keys(&["d"]);
    screen.wait_for("So be it.").await;
    assert!(!screen.stage.home.work().join("other").exists());
}

async fn another_command(size: Size) {
    let keys = ["e", "C-u", "l", "s", "Space", "-", "a", "Enter"];
    check(size, "another_command", &keys, false, "the user changed the command to: ls -a").await;
}

async fn denied(size: Size) {
    check(size, "denied", &["d"], false, r#""code":"denied""#).await;
}

async fn denied_with_words(size: Size) {
    let keys = ["n", "End", "u", "s", "e", "Space", "b", "Enter"];
    check(size, "denied_with_words", &keys, false, "the user said no: use b").await;
}

async fn left_by_escape(size: Size) {
    let screen = size.start(making("made")).await;
    screen.line("make it");
    screen.wait_for_question("Run this command?").await;
    screen.keys(&["Escape"]);
    screen.wait_for_words("What should buddy do instead?").await;
    screen.text("use b");
    size.check("telling", &screen.wait_for_whole("› use b").await);
    screen.keys(&["Enter"]);
    screen.wait_for("So be it.").await;
    assert!(!screen.stage.home.work().join("made").exists());
    let seen = screen.stage.results()[0].to_string();
    assert!(seen.contains("the user said no: use b"), "{seen}");
}
