//! Commands that are talked to while they are in a jail.

use std::fs;
use std::io::ErrorKind;

use buddy_exec::{Exec, Running, Stdin, StdinWriter, WAY_OUT_PORT, WayOut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::cell::{ALL, Cell, WITH_MOUNTS};

async fn talk(cell: &Cell, exec: Exec) -> (Running, StdinWriter) {
    let mut running = cell.stage.start(Exec { stdin: Stdin::Piped, ..exec }).await.unwrap();
    let stdin = running.take_stdin().unwrap();
    (running, stdin)
}

#[tokio::test]
async fn orders_over_stdin_do_not_reach_outside() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let exec = Exec { argv: vec!["/bin/sh".into()], ..cell.exec(cell.bounds(), "") };
        let (mut running, mut stdin) = talk(&cell, exec).await;
        for tried in ["echo x > \"$OUT/sentinel\"", "rm -f \"$OUT/secret\"", "echo x > \"$OUT/new\""] {
            stdin.write_all(format!("{{ {tried}; }} 2>/dev/null; echo tried\n").as_bytes()).await.unwrap();
            assert_eq!(running.next().await.unwrap().bytes, "tried\n", "{kind:?}");
            cell.assert_outside_untouched(tried);
        }
        stdin.write_all(b"echo x > \"$WS/inside\"; exit 4\n").await.unwrap();
        assert_eq!(running.wait().await.unwrap().code, Some(4), "{kind:?}");
        assert_eq!(fs::read_to_string(cell.ws("inside")).unwrap(), "x\n", "{kind:?}");
    }
}

#[tokio::test]
async fn a_stdin_that_the_command_has_closed_is_told() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let exec = cell.exec(cell.bounds(), "read -r line; exec 0<&-; echo closed; sleep 100");
        let (mut running, mut stdin) = talk(&cell, exec).await;
        stdin.write_all(b"close\n").await.unwrap();
        assert_eq!(running.next().await.unwrap().bytes, "closed\n", "{kind:?}");
        assert_eq!(stdin.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe, "{kind:?}");
    }
}

#[tokio::test]
async fn a_talk_and_a_way_out_go_together() {
    let script = format!(
        "read -r line; python3 -c 'import socket\ns = socket.create_connection((\"127.0.0.1\", {WAY_OUT_PORT}), 5)\n\
         s.send(b\"out \" + b\"'$line'\")'"
    );
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let (given, outlet) = WayOut::new().unwrap();
        let exec = Exec { way_out: Some(given), ..cell.exec(cell.bounds(), &script) };
        let (mut running, mut stdin) = talk(&cell, exec).await;
        stdin.write_all(b"hello\n").await.unwrap();
        let listener = outlet.listener().await.unwrap().unwrap();
        let (mut stream, _) = tokio::net::TcpListener::from_std(listener).unwrap().accept().await.unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "out hello", "{kind:?}");
        assert_eq!(running.wait().await.unwrap().code, Some(0), "{kind:?}");
    }
}
