//! A connection that is cut while a command runs in a pane: the command continues, and its stream is resumed
//! where it stopped.

use std::time::{Duration, Instant};

use buddy_exec::{PaneError, PaneSelector, Panes, SshTransport, TargetError};
use buddy_testkit::ssh_host::SshHost;

use super::{Network, Weather};
use crate::hosts::panes::PanePlace;
use crate::hosts::place::{Place, ssh_settings};
use crate::stage::{PATIENCE, alive, marker, until_alive, until_gone};

async fn far_place() -> (PanePlace, Network) {
    let host = SshHost::start().unwrap();
    let network = Network::before(host.address()).await;
    let config = host.config_through(network.port).unwrap();
    let transport = SshTransport::attach(ssh_settings(config)).await.unwrap();
    (PanePlace::new(Place::over_ssh(host, transport).await, "/bin/bash").await, network)
}

/// Waits until the command on the host, which is this machine, has come so far. Polls, as the command cannot
/// report it.
async fn until_as_far_as(place: &PanePlace, count: u32) {
    let end = Instant::now() + PATIENCE;
    let far = || std::fs::read_to_string(place.place.path("far")).ok()?.trim().parse::<u32>().ok();
    while far().is_none_or(|far| far < count) {
        assert!(Instant::now() < end, "the command did not go on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn a_command_outlives(weather: Weather) {
    let (place, network) = far_place().await;
    place.check("echo one", "one\n", 0).await;
    let text =
        "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i; echo $i > far; sleep 0.02; done; (exit 5)";
    let mut run = place.start(text).await;
    run.running.next().await.unwrap();
    network.weather.send(weather).unwrap();
    match weather {
        Weather::Stalled => {
            until_as_far_as(&place, 300).await;
            network.weather.send(Weather::Cut).unwrap();
        }
        _ => until_as_far_as(&place, 100).await,
    }
    network.weather.send(Weather::Fair).unwrap();
    let exit = tokio::time::timeout(PATIENCE * 3, run.running.wait()).await.unwrap().unwrap();
    let expected: Vec<String> = (1..=300).map(|number| format!("line {number}\n")).collect();
    assert_eq!((exit.stdout.text(), exit.code), (expected.concat(), Some(5)));
    let notes = run.notes.await.unwrap().join(" ");
    assert!(notes.contains("was made again"), "{notes}");
    place.check("echo after", "after\n", 0).await;
}

#[tokio::test]
async fn a_command_in_a_pane_outlives_a_connection_that_is_reset() {
    a_command_outlives(Weather::Cut).await;
}

#[tokio::test]
async fn a_command_in_a_pane_outlives_a_connection_that_is_silent() {
    a_command_outlives(Weather::Stalled).await;
}

#[tokio::test]
async fn a_connection_that_stays_away_leaves_the_command_running_and_says_how_to_look() {
    let (place, network) = far_place().await;
    let panes = place.impatient("far", Duration::from_secs(2));
    let marker = marker();
    let mut run = place.try_start(&panes, &format!("echo ready; sleep {marker}")).await.unwrap();
    until_alive(&marker, 1).await;
    network.weather.send(Weather::Cut).unwrap();
    let error = tokio::time::timeout(PATIENCE, run.running.wait()).await.unwrap().unwrap_err();
    assert!(matches!(error, TargetError::Pane(PaneError::OutOfReach { .. })), "{error}");
    assert!(error.to_string().contains("still runs in the pane"), "{error}");
    assert!(error.to_string().contains(&panes.attach_command()), "{error}");
    assert!(!alive(&marker).is_empty(), "it was ended");
    network.weather.send(Weather::Fair).unwrap();
    let keys = buddy_exec::Keys { keys: vec!["C-c".parse().unwrap()], ..buddy_exec::Keys::default() };
    panes.send_keys(&buddy_exec::Bounds::open(), &PaneSelector::default(), &keys).await.unwrap();
    until_gone(&marker, PATIENCE).await;
    let mut run = place.try_start(&panes, "echo back").await.unwrap();
    assert_eq!(run.running.wait().await.unwrap().stdout.text(), "back\n");
}
