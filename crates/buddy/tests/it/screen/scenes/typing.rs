//! Typed and pasted text of any kind.

use buddy_testkit::model::turn;

use crate::screen::size::{Size, at_each_size};
use crate::stage::prompt;

at_each_size!(long_paste, wide_characters);

async fn long_paste(size: Size) {
    let screen = size.start([turn().text("That is long.")]).await;
    let lines: Vec<String> = (1..=10_000).map(|number| format!("line {number}")).collect();
    screen.paste(&lines.join("\n"));
    screen.wait_for("[paste 1: 10000 lines]").await;
    screen.text(" read it");
    size.check("long_paste", &screen.wait_for_words("read it").await);
    assert!(screen.stage.requests().is_empty(), "a paste sends nothing");
    screen.keys(&["Enter"]);
    screen.wait_for("That is long.").await;
    size.check("long_prompt", &screen.wait_idle().await);
    let said = prompt(&screen.stage.requests()[0].body);
    assert_eq!((said.lines().count(), said.lines().last()), (10_000, Some("line 10000 read it")));
}

async fn wide_characters(size: Size) {
    let answer = "漢字とかな、そして👍🏽と👨‍👩‍👧。 ".repeat(6);
    let screen = size.start([turn().text(&answer)]).await;
    let typed = "漢字 é 👍 naïve 한국어 and some more words so that it breaks";
    screen.text(typed);
    size.check("wide_draft", &screen.wait_for("breaks").await);
    screen.keys(&["Home", "Right", "Delete", "End"]);
    screen.text("!");
    screen.wait_for("breaks!").await;
    screen.keys(&["Enter"]);
    screen.wait_for("漢字とかな").await;
    size.check("wide_answer", &screen.wait_idle().await);
    assert_eq!(prompt(&screen.stage.requests()[0].body), format!("{}!", typed.replacen("漢字", "漢", 1)));
}
