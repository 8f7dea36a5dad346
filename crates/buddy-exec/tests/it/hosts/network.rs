//! A connection that is cut: the fate of commands, and how the next one gets through.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Exec, RemoteSettings, RemoteTarget, SshTransport, Stdin, Target, TargetError};
use buddy_testkit::ssh_host::SshHost;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::place::{GRACE, sh, ssh_settings};
use crate::stage::{PATIENCE, marker, until_alive, until_gone};

mod panes;

/// The state of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weather {
    /// Everything passes.
    Fair,
    /// Nothing passes, and no end is told.
    Stalled,
    /// Every connection is cut.
    Cut,
}

/// A network between the client and the server.
struct Network {
    port: u16,
    weather: watch::Sender<Weather>,
    _tasks: JoinSet<()>,
}

impl Network {
    async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (weather, seen) = watch::channel(Weather::Fair);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let weather = seen.clone();
                connections.spawn(async move {
                    let Ok(server) = TcpStream::connect(server).await else { return };
                    let (client_read, client_write) = client.into_split();
                    let (server_read, server_write) = server.into_split();
                    tokio::select! {
                        () = carry(client_read, server_write, weather.clone()) => {}
                        () = carry(server_read, client_write, weather) => {}
                    }
                });
            }
        });
        Self { port, weather, _tasks: tasks }
    }
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut weather: watch::Receiver<Weather>,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let now = *weather.borrow_and_update();
        match now {
            Weather::Cut => return,
            Weather::Stalled => {
                if weather.changed().await.is_err() {
                    return;
                }
            }
            Weather::Fair => tokio::select! {
                _ = weather.changed() => {}
                read = from.read(&mut buffer) => match read {
                    Ok(length @ 1..) => {
                        if to.write_all(&buffer[..length]).await.is_err() {
                            return;
                        }
                    }
                    _ => return,
                },
            },
        }
    }
}

async fn a_cut_ends_a_command_with_an_unknown_outcome(weather: Weather) {
    let host = SshHost::start().unwrap();
    let network = Network::before(host.address()).await;
    let config = host.config_through(network.port).unwrap();
    let transport = SshTransport::attach(ssh_settings(config)).await.unwrap();
    let settings = RemoteSettings { cwd: None, grace: GRACE };
    let target = RemoteTarget::attach(Arc::new(transport), settings).await.unwrap();
    let marker = marker();
    let mut running = target.start(sh(&format!("sleep {marker}"))).await.unwrap();
    until_alive(&marker, 1).await;
    let talked = Exec { stdin: Stdin::Piped, ..sh(&format!("cat; sleep {marker}")) };
    let mut talked = target.start(talked).await.unwrap();
    let mut stdin = talked.take_stdin().unwrap();
    stdin.write_all(b"hello").await.unwrap();
    assert_eq!(talked.next().await.unwrap().bytes, "hello");
    network.weather.send(weather).unwrap();
    let lost = tokio::time::timeout(PATIENCE, talked.wait()).await.unwrap().unwrap_err();
    assert!(matches!(&lost, TargetError::ConnectionLost { .. }), "{lost:?}");
    assert_eq!(stdin.write(b"more").await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    let error = tokio::time::timeout(PATIENCE, running.wait()).await.unwrap().unwrap_err();
    assert!(
        matches!(&error, TargetError::ConnectionLost { target, .. } if target == "ssh:machine"),
        "{error:?}"
    );
    assert!(error.to_string().contains("outcome is unknown"), "{error}");
    if weather == Weather::Stalled {
        let error = tokio::time::timeout(Duration::from_mins(1), target.start(sh("true")))
            .await
            .unwrap()
            .unwrap_err();
        assert!(
            matches!(error, TargetError::Unreachable { .. } | TargetError::ConnectionLost { .. }),
            "{error:?}"
        );
        network.weather.send(Weather::Cut).unwrap();
    }
    until_gone(&marker, PATIENCE).await;
    network.weather.send(Weather::Fair).unwrap();
    let exit = target.start(sh("echo back")).await.unwrap().wait().await.unwrap();
    assert_eq!(exit.stdout.text(), "back\n");
}

#[tokio::test]
async fn a_connection_that_is_reset_is_made_again() {
    a_cut_ends_a_command_with_an_unknown_outcome(Weather::Cut).await;
}

#[tokio::test]
async fn a_connection_that_is_silent_is_given_up_and_made_again() {
    a_cut_ends_a_command_with_an_unknown_outcome(Weather::Stalled).await;
}
