//! Files of a trusted project that changed: shown, asked about, and used only after a yes.

use buddy_testkit::model::turn;

use super::{Screen, has_prompt};
use crate::stage::{Stage, shell};

const DENY: &str = "deny = ['mkdir *']\n";
const RULES: &str = ".buddy/rules.toml";
const ACCEPT: &str = "Let the changes take effect?";

/// A trusted project that denies `mkdir`, and a model that tries it twice.
async fn stage() -> Stage {
    let making = |name: &str| turn().call("run_shell", shell(&format!("mkdir {name}")));
    let turns = vec![making("one"), turn().text("Refused."), making("two"), turn().text("Made.")];
    let stage = Stage::apart(turns).await;
    std::fs::create_dir(stage.home.work().join(".buddy")).unwrap();
    std::fs::write(stage.home.work().join(RULES), DENY).unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage
}

#[tokio::test]
async fn a_change_is_shown_at_the_start_and_holds_after_a_yes() {
    let stage = stage().await;
    let work = stage.home.work();
    std::fs::write(work.join(RULES), "ask = ['git push *']\n").unwrap();
    let screen = Screen::bare(stage, &["--approve", "all"], 90, 30, &[]);
    screen.wait_for(ACCEPT).await;
    let shown = screen.everything();
    assert!(shown.contains("-deny = ['mkdir *']") && shown.contains("+ask = ['git push *']"), "{shown}");
    screen.keys(&["n"]);
    screen.wait_until("a prompt", has_prompt).await;
    screen.line("make it");
    screen.wait_for("Refused.").await;
    assert!(!work.join("one").exists(), "the trusted version holds");
    screen.wait_idle().await;
    screen.keys(&["C-d"]);
    screen.wait_for("Resume with  buddy resume").await;
    screen.buddy(&["respawn-pane", "-k", "-t", "screen", "--"], &["--approve", "all", "resume", "--last"]);
    screen.tmux(&["clear-history", "-t", "screen"]);
    screen.wait_for(ACCEPT).await;
    screen.keys(&["y"]);
    screen.wait_until("a prompt", has_prompt).await;
    screen.line("make it");
    screen.wait_for("Made.").await;
    assert!(work.join("two").exists(), "the change holds");
}

#[tokio::test]
async fn a_change_during_a_conversation_holds_after_it_was_shown_and_accepted() {
    let stage = stage().await;
    let work = stage.home.work();
    let screen = Screen::on(stage, &["--approve", "all"], 90, 30).await;
    std::fs::write(work.join(RULES), "deny = []\n").unwrap();
    screen.line("make it");
    screen.wait_for("Refused.").await;
    assert!(!work.join("one").exists(), "the trusted version holds");
    screen.wait_idle().await;
    screen.line("/trust yes");
    screen.wait_for("no change was shown").await;
    screen.line("/trust");
    screen.wait_for("take effect with: /trust yes").await;
    assert!(screen.everything().contains("-deny = ['mkdir *']"));
    screen.line("/trust yes");
    screen.wait_for("take effect with the next call").await;
    screen.line("make it");
    screen.wait_for("Made.").await;
    assert!(work.join("two").exists(), "the change holds");
}
