//! The status line: its parts, and one that a command of the user's own makes.

use buddy_testkit::model::turn;

use super::Screen;
use crate::stage::Stage;

/// The last line of a screen.
fn status(screen: &str) -> &str {
    screen.lines().last().unwrap_or_default()
}

#[tokio::test]
async fn the_person_chooses_the_parts_and_their_order() {
    let stage = Stage::new(vec![turn().text("Hello.")]).await;
    let wish = r#"display.status=["session", "model", "tokens"]"#;
    let screen = Screen::on(stage, &["--trust", "-c", wish], 80, 24).await;
    let words = |screen: &str| status(screen).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&screen.screen()), "ses_ID scripted");
    screen.line("hi");
    screen.wait_until("tokens", |screen| words(screen) == "ses_ID scripted 120 tokens").await;
}

#[tokio::test]
async fn a_command_of_the_person_makes_the_line_from_what_it_is_told() {
    let stage = Stage::new(vec![turn().gate("answer").text("Hello.")]).await;
    let script = r#"read -r facts; case "$facts" in
        *'"state":"working"'*) echo 'scripted, at work' ;;
        *'"model":"scripted"'*) printf '\033[31mscripted\033[0m, mine\a\nmore\n' ;;
        *) exit 3 ;; esac"#;
    let wish = format!("display.status_command={}", toml::Value::from(script));
    let screen = Screen::on(stage, &["--trust", "-c", &wish], 80, 24).await;
    screen.wait_until("its line", |screen| status(screen) == "scripted, mine").await;
    screen.line("hi");
    screen.wait_until("its line", |screen| status(screen) == "scripted, at work").await;
    screen.stage.server.gate("answer").open();
    screen.wait_until("its line", |screen| status(screen) == "scripted, mine").await;
}

#[tokio::test]
async fn a_command_that_hangs_holds_nothing_up_and_is_told_once() {
    let stage = Stage::new(vec![turn().text("Hello.")]).await;
    let screen = Screen::on(stage, &["--trust", "-c", "display.status_command=sleep 60"], 80, 24).await;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    let shown = screen.wait_for("display.status_command: it did not finish within 3 s").await;
    assert!(status(&shown).starts_with("  scripted   ~/work"), "{shown}");
}
