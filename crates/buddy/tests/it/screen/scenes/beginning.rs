//! The first start, the tour of the demo, and a conversation that is taken up again.

use buddy_testkit::model::turn;

use crate::screen::Screen;
use crate::screen::size::{Size, at_each_size};

at_each_size!(first_run, demo_tour, resume);

/// The demo at its first prompt, in a home where nobody was before.
async fn demo(size: Size) -> Screen {
    let screen = Screen::first_start([], size.columns, size.rows).await;
    screen.wait_for_words("esc demo").await;
    screen.keys(&["Escape"]);
    screen.wait_for_words("rust this folder?").await;
    screen.keys(&["y"]);
    screen.wait_for("› say tour").await;
    screen
}

async fn first_run(size: Size) {
    let screen = Screen::first_start([], size.columns, size.rows).await;
    size.check("first_run", &screen.wait_for_words("esc demo").await);
    screen.keys(&["Down", "Down", "Down", "Down", "Enter"]);
    size.check("first_trust", &screen.wait_for_words("rust this folder?").await);
    screen.keys(&["y"]);
    screen.wait_for("› say tour").await;
    size.check("first_prompt", &screen.wait_for("~/work").await);
}

async fn demo_tour(size: Size) {
    let screen = demo(size).await;
    screen.line("tour");
    let question = screen.wait_for_question("Run this command?").await;
    size.check("demo_question", question.rsplit_once('\n').unwrap().0);
    screen.keys(&["y"]);
    screen.wait_for_words("connect a model.").await;
    let shown = screen.wait_until("the end", |shown| !crate::screen::is_working(shown)).await;
    let (tour, status) = shown.rsplit_once('\n').unwrap();
    assert!(!status.contains("context"), "nothing was sent to anybody: {status}");
    // How much of what came before it is still in the window depends on what was shown while it ran.
    let tour = tour.split_once("› tour\n").map_or(tour, |(_, tour)| tour);
    size.check("demo_tour", tour);
}

async fn resume(size: Size) {
    let screen = size.start([turn().text("Remember **me**."), turn().text("I do.")]).await;
    screen.line("first");
    screen.wait_for("Remember me.").await;
    screen.wait_idle().await;
    screen.leave().await;
    let session = screen.stage.only_log().await.session.to_string();
    screen.again(&["resume", &session]).await;
    size.check("resume", &screen.wait_for("Remember me.").await);
    screen.line("second");
    screen.wait_for("I do.").await;
    let request = screen.stage.requests().pop().unwrap().body;
    assert_eq!(crate::stage::said(&request, "user"), ["first", "second"]);
}
