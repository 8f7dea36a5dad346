//! Notices of a session on the screen, in the words of the model and the agent.

use buddy_testkit::model::{Script, turn};

use crate::screen::size::{Size, at_each_size};
use crate::screen::{Screen, is_working};
use crate::stage::Stage;

at_each_size!(no_answer, nearly_full);

/// A server that stays overloaded: what happened, and that the prompt is kept.
async fn no_answer(size: Size) {
    let stage = Stage::new(vec![turn().error(529, "overloaded_error", "Overloaded")]).await;
    let wishes = ["--trust", "-c", "network.retries=0"];
    let screen = Screen::on(stage, &wishes, size.columns, size.rows).await;
    screen.line("explain the scheduler");
    screen.wait_for_words("cannot answer now (529)").await;
    size.check("no_answer", &screen.wait_idle().await);
}

/// A context window that is nearly full, and then summarised.
async fn nearly_full(size: Size) {
    let turns = [
        turn().text("There are two queues.").usage(82_000, 20),
        turn().text("Both are bounded.").usage(82_100, 20),
        turn().text("It asked about queues."),
    ];
    let stage = Stage::new(Script::from(turns).with_window(100_000)).await;
    let screen = Screen::on(stage, &["--trust"], size.columns, size.rows).await;
    screen.line("explain the scheduler");
    ended(&screen, "two queues.").await;
    screen.line("are they bounded?");
    ended(&screen, "Both are bounded.").await;
    screen.line("/compact");
    size.check("nearly_full", &ended(&screen, "Summarised the conversation").await);
}

/// Waits for words and for the end of the turn. The status line of a narrow window has no more than the context in such a session.
async fn ended(screen: &Screen, words: &str) -> String {
    screen.wait_until(words, |shown| shown.contains(words) && !is_working(shown)).await
}
