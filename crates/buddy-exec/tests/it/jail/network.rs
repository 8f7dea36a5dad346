//! The network and local sockets.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use buddy_exec::{Bounds, Exec, WAY_OUT_PORT, WayOut};
use tokio::io::AsyncReadExt;

use super::cell::{ALL, Cell, WITH_MOUNTS};

/// A program that tries one connection and prints `reached` when it came about.
fn connect(family: &str, kind: &str, address: &str) -> String {
    format!(
        "python3 -c 'import socket\ns = socket.socket(socket.{family}, socket.{kind})\ns.settimeout(5)\n\
         s.connect({address})\ns.send(b\"x\")\nprint(\"reached\")'"
    )
}

#[tokio::test]
async fn without_a_network_nothing_is_reached() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp6 = TcpListener::bind("[::1]:0");
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let port6 = tcp6.as_ref().map_or(1, |tcp6| tcp6.local_addr().unwrap().port());
    let udp_port = udp.local_addr().unwrap().port();
    for kind in ALL {
        let cell = Cell::new(kind);
        for script in [
            connect("AF_INET", "SOCK_STREAM", &format!("(\"127.0.0.1\", {port})")),
            connect("AF_INET6", "SOCK_STREAM", &format!("(\"::1\", {port6})")),
            connect("AF_INET6", "SOCK_STREAM", &format!("(\"::ffff:127.0.0.1\", {port})")),
            connect("AF_INET", "SOCK_DGRAM", &format!("(\"127.0.0.1\", {udp_port})")),
            connect("AF_INET", "SOCK_RAW", "(\"127.0.0.1\", 1)"),
            connect("AF_NETLINK", "SOCK_RAW", "(0, 0)"),
            connect("AF_PACKET", "SOCK_RAW", "(\"lo\", 3)"),
            format!("bash -c 'echo x > /dev/tcp/127.0.0.1/{port} && echo reached'"),
            format!("bash -c 'echo x > /dev/udp/127.0.0.1/{udp_port} && echo reached'"),
        ] {
            let exit = cell.run(&script).await;
            // A network of its own can be looked at, and a datagram can be sent in it, which goes nowhere.
            let stays_inside =
                ["SOCK_DGRAM", "/dev/udp", "AF_NETLINK"].iter().any(|part| script.contains(part));
            if !(stays_inside && WITH_MOUNTS.contains(&kind)) {
                assert_eq!(exit.stdout.text(), "", "{kind:?}: {script}");
                assert_ne!(exit.code, Some(0), "{kind:?}: {script}");
            }
        }
    }
    assert!(tcp.accept().is_err(), "a connection arrived");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
}

#[tokio::test]
async fn without_a_network_a_command_reaches_its_own_servers() {
    let script = "python3 -c 'import socket\nserver = socket.create_server((\"127.0.0.1\", 0))\n\
        client = socket.create_connection(server.getsockname(), 5)\nserver.accept()[0].send(b\"reached\\n\")\n\
        print(client.recv(99).decode(), end=\"\")'";
    for kind in WITH_MOUNTS {
        let exit = Cell::new(kind).run(script).await;
        assert_eq!(exit.stdout.text(), "reached\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn the_way_out_leads_to_who_serves_it_and_nowhere_else() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let way_out = format!("(\"127.0.0.1\", {WAY_OUT_PORT})");
    for kind in ALL {
        let cell = Cell::new(kind);
        let (given, outlet) = WayOut::new().unwrap();
        let script = format!(
            "{}; {}",
            connect("AF_INET", "SOCK_STREAM", &format!("(\"127.0.0.1\", {port})")),
            connect("AF_INET", "SOCK_STREAM", &way_out)
        );
        let exec = Exec { way_out: Some(given), ..cell.exec(cell.bounds(), &script) };
        let serve = async {
            let listener = outlet.listener().await.unwrap()?;
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut heard = String::new();
            stream.read_to_string(&mut heard).await.unwrap();
            Some(heard)
        };
        let (exit, heard) = tokio::join!(cell.stage.run(exec), serve);
        if WITH_MOUNTS.contains(&kind) {
            assert_eq!((exit.stdout.text().as_str(), heard.as_deref()), ("reached\n", Some("x")), "{kind:?}");
        } else {
            assert_eq!(
                (exit.stdout.text().as_str(), heard),
                ("", None),
                "{kind:?} has no network of its own"
            );
        }
    }
    assert!(tcp.accept().is_err(), "a connection arrived past the way out");
}

#[tokio::test]
async fn with_a_network_it_is_reached() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    for kind in ALL {
        let cell = Cell::new(kind);
        let bounds = Bounds { network: true, ..cell.bounds() };
        let script = connect("AF_INET", "SOCK_STREAM", &format!("(\"127.0.0.1\", {port})"));
        let exit = cell.run_in(bounds, &script).await;
        assert_eq!(exit.stdout.text(), "reached\n", "{kind:?}: {}", exit.stderr.text());
        tcp.accept().unwrap();
    }
}

#[tokio::test]
async fn no_local_socket_is_reached_with_or_without_a_network() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let name = format!("buddy-exec-test-{}-{kind:?}", std::process::id());
        let inside = UnixListener::bind(cell.ws("inside.sock")).unwrap();
        let outside = UnixListener::bind(cell.stage.path("../").join(format!("{name}.sock"))).unwrap();
        let abstracted = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let datagrams = UnixDatagram::bind(cell.ws("datagrams.sock")).unwrap();
        for listener in [&inside, &outside, &abstracted] {
            listener.set_nonblocking(true).unwrap();
        }
        datagrams.set_nonblocking(true).unwrap();
        for network in [false, true] {
            for script in [
                connect("AF_UNIX", "SOCK_STREAM", "\"inside.sock\""),
                connect("AF_UNIX", "SOCK_STREAM", &format!("\"../{name}.sock\"")),
                connect("AF_UNIX", "SOCK_STREAM", &format!("\"\\0{name}\"")),
                connect("AF_UNIX", "SOCK_DGRAM", "\"datagrams.sock\""),
                // A pair needs no socket call of its own, and could be turned to another address.
                "python3 -c 'import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n\
                 a.sendto(b\"x\", \"datagrams.sock\")\nprint(\"reached\")'"
                    .into(),
                "python3 -c 'import socket\na, b = socket.socketpair()\n\
                 a.connect(\"inside.sock\")\nprint(\"reached\")'"
                    .into(),
            ] {
                let bounds = Bounds { network, ..cell.bounds() };
                let exit = cell.run_in(bounds, &script).await;
                assert_eq!(exit.stdout.text(), "", "{kind:?}: {script}");
            }
        }
        for listener in [&inside, &outside, &abstracted] {
            assert!(listener.accept().is_err(), "{kind:?}: a connection arrived");
        }
        assert!(datagrams.recv(&mut [0; 8]).is_err(), "{kind:?}: a datagram arrived");
        std::fs::remove_file(cell.stage.path("../").join(format!("{name}.sock"))).unwrap();
    }
}

#[tokio::test]
async fn a_pair_of_sockets_talks_to_itself() {
    for kind in ALL {
        let script =
            "python3 -c 'import socket\na, b = socket.socketpair()\na.send(b\"x\")\nprint(b.recv(1))'";
        assert_eq!(Cell::new(kind).run(script).await.stdout.text(), "b'x'\n", "{kind:?}");
    }
}
