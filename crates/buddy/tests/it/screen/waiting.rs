//! The screen during things that take long: a model that is overloaded, and commands in the background.

use buddy_testkit::model::{Turn, turn};
use serde_json::json;

use super::Screen;
use crate::stage::{Stage, shell};

fn busy(message: &str) -> Turn {
    turn().error(529, "overloaded_error", message)
}

#[tokio::test]
async fn an_overload_is_one_row_that_counts_down_and_goes() {
    let long = "a long explanation of the provider, which says much more than fits into one row of a screen";
    let turns =
        [busy("Overloaded"), busy("Overloaded"), busy("Overloaded"), busy(long), turn().text("Here I am.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("hello");
    let shown = screen.wait_for("attempt 5").await;
    let rows = |begin: &str| shown.lines().filter(|row| row.starts_with(begin)).collect::<Vec<_>>();
    let (why, rule) = (rows("▲ "), rows("● Trying again in "));
    assert_eq!((why.len(), rule.len()), (1, 1), "{shown}");
    assert!(why[0].contains("cannot answer now (529): a long") && why[0].ends_with('…'), "{shown}");
    assert!(rule[0].contains("s, attempt 5"), "{shown}");
    let whole = screen.wait_for("Here I am.").await;
    assert!(!whole.contains("rying again") && !screen.everything().contains("Overloaded"), "{whole}");
}

#[tokio::test]
async fn a_command_in_the_background_is_counted_and_its_end_is_told_to_both() {
    let mut slow = shell("echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over; exit 3");
    slow["wait"] = json!(0.2);
    let turns = vec![turn().call("run_shell", slow), turn().text("It runs."), turn().text("I see.")];
    let stage = Stage::new(turns).await;
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 100, 24).await;
    screen.line("go");
    screen.wait_for("It runs.").await;
    screen.wait_for("1 in the background").await;
    std::fs::write(screen.stage.home.work().join("go"), "").unwrap();
    screen.wait_for_words("ended with exit code 3").await;
    screen.wait_gone("1 in the background").await;
    let shown = screen.wait_idle().await;
    assert!(!shown.lines().last().unwrap().contains("background"), "{shown}");
    screen.line("and?");
    screen.wait_for("I see.").await;
    let request = screen.stage.requests().pop().unwrap();
    let told = crate::stage::said(&request.body, "user");
    let end = told
        .iter()
        .find(|text| text.starts_with("<reminder from=\"buddy\">\nBackground command proc-"))
        .unwrap();
    assert!(end.contains("exit code 3") && end.contains("<output>\nbegun\nover\n</output>"), "{end}");
    assert_eq!(told.last().unwrap(), "and?");
}
