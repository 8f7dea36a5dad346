//! One suite for every target: the same table of cases against this machine, a shell of busybox, a container
//! and a host over SSH. All of them run on this machine, so the process table shows the processes that any of
//! them left.

mod commands;
mod files;
mod network;
mod panes;
mod place;
mod refusals;
mod talks;
mod undo;

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use place::Place;

/// A case: its name, and its function.
type Case = (&'static str, fn(Arc<Place>) -> BoxFuture<'static, ()>);

/// Names an async function as a case.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), |place| futures::FutureExt::boxed($name(place)))),*]
    };
}
pub(crate) use cases;

/// Runs every case, also after one that failed, and fails with the names of those that did.
async fn check(place: Place) {
    check_all(place, commands::CASES.iter().chain(files::CASES)).await;
}

async fn check_all(place: Place, cases: impl Iterator<Item = &Case>) {
    let place = Arc::new(place);
    let mut failed = Vec::new();
    for (name, case) in cases {
        if std::panic::AssertUnwindSafe(case(place.clone())).catch_unwind().await.is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "{}: {failed:?}", place.target.describe().name);
}

#[tokio::test]
async fn this_machine_conforms() {
    check(Place::local()).await;
}

#[tokio::test]
async fn a_host_with_nothing_but_busybox_conforms() {
    check(Place::busybox().await).await;
}

#[tokio::test]
async fn a_host_over_ssh_conforms() {
    check(Place::ssh().await).await;
}

#[tokio::test]
async fn a_container_conforms() {
    check(Place::container().await).await;
}
