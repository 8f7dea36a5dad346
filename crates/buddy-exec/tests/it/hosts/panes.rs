//! The part of the suite for panes: the same cases for every host that has tmux, in every shell.

mod cases;
mod place;

use std::sync::Arc;

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
