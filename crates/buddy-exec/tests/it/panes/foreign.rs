//! Panes that buddy did not make, with forged options: no byte arrives there, and nothing happens to them.

use std::path::{Path, PathBuf};
use std::process::Command;

use buddy_exec::{Bounds, CaptureOptions, Keys, PaneError, PaneSelector, Panes, TargetError};

use super::stage::PaneStage;
use crate::stage::PATIENCE;

/// A user's own tmux server with a session that claims to be buddy's, and a program that keeps the typed
/// text.
struct Forged {
    socket: PathBuf,
    typed: PathBuf,
    pane: String,
}

impl Forged {
    /// A server at a socket, with a session of buddy's name.
    fn server(stage: &PaneStage, socket: &Path) -> Self {
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let typed = stage.path("typed");
        let keep = format!("exec cat > {}", typed.display());
        let words =
            ["-f", "/dev/null", "new-session", "-d", "-s", "buddy-test", "-P", "-F", "#{pane_id}", &keep];
        let pane = tmux(socket, &words);
        tmux(socket, &["set-option", "-t", "=buddy-test:", "@buddy_managed", "1"]);
        tmux(socket, &["set-option", "-t", "=buddy-test:", "@buddy_owner", "buddy-test"]);
        let forged = Self { socket: socket.to_owned(), typed, pane };
        forged.mark("shared");
        forged
    }

    /// A pane in the session that buddy made.
    fn pane(stage: &PaneStage, name: &str) -> Self {
        let typed = stage.path("typed");
        let keep = format!("exec cat > {}", typed.display());
        let pane = stage.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", &keep]);
        let forged = Self { socket: stage.socket(), typed, pane };
        forged.mark(name);
        forged
    }

    fn mark(&self, name: &str) {
        let options = [("managed", "1"), ("owner", "buddy-test"), ("pane", name), ("bounds", "open")];
        for (option, value) in options {
            tmux(&self.socket, &["set-option", "-p", "-t", &self.pane, &format!("@buddy_{option}"), value]);
        }
    }

    /// All text that was typed so far, up to a word of the test's own that is typed now.
    async fn typed(&self) -> String {
        tmux(&self.socket, &["send-keys", "-t", &self.pane, "end-of-test", "Enter"]);
        let read = async {
            loop {
                let text = std::fs::read_to_string(&self.typed).unwrap_or_default();
                if text.contains("end-of-test\n") {
                    return text;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, read).await.unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "the test plays somebody with a tmux of their own")]
fn tmux(socket: &Path, words: &[&str]) -> String {
    let output = Command::new("tmux").arg("-S").arg(socket).args(words).env_remove("TMUX").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn keys() -> Keys {
    Keys { literal_text: Some("touch was-run".to_owned()), enter: true, ..Keys::default() }
}

/// Tries everything that an agent can do with a pane. Nothing of it works.
async fn check_untouched(stage: &PaneStage, forged: &Forged, name: Option<&str>) {
    let pane = PaneSelector { session: None, pane: name.map(str::to_owned) };
    let target = &stage.target;
    let mut refused = Vec::new();
    refused.push(target.start(&pane, stage.command("touch was-run")).await.map(drop));
    refused.push(target.dispatch(&pane, stage.command("touch was-run")).await.map(drop));
    refused.push(target.send_keys(&Bounds::open(), &pane, &keys()).await);
    refused.push(target.capture(&pane, &CaptureOptions::default()).await.map(drop));
    refused.push(target.kill_pane(&Bounds::open(), &pane).await);
    for (place, result) in refused.into_iter().enumerate() {
        assert!(matches!(result, Err(TargetError::Pane(_))), "{place}: {result:?}");
    }
    assert_eq!(forged.typed().await, "end-of-test\n");
    assert!(!stage.path("was-run").exists());
    let piped = tmux(&forged.socket, &["display-message", "-p", "-t", &forged.pane, "#{pane_pipe}"]);
    assert_eq!(piped, "0", "no pipe listens to it");
}

#[tokio::test]
async fn a_foreign_pane_in_buddys_server_gets_no_key() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    let forged = Forged::pane(&stage, "build");
    check_untouched(&stage, &forged, Some("build")).await;
    stage.check("echo two", "two\n", 0).await;
}

#[tokio::test]
async fn a_pane_that_says_it_is_the_shared_one_gets_no_key() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    let forged = Forged::pane(&stage, "shared");
    stage.check("echo two", "two\n", 0).await;
    assert_eq!(forged.typed().await, "end-of-test\n");
}

#[tokio::test]
async fn a_session_that_was_there_before_buddy_gets_no_key() {
    let stage = PaneStage::new("/bin/bash");
    let forged = Forged::server(&stage, &stage.socket());
    check_untouched(&stage, &forged, None).await;
    let panes = tmux(&forged.socket, &["list-panes", "-a", "-F", "#{pane_id}"]);
    assert_eq!(panes, forged.pane, "no pane was made beside it");
    let pane = PaneSelector { session: None, pane: Some("x".into()) };
    let bounds = Bounds::open();
    let made = stage.target.create_pane(&bounds, &pane).await;
    assert!(matches!(made, Err(TargetError::Pane(PaneError::Foreign { .. }))), "{made:?}");
    assert_eq!(tmux(&forged.socket, &["list-panes", "-a", "-F", "#{pane_id}"]), forged.pane);
    assert!(stage.target.remaining().await.unwrap().is_empty(), "it is not told as one of buddy's");
    tmux(&forged.socket, &["kill-server"]);
}

#[tokio::test]
async fn a_socket_that_leads_to_the_persons_own_server_gets_no_key() {
    let stage = PaneStage::new("/bin/bash");
    let forged = Forged::server(&stage, &stage.path("theirs/socket"));
    std::fs::create_dir_all(stage.path("run")).unwrap();
    std::os::unix::fs::symlink(&forged.socket, stage.socket()).unwrap();
    check_untouched(&stage, &forged, None).await;
    tmux(&forged.socket, &["kill-server"]);
}

#[tokio::test]
async fn a_server_that_took_the_place_of_buddys_gets_no_key() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    stage.end_server().await;
    let forged = Forged::server(&stage, &stage.socket());
    check_untouched(&stage, &forged, None).await;
    tmux(&forged.socket, &["kill-server"]);
}

#[tokio::test]
async fn a_session_that_only_says_it_is_buddys_is_not_ended() {
    let stage = PaneStage::new("/bin/bash");
    stage.check("echo one", "one\n", 0).await;
    stage.tmux(&["new-session", "-d", "-s", "mine", "cat"]);
    stage.tmux(&["set-option", "-t", "=mine:", "@buddy_owner", "mine"]);
    let ended = stage.target.kill_session(&Bounds::open(), "mine").await;
    assert!(matches!(ended, Err(TargetError::Pane(PaneError::Foreign { .. }))), "{ended:?}");
    stage.tmux(&["has-session", "-t", "=mine"]);
}
