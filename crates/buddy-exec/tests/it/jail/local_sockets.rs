//! Local sockets: those that a command makes are its own, and no others are reached.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;

use buddy_exec::{Bounds, Reach};

use super::cell::{ALL, Cell, WITH_MOUNTS};

/// A server and a client in one process, at a name.
fn own_server(name: &str) -> String {
    format!(
        "python3 -c 'import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind(\"{name}\")\ns.listen()\n\
         c = socket.socket(socket.AF_UNIX)\nc.settimeout(5)\nc.connect(\"{name}\")\ns.accept()[0].send(b\"reached\")\n\
         print(c.recv(9).decode(), s.getsockname())'"
    )
}

/// A program that connects to each of these names, by all kinds of sockets.
fn reach(names: &[String]) -> String {
    format!(
        "python3 -c 'import socket\nfor name in {names:?}:\n for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.SOCK_RAW]:\n  \
         try:\n   s = socket.socket(socket.AF_UNIX, kind)\n   s.settimeout(5)\n   s.connect(name)\n   s.send(b\"x\")\n   print(\"reached\", name, kind)\n  \
         except OSError as error: print(error.errno, end=\" \")\n  \
         try:\n   a, b = socket.socketpair(socket.AF_UNIX, kind)\n   a.sendto(b\"x\", name)\n  \
         except OSError: pass\n'"
    )
}

#[tokio::test]
async fn a_command_reaches_the_sockets_that_it_makes() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let scratch = cell.out("scratch");
        fs::create_dir(&scratch).unwrap();
        cell.give(&scratch);
        let bounds = Bounds { write: Reach::Beneath(vec![cell.ws(""), scratch.clone()]), ..cell.bounds() };
        let elsewhere = scratch.join("s").display().to_string();
        symlink(&scratch, cell.ws("link")).unwrap();
        for name in ["./x.sock", "y.sock", &elsewhere, "link/z"] {
            let exit = cell.run_in(bounds.clone(), &own_server(name)).await;
            let expected = format!("reached {name}\n");
            assert_eq!(exit.stdout.text(), expected, "{kind:?}: {}", exit.stderr.text());
        }
        let abstracted = own_server("\\0own");
        let exit = cell.run_in(bounds, &abstracted).await;
        assert!(exit.stdout.text().starts_with("reached"), "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn programs_that_talk_to_their_own_processes_work() {
    let manager = "import multiprocessing as m\nif __name__ == \"__main__\":\n m.set_start_method(\"forkserver\")\n \
        with m.Manager() as manager:\n  d = manager.dict()\n  d[\"a\"] = 1\n  print(dict(d))\n with m.Pool(2) as pool:\n  print(pool.map(abs, [-1, 2]))\n";
    let node = "const net = require(\"net\");\nconst s = net.createServer(c => c.end(\"reached\")).listen(\"./n.sock\", () =>\n \
        net.connect(\"./n.sock\").on(\"data\", d => console.log(d.toString())).on(\"close\", () => s.close()));\n";
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        cell.file("manager.py", manager);
        cell.file("server.js", node);
        let temporary = format!("TMPDIR={} ", cell.ws("").display());
        let exit = cell.run(&format!("{temporary} python3 manager.py")).await;
        assert_eq!(exit.stdout.text(), "{'a': 1}\n[1, 2]\n", "{kind:?}: {}", exit.stderr.text());
        let exit = cell.run("node server.js").await;
        assert_eq!(exit.stdout.text(), "reached\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn a_server_that_is_gone_refuses() {
    let script = "python3 -c 'import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind(\"x\")\ns.close()\nc = socket.socket(socket.AF_UNIX)\n\
        for name in [\"x\", \"missing\", \"/dev/null\"]: print(c.connect_ex(name))'";
    for kind in WITH_MOUNTS {
        let exit = Cell::new(kind).run(script).await;
        assert_eq!(exit.stdout.text(), "111\n2\n111\n", "{kind:?}: {}", exit.stderr.text());
    }
}

#[tokio::test]
async fn no_socket_of_a_process_outside_is_reached() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let open = |path: &Path| {
            let listener = UnixListener::bind(path).unwrap();
            listener.set_nonblocking(true).unwrap();
            cell.give(path);
            listener
        };
        let listeners = [cell.ws("inside"), cell.out("outside")].map(|path| open(&path));
        let datagrams = UnixDatagram::bind(cell.ws("datagrams")).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        cell.give(&cell.ws("datagrams"));
        symlink(cell.out("outside"), cell.ws("link")).unwrap();
        symlink(cell.out(""), cell.ws("directory")).unwrap();
        let _ = fs::hard_link(cell.out("outside"), cell.ws("hard"));
        let outside = cell.out("outside").display().to_string();
        let mut names: Vec<String> = [
            "inside",
            "./inside",
            "link",
            "directory/outside",
            "hard",
            "datagrams",
            "moved",
            "../x/../inside",
        ]
        .map(str::to_owned)
        .to_vec();
        names.extend([
            outside.clone(),
            format!("/proc/self/root{outside}"),
            format!("/proc/1/root{outside}"),
        ]);
        names.extend(["/proc/self/cwd/inside".to_owned(), cell.ws("inside").display().to_string()]);
        for network in [false, true] {
            let bounds = Bounds { network, ..cell.bounds() };
            let script = format!("cp -al inside copied; mv link moved; {}", reach(&names));
            let exit = cell.run_in(bounds, &script).await;
            assert!(!exit.stdout.text().contains("reached"), "{kind:?}: {}", exit.stdout.text());
            let _ = fs::rename(cell.ws("moved"), cell.ws("link"));
        }
        for listener in &listeners {
            assert!(listener.accept().is_err(), "{kind:?}: a connection arrived");
        }
        assert!(datagrams.recv(&mut [0; 8]).is_err(), "{kind:?}: a datagram arrived");
    }
}

/// A second thread changes the address, and what the descriptor is, while the first connects.
#[tokio::test]
async fn an_address_that_changes_meanwhile_leads_nowhere_else() {
    let race = "import ctypes, os, socket, threading, time\n\
        own = socket.socket(socket.AF_UNIX); own.bind('own'); own.listen(128)\n\
        inet = socket.create_server(('127.0.0.1', 0))\n\
        libc = ctypes.CDLL(None)\n\
        good = b'\\x01\\x00own\\x00' + bytes(104); bad = b'\\x01\\x00inside\\x00' + bytes(101)\n\
        port = inet.getsockname()[1].to_bytes(2, 'big')\n\
        plain = b'\\x02\\x00' + port + bytes([127, 0, 0, 1]) + bytes(102)\n\
        memory = ctypes.create_string_buffer(good, 110)\n\
        stop = False\n\
        def change():\n\
        \x20while not stop:\n\
        \x20 for text in (bad, good, plain): ctypes.memmove(memory, text, 110)\n\
        threading.Thread(target=change, daemon=True).start()\n\
        end = time.monotonic() + 2\n\
        while time.monotonic() < end:\n\
        \x20for family in (socket.AF_UNIX, socket.AF_INET):\n\
        \x20 s = socket.socket(family); s.setblocking(False)\n\
        \x20 libc.connect(s.fileno(), memory, 110 if family == socket.AF_UNIX else 16)\n\
        \x20 s.close()\n\
        stop = True\nprint('done')\n";
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let listener = UnixListener::bind(cell.ws("inside")).unwrap();
        listener.set_nonblocking(true).unwrap();
        cell.give(&cell.ws("inside"));
        cell.file("race.py", race);
        let exit = cell.run("python3 race.py").await;
        assert_eq!(exit.stdout.text(), "done\n", "{kind:?}: {}", exit.stderr.text());
        assert!(listener.accept().is_err(), "{kind:?}: a connection arrived");
    }
}

#[tokio::test]
async fn a_signal_does_not_make_a_connection_twice() {
    let script = "import signal, socket\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.siginterrupt(signal.SIGALRM, False)\nsignal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)\n\
        s = socket.create_server(('127.0.0.1', 0), backlog=999)\nfor _ in range(300):\n c = socket.create_connection(s.getsockname())\n s.accept()[0].close()\n c.close()\nprint('done')\n";
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        cell.file("signals.py", script);
        let exit = cell.run("python3 signals.py").await;
        assert_eq!(exit.stdout.text(), "done\n", "{kind:?}: {}", exit.stderr.text());
    }
}
