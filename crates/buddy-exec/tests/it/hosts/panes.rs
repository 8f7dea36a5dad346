//! The part of the suite for panes: the same cases for every host that has tmux, in every shell.

mod cases;
mod place;

use std::path::Path;
use std::sync::Arc;

use buddy_exec::{PaneError, TargetError, pane_directory};
use futures::FutureExt as _;

use super::place::Place;
pub(crate) use place::PanePlace;

/// Runs every case, also after one that failed, and fails with the names of those that did.
async fn check(place: Place, shell: &str) {
    let place = Arc::new(PanePlace::new(place, shell).await);
    let mut failed = Vec::new();
    for (name, case) in cases::CASES {
        if std::panic::AssertUnwindSafe(case(place.clone())).catch_unwind().await.is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "{shell}: {failed:?}");
}

#[tokio::test]
async fn panes_here_conform_with_bash() {
    check(Place::local(), "/bin/bash").await;
}

#[tokio::test]
async fn panes_here_conform_with_zsh() {
    check(Place::local(), "/usr/bin/zsh").await;
}

#[tokio::test]
async fn panes_here_conform_with_dash() {
    check(Place::local(), "/bin/dash").await;
}

#[tokio::test]
async fn panes_here_conform_with_the_ash_of_busybox() {
    check(Place::local(), "/bin/busybox").await;
}

#[tokio::test]
async fn panes_on_a_host_with_nothing_but_busybox_conform() {
    check(Place::busybox().await, "/bin/busybox").await;
}

#[tokio::test]
async fn panes_over_ssh_conform_with_bash() {
    check(Place::ssh().await, "/bin/bash").await;
}

#[tokio::test]
async fn panes_over_ssh_conform_with_dash() {
    check(Place::ssh().await, "/bin/dash").await;
}

#[tokio::test]
async fn panes_in_a_container_conform_with_bash() {
    check(Place::container().await, "/bin/bash").await;
}

#[tokio::test]
async fn panes_in_a_container_conform_with_zsh() {
    check(Place::container().await, "/usr/bin/zsh").await;
}

#[tokio::test]
async fn panes_in_a_container_conform_with_dash() {
    check(Place::container().await, "/bin/dash").await;
}

#[tokio::test]
async fn panes_in_a_container_conform_with_the_ash_of_busybox() {
    check(Place::container().await, "/bin/busybox").await;
}

#[tokio::test]
async fn a_thousand_commands_over_ssh_have_their_own_outputs_and_codes() {
    let place = PanePlace::new(Place::ssh().await, "/bin/bash").await;
    for number in 0..1000 {
        let text = format!("echo \"n {number}\"; printf 'é%s\\n\\n' '{number}'; ( exit {} )", number % 126);
        place.check(&text, &format!("n {number}\né{number}\n\n"), number % 126).await;
    }
}

/// If the home cannot be used, other accounts can have put an object under the name of the
/// directory.
#[tokio::test]
async fn a_directory_that_another_account_could_have_planted_is_refused() {
    let place = Place::container().await;
    let env = [("PATH".to_owned(), place.path.clone()), ("HOME".to_owned(), "/nowhere".to_owned())];
    let find = async || pane_directory(&*place.target, &env, "test").await;
    for plant in [
        "mkdir -m 700 /srv/theirs; ln -s /srv/theirs /tmp/buddy-0",
        "mkdir -m 777 /tmp/buddy-0",
        "mkdir -m 700 /tmp/buddy-0; chown 1234 /tmp/buddy-0",
        "echo > /tmp/buddy-0",
    ] {
        place.says(plant).await;
        let error = find().await.unwrap_err();
        assert!(matches!(error, TargetError::Pane(PaneError::NotPrivate { .. })), "{plant}: {error}");
        assert_eq!(place.says("ls /srv/theirs /tmp/buddy-0/ 2>/dev/null | grep tmux").await, "", "{plant}");
        place.says("rm -rf /tmp/buddy-0").await;
    }
    assert_eq!(find().await.unwrap(), Path::new("/tmp/buddy-0/tmux-test"));
    assert_eq!(find().await.unwrap(), Path::new("/tmp/buddy-0/tmux-test"), "the one from before");
    assert!(place.says("ls -ld /tmp/buddy-0/tmux-test").await.starts_with("drwx------"));
}
